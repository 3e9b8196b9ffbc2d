import type { RedisClientType } from '@keyv/redis';
import type { Logger } from '../../logger.ts';
import { UnconfirmedWrite } from './errors.ts';
import { parseInfo, replicasOf, unlessForbidden } from './info.ts';

/** How long a replica may take to confirm; nothing else happens on the connection meanwhile. */
const WAIT_MS = 1_000;

/**
 * Key of the requirement that a replica confirms every change; its value is {@link REQUIRED} or {@link WAIVED}. Kept in
 * Redis itself, so that neither a restart of Dailies nor a failover takes it back.
 */
const REQUIREMENT_KEY = 'dailies:replica-confirmation';
/** A replica was seen: changes count once a replica has them. */
const REQUIRED = 'required';
/** An operator took that back; until a replica is seen again, changes count once the primary has them. */
const WAIVED = 'waived';

/** What is asked of a Redis by {@link ReplicaWatch}. */
export type WatchedRedis = Pick<RedisClientType, 'info' | 'wait' | 'get' | 'set' | 'socketEpoch'>;

/** How often, in milliseconds, every process looks whether a replica was attached. */
export const LOOK_EVERY_MS = 5_000;

/** How many replicas have what was written on a connection. */
interface Confirmed {
  readonly connection: number;
  readonly replicas: number;
}

/**
 * Has a replica confirm what was written, where there is one: Redis itself acknowledges before a replica has anything,
 * and a failover takes the rest. Once a replica was seen, by any process, going on without one is a decision for people:
 * {@link waiveReplica}.
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

  /** Looks whether a replica is connected, or was required to be by this or another process before. */
  async look(): Promise<void> {
    const connection = this.#client.socketEpoch;
    const info = parseInfo((await unlessForbidden(this.#client.info('replication'))) ?? '');
    const kept = await this.#client.get(REQUIREMENT_KEY);
    const replicas = replicasOf(info);
    if (replicas > 0) this.#require({ replicas });
    else if (kept === REQUIRED) this.#require({ replicas });
    else if (kept === WAIVED) this.#waive();
    // Known to have none: the next change is tried with a probe first, since it could not be taken back.
    if (this.#isNeeded && replicas === 0) this.#areLost = true;
    this.#lookedAt = connection;
    // Also where Redis lost the key: that is no operator's decision.
    if (this.#isNeeded && kept !== REQUIRED) await this.#remember();
  }

  #require(seen: { readonly replicas: number }): void {
    if (this.#isNeeded) return;
    this.#isNeeded = true;
    if (seen.replicas > 0) {
      this.#logger.info(seen, 'Redis has a replica: from now on every change waits until a replica has it');
    } else {
      this.#logger.warn(seen, 'Redis had a replica and has none now: nothing is created until one is attached again');
    }
  }

  #waive(): void {
    if (!this.#isNeeded) return;
    this.#isNeeded = false;
    this.#areLost = false;
    this.#logger.warn('an operator took back that a replica of Redis confirms every change; a failover may lose some');
  }

  /** Where Redis takes no write now, the next look tries again; until then this process knows it. */
  async #remember(): Promise<void> {
    await this.#client
      .set(REQUIREMENT_KEY, REQUIRED)
      .catch((thrown: unknown) => this.#logger.debug({ err: thrown }, 'that a replica is required could not be kept'));
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

/**
 * Takes back that a replica confirms every change. Running bots notice within {@link LOOK_EVERY_MS}.
 * @returns how many replicas are connected: with any, nothing was taken back, since it would be required again at once.
 */
export async function waiveReplica(client: WatchedRedis): Promise<number> {
  const replicas = replicasOf(parseInfo((await unlessForbidden(client.info('replication'))) ?? ''));
  if (replicas === 0) await client.set(REQUIREMENT_KEY, WAIVED);
  return replicas;
}
