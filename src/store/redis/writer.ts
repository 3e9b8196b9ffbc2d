import { randomUUID } from 'node:crypto';
import type { CancelTimer } from '../../clock.ts';
import type { StoreDeps } from '../surroundings.ts';
import { commitToRedis, type RedisChange } from './commit.ts';
import type { RedisConnection } from './connection.ts';
import { LOOK_EVERY_MS, ReplicaWatch } from './replicas.ts';

/** What is written to see whether Redis takes writes, and for how long it stays there. */
const PROBE_KEY = 'dailies:probe';
const PROBE_LASTS_MS = 60_000;

/** Writes what must not be lost: on a connection of its own, since waiting for a replica stops everything else on it. */
export class RedisWriter {
  readonly #link: RedisConnection;
  readonly #replicas: ReplicaWatch;
  readonly #surroundings: StoreDeps;
  #probing: Promise<void> | null = null;
  #isClosed = false;
  #cancelLook: CancelTimer = () => undefined;

  /** @param link for this alone. */
  constructor(link: RedisConnection, surroundings: StoreDeps) {
    this.#link = link;
    this.#surroundings = surroundings;
    this.#replicas = new ReplicaWatch(link.client, surroundings.logger);
  }

  /** Resolves once it can write, and knows whether there are replicas; it notices by itself when one is attached later. */
  async connected(): Promise<void> {
    await this.#link.connected;
    await this.#replicas.look();
    this.#lookLater();
  }

  /**
   * Writes all of a change, or nothing. @returns whether everything expected held.
   * @throws `store_unavailable`; whether the change happened is then unknown.
   */
  commit(change: RedisChange): Promise<boolean> {
    return this.#link.call('committing a change', async () => {
      // Nothing is written that is bound to be refused afterwards.
      if (this.#replicas.areLost) await this.#probe();
      const connection = await this.#replicas.known();
      const isDone = await commitToRedis(this.#link.client, change);
      if (isDone) await this.#confirm(connection);
      return isDone;
    });
  }

  /** Resolves once Redis has taken a write. @throws `store_unavailable`, with a sentence that says what to do. */
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

  #lookLater(): void {
    const { clock, logger } = this.#surroundings;
    if (this.#isClosed) return;
    this.#cancelLook = clock.after(LOOK_EVERY_MS, () => {
      this.#link
        .call('looking for replicas of Redis', () => this.#replicas.look())
        .catch((thrown: unknown) => logger.debug({ err: thrown }, 'whether Redis has a replica is not known'))
        .finally(() => this.#lookLater());
    });
  }

  /** However many ask, one write at a time answers all of them. */
  #probe(): Promise<void> {
    this.#probing ??= this.#write().finally(() => {
      this.#probing = null;
    });
    return this.#probing;
  }

  async #write(): Promise<void> {
    const connection = await this.#replicas.known();
    const expiration = { type: 'PX', value: PROBE_LASTS_MS } as const;
    await this.#link.client.set(PROBE_KEY, randomUUID(), { expiration });
    await this.#confirm(connection);
  }

  async #confirm(connection: number): Promise<void> {
    await this.#replicas.confirm(connection);
    this.#link.outage.end();
  }
}
