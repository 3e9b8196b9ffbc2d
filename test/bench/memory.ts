/** Memory per task in flight with 100,000 tasks, each scheduled and polled at least once. */

import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { report } from './figure.ts';
import { fillWithOpenTasks, inFolder, openHouse, startUpstream } from './house.ts';

const TASKS = 100_000;
const MOST_BYTES = 4 * 1024;
const LOOK_MS = 200;

const upstream = await startUpstream();

/** Returns the memory in use after garbage collection: the heap with external buffers, and the resident set. */
function usedBytes(): { readonly heap: number; readonly resident: number } {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
  return { heap: heapUsed + external + arrayBuffers, resident: rss };
}

await inFolder(async (folder) => {
  const url = `sqlite:${join(folder, 'store.db')}`;
  await fillWithOpenTasks(url, TASKS);
  const pipeline = await openHouse({ baseUrl: upstream.baseUrl, url, pollEveryMs: 20_000 });
  pipeline.start();
  const before = usedBytes();
  await pipeline.tasks.resume();
  while (pipeline.polls() < TASKS) await after(LOOK_MS);
  const now = usedBytes();
  const perTask = (now.heap - before.heap) / TASKS;
  const resident = (now.resident - before.resident) / TASKS;
  await pipeline.close();
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
