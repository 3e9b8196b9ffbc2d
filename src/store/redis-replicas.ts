import type { RedisClientType } from '@keyv/redis';
import type { Logger } from '../logger.ts';
import { parseInfo, replicasOf, unlessForbidden } from './redis-info.ts';
import { UnconfirmedWrite } from './redis-refusals.ts';

/** How long a replica may take to confirm; nothing else happens on the connection meanwhile. */
const WAIT_MS = 1_000;

/** What is asked of a Redis by {@link ReplicaWatch}. */
export type WatchedRedis = Pick<RedisClientType, 'info' | 'wait' | 'socketEpoch'>;

/** How many replicas have what was written on a connection. */
interface Confirmed {
  readonly connection: number;
  readonly replicas: number;
}

/**
 * Has a replica confirm what was written, where there is one: Redis itself acknowledges before a replica has anything,
 * and a failover takes the rest. Once a replica was seen, going on without one is a decision for people.
 * @see {@link https://redis.io/docs/latest/commands/wait/}
 */
export class ReplicaWatch {
  readonly #client: WatchedRedis;
  readonly #logger: Logger;
  #isNeeded = false;
  #areLost = false;
  #lookedAt = -1;
  /** The last WAIT that was asked for, and the one that comes after it. */
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<Confirmed> | null = null;

  /** @param client the connection on which is written: WAIT speaks of what was written on its own alone. */
  constructor(client: WatchedRedis, logger: Logger) {
    this.#client = client;
    this.#logger = logger;
  }

  /** Whether the last write that had to be confirmed was not. */
  get areLost(): boolean {
    return this.#areLost;
  }

  /** Looks whether a replica is connected. */
  async look(): Promise<void> {
    const connection = this.#client.socketEpoch;
    const info = parseInfo((await unlessForbidden(this.#client.info('replication'))) ?? '');
    this.#lookedAt = connection;
    const replicas = replicasOf(info);
    if (this.#isNeeded || replicas === 0) return;
    this.#isNeeded = true;
    this.#logger.info({ replicas }, 'Redis has a replica: from now on every change waits until a replica has it');
  }

  /** @returns the connection that the next write goes out on, once it is known whether there are replicas. */
  async known(): Promise<number> {
    if (this.#lookedAt !== this.#client.socketEpoch) await this.look();
    return this.#client.socketEpoch;
  }

  /**
   * Resolves once a replica has everything written so far, or at once where none was ever seen.
   * @param connection on which it was written.
   * @throws UnconfirmedWrite when none has it in time.
   */
  async confirm(connection: number): Promise<void> {
    if (!this.#isNeeded) return;
    // One that is yet to be asked for covers all that was written before; one under way does not.
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      const asked = this.#ask();
      this.#running = asked.catch(() => undefined);
      return asked;
    });
    const asked = await this.#next;
    // A new connection has written nothing yet, and may even lead to another Redis.
    if (asked.connection !== connection) throw new Error('the connection broke');
    this.#areLost = asked.replicas === 0;
    if (this.#areLost) throw new UnconfirmedWrite();
  }

  async #ask(): Promise<Confirmed> {
    const connection = this.#client.socketEpoch;
    return { connection, replicas: await this.#client.wait(1, WAIT_MS) };
  }
}
