import type { RedisClientType } from '@keyv/redis';
import type { Logger } from '../../../logger.ts';
import { UnconfirmedWrite } from './errors.ts';
import { parseInfo, unlessForbidden } from './info.ts';

/** Timeout of WAIT, which blocks the connection meanwhile. */
const WAIT_MS = 1_000;

/**
 * Key of the requirement that a replica confirms every change; its value is {@link REQUIRED} or {@link WAIVED}. Stored
 * in Redis itself, so that it survives a restart of Dailies and a failover.
 */
const REQUIREMENT_KEY = 'dailies:replica-confirmation';
/** A replica was seen: a change is committed once a replica has it. */
const REQUIRED = 'required';
/** An operator waived the requirement; until a replica is seen again, a change is committed once the primary has it. */
const WAIVED = 'waived';

/** Commands and properties of the client that {@link ReplicaWatch} uses. */
type WatchedRedis = Pick<RedisClientType, 'info' | 'wait' | 'get' | 'set' | 'socketEpoch'>;

/** Number of replicas that have all writes of a connection. */
interface Confirmation {
  readonly connection: number;
  readonly replicas: number;
}

/**
 * Waits for a replica to confirm writes, where there is one: Redis acknowledges a write before a replica has it, and a
 * failover loses the difference. Once any process has seen a replica, only an operator can waive the requirement, with
 * {@link waiveReplica}.
 * @see {@link https://redis.io/docs/latest/commands/wait/}
 */
export class ReplicaWatch {
  readonly #client: WatchedRedis;
  readonly #logger: Logger;
  #isNeeded = false;
  #areLost = false;
  #checkedConnection = -1;
  /** The last WAIT that was sent, and the one queued behind it. */
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<Confirmation> | null = null;

  /** @param client the connection that writes: WAIT covers the writes of its own connection only. */
  constructor(client: WatchedRedis, logger: Logger) {
    this.#client = client;
    this.#logger = logger;
  }

  /** True if the last write that needed a confirmation did not get one. */
  get areLost(): boolean {
    return this.#areLost;
  }

  /** Checks whether a replica is connected, or was required before by this or another process. */
  async look(): Promise<void> {
    const connection = this.#client.socketEpoch;
    const { replicas, requirement } = await readReplicaState(this.#client);
    if (replicas > 0 || requirement === REQUIRED) this.#require({ replicas });
    else if (requirement === WAIVED) this.#waive();
    // Without a replica, a probe is written before the next change, which could not be rolled back.
    if (this.#isNeeded && replicas === 0) this.#areLost = true;
    this.#checkedConnection = connection;
    // Also when Redis lost the key: only an operator can waive the requirement.
    if (this.#isNeeded && requirement !== REQUIRED) await this.#storeRequirement();
  }

  #require(seen: { readonly replicas: number }): void {
    if (this.#isNeeded) return;
    this.#isNeeded = true;
    if (seen.replicas > 0) {
      const event = 'redis_replica_required';
      this.#logger.info({ event, ...seen }, 'found a Redis replica; every change now waits for its confirmation');
    } else {
      const event = 'redis_replica_missing';
      this.#logger.warn({ event, ...seen }, 'the required Redis replica is gone; writes fail until one is attached');
    }
  }

  #waive(): void {
    if (!this.#isNeeded) return;
    this.#isNeeded = false;
    this.#areLost = false;
    const event = 'redis_replica_waived';
    this.#logger.warn({ event }, 'an operator waived the Redis replica; a failover may lose changes');
  }

  /**
   * Stores the requirement. If Redis rejects the write, the next check retries; until then only this process has it.
   */
  async #storeRequirement(): Promise<void> {
    const event = 'redis_requirement_not_stored';
    await this.#client
      .set(REQUIREMENT_KEY, REQUIRED)
      .catch((thrown: unknown) =>
        this.#logger.debug({ event, err: thrown }, 'failed to store the replica requirement'),
      );
  }

  /** @returns the connection of the next write, once the replicas behind it have been checked. */
  async known(): Promise<number> {
    if (this.#checkedConnection !== this.#client.socketEpoch) await this.look();
    return this.#client.socketEpoch;
  }

  /**
   * Resolves once a replica has everything written so far, or at once if none was ever seen.
   * @param connection the connection that wrote it.
   * @throws UnconfirmedWrite when no replica confirms within 1 second.
   */
  async confirm(connection: number): Promise<void> {
    if (!this.#isNeeded) return;
    // A WAIT that is yet to be sent covers all earlier writes; one in flight does not.
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      const waiting = this.#wait();
      this.#running = waiting.catch(() => undefined);
      return waiting;
    });
    const confirmation = await this.#next;
    // A new connection has written nothing yet, and may even lead to another Redis.
    if (confirmation.connection !== connection) throw new Error('the connection broke');
    this.#areLost = confirmation.replicas === 0;
    if (this.#areLost) throw new UnconfirmedWrite();
  }

  async #wait(): Promise<Confirmation> {
    const connection = this.#client.socketEpoch;
    return { connection, replicas: await this.#client.wait(1, WAIT_MS) };
  }
}

/** Requirement that a replica confirms every change, as Redis has it, and the replicas that could. */
export interface ReplicaState {
  /** Number of connected replicas that are in sync; one that is still loading the initial snapshot does not count. */
  readonly replicas: number;
  /** `null`: no replica was ever seen. */
  readonly requirement: 'required' | 'waived' | null;
}

/** Reads the requirement and the number of replicas. */
export async function readReplicaState(client: Pick<WatchedRedis, 'info' | 'get'>): Promise<ReplicaState> {
  const info = parseInfo((await unlessForbidden(client.info('replication'))) ?? '');
  const online = [...info].filter(([field, value]) => /^slave\d+$/.test(field) && value.includes('state=online'));
  const stored = await client.get(REQUIREMENT_KEY);
  return { replicas: online.length, requirement: stored === REQUIRED || stored === WAIVED ? stored : null };
}

/**
 * Waives the confirmation of every change by a replica. Running bots notice within {@link LOOK_EVERY_MS}.
 * @returns the state before: with any replica connected, nothing was waived, since it would be required again at once.
 */
export async function waiveReplica(client: Pick<WatchedRedis, 'info' | 'get' | 'set'>): Promise<ReplicaState> {
  const before = await readReplicaState(client);
  if (before.replicas === 0) await client.set(REQUIREMENT_KEY, WAIVED);
  return before;
}

/** Stores the requirement that {@link waiveReplica} found. */
export async function restoreRequirement(
  client: Pick<RedisClientType, 'set' | 'del'>,
  { requirement }: ReplicaState,
): Promise<void> {
  await (requirement === null ? client.del(REQUIREMENT_KEY) : client.set(REQUIREMENT_KEY, requirement));
}
