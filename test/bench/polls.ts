/** Polls per second with 20,000 tasks in flight, beside a bare undici loop of the same concurrency. */

import { join } from 'node:path';
import { report } from './figure.ts';
import { fillWithOpenTasks, inFolder, quantile, startUpstream } from './house.ts';
import { AT_ONCE, bareRound, houseRound } from './rounds.ts';

const TASKS = 20_000;
const ROUNDS = 3;

const upstream = await startUpstream();

await inFolder(async (folder) => {
  const url = `sqlite:${join(folder, 'store.db')}`;
  await fillWithOpenTasks(url, TASKS);
  const [ratios, rates, bares]: [number[], number[], number[]] = [[], [], []];
  await bareRound(upstream.baseUrl, TASKS);
  // Alternates several times, since the machine's speed drifts.
  for (let round = 0; round < ROUNDS; round += 1) {
    const bare = await bareRound(upstream.baseUrl, TASKS);
    const rate = (await houseRound({ baseUrl: upstream.baseUrl, url })).rate;
    bares.push(bare);
    rates.push(rate);
    ratios.push(rate / bare);
  }
  const ratio = quantile(ratios, 0.5);
  report([
    {
      what: `polls with ${TASKS.toLocaleString('en')} tasks in flight`,
      measured: `${Math.round(quantile(rates, 0.5))}/s (${ratio.toFixed(2)} of bare)`,
      target: 'at least 0.8 of bare',
      isMet: ratio >= 0.8,
      remark: `bare undici loop ${Math.round(quantile(bares, 0.5))}/s; ${AT_ONCE} at once, median of ${ROUNDS} rounds in turn`,
    },
  ]);
});
upstream.stop();
