import { type APIMessageTopLevelComponent, ButtonStyle, ComponentType, Routes } from 'discord.js';
import { KEEP_FOLLOWING } from '#commands/sentences/following.ts';
import type { CancelTimer, Clock } from '#src/clock.ts';
import type { Lease } from '#src/cluster/leases.ts';
import { createMessageLocks, type MessageLocks } from '#src/cluster/message-lock.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Store } from '#src/store/store.ts';
import type { TaskId } from '#src/tasks/task.ts';
import type { DiscordRest } from '../rest/client.ts';
import { isDeadToken, translate } from '../rest/errors.ts';
import type { MessageRecord, MessageStore, MessageToken } from './message-store.ts';
import { type Body, IS_COMPONENTS_V2 } from './render.ts';

/** Custom id of the renewal button. A press includes its message, so the id needs no arguments. */
export const RENEWAL_BUTTON = 'follow';

/** Time before a token's expiry at which the renewal button appears. */
const PROMPT_BEFORE_MS = 75_000;
/** Interval between checks for renewals scheduled by other replicas; well below {@link PROMPT_BEFORE_MS}. */
const CHECK_EVERY_MS = 15_000;
/** Delay before checking for further expiring tokens. */
const CHECK_AGAIN_MS = 1_000;
const LEASE_MS = 30_000;

/** Options of {@link TokenRenewal}. */
export interface TokenRenewalOptions {
  readonly rest: DiscordRest;
  readonly records: MessageStore;
  readonly store: Pick<Store, 'leases' | 'exclusive'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when a task's message can be edited again. */
  readonly reachable: (task: TaskId) => void;
}

/**
 * Renews the tokens of messages where the bot is not a member: only an interaction's token can edit them, for 15
 * minutes. Shortly before it expires, an open task's message shows a button, and a press brings a fresh token. The
 * schedule is in the store, so that it survives a restart; one replica under a lease adds the buttons, for all of them.
 */
export class TokenRenewal {
  readonly #options: TokenRenewalOptions;
  readonly #locks: MessageLocks;
  #timer: CancelTimer = () => undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #lease: Lease | null = null;
  #round: Promise<void> | null = null;
  #isCheckWanted = false;
  #isStopped = false;

  constructor(options: TokenRenewalOptions) {
    this.#options = options;
    const { store, clock } = options;
    this.#locks = createMessageLocks({ leases: store.leases, exclusive: store.exclusive, clock });
  }

  /** Starts checking the schedule, including entries from before a restart and from other replicas. */
  start(): void {
    this.#check();
  }

  /** Stops and releases the lease, so that another replica takes over. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer();
    await this.#round;
    await this.#lease?.release();
  }

  /** Stores the contents of a message, and schedules its renewal button while its task is open. */
  async shown(message: string, body: Body, isOpen: boolean): Promise<void> {
    const { records } = this.#options;
    await records.change(message, { shown: body.components });
    const record = await records.message(message);
    await this.#plan(message, isOpen ? (record?.token ?? null) : null);
  }

  /** Adds the renewal button to a body if the message's token is about to expire. */
  asking(record: MessageRecord | undefined, body: Body, isOpen: boolean): Body {
    const token = record?.token ?? null;
    const isSoon = token !== null && token.expiresAtMs - this.#options.clock.now() <= PROMPT_BEFORE_MS;
    return isOpen && isSoon ? withButton(body) : body;
  }

  /**
   * Runs an edit of a task's message under its lock with its current record; skips it while another edit holds the
   * lock.
   */
  async inTurn({ task, message }: MessageRecord, act: (now: MessageRecord) => Promise<void>): Promise<void> {
    const lock = await this.#locks.take(task, 'message');
    if (lock === null) return;
    try {
      const now = await this.#options.records.message(message);
      lock.assertHeld();
      if (now !== undefined) await act(now);
    } finally {
      await lock.end();
    }
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
    const atMs = token === null ? null : token.expiresAtMs - PROMPT_BEFORE_MS;
    await this.#options.records.waitFor(message, atMs);
    if (atMs !== null) this.#wakeAt(atMs);
  }

  /** Schedules the next check for `atMs`, unless one is due earlier. */
  #wakeAt(atMs: number): void {
    if (this.#isStopped || atMs >= this.#wakeAtMs) return;
    const { clock } = this.#options;
    this.#timer();
    this.#wakeAtMs = atMs;
    this.#timer = clock.after(atMs - clock.now(), () => this.#check());
  }

  #check(): void {
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    this.#isCheckWanted = true;
    this.#round ??= this.#runChecks();
  }

  async #runChecks(): Promise<void> {
    const { clock, store } = this.#options;
    let nextMs = Number.POSITIVE_INFINITY;
    while (this.#isCheckWanted && !this.#isStopped) {
      this.#isCheckWanted = false;
      nextMs = await this.#promptAll();
    }
    this.#round = null;
    // Other replicas do not announce what they schedule.
    const atTheLatestMs = store.exclusive ? Number.POSITIVE_INFINITY : clock.now() + CHECK_EVERY_MS;
    const atMs = Math.min(nextMs, atTheLatestMs);
    if (Number.isFinite(atMs)) this.#wakeAt(atMs);
  }

  /** Adds the buttons that are due. @returns the time of the next check; infinity if nothing is scheduled. */
  async #promptAll(): Promise<number> {
    const { records, clock, logger } = this.#options;
    try {
      if (!(await this.#holdsLease())) return Number.POSITIVE_INFINITY;
      const waiting = await records.waiting();
      for (const { message, atMs } of waiting) {
        if (atMs > clock.now()) return atMs;
        if (this.#isStopped || this.#lease?.isHeld() !== true) break;
        await this.#prompt(message).catch((thrown: unknown) => {
          const error = asDailiesError(thrown, `asking under message ${message}`);
          logger.warn(
            { event: 'discord_renewal_prompt_failed', err: error, message },
            'failed to add the renewal button',
          );
        });
      }
      return waiting.length === 0 ? Number.POSITIVE_INFINITY : clock.now() + CHECK_AGAIN_MS;
    } catch (thrown) {
      const error = asDailiesError(thrown, 'looking for messages that ask for a press');
      logger.debug({ event: 'discord_renewal_check_failed', err: error }, 'rescheduling the renewal check');
      return clock.now() + CHECK_EVERY_MS;
    }
  }

  /** Returns whether this replica holds the renewal lease, taking it if free. */
  async #holdsLease(): Promise<boolean> {
    if (this.#lease?.isHeld() === true) return true;
    this.#lease = await this.#options.store.leases.take('discord:following', LEASE_MS);
    return this.#lease !== null;
  }

  /** Adds the button to a message; if another edit holds its lock, the next check retries. */
  async #prompt(message: string): Promise<void> {
    const record = await this.#options.records.message(message);
    if (record === undefined) await this.#options.records.waitFor(message, null);
    else await this.inTurn(record, (now) => this.#promptNow(now));
  }

  async #promptNow({ message, token, shown }: MessageRecord): Promise<void> {
    const { rest, records, clock } = this.#options;
    // Just renewed by a press, and rescheduled.
    if (token !== null && token.expiresAtMs - PROMPT_BEFORE_MS > clock.now()) return;
    await records.waitFor(message, null);
    if (token === null || shown === null || token.expiresAtMs <= clock.now()) return;
    const route = Routes.webhookMessage(token.application, token.token);
    const doing = `asking under message ${message}`;
    try {
      await rest.call({ method: 'PATCH', route, body: withButton(asBody(shown)), isOurs: false, doing });
    } catch (thrown) {
      const error = translate(thrown, doing);
      if (isDeadToken(error)) await records.change(message, { token: null });
      throw error;
    }
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
