import { randomUUID } from 'node:crypto';
import type { CancelTimer } from '../../clock.ts';
import type { StoreDeps } from '../store.ts';
import { commitToRedis, type RedisChange } from './commit.ts';
import type { RedisConnection } from './connection.ts';
import { LOOK_EVERY_MS, ReplicaWatch } from './replicas.ts';

/** Key written to check whether Redis accepts writes, and its TTL. */
const PROBE_KEY = 'dailies:probe';
const PROBE_TTL_MS = 60_000;

/** Writes changes durably, on a connection of its own: waiting for a replica blocks everything else on it. */
export class RedisWriter {
  readonly #link: RedisConnection;
  readonly #replicas: ReplicaWatch;
  readonly #deps: StoreDeps;
  #probing: Promise<void> | null = null;
  #isClosed = false;
  #cancelLook: CancelTimer = () => undefined;

  /** @param link a connection used by this writer only. */
  constructor(link: RedisConnection, deps: StoreDeps) {
    this.#link = link;
    this.#deps = deps;
    this.#replicas = new ReplicaWatch(link.client, deps.logger);
  }

  /** Resolves once it can write and has checked for replicas; replicas attached later are detected. */
  async connected(): Promise<void> {
    await this.#link.connected;
    await this.#replicas.look();
    this.#scheduleLook();
  }

  /**
   * Writes all of a change, or nothing. @returns whether every precondition held.
   * @throws `store_unavailable`; whether the change happened is then unknown.
   */
  commit(change: RedisChange): Promise<boolean> {
    return this.#link.call('committing a change', async () => {
      // Without a replica the change would be written and then rejected as unconfirmed.
      if (this.#replicas.areLost) await this.#probe();
      const connection = await this.#replicas.known();
      const isDone = await commitToRedis(this.#link.client, change);
      if (isDone) await this.#confirm(connection);
      return isDone;
    });
  }

  /** Resolves once Redis has accepted a write. @throws `store_unavailable`, with a message that says what to do. */
  async probe(): Promise<void> {
    await this.#link.call('asking Redis to take a write', async () => {
      await this.#replicas.look();
      await this.#probe();
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook();
    return this.#link.close();
  }

  #scheduleLook(): void {
    const { clock, logger } = this.#deps;
    if (this.#isClosed) return;
    this.#cancelLook = clock.after(LOOK_EVERY_MS, () => {
      this.#link
        .call('looking for replicas of Redis', () => this.#replicas.look())
        .catch((thrown: unknown) =>
          logger.debug({ event: 'redis_replica_check_failed', err: thrown }, 'failed to check for Redis replicas'),
        )
        .finally(() => this.#scheduleLook());
    });
  }

  /** Writes a probe; concurrent callers share one write (single flight). */
  #probe(): Promise<void> {
    this.#probing ??= this.#write().finally(() => {
      this.#probing = null;
    });
    return this.#probing;
  }

  async #write(): Promise<void> {
    const connection = await this.#replicas.known();
    const expiration = { type: 'PX', value: PROBE_TTL_MS } as const;
    await this.#link.client.set(PROBE_KEY, randomUUID(), { expiration });
    await this.#confirm(connection);
  }

  async #confirm(connection: number): Promise<void> {
    await this.#replicas.confirm(connection);
    this.#link.accepted();
  }
}
