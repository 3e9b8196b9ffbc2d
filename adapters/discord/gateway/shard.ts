import { GatewayDispatchEvents, type GatewayDispatchPayload, GatewayIntentBits } from 'discord.js';
import { type CancelTimer, within } from '#src/clock.ts';
import { collection, type Lease, type Versioned } from '#src/engine/index.ts';
import { Connection, type Session } from './connection.ts';
import type { GatewayOptions } from './gateway.ts';

export interface ShardOptions
  extends Pick<GatewayOptions, 'token' | 'store' | 'clock' | 'random' | 'logger' | 'events'> {
  readonly id: number;
  /** Total number of shards. */
  readonly count: number;
  readonly lease: Lease;
  /** Waits until it may start a session. @returns the gateway's URL. */
  readonly permit: (signal: AbortSignal) => Promise<string>;
  /** Called when it is connected, or closed for good. */
  readonly changed: () => void;
}

/**
 * Gateway intents, none of them privileged. Interactions need none.
 * @see https://discord.com/developers/docs/events/gateway#gateway-intents
 */
const INTENTS = GatewayIntentBits.GuildMessageReactions | GatewayIntentBits.DirectMessageReactions;

/** Longest time that a release waits for events in flight, to avoid their redelivery to the next holder. */
const RELEASE_TIMEOUT_MS = 500;

/** One gateway shard: receives the events of its servers for as long as this process holds the shard's lease. */
export class Shard {
  readonly #options: ShardOptions;
  readonly #sessions: SessionStore;
  readonly #inFlight = new Set<Promise<void>>();
  #connection: Connection | null = null;
  #isReleased = false;
  #isRefused = false;
  #problem: string | null = 'Discord is not connected yet.';

  /**
   * Time since which the session is established, by {@link Clock.monotonic}; `null` while it is not. A resumed session
   * replays earlier events, and may replay how an earlier connection was established along with them.
   */
  #connectedAtMs: number | null = null;

  constructor(options: ShardOptions) {
    this.#options = options;
    this.#sessions = new SessionStore(options);
  }

  /** Reason for not being connected; `null` when it is. */
  get problem(): string | null {
    return this.#problem;
  }

  /** True if there is nothing to wait for: it is connected, or was refused for good. */
  get isSettled(): boolean {
    return this.#problem === null || this.#isRefused;
  }

  /** Connects, and resumes the stored session if there is one. @throws `store_unavailable` */
  async open(): Promise<void> {
    const { lease, logger, id, count } = this.#options;
    const session = await this.#sessions.read();
    if (!lease.isHeld()) return;
    logger.info(
      { event: 'discord_shard_claimed', shard: id, count, session: session !== null },
      'claimed a Discord shard',
    );
    lease.signal.addEventListener('abort', () => this.#lost());
    this.#connection = this.#connect(session);
    this.#connection.open();
  }

  /** Releases the shard at once, so that another process can resume its session. */
  async release(): Promise<void> {
    const { lease, clock, logger, id } = this.#options;
    this.#isReleased = true;
    this.#connection?.close();
    await within<unknown>(clock, RELEASE_TIMEOUT_MS, Promise.all(this.#inFlight), null);
    await this.#sessions.write();
    await lease.release();
    logger.info({ event: 'discord_shard_released', shard: id }, 'released a Discord shard');
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
        session: (now) => this.#sessions.replace(now),
        connected: (how) => this.#connected(how),
        interrupted: (code) => this.#interrupted(code),
        refused: (code) => this.#refused(code),
      },
    });
  }

  #take(event: GatewayDispatchPayload): void {
    const done = this.#sessions.received(event.s);
    const work = this.#handle(event);
    const running = work.finally(() => {
      this.#inFlight.delete(running);
      done();
    });
    this.#inFlight.add(running);
  }

  /**
   * Handles an event. Never rejects: a malformed event must neither end the process nor be replayed at every RESUME.
   */
  async #handle(event: GatewayDispatchPayload): Promise<void> {
    const { events, logger } = this.#options;
    try {
      if (event.t === GatewayDispatchEvents.InteractionCreate) await events.interaction(event.d, this.#connectedForMs);
      if (event.t === GatewayDispatchEvents.MessageReactionAdd) await events.reaction(event.d);
    } catch (thrown) {
      logger.warn(
        { event: 'discord_event_skipped', type: event.t, err: thrown },
        'skipped an unreadable Discord event',
      );
    }
  }

  get #connectedForMs(): number {
    return this.#connectedAtMs === null ? 0 : this.#options.clock.monotonic() - this.#connectedAtMs;
  }

  #connected(how: 'begun' | 'resumed'): void {
    const { logger, id, changed, clock } = this.#options;
    this.#connectedAtMs = clock.monotonic();
    this.#problem = null;
    if (how === 'begun') logger.info({ event: 'discord_session_started', shard: id }, 'started a Discord session');
    else logger.info({ event: 'discord_session_resumed', shard: id }, 'resumed a Discord session');
    changed();
  }

  #interrupted(code: number): void {
    this.#connectedAtMs = null;
    this.#problem = 'Discord is being reconnected.';
    const { logger, id } = this.#options;
    logger.info({ event: 'discord_reconnecting', shard: id, code }, 'reconnecting to Discord');
  }

  #refused(code: number): void {
    const { logger, id, changed } = this.#options;
    this.#isRefused = true;
    this.#problem = `Discord ended the connection for good (${code}).`;
    logger.error(
      { event: 'discord_connection_refused', shard: id, code },
      'Discord closed the connection for good, check the token and the intents',
    );
    changed();
  }

  #lost(): void {
    if (this.#isReleased) return;
    this.#connection?.close();
    const { logger, id } = this.#options;
    logger.warn({ event: 'discord_shard_lost', shard: id }, 'lost a Discord shard, its lease expired');
  }
}

/** By shard and number of shards; `null` once a session is over. */
const discordSessions = collection<string, Versioned & { readonly session: Session | null }>({
  name: 'discord_sessions',
  holds: 'sessions with Discord',
  personal: 'nobody',
});

/** Parts of {@link ShardOptions} that {@link SessionStore} uses. */
interface SessionStoreOptions extends Pick<ShardOptions, 'id' | 'count' | 'store' | 'clock' | 'logger'> {
  /** Only its holder writes the session. */
  readonly lease: Pick<Lease, 'isHeld'>;
}

/** Minimum interval between writes of a session while events come in. */
const WRITE_EVERY_MS = 1_000;

/**
 * Persists the gateway session of a shard, so that its next holder resumes it. The stored sequence number is that of
 * the last event before the first one still in flight, so that a crash loses no event; redelivered events are
 * deduplicated.
 */
export class SessionStore {
  readonly #options: SessionStoreOptions;
  readonly #key: string;
  #session: Session | null = null;
  #revision = 0;
  /** Sequence numbers of the events in flight, in order of arrival. */
  #inFlight = new Set<number>();
  #isWritten = true;
  #timer: CancelTimer | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: SessionStoreOptions) {
    this.#options = options;
    this.#key = `${options.id}/${options.count}`;
  }

  /** Reads the session of the shard's previous holder. @throws `store_unavailable` */
  async read(): Promise<Session | null> {
    const record = await discordSessions.get(this.#options.store, this.#key);
    this.#revision = record?.revision ?? 0;
    this.#session = record?.session ?? null;
    return this.#session;
  }

  /** Replaces the session, or with `null` ends it, and writes it. */
  replace(session: Session | null): void {
    this.#inFlight = new Set();
    this.#session = session;
    this.#isWritten = false;
    void this.write();
  }

  /** Marks an event as in flight. @returns the function to call once it is handled. */
  received(sequence: number): () => void {
    const inFlight = this.#inFlight;
    if (this.#session === null) return () => undefined;
    this.#session = { ...this.#session, sequence: Math.max(sequence, this.#session.sequence) };
    inFlight.add(sequence);
    return () => {
      inFlight.delete(sequence);
      this.#isWritten = false;
      this.#timer ??= this.#options.clock.after(WRITE_EVERY_MS, () => void this.write());
    };
  }

  /** Writes unsaved changes; after a store failure, the next event retries. */
  write(): Promise<void> {
    this.#timer?.();
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const { store, logger, lease, id } = this.#options;
    if (this.#isWritten || !lease.isHeld()) return;
    this.#isWritten = true;
    const [first] = this.#inFlight;
    const session =
      this.#session === null || first === undefined ? this.#session : { ...this.#session, sequence: first - 1 };
    try {
      const read = this.#revision === 0 ? undefined : { revision: this.#revision };
      const isDone = await store.commit({ records: [discordSessions.replacing(this.#key, read, { session })] });
      if (isDone) this.#revision += 1;
      else await this.#catchUp();
    } catch (thrown) {
      this.#isWritten = false;
      logger.debug(
        { event: 'discord_session_write_failed', err: thrown, shard: id },
        'failed to store a gateway session',
      );
    }
  }

  /**
   * Adopts the stored revision after an unconfirmed write; while this process holds the shard, it is the only writer.
   */
  async #catchUp(): Promise<void> {
    const record = await discordSessions.get(this.#options.store, this.#key);
    this.#revision = record?.revision ?? 0;
    this.#isWritten = false;
  }
}
