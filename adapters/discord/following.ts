import { type APIMessageTopLevelComponent, ButtonStyle, ComponentType, Routes } from 'discord.js';
import { KEEP_FOLLOWING } from '#commands/sentences/following.ts';
import type { CancelTimer, Clock } from '#src/clock.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { isDeadToken, translate } from './errors.ts';
import type { DiscordMemory, MessageRecord, MessageToken } from './memory.ts';
import { type Body, IS_COMPONENTS_V2 } from './render.ts';
import type { DiscordRest } from './rest.ts';

/** The button's id. It needs no more: which message it is under, a press says. */
export const FOLLOW_BUTTON = 'follow';

/** How long before a token ends people are asked to press. */
const ASK_BEFORE_MS = 75_000;

/** Collaborators of {@link Following}. */
export interface FollowingOptions {
  readonly rest: DiscordRest;
  readonly memory: DiscordMemory;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told when a message can be changed again that could not. */
  readonly reachable: (task: TaskId) => void;
}

/**
 * Messages where the bot itself is not: they can be changed by an interaction's token alone, for 15 minutes. Shortly
 * before that ends, an open task's message asks for a press, and the press brings a fresh token. When to ask is kept in
 * the store, so that a restart still does.
 */
export class Following {
  readonly #options: FollowingOptions;
  readonly #timers = new Map<string, CancelTimer>();

  constructor(options: FollowingOptions) {
    this.#options = options;
  }

  /** Takes up what was planned before a restart. */
  async resume(): Promise<void> {
    for (const { message, atMs } of await this.#options.memory.waiting()) this.#setTimer(message, atMs);
  }

  /** Sets no more timers. */
  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
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
    this.#timers.get(message)?.();
    this.#timers.delete(message);
    const atMs = token === null ? null : token.expiresAtMs - ASK_BEFORE_MS;
    await this.#options.memory.waitFor(message, atMs);
    if (atMs !== null) this.#setTimer(message, atMs);
  }

  #setTimer(message: string, atMs: number): void {
    const { clock, logger } = this.#options;
    const ask = (): void => {
      this.#timers.delete(message);
      this.#ask(message).catch((thrown: unknown) => {
        const error = asDailiesError(thrown, `asking under message ${message}`);
        logger.warn({ err: error, message }, 'a message could not ask for a press');
      });
    };
    this.#timers.set(message, clock.after(atMs - clock.now(), ask));
  }

  async #ask(message: string): Promise<void> {
    const { rest, memory, clock } = this.#options;
    await memory.waitFor(message, null);
    const record = await memory.message(message);
    const { token = null, shown = null } = record ?? {};
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
  const button = { type: ComponentType.Button, style: ButtonStyle.Primary, label, custom_id: FOLLOW_BUTTON } as const;
  const asked: readonly APIMessageTopLevelComponent[] = [
    { type: ComponentType.TextDisplay, content: line },
    { type: ComponentType.ActionRow, components: [button] },
  ];
  return { ...body, components: [...body.components, ...asked] };
}
