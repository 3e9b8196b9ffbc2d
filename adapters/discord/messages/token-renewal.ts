import { type APIMessageTopLevelComponent, ButtonStyle, ComponentType, Routes } from 'discord.js';
import { KEEP_FOLLOWING } from '#commands/sentences/handover.ts';
import { type Lease, type Leases, OnOneReplica } from '#src/engine/index.ts';
import { asDailiesError } from '#src/errors.ts';
import type { DiscordOptions } from '../index.ts';
import type { Parts } from '../parts.ts';
import { isDeadToken, translate } from '../rest/errors.ts';
import type { MessageRecord, MessageToken } from './message-store.ts';
import { type Body, IS_COMPONENTS_V2 } from './render.ts';

/** Custom id of the renewal button. A press includes its message, so the id needs no arguments. */
export const RENEWAL_BUTTON = 'follow';

/** Time before a token's expiry at which the renewal button appears. */
const PROMPT_BEFORE_MS = 75_000;
/** Interval between checks for expiring tokens; well below {@link PROMPT_BEFORE_MS}. */
const CHECK_EVERY_MS = 10_000;
const LEASE_MS = 30_000;

/** Options of {@link TokenRenewal}. */
interface TokenRenewalOptions extends Omit<Parts, 'self'>, Pick<DiscordOptions, 'reachable' | 'withMessageLock'> {
  readonly leases: Leases;
}

/**
 * Renews the tokens of messages where the bot is not a member: only an interaction's token can edit them, for 15
 * minutes. Shortly before it expires, an open task's message shows a button, and a press brings a fresh token. The
 * schedule is in the store, so that it survives a restart; one replica under a lease adds the buttons, for all of them.
 */
export class TokenRenewal {
  readonly #options: TokenRenewalOptions;
  readonly #checks: OnOneReplica;
  #isStopped = false;

  constructor(options: TokenRenewalOptions) {
    this.#options = options;
    const { leases, clock, logger } = options;
    this.#checks = new OnOneReplica({
      leases,
      clock,
      name: 'discord:following',
      ttlMs: LEASE_MS,
      everyMs: CHECK_EVERY_MS,
      run: (lease) => this.#promptAll(lease),
      failed: (thrown) =>
        logger.debug({ event: 'discord_renewal_check_failed', err: thrown }, 'failed to check for expiring tokens'),
    });
  }

  /** Starts checking the schedule, including entries from before a restart and from other replicas. */
  start(): void {
    this.#checks.start(0);
  }

  /** Stops and releases the lease, so that another replica takes over. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#checks.stop();
  }

  /** Stores the contents of a message, and schedules its renewal button while its task is open. */
  async shown(message: string, body: Body, isOpen: boolean): Promise<void> {
    const { records } = this.#options;
    await records.change(message, { shown: body.components });
    const record = await records.message(message);
    await this.#plan(message, isOpen ? (record?.token ?? null) : null);
  }

  /** Adds the renewal button to a body if the message's token is about to expire. */
  withPrompt(record: MessageRecord | undefined, body: Body, isOpen: boolean): Body {
    const token = record?.token ?? null;
    const isSoon = token !== null && token.expiresAtMs - this.#options.clock.now() <= PROMPT_BEFORE_MS;
    return isOpen && isSoon ? withButton(body) : body;
  }

  /**
   * Runs an edit of a task's message under its lock with its current record; skips it while another edit holds the
   * lock.
   */
  async withLock({ task, message }: MessageRecord, act: (now: MessageRecord) => Promise<void>): Promise<void> {
    await this.#options.withMessageLock(task, async (lock) => {
      const now = await this.#options.records.message(message);
      lock.assertHeld();
      if (now !== undefined) await act(now);
    });
  }

  /** Stores the fresh token of a message after a press under it. */
  async refreshed(message: string, token: MessageToken): Promise<void> {
    const { records, reachable } = this.#options;
    const record = await records.message(message);
    if (record === undefined) return;
    await records.change(message, { token });
    await this.#plan(message, token);
    reachable(record.task);
  }

  async #plan(message: string, token: MessageToken | null): Promise<void> {
    await this.#options.records.scheduleRenewal(message, token === null ? null : token.expiresAtMs - PROMPT_BEFORE_MS);
  }

  /** Adds the buttons that are due; a failed one stays scheduled for the next check. */
  async #promptAll(lease: Lease): Promise<void> {
    const { records, clock, logger } = this.#options;
    for (const { member: message, score: atMs } of await records.scheduledRenewals()) {
      if (atMs > clock.now() || this.#isStopped || !lease.isHeld()) return;
      await this.#prompt(message).catch((thrown: unknown) => {
        const error = asDailiesError(thrown, `asking under message ${message}`);
        logger.warn(
          { event: 'discord_renewal_prompt_failed', err: error, message },
          'failed to add the renewal button',
        );
      });
    }
  }

  /** Adds the button to a message; if another edit holds its lock, the next check retries. */
  async #prompt(message: string): Promise<void> {
    const record = await this.#options.records.message(message);
    if (record === undefined) await this.#options.records.scheduleRenewal(message, null);
    else await this.withLock(record, (now) => this.#promptNow(now));
  }

  async #promptNow({ message, token, shown }: MessageRecord): Promise<void> {
    const { rest, records, clock } = this.#options;
    // Just renewed by a press, and rescheduled.
    if (token !== null && token.expiresAtMs - PROMPT_BEFORE_MS > clock.now()) return;
    if (token !== null && shown !== null && token.expiresAtMs > clock.now()) {
      const route = Routes.webhookMessage(token.application, token.token);
      const doing = `asking under message ${message}`;
      try {
        await rest.call({ method: 'PATCH', route, body: withButton(asBody(shown)), isOurs: false, doing });
      } catch (thrown) {
        const error = translate(thrown, doing);
        if (!isDeadToken(error)) throw error;
        await records.change(message, { token: null });
      }
    }
    // A press under the message may have brought a fresh token meanwhile.
    const current = (await records.message(message))?.token ?? null;
    await this.#plan(message, current?.token === token?.token ? null : current);
  }
}

/** Builds a body from the stored components of a message. */
export function asBody(components: readonly APIMessageTopLevelComponent[]): Body {
  return { components, flags: IS_COMPONENTS_V2, allowed_mentions: { parse: [] } };
}

function withButton(body: Body): Body {
  const { line, label } = KEEP_FOLLOWING;
  const button = { type: ComponentType.Button, style: ButtonStyle.Primary, label, custom_id: RENEWAL_BUTTON } as const;
  const asked: readonly APIMessageTopLevelComponent[] = [
    { type: ComponentType.TextDisplay, content: line },
    { type: ComponentType.ActionRow, components: [button] },
  ];
  return { ...body, components: [...body.components, ...asked] };
}
