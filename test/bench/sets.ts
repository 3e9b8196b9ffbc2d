/**
 * Cost of a set of 12 in the store: its claim, one commit with 12 tasks, beside the claim of one task. The two alternate;
 * only the claim is measured, nothing is sent.
 */
import { join } from 'node:path';
import type { Order } from '#src/pipeline/order.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import { type Figure, report } from './figure.ts';
import { inFolder, openHouse, orderOf, quantile } from './house.ts';

const SIZE = 12;
const ROUNDS = 300;
const WARM_UP = 50;
/** Largest factor of the cost of a set to that of one task. */
const MOST = 4;

function setOf(key: string): Order {
  const order = orderOf(key);
  return { ...order, set: { kind: 'takes', more: Array.from({ length: SIZE - 1 }, () => order) } };
}

async function measure(url: string, where: string): Promise<Figure> {
  // Nothing listens there: the queue is never started.
  const house = await openHouse({ baseUrl: 'http://127.0.0.1:9', url });
  const took = async (order: Order): Promise<number> => {
    const startedAt = performance.now();
    const placed = await house.tasks.submit(order);
    if (!placed.ok) throw new Error(`order ${order.key} was refused`);
    return performance.now() - startedAt;
  };
  const [one, set]: [number[], number[]] = [[], []];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const times = [await took(orderOf(`one:${round}`)), await took(setOf(`set:${round}`))] as const;
    if (round < WARM_UP) continue;
    one.push(times[0]);
    set.push(times[1]);
  }
  await house.close();
  const [oneMs, setMs] = [quantile(one, 0.5), quantile(set, 0.5)];
  return {
    what: `claim of a set of ${SIZE} on ${where}, median`,
    measured: `${setMs.toFixed(2)} ms (${(setMs / oneMs).toFixed(1)} × one)`,
    target: `at most ${MOST} × one`,
    isMet: setMs <= MOST * oneMs,
    remark: `one task ${oneMs.toFixed(2)} ms; p95 ${quantile(set, 0.95).toFixed(2)} ms, one ${quantile(one, 0.95).toFixed(2)} ms`,
  };
}

await inFolder(async (folder) => {
  const redis = await RedisServer.start();
  const figures = [await measure(`sqlite:${join(folder, 'store.db')}`, 'SQLite'), await measure(redis.url, 'Redis')];
  await redis.remove();
  report(figures);
});
