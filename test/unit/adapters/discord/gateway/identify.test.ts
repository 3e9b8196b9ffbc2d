import type { APIGatewayBotInfo } from 'discord.js';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { agreedCount, mayIdentify, shardLease } from '#adapters/discord/gateway/identify.ts';
import type { Store } from '#src/engine/store/store.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { pass } from '#test/fakes/settle.ts';
import { FreezableClock, SharedStore } from '#test/fakes/shared-store.ts';

const logger = pino({ level: 'silent' });
const GATEWAY = 'wss://gateway.example';

let shared: SharedStore;
let one: Store;
let other: Store;

beforeEach(() => {
  shared = new SharedStore();
  one = shared.replica(new FreezableClock());
  other = shared.replica(new FreezableClock());
});

describe('the number of shards', () => {
  it('is Discord’s recommendation to the first replica as long as a shard is held', async () => {
    expect(await agreedCount(one, 3, logger)).toBe(3);
    const lease = await one.leases.take(shardLease(2, 3), 10_000);
    expect(await agreedCount(other, 4, logger)).toBe(3);
    await lease?.release();
    expect(await agreedCount(other, 4, logger)).toBe(4);
    expect(await agreedCount(one, 4, logger)).toBe(4);
  });

  it('is the same for replicas that start concurrently', async () => {
    const asked = [one, other, one, other].map((store, index) => agreedCount(store, index < 2 ? 2 : 3, logger));
    const counts = await Promise.all(asked);
    const kept = await agreedCount(one, counts.at(-1) ?? 0, logger);
    expect(counts.at(-1)).toBe(kept);
  });
});

describe('a session', () => {
  let clock: ManualClock;
  let remaining: number;

  beforeEach(() => {
    clock = new ManualClock();
    remaining = 1_000;
  });

  const info = (maxConcurrency: number): APIGatewayBotInfo => ({
    url: GATEWAY,
    shards: 4,
    session_start_limit: { total: 1_000, remaining, reset_after: 60_000, max_concurrency: maxConcurrency },
  });

  /** Returns the times at which each shard was allowed to start a session, in seconds. */
  function begin(shards: readonly number[], maxConcurrency: number): Map<number, number> {
    const began = new Map<number, number>();
    const beganMs = clock.monotonic();
    for (const [index, shard] of shards.entries()) {
      const store = index % 2 === 0 ? one : other;
      const options = { info: async () => info(maxConcurrency), store, clock, logger, random: () => 0 };
      void mayIdentify(options, shard, new AbortController().signal).then((url) => {
        expect(url).toBe(GATEWAY);
        began.set(shard, (clock.monotonic() - beganMs) / 1_000);
      });
    }
    return began;
  }

  it('is started every seven seconds across all replicas', async () => {
    const began = begin([0, 1, 2], 1);
    await pass(clock, 20_000);
    expect([...began.values()]).toEqual([0, 7, 14]);
  });

  it('is started seven seconds after the last one, even after a crash and restart of the process', async () => {
    const store = new MemoryStore();
    const began: number[] = [];
    const start = () => {
      const options = { info: async () => info(1), store, clock, logger, random: () => 0 };
      void mayIdentify(options, 0, new AbortController().signal).then(() => began.push(clock.monotonic() / 1_000));
    };
    start();
    await pass(clock, 3_000);
    store.reopen();
    start();
    await pass(clock, 20_000);
    expect(began).toEqual([0, 7]);
  });

  it('is not delayed by a clock that was set back', async () => {
    const store = new MemoryStore();
    const options = { info: async () => info(1), store, clock, logger, random: () => 0 };
    await mayIdentify(options, 0, new AbortController().signal);
    store.reopen();
    clock.step(-3_600_000);
    expect(await mayIdentify(options, 0, new AbortController().signal)).toBe(GATEWAY);
  });

  it('is started at once in another bucket', async () => {
    const began = begin([0, 1, 2, 3], 2);
    await pass(clock, 20_000);
    expect(Object.fromEntries(began)).toEqual({ 0: 0, 1: 0, 2: 7, 3: 7 });
  });

  it('waits while Discord’s session start limit is exhausted', async () => {
    remaining = 0;
    const began = begin([0], 1);
    await pass(clock, 59_000, 1_000);
    remaining = 1;
    expect(began.size).toBe(0);
    await pass(clock, 2_000);
    expect(began.size).toBe(1);
  });

  it('stops waiting once aborted', async () => {
    begin([0], 1);
    await pass(clock, 0);
    const unwanted = new AbortController();
    const options = { info: async () => info(1), store: other, clock, logger, random: () => 0 };
    const waiting = mayIdentify(options, 1, unwanted.signal);
    unwanted.abort();
    await expect(waiting).rejects.toThrow();
  });
});
