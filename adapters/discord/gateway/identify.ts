import { type APIGatewayBotInfo, type APIGatewaySessionStartLimit, Routes } from 'discord.js';
import { sleep } from '#src/clock.ts';
import { collection, type Store, type Versioned } from '#src/engine/index.ts';
import type { Logger } from '#src/logger.ts';
import type { DiscordRest } from '../rest/client.ts';
import type { GatewayOptions } from './gateway.ts';

/**
 * Fetches Discord's gateway URL, shard count and session limit.
 * @see https://discord.com/developers/docs/events/gateway#get-gateway-bot
 * @throws DailiesError
 */
export function askForGateway(rest: DiscordRest): Promise<APIGatewayBotInfo> {
  return rest.get<APIGatewayBotInfo>(Routes.gatewayBot(), 'asking for the gateway');
}

interface IdentifyOptions extends Pick<GatewayOptions, 'store' | 'clock' | 'logger' | 'random'> {
  /** Fetches the current gateway information. */
  readonly info: () => Promise<APIGatewayBotInfo>;
}

/**
 * Interval between identify requests. "max_concurrency: number of identify requests allowed per 5 seconds" counts them
 * on arrival, so the interval leaves room for a slow request followed by a fast one.
 */
const IDENTIFY_EVERY_MS = 7_000;
const RETRY_EVERY_MS = 250;
/** Longest wait on an exhausted session limit before it is fetched again: it may have been raised meanwhile. */
const MAX_WAIT_MS = 5 * 60_000;

/**
 * Waits until a shard may start a session: one in seven seconds for each of Discord's buckets, across all replicas.
 * @returns the gateway's URL.
 * @throws DailiesError if Discord or the store is unavailable, or `signal` is aborted
 * @see https://discord.com/developers/docs/events/gateway#rate-limiting
 */
export async function mayIdentify(options: IdentifyOptions, shard: number, signal: AbortSignal): Promise<string> {
  const { info, store, clock, random } = options;
  for (;;) {
    const { url, session_start_limit: limit } = await info();
    if (limit.remaining <= 0) {
      await waitForLimit(options, limit, signal);
      continue;
    }
    const name = `discord:identify:${shard % limit.max_concurrency}`;
    for (;;) {
      signal.throwIfAborted();
      const lease = await store.leases.take(name, IDENTIFY_EVERY_MS, { isRenewed: false });
      if (lease !== null) {
        // The lease expires by itself, except in a store exclusive to one process.
        clock.after(IDENTIFY_EVERY_MS, () => void lease.release());
        if (store.exclusive) await paceRestart(options, name, signal);
        return url;
      }
      await sleep(clock, RETRY_EVERY_MS * (1 + random()), signal);
    }
  }
}

/** Last session starts, by this machine's wall clock. */
const discordStarts = collection<string, Versioned & { readonly atMs: number }>({
  name: 'discord_starts',
  holds: 'when sessions with Discord were last started',
  personal: 'nobody',
});

/** Keeps the interval across restarts on an exclusive store, whose leases end with the process. */
async function paceRestart({ store, clock }: IdentifyOptions, key: string, signal: AbortSignal): Promise<void> {
  const last = await discordStarts.get(store, key);
  const sinceMs = clock.now() - (last?.atMs ?? Number.NEGATIVE_INFINITY);
  if (sinceMs >= 0 && sinceMs < IDENTIFY_EVERY_MS) await sleep(clock, IDENTIFY_EVERY_MS - sinceMs, signal);
  await discordStarts.set(store, key, { revision: (last?.revision ?? 0) + 1, atMs: clock.now() });
}

async function waitForLimit(
  { clock, logger }: IdentifyOptions,
  { total, reset_after: resetAfterMs }: APIGatewaySessionStartLimit,
  signal: AbortSignal,
): Promise<void> {
  logger.error(
    { event: 'discord_session_limit_reached', total, resetAfterMs },
    'session start limit of Discord reached, waiting',
  );
  await sleep(clock, Math.min(resetAfterMs, MAX_WAIT_MS), signal);
}

const discordShards = collection<'count', Versioned & { readonly count: number }>({
  name: 'discord_shards',
  holds: 'the number of shards of all replicas',
  personal: 'nobody',
});

/**
 * Returns the shard count, the same for all replicas: Discord's recommendation to the first of them. A new
 * recommendation takes effect once no replica holds a shard any more, since shards of different counts overlap.
 * @throws `store_unavailable`
 */
export async function agreedCount(store: Store, recommended: number, logger: Logger): Promise<number> {
  return discordShards.change<number>(store, 'count', async (kept) => {
    if (kept?.count === recommended) return { result: recommended };
    if (kept === undefined || !(await isAnyHeld(store, kept.count)))
      return { value: { count: recommended }, result: recommended };
    logger.warn(
      { event: 'discord_shard_count_differs', count: kept.count, recommended },
      'Discord recommends another shard count, stop all replicas to apply it',
    );
    return { result: kept.count };
  });
}

async function isAnyHeld(store: Store, count: number): Promise<boolean> {
  for (let shard = 0; shard < count; shard += 1) {
    if ((await store.leases.holder(shardLease(shard, count))) !== null) return true;
  }
  return false;
}

export function shardLease(shard: number, count: number): string {
  return `discord:shard:${shard}/${count}`;
}
