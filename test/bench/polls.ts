/** Polls per second with 20,000 tasks in flight, beside a bare undici loop of the same concurrency. */

import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { report } from './figure.ts';
import { fillWithOpenTasks, inFolder, openHouse, quantile, startUpstream } from './house.ts';

const TASKS = 20_000;
const AT_ONCE = 32;
const ROUND_MS = 3_000;
const WARM_UP_MS = 500;
const ROUNDS = 3;

const upstream = await startUpstream();

/** Polls of a bare loop in one round, per second. */
async function bareRound(): Promise<number> {
  const agent = new Agent({ connections: AT_ONCE });
  const headers = { authorization: 'Bearer sk-bench' };
  const endsAt = performance.now() + ROUND_MS;
  let polls = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const answer = await request(`${upstream.baseUrl}/v1/videos/task-${polls % TASKS}`, {
        headers,
        dispatcher: agent,
      });
      await answer.body.json();
      polls += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  await agent.destroy();
  return polls / (ROUND_MS / 1_000);
}

/** Polls of Dailies in one round, per second. */
async function ourRound(file: string): Promise<number> {
  const house = await openHouse({ baseUrl: upstream.baseUrl, file });
  house.start();
  await house.tasks.resume();
  await after(WARM_UP_MS);
  const before = house.polls();
  const startedAt = performance.now();
  await after(ROUND_MS);
  const rate = (house.polls() - before) / ((performance.now() - startedAt) / 1_000);
  await house.close();
  return rate;
}

await inFolder(async (folder) => {
  const file = join(folder, 'store.db');
  await fillWithOpenTasks(file, TASKS);
  const [ratios, rates, bares]: [number[], number[], number[]] = [[], [], []];
  await bareRound();
  // One after the other, several times: the machine's speed drifts.
  for (let round = 0; round < ROUNDS; round += 1) {
    const bare = await bareRound();
    const rate = await ourRound(file);
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
