import type { APIInteraction, GatewayMessageReactionAddDispatchData } from 'discord.js';
import { type CancelTimer, type Clock, sleep, within } from '#src/clock.ts';
import type { Lease } from '#src/cluster/leases.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Store } from '#src/store/store.ts';
import type { DiscordRest } from '../rest/client.ts';
import { agreedCount, askForGateway, mayIdentify, shardLease } from './identify.ts';
import { Shard } from './shard.ts';

/** What comes in through the gateway, as Discord sends it. Each resolves once it is handled, and never rejects. */
export interface GatewayEvents {
  /** `isReplayed`: a resumed session tells of it, perhaps not for the first time. */
  interaction(interaction: APIInteraction, isReplayed: boolean): Promise<void>;
  reaction(reaction: GatewayMessageReactionAddDispatchData): Promise<void>;
}

/** Collaborators of {@link Gateway}. */
export interface GatewayOptions {
  readonly token: string;
  readonly rest: DiscordRest;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly events: GatewayEvents;
  /** Told once Discord answered for the first time. */
  readonly reached: () => void;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** How long a start waits for Discord before the rest of the house begins without it. */
const START_TIMEOUT_MS = 10_000;
/** A shard whose holder died is free so long after its last renewal. */
const LEASE_MS = 12_000;
/** How often a replica looks for shards that nobody holds. */
const LOOK_EVERY_MS = 2_000;
/** How much longer a replica hesitates for each shard that it has: whoever has fewer comes first. */
const HESITATION_MS = 300;
/** How often a replica asks for a shard of somebody who has many, and how often one is given. */
const SHARE_EVERY_MS = 10_000;
/** What replicas tell each other: `free`, or `wanted N` by one that has N. */
const TOPIC = 'discord:shards';

/**
 * The connections to Discord's gateway, one for each shard. Every replica takes what shards nobody holds, so that each
 * is held by one; with one process alone that is all of them.
 * @see https://discord.com/developers/docs/events/gateway#sharding
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #held = new Map<number, Shard>();
  /** Shards that another replica held when they were last looked at. */
  #elsewhere: ReadonlySet<number> = new Set();
  #count = 0;
  #problem: string | null = 'Discord is not connected yet.';
  #failures = 0;
  #timer: CancelTimer | null = null;
  #round: Promise<void> | null = null;
  #isRoundWanted = false;
  #isStoreAway = false;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #gaveAtMs = Number.NEGATIVE_INFINITY;
  #unsubscribe: () => void = () => undefined;
  #isStopped = false;
  readonly #settled = Promise.withResolvers<void>();

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** What is missing; `null` when every shard is connected here or held by another replica. */
  get problem(): string | null {
    if (this.#problem !== null) return this.#problem;
    const orphan = this.#others().find((id) => !this.#elsewhere.has(id));
    if (orphan !== undefined) return `Nobody is connected to Discord as shard ${orphan} of ${this.#count}.`;
    return [...this.#held.values()].map(({ problem }) => problem).find((one) => one !== null) ?? null;
  }

  /**
   * Connects; where Discord cannot be reached, it goes on trying in the background.
   * @throws DailiesError `unauthorised` where Discord does not know the token.
   */
  async start(): Promise<void> {
    const { store, clock } = this.#options;
    this.#unsubscribe = store.broadcast.subscribe(TOPIC, (text) => this.#hear(text));
    const connected = this.#begin().then(() => this.#settled.promise);
    await within(clock, START_TIMEOUT_MS, connected, undefined);
  }

  /** Takes no more events, and lets other replicas have the shards. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#problem = 'Discord is being left.';
    this.#unsubscribe();
    this.#timer?.();
    await Promise.all([this.#round, ...[...this.#held.keys()].map((id) => this.#letGo(id))]);
  }

  async #begin(): Promise<void> {
    if (this.#isStopped) return;
    const { rest, store, logger, reached } = this.#options;
    try {
      const { shards } = await askForGateway(rest);
      this.#count = await agreedCount(store, shards, logger);
    } catch (thrown) {
      const error = asDailiesError(thrown, 'connecting to Discord');
      if (error.code === 'unauthorised') throw this.#wrongToken(error);
      return this.#beginLater(error);
    }
    this.#problem = null;
    reached();
    this.#look();
  }

  #beginLater(error: DailiesError): void {
    const { clock, logger } = this.#options;
    const delayMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#problem = 'Discord cannot be reached.';
    logger.warn({ err: error, delayMs }, 'Discord cannot be reached; trying again');
    this.#timer = clock.after(delayMs, () => {
      this.#begin().catch((again: unknown) => logger.error({ err: again }, 'Discord is not connected'));
    });
  }

  #wrongToken(cause: DailiesError): DailiesError {
    this.#problem = 'Discord does not know DISCORD_TOKEN.';
    return new DailiesError(
      'connecting to Discord: it does not know DISCORD_TOKEN; take a new one from the developer portal',
      { code: 'unauthorised', retryable: false, cause },
    );
  }

  /** Looks for free shards, at once or when the running round has ended. */
  #look(): void {
    if (this.#isStopped || this.#count === 0) return;
    this.#isRoundWanted = true;
    this.#round ??= this.#goRound().finally(() => {
      this.#round = null;
      if (this.#isRoundWanted) this.#look();
    });
  }

  async #goRound(): Promise<void> {
    const { clock, logger } = this.#options;
    this.#isRoundWanted = false;
    this.#timer?.();
    try {
      this.#elsewhere = await this.#takeFree();
      this.#isStoreAway = false;
      this.#askForMore();
    } catch (thrown) {
      this.#elsewhere = new Set();
      const error = asDailiesError(thrown, 'looking for free shards');
      if (!this.#isStoreAway) logger.warn({ err: error }, 'it is not known who is connected to Discord; looking again');
      this.#isStoreAway = true;
    }
    this.#settle();
    if (this.#others().length > 0 && !this.#isStopped) {
      this.#timer = clock.after(LOOK_EVERY_MS, () => this.#look());
    }
  }

  /** Takes what nobody holds. @returns what others hold. @throws `store_unavailable` */
  async #takeFree(): Promise<ReadonlySet<number>> {
    const { store, clock, random } = this.#options;
    const elsewhere = new Set<number>();
    for (const id of this.#others()) {
      const name = shardLease(id, this.#count);
      const isHeld = (await store.leases.holder(name)) !== null;
      if (!isHeld && !store.exclusive) await sleep(clock, HESITATION_MS * (this.#held.size + random()));
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
      this.#look();
    });
    try {
      await shard.open();
    } catch (thrown) {
      await lease.release();
      throw thrown;
    }
  }

  /** A replica that has fewer than others may have one of theirs. */
  #askForMore(): void {
    const { store, clock } = this.#options;
    const isDue = clock.monotonic() - this.#askedAtMs >= SHARE_EVERY_MS;
    if (this.#isStopped || !isDue || this.#others().length <= this.#held.size) return;
    this.#askedAtMs = clock.monotonic();
    store.broadcast.publish(TOPIC, `wanted ${this.#held.size}`);
  }

  #hear(text: string): void {
    if (text === 'free') this.#look();
    const { clock } = this.#options;
    const theirs = Number(/^wanted (\d+)$/.exec(text)?.[1] ?? Number.NaN);
    const last = [...this.#held.keys()].at(-1);
    const isSoon = clock.monotonic() - this.#gaveAtMs < SHARE_EVERY_MS;
    if (isSoon || this.#isStopped || last === undefined || !(this.#held.size > theirs + 1)) return;
    this.#gaveAtMs = clock.monotonic();
    void this.#letGo(last);
  }

  async #letGo(id: number): Promise<void> {
    await this.#held.get(id)?.release();
    this.#options.store.broadcast.publish(TOPIC, 'free');
  }

  #others(): readonly number[] {
    return Array.from({ length: this.#count }, (_, id) => id).filter((id) => !this.#held.has(id));
  }

  /** A start waits until nothing is to be waited for: every shard is connected, refused, or another's. */
  #settle(): void {
    const isLooked = this.#others().every((id) => this.#elsewhere.has(id));
    if (isLooked && this.#held.values().every(({ isSettled }) => isSettled)) this.#settled.resolve();
  }
}
