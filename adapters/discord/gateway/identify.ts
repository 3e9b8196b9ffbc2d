import { type APIGatewayBotInfo, type APIGatewaySessionStartLimit, Routes } from 'discord.js';
import { type Clock, sleep } from '#src/clock.ts';
import type { Logger } from '#src/logger.ts';
import type { Store } from '#src/store/store.ts';
import type { DiscordRest } from '../rest/client.ts';

/** What Discord says of its gateway. @see https://discord.com/developers/docs/events/gateway#get-gateway-bot @throws DailiesError */
export function askForGateway(rest: DiscordRest): Promise<APIGatewayBotInfo> {
  return rest.call<APIGatewayBotInfo>({ method: 'GET', route: Routes.gatewayBot(), doing: 'asking for the gateway' });
}

/** Collaborators of {@link mayIdentify}. */
export interface IdentifyOptions {
  /** What Discord says of its gateway now. */
  readonly info: () => Promise<APIGatewayBotInfo>;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
}

/**
 * "max_concurrency: number of identify requests allowed per 5 seconds", as Discord counts them: one that was slow on its
 * way and one that was fast must be that far apart too.
 */
const IDENTIFY_EVERY_MS = 7_000;
const LOOK_AGAIN_MS = 250;
/** A limit that was used up may be raised, or have been somebody else's mistake: it is asked again before its end. */
const LONGEST_WAIT_MS = 5 * 60_000;

/**
 * Waits until a shard may begin a session: one in seven seconds for each of Discord's buckets, whichever replica begins it.
 * @returns the gateway's address.
 * @throws DailiesError where Discord or the store cannot be asked, or `signal` is aborted
 * @see https://discord.com/developers/docs/events/gateway#rate-limiting
 */
export async function mayIdentify(options: IdentifyOptions, shard: number, signal: AbortSignal): Promise<string> {
  const { info, store, clock, random } = options;
  for (;;) {
    const { url, session_start_limit: limit } = await info();
    if (limit.remaining <= 0) {
      await wait(options, limit, signal);
      continue;
    }
    const name = `discord:identify:${shard % limit.max_concurrency}`;
    for (;;) {
      signal.throwIfAborted();
      const lease = await store.leases.take(name, IDENTIFY_EVERY_MS, { isRenewed: false });
      if (lease !== null) {
        // It runs out by itself, but in a store that one process has for itself.
        clock.after(IDENTIFY_EVERY_MS, () => void lease.release());
        if (store.exclusive) await paced(options, name, signal);
        return url;
      }
      await sleep(clock, LOOK_AGAIN_MS * (1 + random()), signal);
    }
  }
}

/** When a session was begun last, by this machine's time of day. */
interface BegunRecord {
  readonly revision: number;
  readonly atMs: number;
}

/** Leases of a store that one process has for itself end with it: whoever is started again knows by this. */
async function paced({ store, clock }: IdentifyOptions, key: string, signal: AbortSignal): Promise<void> {
  const records = store.keyv('adapters');
  const last = await records.get<BegunRecord>(key);
  const sinceMs = clock.now() - (last?.atMs ?? Number.NEGATIVE_INFINITY);
  if (sinceMs >= 0 && sinceMs < IDENTIFY_EVERY_MS) await sleep(clock, IDENTIFY_EVERY_MS - sinceMs, signal);
  await records.set(key, { revision: (last?.revision ?? 0) + 1, atMs: clock.now() } satisfies BegunRecord);
}

async function wait(
  { clock, logger }: IdentifyOptions,
  { total, reset_after: resetAfterMs }: APIGatewaySessionStartLimit,
  signal: AbortSignal,
): Promise<void> {
  logger.error({ total, resetAfterMs }, 'Discord lets this bot begin no more sessions for now; waiting');
  await sleep(clock, Math.min(resetAfterMs, LONGEST_WAIT_MS), signal);
}

/** How many shards there are, kept for all replicas. */
interface CountRecord {
  readonly revision: number;
  readonly count: number;
}

const COUNT_KEY = 'discord:shards';

/**
 * How many shards this bot has, the same for all replicas: what Discord recommended to the first of them. Another
 * recommendation counts once no replica holds a shard any more, since shards of two divisions overlap.
 * @throws `store_unavailable`
 */
export async function agreedCount(store: Store, recommended: number, logger: Logger): Promise<number> {
  const records = store.keyv('adapters');
  for (;;) {
    const kept = await records.get<CountRecord>(COUNT_KEY);
    if (kept?.count === recommended) return recommended;
    if (kept !== undefined && (await isAnyHeld(store, kept.count))) {
      logger.warn({ count: kept.count, recommended }, 'Discord recommends another number of shards; stop all replicas');
      return kept.count;
    }
    const value: CountRecord = { revision: (kept?.revision ?? 0) + 1, count: recommended };
    const expected = kept?.revision ?? 'absent';
    if (await store.commit({ records: [{ namespace: 'adapters', key: COUNT_KEY, value, expected }] })) {
      return recommended;
    }
  }
}

async function isAnyHeld(store: Store, count: number): Promise<boolean> {
  for (let shard = 0; shard < count; shard += 1) {
    if ((await store.leases.holder(shardLease(shard, count))) !== null) return true;
  }
  return false;
}

/** The lease of a shard. */
export function shardLease(shard: number, count: number): string {
  return `discord:shard:${shard}/${count}`;
}
