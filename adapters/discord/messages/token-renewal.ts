import { type APIMessageTopLevelComponent, ButtonStyle, ComponentType, Routes } from 'discord.js';
import { KEEP_FOLLOWING } from '#commands/sentences/handover.ts';
import type { DueJob } from '#src/engine/index.ts';
import type { DiscordOptions } from '../index.ts';
import type { Parts } from '../parts.ts';
import { isDeadToken, translate } from '../rest/errors.ts';
import { type MessageRecord, type MessageToken, RENEWALS } from './message-store.ts';
import { type Body, IS_COMPONENTS_V2 } from './render.ts';

/** Custom id of the renewal button. A press includes its message, so the id needs no arguments. */
export const RENEWAL_BUTTON = 'follow';

/** Time before a token's expiry at which the renewal button appears. */
const PROMPT_BEFORE_MS = 75_000;
/** Interval between checks for expiring tokens; well below {@link PROMPT_BEFORE_MS}. */
const CHECK_EVERY_MS = 10_000;

type TokenRenewalOptions = Omit<Parts, 'self'> & Pick<DiscordOptions, 'reachable' | 'withMessageLock'>;

/**
 * Renews the tokens of messages where the bot is not a member: only an interaction's token can edit them, for 15
 * minutes. Shortly before it expires, an open task's message shows a button, and a press brings a fresh token. The
 * schedule is in the store, so that it survives a restart; one replica adds the buttons, for all of them.
 */
export class TokenRenewal {
  /** Adds the buttons that are due. */
  readonly job: DueJob = {
    name: 'discord_renewal',
    index: RENEWALS,
    everyMs: CHECK_EVERY_MS,
    firstInMs: 0,
    leaseMs: 30_000,
    run: (message) => this.#prompt(message),
  };
  readonly #options: TokenRenewalOptions;

  constructor(options: TokenRenewalOptions) {
    this.#options = options;
  }

  /** Stores the contents of a message, and schedules its renewal button while its task is open. */
  async shown(message: string, body: Body, isOpen: boolean): Promise<void> {
    const { records } = this.#options;
    await records.change(message, { shown: body.components }, ({ token }) => (isOpen ? renewalOf(token) : null));
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
    await records.change(message, { token }, () => renewalOf(token));
    reachable(record.task);
  }

  /** Adds the button to a message; if another edit holds its lock, the next check retries. */
  async #prompt(message: string): Promise<void> {
    const record = await this.#options.records.message(message);
    if (record === undefined) await this.#options.records.cancelRenewal(message);
    else await this.withLock(record, (now) => this.#promptNow(now));
  }

  async #promptNow({ message, token, shown }: MessageRecord): Promise<void> {
    const { rest, records, clock } = this.#options;
    // Just renewed by a press, and rescheduled.
    if ((renewalOf(token) ?? 0) > clock.now()) return;
    let isDead = false;
    // A message whose content was removed shows no more than that.
    if (token !== null && shown !== null && shown.length > 0 && token.expiresAtMs > clock.now()) {
      const route = Routes.webhookMessage(token.application, token.token);
      const doing = `asking under message ${message}`;
      try {
        await rest.call({ method: 'PATCH', route, body: withButton(asBody(shown)), isOurs: false, doing });
      } catch (thrown) {
        const error = translate(thrown, doing);
        if (!isDeadToken(error)) throw error;
        isDead = true;
      }
    }
    // A press under the message may have brought a fresh token meanwhile.
    await records.change(message, isDead ? { token: null } : {}, ({ token: current }) =>
      current?.token === token?.token ? null : renewalOf(current),
    );
  }
}

/** Builds a body from the stored components of a message. */
export function asBody(components: readonly APIMessageTopLevelComponent[]): Body {
  return { components, flags: IS_COMPONENTS_V2, allowed_mentions: { parse: [] } };
}

/** Returns the time from which a message shows the renewal button; `null` without a token. */
function renewalOf(token: MessageToken | null): number | null {
  return token === null ? null : token.expiresAtMs - PROMPT_BEFORE_MS;
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
