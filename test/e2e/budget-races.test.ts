import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openStore } from '#src/engine/store/open.ts';
import type { BudgetAmounts, Store, SumParts } from '#src/engine/store/store.ts';
import { ZERO_SUM } from '#src/engine/store/sums.ts';
import { acceptAndReset } from '../fakes/faults.ts';
import { startVideoService } from '../fakes/video-service.ts';
import { type Answer, answered, buttonOf, makeDir, type RunningDailies, startDailies } from './dailies.ts';
import { Replicas } from './replicas.ts';

const TIMEOUT = { timeout: 600_000 };
/** 8 seconds of the sandbox's default model. */
const ORDER = '/video create a red fox';
const PRICE = 400_000n;
const TEAM = 'team:playground:playground';

const silent = { logger: pino({ level: 'silent' }) };
const used = ({ held, settled, doubted }: SumParts): bigint => held + settled + doubted;
const isTaken = ({ status }: Answer): boolean => status === 202;

/** Sets the hard limit of a scope, as `/video budget` does; `null` removes it. */
async function limit(store: Store, scope: string, micros: bigint | null): Promise<void> {
  const value: (BudgetAmounts & { revision: number; soft: object }) | null =
    micros === null ? null : { revision: 1, hard: { USD: String(micros) }, soft: {} };
  await store.commit({ records: [{ namespace: 'budgets', key: scope, value, expected: 'any' }] });
}

/** Returns the sum of a scope over all months that a test can run in. */
async function sumOf(store: Store, scope: string): Promise<SumParts> {
  const sums = (await Array.fromAsync(store.contents.sums())).flat().filter(({ sum }) => sum.startsWith(`${scope}:20`));
  expect(sums.length).toBeLessThanOrEqual(1);
  return sums[0]?.parts ?? ZERO_SUM;
}

/** Orders concurrently, over the replicas in turn. */
function orderMany(replicas: readonly RunningDailies[], count: number, more: { user?: string; id?: string } = {}) {
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const replica = replicas[at % replicas.length];
      if (replica === undefined) throw new Error('there is no replica');
      return replica.interact(`${ORDER} ${at} --seconds 8`, more);
    }),
  );
}

describe('four replicas on Redis', () => {
  let house: Replicas;
  let replicas: readonly RunningDailies[];
  let first: RunningDailies;
  let store: Store;

  beforeEach(async () => {
    house = await Replicas.prepare();
    first = await house.start();
    replicas = [first, await house.start(), await house.start(), await house.start()];
    store = await openStore(house.redis.url, silent);
  });

  afterEach(async () => {
    await store.close();
    await house.remove();
  });

  test('buy exactly the 25 of 200 orders that fit into the team’s budget', TIMEOUT, async () => {
    await limit(store, TEAM, 10_000_000n);
    const answers = await orderMany(replicas, 200);
    expect(answers.filter(isTaken)).toHaveLength(25);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(175);
    for (const answer of answers.filter(isTaken)) await first.reaches(answered(answer), 'completed');
    expect(house.upstream.posts).toBe(25);
    expect((await Array.fromAsync(store.contents.records('tasks'))).flat()).toHaveLength(25);
    expect(await sumOf(store, TEAM)).toEqual({ ...ZERO_SUM, settled: 10_000_000n });
  });

  test('change no sum for an order that fits into one budget and not into another', TIMEOUT, async () => {
    const scopes = ['deployment', TEAM, 'channel:playground:playground:general', 'person:playground:playground:bob'];
    await first.reaches(answered(await first.interact(ORDER, { user: 'ana' })), 'completed');
    const before = await Promise.all(scopes.map((scope) => sumOf(store, scope)));
    await limit(store, TEAM, 1_000_000_000n);
    await limit(store, 'person:playground:playground:bob', PRICE - 1n);
    const answers = await orderMany(replicas, 20, { user: 'bob' });
    expect(answers.filter(isTaken)).toEqual([]);
    expect(await Promise.all(scopes.map((scope) => sumOf(store, scope)))).toEqual(before);
  });

  test('obey a limit that changes among 200 orders', TIMEOUT, async () => {
    const scope = 'person:playground:playground:cleo';
    await limit(store, scope, 4_000_000n);
    const first100 = orderMany(replicas, 100, { user: 'cleo' });
    await limit(store, scope, 2_000_000n);
    const atChange = used(await sumOf(store, scope));
    const answers = [...(await first100), ...(await orderMany(replicas, 40, { user: 'cleo' }))];
    const most = atChange > 2_000_000n ? atChange : 2_000_000n;
    expect(used(await sumOf(store, scope))).toBe(most);
    await limit(store, scope, 6_000_000n);
    answers.push(...(await orderMany(replicas, 60, { user: 'cleo' })));
    expect(answers.filter(isTaken)).toHaveLength(15);
    expect(used(await sumOf(store, scope))).toBe(6_000_000n);
  });

  test('hold the price of one interaction once, and that of one retry pressed everywhere', TIMEOUT, async () => {
    const scope = 'person:playground:playground:dora';
    await limit(store, scope, 2n * PRICE);
    const posts = house.upstream.posts;
    const messages = new Set((await orderMany(replicas, 50, { user: 'dora', id: 'i-dora' })).map(answered));
    expect(messages.size).toBe(1);
    const [message = ''] = messages;
    await first.reaches(message, 'completed');
    expect(used(await sumOf(store, scope))).toBe(PRICE);
    // It has the button once its clip was fetched as well.
    const retry = await vi.waitFor(async () => buttonOf(await first.message(message), 'retry'), TIMEOUT);
    await Promise.all(replicas.map((each) => each.press(message, retry, { user: 'dora' })));
    await expect.poll(() => house.upstream.posts - posts, TIMEOUT).toBe(2);
    await expect.poll(() => sumOf(store, scope), TIMEOUT).toEqual({ ...ZERO_SUM, settled: 2n * PRICE });
  });

  test('send one of two uncertain tasks again where the budget has room for one', TIMEOUT, async () => {
    const scope = 'person:playground:playground:eva';
    await limit(store, scope, 3n * PRICE);
    const { create } = house.upstream.handlers;
    house.upstream.handlers.create = acceptAndReset;
    const messages = (await orderMany(replicas, 2, { user: 'eva' })).map(answered);
    const shown = await Promise.all(messages.map((message) => first.reaches(message, 'uncertain')));
    expect(await sumOf(store, scope)).toEqual({ ...ZERO_SUM, doubted: 2n * PRICE });
    house.upstream.handlers.create = create;
    const posts = house.upstream.posts;
    await Promise.all(
      replicas.map((each, at) => {
        const message = shown[at % 2];
        if (message === undefined) throw new Error('there is no message');
        return each.press(message.id, buttonOf(message, 'again'), { user: 'eva' });
      }),
    );
    await expect.poll(() => sumOf(store, scope), TIMEOUT).toEqual({ ...ZERO_SUM, doubted: 2n * PRICE, settled: PRICE });
    expect(house.upstream.posts - posts).toBe(1);
  });
});

test('one process on SQLite buys exactly the 25 of 200 orders that fit into the team’s budget', TIMEOUT, async () => {
  const dir = await makeDir();
  const upstream = await startVideoService();
  const url = `sqlite:${join(dir.path, 'data/dailies.db')}`;
  const before = await openStore(url, silent);
  await limit(before, TEAM, 10_000_000n);
  await before.close();
  const dailies = await startDailies({ dir: dir.path, upstream });
  const answers = await orderMany([dailies], 200);
  expect(answers.filter(isTaken)).toHaveLength(25);
  for (const answer of answers.filter(isTaken)) await dailies.reaches(answered(answer), 'completed');
  expect(upstream.posts).toBe(25);
  await dailies.stop();
  const after = await openStore(url, silent);
  expect(await sumOf(after, TEAM)).toEqual({ ...ZERO_SUM, settled: 10_000_000n });
  await after.close();
  await upstream.close();
  await dir.remove();
});
