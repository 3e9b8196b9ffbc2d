/**
 * Cost of limits on spend: 1,000 orders of one team within one second, each compared with four budgets in its claim,
 * beside the same orders without budgets. Rounds alternate; only the claim is measured, nothing is sent.
 */
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { Store } from '#src/engine/store/store.ts';
import { limitsOn } from '#src/tasks/money.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { type Figure, report } from './figure.ts';
import { type House, inFolder, openHouse, orderOf, quantile } from './house.ts';

const ORDERS = 1_000;
const WITHIN_MS = 1_000;
/** Ten slow claims decide the p99 of one second, and a single slow flush delays that many: five rounds are too few. */
const ROUNDS = 20;
/** Largest factor of the p99 with limits to that without. */
const MOST = 1.1;

/** The control is another round without budgets: what it differs by is noise. */
const KINDS = ['without', 'with', 'control'] as const;

type ByKind = Record<(typeof KINDS)[number], number[]>;

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

async function measure(url: string, where: string): Promise<readonly Figure[]> {
  // Nothing listens there: the queue is never started.
  const house = await openHouse({ baseUrl: 'http://127.0.0.1:9', url });
  const p99s: ByKind = { with: [], without: [], control: [] };
  const cpuUs: ByKind = { with: [], without: [], control: [] };
  await round(house, 'warm up');
  for (let number = 0; number < ROUNDS * KINDS.length; number += 1) {
    // Each kind is as often first, second and third.
    const kind = KINDS[(number + Math.floor(number / KINDS.length)) % KINDS.length] ?? 'control';
    await setBudgets(house.store, { areSet: kind === 'with' });
    const before = process.cpuUsage();
    p99s[kind].push(quantile(await round(house, `${number}`), 0.99));
    const { user, system } = process.cpuUsage(before);
    cpuUs[kind].push((user + system) / ORDERS);
  }
  await house.close();
  const median = (values: readonly number[]) => quantile(values, 0.5);
  const [limited, free] = [median(p99s.with), median(p99s.without)];
  return [
    {
      what: `claim of one of ${ORDERS} orders a second under four budgets on ${where}, p99`,
      measured: `${limited.toFixed(2)} ms (${moreThan(limited, free)})`,
      target: `at most ${((MOST - 1) * 100).toFixed(0)} % more than without`,
      isMet: limited <= free * MOST,
      remark: `${spread(p99s.with)} ms; without ${spread(p99s.without)}; without once more ${spread(p99s.control)}, which is noise (${moreThan(median(p99s.control), free)})`,
    },
    {
      what: `processor time of one such claim on ${where}`,
      measured: `${median(cpuUs.with).toFixed(0)} µs (${moreThan(median(cpuUs.with), median(cpuUs.without))})`,
      target: '',
      isMet: null,
      remark: `of this process; ${spread(cpuUs.with)} µs; without ${spread(cpuUs.without)}; once more ${spread(cpuUs.control)}`,
    },
  ];
}

/** Returns the median and the middle half of values. */
function spread(values: readonly number[]): string {
  const [low = '', middle = '', high = ''] = [0.25, 0.5, 0.75].map((share) => quantile(values, share).toFixed(1));
  return `${middle} (${low} to ${high})`;
}

function moreThan(value: number, base: number): string {
  return `${((value / base - 1) * 100).toFixed(0)} %`;
}

await inFolder(async (folder) => {
  const redis = await RedisServer.start();
  const sqlite = await measure(`sqlite:${join(folder, 'store.db')}`, 'SQLite');
  const figures = [...sqlite, ...(await measure(redis.url, 'Redis'))];
  await redis.remove();
  report(figures);
});
