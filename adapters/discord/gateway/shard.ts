import { GatewayDispatchEvents, type GatewayDispatchPayload, GatewayIntentBits } from 'discord.js';
import { type Clock, within } from '#src/clock.ts';
import type { Lease } from '#src/cluster/leases.ts';
import type { Logger } from '#src/logger.ts';
import type { Store } from '#src/store/store.ts';
import { Connection, type Session } from './connection.ts';
import type { GatewayEvents } from './gateway.ts';
import { SessionStore } from './session-store.ts';

/** What a {@link Shard} is made of. */
export interface ShardOptions {
  readonly id: number;
  /** How many there are. */
  readonly count: number;
  readonly lease: Lease;
  readonly token: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly events: GatewayEvents;
  /** Waits until it may begin a session. @returns the gateway's address. */
  readonly permit: (signal: AbortSignal) => Promise<string>;
  /** Told when it is connected, or ended for good. */
  readonly changed: () => void;
}

/** None is privileged. Interactions come without any. @see https://discord.com/developers/docs/events/gateway#gateway-intents */
const INTENTS = GatewayIntentBits.GuildMessageReactions | GatewayIntentBits.DirectMessageReactions;

/** How long whoever goes on is kept waiting for what is being handled, so that it need not be told twice. */
const HAND_OVER_AFTER_MS = 500;

/** A part of Discord's servers whose events come to this process, for as long as it has the shard's lease. */
export class Shard {
  readonly #options: ShardOptions;
  readonly #kept: SessionStore;
  readonly #underWay = new Set<Promise<void>>();
  #connection: Connection | null = null;
  #isReleased = false;
  #isRefused = false;
  #problem: string | null = 'Discord is not connected yet.';

  /** Until then, a resumed session tells of what happened meanwhile. */
  #isConnected = false;

  constructor(options: ShardOptions) {
    const { id, count, lease, store, clock, logger } = options;
    this.#options = options;
    this.#kept = new SessionStore({ store, clock, logger, shard: `${id}/${count}`, isOurs: () => lease.isHeld() });
  }

  /** What is missing for a connection; `null` when nothing is. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Whether there is nothing to be waited for: it is connected, or never will be. */
  get isSettled(): boolean {
    return this.#problem === null || this.#isRefused;
  }

  /** Connects, with the session that was left behind where there is one. @throws `store_unavailable` */
  async open(): Promise<void> {
    const { lease, logger, id, count } = this.#options;
    const session = await this.#kept.read();
    if (!lease.isHeld()) return;
    logger.info({ shard: id, count, session: session !== null }, 'a shard of Discord was taken');
    lease.signal.addEventListener('abort', () => this.#lost());
    this.#connection = this.#connect(session);
    this.#connection.open();
  }

  /** Lets another process have it at once, and go on where this one was. */
  async release(): Promise<void> {
    const { lease, clock, logger, id } = this.#options;
    this.#isReleased = true;
    this.#connection?.close();
    await within<unknown>(clock, HAND_OVER_AFTER_MS, Promise.all(this.#underWay), null);
    await this.#kept.write();
    await lease.release();
    logger.info({ shard: id }, 'a shard of Discord was let go');
  }

  #connect(session: Session | null): Connection {
    const { id, count, lease, token, clock, random, permit } = this.#options;
    return new Connection({
      token,
      intents: INTENTS,
      shard: [id, count],
      session,
      permit,
      clock,
      random,
      isOurs: () => lease.isHeld(),
      events: {
        event: (event) => this.#take(event),
        session: (now) => this.#kept.replace(now),
        connected: (how) => this.#connected(how),
        interrupted: (code) => this.#interrupted(code),
        refused: (code) => this.#refused(code),
      },
    });
  }

  #take(event: GatewayDispatchPayload): void {
    const done = this.#kept.received(event.s);
    const work = this.#handle(event);
    const running = work.finally(() => {
      this.#underWay.delete(running);
      done();
    });
    this.#underWay.add(running);
  }

  /** Never rejects: one malformed event must not end the process, nor be replayed to it at every RESUME. */
  async #handle(event: GatewayDispatchPayload): Promise<void> {
    const { events, logger } = this.#options;
    try {
      if (event.t === GatewayDispatchEvents.InteractionCreate) await events.interaction(event.d, !this.#isConnected);
      if (event.t === GatewayDispatchEvents.MessageReactionAdd) await events.reaction(event.d);
    } catch (thrown) {
      logger.warn({ event: event.t, err: thrown }, 'an event of Discord could not be read; it is skipped');
    }
  }

  #connected(how: 'begun' | 'resumed'): void {
    this.#isConnected = true;
    const { logger, id, changed } = this.#options;
    this.#problem = null;
    if (how === 'begun') logger.info({ shard: id }, 'a session with Discord was begun');
    else logger.info({ shard: id }, 'a session with Discord was resumed');
    changed();
  }

  #interrupted(code: number): void {
    this.#isConnected = false;
    this.#problem = 'Discord is being reconnected.';
    this.#options.logger.info({ shard: this.#options.id, code }, 'connecting to Discord again');
  }

  #refused(code: number): void {
    const { logger, id, changed } = this.#options;
    this.#isRefused = true;
    this.#problem = `Discord ended the connection for good (${code}).`;
    logger.error(
      { shard: id, code },
      'Discord ended the connection for good; whoever runs me has to look at the token and the intents',
    );
    changed();
  }

  #lost(): void {
    if (this.#isReleased) return;
    this.#connection?.close();
    this.#options.logger.warn({ shard: this.#options.id }, 'a shard of Discord was lost: its lease ran out');
  }
}
