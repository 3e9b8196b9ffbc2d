/**
 * Cost of limits on spend: 1,000 orders of one team within one second, each compared with four budgets in its claim,
 * beside the same orders without budgets. Rounds alternate; only the claim is measured, nothing is sent.
 */
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { Store } from '#src/store/store.ts';
import { limitsOn } from '#src/tasks/money.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { type Figure, report } from './figure.ts';
import { type House, inFolder, openHouse, orderOf, quantile } from './house.ts';

const ORDERS = 1_000;
const WITHIN_MS = 1_000;
const PAIRS = 5;
/** Largest factor of the p99 with limits to that without. */
const MOST = 1.1;

/** Sets the budgets of the deployment, the team, the channel and the person, or deletes them. */
async function setBudgets(store: Store, { areSet }: { readonly areSet: boolean }): Promise<void> {
  const value = areSet ? { revision: 1, hard: { USD: '1000000000000' }, soft: {} } : null;
  const { origin, price } = orderOf('');
  const limits = limitsOn(origin, { ...price, period: '2026-11', atMs: 0 });
  const keys = limits.flatMap(({ budgets }) => budgets.slice(0, 1));
  await store.commit({
    records: keys.map((key) => ({ namespace: 'budgets', key, value, expected: 'any' })),
  });
}

/** Orders evenly over one second. @returns the time from when each was due until it was claimed, in ms. */
async function round({ tasks }: House, name: string): Promise<readonly number[]> {
  const startedAt = performance.now();
  const claims: Promise<number>[] = [];
  while (claims.length < ORDERS) {
    const passedMs = performance.now() - startedAt;
    for (const due = Math.min(ORDERS, (passedMs * ORDERS) / WITHIN_MS); claims.length < due; ) {
      const dueAt = startedAt + (claims.length * WITHIN_MS) / ORDERS;
      const key = `${name}:${claims.length}`;
      claims.push(
        tasks.submit(orderOf(key)).then((submission) => {
          if (!submission.ok) throw new Error(`order ${key} was refused`);
          return performance.now() - dueAt;
        }),
      );
    }
    await after(1);
  }
  return Promise.all(claims);
}

async function measure(url: string, where: string): Promise<Figure> {
  // Nothing listens there: the queue is never started.
  const house = await openHouse({ baseUrl: 'http://127.0.0.1:9', url });
  const p99s: Record<'with' | 'without', number[]> = { with: [], without: [] };
  await round(house, 'warm up');
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const kinds = ['without', 'with'] as const;
    for (const kind of pair % 2 === 0 ? kinds : kinds.toReversed()) {
      await setBudgets(house.store, { areSet: kind === 'with' });
      p99s[kind].push(quantile(await round(house, `${pair} ${kind}`), 0.99));
    }
  }
  await house.close();
  const [limited, free] = [quantile(p99s.with, 0.5), quantile(p99s.without, 0.5)];
  const list = (times: readonly number[]) => times.map((ms) => ms.toFixed(1)).join(', ');
  return {
    what: `claim of one of ${ORDERS} orders a second under four budgets on ${where}, p99`,
    measured: `${limited.toFixed(2)} ms (${((limited / free - 1) * 100).toFixed(0)} %)`,
    target: `at most ${((MOST - 1) * 100).toFixed(0)} % more than without`,
    isMet: limited <= free * MOST,
    remark: `without ${free.toFixed(2)} ms; medians of ${PAIRS} pairs: with ${list(p99s.with)}, without ${list(p99s.without)}`,
  };
}

await inFolder(async (folder) => {
  const redis = await RedisServer.start();
  const figures = [await measure(`sqlite:${join(folder, 'store.db')}`, 'SQLite'), await measure(redis.url, 'Redis')];
  await redis.remove();
  report(figures);
});
