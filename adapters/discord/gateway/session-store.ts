import type { CancelTimer, Clock } from '#src/clock.ts';
import type { Logger } from '#src/logger.ts';
import type { Store } from '#src/store/store.ts';
import type { Session } from './connection.ts';

/** A session as it is kept; `null` fields: there was one, and it is over. */
interface SessionRecord {
  readonly revision: number;
  readonly session: Session | null;
}

/** Collaborators of {@link SessionStore}. */
export interface SessionStoreOptions {
  readonly store: Store;
  /** Such as `0/1`. */
  readonly shard: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the shard is still ours: only its holder writes. */
  readonly isOurs: () => boolean;
}

/** How often a session is written at most while events come. */
const WRITE_EVERY_MS = 1_000;

/**
 * The session of a shard, in the store: whoever holds the shard next goes on with it. What is kept is the last event
 * before the first one that is still being handled, so that a crash leaves nothing out; what is told twice because of
 * that does no harm.
 */
export class SessionStore {
  readonly #options: SessionStoreOptions;
  readonly #key: string;
  #session: Session | null = null;
  #revision = 0;
  /** Numbers of events that are being handled, in the order in which they came. */
  #underWay = new Set<number>();
  #isWritten = true;
  #timer: CancelTimer | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: SessionStoreOptions) {
    this.#options = options;
    this.#key = `discord:session:${options.shard}`;
  }

  /** What whoever held the shard before left. @throws `store_unavailable` */
  async read(): Promise<Session | null> {
    const record = await this.#options.store.keyv('adapters').get<SessionRecord>(this.#key);
    this.#revision = record?.revision ?? 0;
    this.#session = record?.session ?? null;
    return this.#session;
  }

  /** Another session, or none. */
  replace(session: Session | null): void {
    this.#underWay = new Set();
    this.#session = session;
    this.#isWritten = false;
    void this.write();
  }

  /** An event came. @returns what is to be called once it is handled. */
  received(sequence: number): () => void {
    const underWay = this.#underWay;
    if (this.#session === null) return () => undefined;
    this.#session = { ...this.#session, sequence: Math.max(sequence, this.#session.sequence) };
    underWay.add(sequence);
    return () => {
      underWay.delete(sequence);
      this.#isWritten = false;
      this.#timer ??= this.#options.clock.after(WRITE_EVERY_MS, () => void this.write());
    };
  }

  /** Writes what is not written yet; where the store is away, it is tried again at the next event. */
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
    const [first] = this.#underWay;
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
      logger.debug({ err: thrown, shard }, 'the session of a shard could not be kept; it is tried again');
    }
  }

  /** An earlier write arrived though nobody heard of it; as long as the shard is ours, nobody else writes. */
  async #catchUp(): Promise<void> {
    const record = await this.#options.store.keyv('adapters').get<SessionRecord>(this.#key);
    this.#revision = record?.revision ?? 0;
    this.#isWritten = false;
  }
}
