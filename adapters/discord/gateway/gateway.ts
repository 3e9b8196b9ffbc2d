import type { APIInteraction, GatewayMessageReactionAddDispatchData } from 'discord.js';
import { type CancelTimer, type Clock, sleep, within } from '#src/clock.ts';
import type { Lease, Store } from '#src/engine/index.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { backoffMs } from '#src/retry.ts';
import type { DiscordRest } from '../rest/client.ts';
import { agreedCount, askForGateway, mayIdentify, shardLease } from './identify.ts';
import { Shard } from './shard.ts';

/** Handlers of gateway events, with Discord's payloads. Each resolves once the event is handled, and never rejects. */
interface GatewayEvents {
  /**
   * Handles an interaction.
   * @param connectedForMs time for which the session has been established; an older interaction is a replay, possibly
   * delivered for a second time
   */
  interaction(interaction: APIInteraction, connectedForMs: number): Promise<void>;
  reaction(reaction: GatewayMessageReactionAddDispatchData): Promise<void>;
}

export interface GatewayOptions {
  readonly token: string;
  readonly rest: DiscordRest;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly events: GatewayEvents;
  /** Called once Discord has responded for the first time. */
  readonly reached: () => void;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** Longest time that startup waits for Discord before the rest of the app starts without it. */
const START_TIMEOUT_MS = 10_000;
/** TTL of a shard's lease: a crashed holder's shard is free this long after its last renewal. */
const LEASE_MS = 12_000;
/** Interval at which a replica checks for unclaimed shards. */
const CHECK_EVERY_MS = 2_000;
/** Extra claim delay per shard already held (load balancing). */
const CLAIM_DELAY_MS = 300;
/** Minimum interval between requests for a shard from a busier replica, and between shards handed over. */
const SHARE_EVERY_MS = 10_000;
/** Broadcast topic of the replicas: `free`, or `wanted N` from one that holds N shards. */
const TOPIC = 'discord:shards';

/**
 * Connections to Discord's gateway, one for each shard. Every replica claims unclaimed shards under a lease, so that
 * each shard is held by one replica; a single process holds all of them.
 * @see https://discord.com/developers/docs/events/gateway#sharding
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #held = new Map<number, Shard>();
  /** Shards that another replica held at the last check. */
  #elsewhere: ReadonlySet<number> = new Set();
  #count = 0;
  #problem: string | null = 'Discord is not connected yet.';
  #failures = 0;
  #timer: CancelTimer | null = null;
  #round: Promise<void> | null = null;
  #isRoundWanted = false;
  #isStoreUnavailable = false;
  #requestedAtMs = Number.NEGATIVE_INFINITY;
  #handedOverAtMs = Number.NEGATIVE_INFINITY;
  #unsubscribe: () => void = () => undefined;
  #isStopped = false;
  readonly #settled = Promise.withResolvers<void>();

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** Reason for not being ready; `null` when every shard is connected here or held by another replica. */
  get problem(): string | null {
    if (this.#problem !== null) return this.#problem;
    const orphan = this.#others().find((id) => !this.#elsewhere.has(id));
    if (orphan !== undefined) return `No replica is connected to Discord as shard ${orphan} of ${this.#count}.`;
    return [...this.#held.values()].map(({ problem }) => problem).find((one) => one !== null) ?? null;
  }

  /**
   * Connects; while Discord is unreachable, retries in the background.
   * @throws DailiesError `unauthorised` if Discord rejects the token.
   */
  async start(): Promise<void> {
    const { store, clock } = this.#options;
    this.#unsubscribe = store.broadcast.subscribe(TOPIC, (text) => this.#receive(text));
    const connected = this.#connect().then(() => this.#settled.promise);
    await within(clock, START_TIMEOUT_MS, connected, undefined);
  }

  /** Shuts down: stops receiving events and releases the shards to other replicas. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#problem = 'Disconnecting from Discord.';
    this.#unsubscribe();
    this.#timer?.();
    await Promise.all([this.#round, ...[...this.#held.keys()].map((id) => this.#handOver(id))]);
  }

  async #connect(): Promise<void> {
    if (this.#isStopped) return;
    const { rest, store, logger, reached } = this.#options;
    try {
      const { shards } = await askForGateway(rest);
      this.#count = await agreedCount(store, shards, logger);
    } catch (thrown) {
      const error = asDailiesError(thrown, 'connecting to Discord');
      if (error.code === 'unauthorised') throw this.#invalidToken(error);
      return this.#connectLater(error);
    }
    this.#problem = null;
    reached();
    this.#claimSoon();
  }

  #connectLater(error: DailiesError): void {
    const { clock, logger, random } = this.#options;
    this.#failures += 1;
    const pace = { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, askedMs: error.retryAfterMs };
    const delayMs = backoffMs(this.#failures, { ...pace, random: random() });
    this.#problem = 'Discord cannot be reached.';
    logger.warn({ event: 'discord_connect_failed', err: error, delayMs }, 'failed to connect to Discord, retrying');
    this.#timer = clock.after(delayMs, () => {
      this.#connect().catch((again: unknown) =>
        logger.error({ event: 'discord_connect_aborted', err: again }, 'gave up connecting to Discord'),
      );
    });
  }

  #invalidToken(cause: DailiesError): DailiesError {
    this.#problem = 'Discord does not know DISCORD_TOKEN.';
    return new DailiesError(
      'connecting to Discord: it does not know DISCORD_TOKEN; take a new one from the developer portal',
      { code: 'unauthorised', retryable: false, cause },
    );
  }

  /** Claims free shards, at once or when the running round has ended. */
  #claimSoon(): void {
    if (this.#isStopped || this.#count === 0) return;
    this.#isRoundWanted = true;
    this.#round ??= this.#claimRound().finally(() => {
      this.#round = null;
      if (this.#isRoundWanted) this.#claimSoon();
    });
  }

  async #claimRound(): Promise<void> {
    const { clock, logger } = this.#options;
    this.#isRoundWanted = false;
    this.#timer?.();
    try {
      this.#elsewhere = await this.#claimFree();
      this.#isStoreUnavailable = false;
      this.#requestShard();
    } catch (thrown) {
      this.#elsewhere = new Set();
      const error = asDailiesError(thrown, 'looking for free shards');
      if (!this.#isStoreUnavailable)
        logger.warn({ event: 'discord_shard_check_failed', err: error }, 'failed to check the shard leases, retrying');
      this.#isStoreUnavailable = true;
    }
    this.#settle();
    if (this.#others().length > 0 && !this.#isStopped) {
      this.#timer = clock.after(CHECK_EVERY_MS, () => this.#claimSoon());
    }
  }

  /** Claims the unclaimed shards. @returns the shards of other replicas. @throws `store_unavailable` */
  async #claimFree(): Promise<ReadonlySet<number>> {
    const { store, clock, random } = this.#options;
    const elsewhere = new Set<number>();
    for (const id of this.#others()) {
      const name = shardLease(id, this.#count);
      const isHeld = (await store.leases.holder(name)) !== null;
      if (!isHeld && !store.exclusive) await sleep(clock, CLAIM_DELAY_MS * (this.#held.size + random()));
      if (this.#isStopped) break;
      const lease = isHeld ? null : await store.leases.take(name, LEASE_MS);
      if (lease === null) elsewhere.add(id);
      else await this.#hold(id, lease);
    }
    return elsewhere;
  }

  async #hold(id: number, lease: Lease): Promise<void> {
    if (this.#isStopped) return lease.release();
    const info = () => askForGateway(this.#options.rest);
    const shard = new Shard({
      ...this.#options,
      id,
      count: this.#count,
      lease,
      permit: (signal) => mayIdentify({ ...this.#options, info }, id, signal),
      changed: () => this.#settle(),
    });
    this.#held.set(id, shard);
    lease.signal.addEventListener('abort', () => {
      this.#held.delete(id);
      this.#claimSoon();
    });
    try {
      await shard.open();
    } catch (thrown) {
      await lease.release();
      throw thrown;
    }
  }

  /** Asks the other replicas for a shard if this one holds less than its share. */
  #requestShard(): void {
    const { store, clock } = this.#options;
    const isDue = clock.monotonic() - this.#requestedAtMs >= SHARE_EVERY_MS;
    if (this.#isStopped || !isDue || this.#others().length <= this.#held.size) return;
    this.#requestedAtMs = clock.monotonic();
    store.broadcast.publish(TOPIC, `wanted ${this.#held.size}`);
  }

  #receive(text: string): void {
    if (text === 'free') this.#claimSoon();
    const { clock } = this.#options;
    const theirs = Number(/^wanted (\d+)$/.exec(text)?.[1] ?? Number.NaN);
    const last = [...this.#held.keys()].at(-1);
    const isSoon = clock.monotonic() - this.#handedOverAtMs < SHARE_EVERY_MS;
    if (isSoon || this.#isStopped || last === undefined || !(this.#held.size > theirs + 1)) return;
    this.#handedOverAtMs = clock.monotonic();
    void this.#handOver(last);
  }

  async #handOver(id: number): Promise<void> {
    await this.#held.get(id)?.release();
    this.#options.store.broadcast.publish(TOPIC, 'free');
  }

  #others(): readonly number[] {
    return Array.from({ length: this.#count }, (_, id) => id).filter((id) => !this.#held.has(id));
  }

  /** Lets startup continue once every shard is connected, refused or held by another replica. */
  #settle(): void {
    const isChecked = this.#others().every((id) => this.#elsewhere.has(id));
    if (isChecked && this.#held.values().every(({ isSettled }) => isSettled)) this.#settled.resolve();
  }
}
