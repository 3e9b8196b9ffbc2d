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

/** The button's id. It needs no more: which message it is under, a press says. */
export const RENEWAL_BUTTON = 'follow';

/** How long before a token ends people are asked to press. */
const ASK_BEFORE_MS = 75_000;
/** How often a replica looks for what others planned: often enough for {@link ASK_BEFORE_MS}. */
const LOOK_EVERY_MS = 15_000;
/** After so long it is looked whether there are more. */
const LOOK_AGAIN_MS = 1_000;
const LEASE_MS = 30_000;

/** Collaborators of {@link TokenRenewal}. */
export interface TokenRenewalOptions {
  readonly rest: DiscordRest;
  readonly memory: MessageStore;
  readonly store: Pick<Store, 'leases' | 'exclusive'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told when a message can be changed again that could not. */
  readonly reachable: (task: TaskId) => void;
}

/**
 * Messages where the bot itself is not: they can be changed by an interaction's token alone, for 15 minutes. Shortly
 * before that ends, an open task's message asks for a press, and the press brings a fresh token. When to ask is kept in
 * the store, so that a restart still does; one replica asks, whichever made the plan.
 */
export class TokenRenewal {
  readonly #options: TokenRenewalOptions;
  readonly #turns: MessageLocks;
  #timer: CancelTimer = () => undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #lease: Lease | null = null;
  #round: Promise<void> | null = null;
  #isLookWanted = false;
  #isStopped = false;

  constructor(options: TokenRenewalOptions) {
    this.#options = options;
    const { store, clock } = options;
    this.#turns = createMessageLocks({ leases: store.leases, exclusive: store.exclusive, clock });
  }

  /** Takes up what was planned before a restart, and by others. */
  start(): void {
    this.#look();
  }

  /** Asks no more; another replica goes on. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer();
    await this.#round;
    await this.#lease?.release();
  }

  /** Remembers what a message shows, and plans to ask for a press as long as its task is open. */
  async shown(message: string, body: Body, isOpen: boolean): Promise<void> {
    const { memory } = this.#options;
    await memory.change(message, { shown: body.components });
    const record = await memory.message(message);
    await this.#plan(message, isOpen ? (record?.token ?? null) : null);
  }

  /** What a message is to say: with the button, where its token is about to end. */
  asking(record: MessageRecord | undefined, body: Body, isOpen: boolean): Body {
    const token = record?.token ?? null;
    const isSoon = token !== null && token.expiresAtMs - this.#options.clock.now() <= ASK_BEFORE_MS;
    return isOpen && isSoon ? withButton(body) : body;
  }

  /** Shows something in a task's message by what is known of it, unless somebody else is changing it just now. */
  async inTurn({ task, message }: MessageRecord, act: (now: MessageRecord) => Promise<void>): Promise<void> {
    const turn = await this.#turns.take(task, 'message');
    if (turn === null) return;
    try {
      const now = await this.#options.memory.message(message);
      turn.assertHeld();
      if (now !== undefined) await act(now);
    } finally {
      await turn.end();
    }
  }

  /** Somebody pressed under a message: its token is fresh. */
  async refreshed(message: string, token: MessageToken): Promise<void> {
    const { memory, reachable } = this.#options;
    const record = await memory.message(message);
    if (record === undefined) return;
    await memory.change(message, { token });
    await this.#plan(message, token);
    reachable(record.task);
  }

  async #plan(message: string, token: MessageToken | null): Promise<void> {
    const atMs = token === null ? null : token.expiresAtMs - ASK_BEFORE_MS;
    await this.#options.memory.waitFor(message, atMs);
    if (atMs !== null) this.#wakeAt(atMs);
  }

  /** Looks at what is due at `atMs`, or before. */
  #wakeAt(atMs: number): void {
    if (this.#isStopped || atMs >= this.#wakeAtMs) return;
    const { clock } = this.#options;
    this.#timer();
    this.#wakeAtMs = atMs;
    this.#timer = clock.after(atMs - clock.now(), () => this.#look());
  }

  #look(): void {
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    this.#isLookWanted = true;
    this.#round ??= this.#goRounds();
  }

  async #goRounds(): Promise<void> {
    const { clock, store } = this.#options;
    let nextMs = Number.POSITIVE_INFINITY;
    while (this.#isLookWanted && !this.#isStopped) {
      this.#isLookWanted = false;
      nextMs = await this.#askForAll();
    }
    this.#round = null;
    // What others plan, they do not say.
    const atTheLatestMs = store.exclusive ? Number.POSITIVE_INFINITY : clock.now() + LOOK_EVERY_MS;
    const atMs = Math.min(nextMs, atTheLatestMs);
    if (Number.isFinite(atMs)) this.#wakeAt(atMs);
  }

  /** @returns when there is something to be done again: infinity where nothing is planned. */
  async #askForAll(): Promise<number> {
    const { memory, clock, logger } = this.#options;
    try {
      if (!(await this.#isMine())) return Number.POSITIVE_INFINITY;
      const waiting = await memory.waiting();
      for (const { message, atMs } of waiting) {
        if (atMs > clock.now()) return atMs;
        if (this.#isStopped || this.#lease?.isHeld() !== true) break;
        await this.#ask(message).catch((thrown: unknown) => {
          const error = asDailiesError(thrown, `asking under message ${message}`);
          logger.warn({ err: error, message }, 'a message could not ask for a press');
        });
      }
      return waiting.length === 0 ? Number.POSITIVE_INFINITY : clock.now() + LOOK_AGAIN_MS;
    } catch (thrown) {
      const error = asDailiesError(thrown, 'looking for messages that ask for a press');
      logger.debug({ err: error }, 'it is looked again which messages are to ask for a press');
      return clock.now() + LOOK_EVERY_MS;
    }
  }

  /** Whether this replica is the one that asks. */
  async #isMine(): Promise<boolean> {
    if (this.#lease?.isHeld() === true) return true;
    this.#lease = await this.#options.store.leases.take('discord:following', LEASE_MS);
    return this.#lease !== null;
  }

  /** A message that somebody is changing is looked at again soon. */
  async #ask(message: string): Promise<void> {
    const record = await this.#options.memory.message(message);
    if (record === undefined) await this.#options.memory.waitFor(message, null);
    else await this.inTurn(record, (now) => this.#askNow(now));
  }

  async #askNow({ message, token, shown }: MessageRecord): Promise<void> {
    const { rest, memory, clock } = this.#options;
    // Somebody pressed just now: the plan is another one.
    if (token !== null && token.expiresAtMs - ASK_BEFORE_MS > clock.now()) return;
    await memory.waitFor(message, null);
    if (token === null || shown === null || token.expiresAtMs <= clock.now()) return;
    const route = Routes.webhookMessage(token.application, token.token);
    const doing = `asking under message ${message}`;
    try {
      await rest.call({ method: 'PATCH', route, body: withButton(asBody(shown)), isOurs: false, doing });
    } catch (thrown) {
      const error = translate(thrown, doing);
      if (isDeadToken(error)) await memory.change(message, { token: null });
      throw error;
    }
  }
}

/** What a message showed, as a body to send. */
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
