import type { CancelTimer, Clock } from '#src/clock.ts';
import type { Logger } from '#src/logger.ts';
import type { Store } from '#src/store/store.ts';
import type { Session } from './connection.ts';

/** Stored session; `session` is `null` once it is over. */
interface SessionRecord {
  readonly revision: number;
  readonly session: Session | null;
}

/** Options of {@link SessionStore}. */
export interface SessionStoreOptions {
  readonly store: Store;
  /** Shard id and count, such as `0/1`. */
  readonly shard: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns whether this process still holds the shard: only its holder writes. */
  readonly isOurs: () => boolean;
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
    this.#key = `discord:session:${options.shard}`;
  }

  /** Reads the session of the shard's previous holder. @throws `store_unavailable` */
  async read(): Promise<Session | null> {
    const record = await this.#options.store.keyv('adapters').get<SessionRecord>(this.#key);
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
    const { store, logger, isOurs, shard } = this.#options;
    if (this.#isWritten || !isOurs()) return;
    this.#isWritten = true;
    const [first] = this.#inFlight;
    const session =
      this.#session === null || first === undefined ? this.#session : { ...this.#session, sequence: first - 1 };
    const value: SessionRecord = { revision: this.#revision + 1, session };
    const expected = this.#revision === 0 ? 'absent' : this.#revision;
    try {
      const isDone = await store.commit({ records: [{ namespace: 'adapters', key: this.#key, value, expected }] });
      if (isDone) this.#revision += 1;
      else await this.#catchUp();
    } catch (thrown) {
      this.#isWritten = false;
      logger.debug({ event: 'discord_session_write_failed', err: thrown, shard }, 'failed to store a gateway session');
    }
  }

  /**
   * Adopts the stored revision after an unconfirmed write; while this process holds the shard, it is the only writer.
   */
  async #catchUp(): Promise<void> {
    const record = await this.#options.store.keyv('adapters').get<SessionRecord>(this.#key);
    this.#revision = record?.revision ?? 0;
    this.#isWritten = false;
  }
}
