/** Memory of one task in flight, at 100,000 of them, each planned and polled at least once. */

import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { report } from './figure.ts';
import { fillWithOpenTasks, inFolder, openHouse, startUpstream } from './house.ts';

const TASKS = 100_000;
const MOST_BYTES = 4 * 1024;
const LOOK_MS = 200;

const upstream = await startUpstream();

/** What is used after everything unreachable is gone: the heap, and what lies outside of it. */
function usedBytes(): { readonly heap: number; readonly resident: number } {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
  return { heap: heapUsed + external + arrayBuffers, resident: rss };
}

await inFolder(async (folder) => {
  const url = `sqlite:${join(folder, 'store.db')}`;
  await fillWithOpenTasks(url, TASKS);
  const house = await openHouse({ baseUrl: upstream.baseUrl, url, pollEveryMs: 20_000 });
  house.start();
  const before = usedBytes();
  await house.tasks.resume();
  while (house.polls() < TASKS) await after(LOOK_MS);
  const now = usedBytes();
  const perTask = (now.heap - before.heap) / TASKS;
  const resident = (now.resident - before.resident) / TASKS;
  await house.close();
  report([
    {
      what: `memory of one task in flight, at ${TASKS.toLocaleString('en')}`,
      measured: `${(Math.max(perTask, resident) / 1024).toFixed(2)} KB`,
      target: 'at most 4 KB',
      isMet: Math.max(perTask, resident) <= MOST_BYTES,
      remark: `heap and buffers ${(perTask / 1024).toFixed(2)} KB, resident ${(resident / 1024).toFixed(2)} KB, after each was polled once; the larger counts`,
    },
  ]);
});
upstream.stop();
