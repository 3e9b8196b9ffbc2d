/** Creates per second, and what Dailies adds to one create: claim, lease and answer stored, each on disk. */
import { join } from 'node:path';
import { Agent, request } from 'undici';
import type { TaskObserver } from '#src/tasks/recorder.ts';
import { report } from './figure.ts';
import { type House, inFolder, openHouse, orderOf, quantile, startUpstream } from './house.ts';

const SINGLE = 500;
const MANY = 4_000;
const AT_ONCE = 8;

const upstream = await startUpstream();
const agent = new Agent({ allowH2: false, pipelining: 0 });
const body = JSON.stringify({ model: 'swift-1', prompt: orderOf('').request.prompt, duration: 4, video_duration: 4 });

async function bareCreate(): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-bench' };
  const answer = await request(`${upstream.baseUrl}/v1/videos`, { method: 'POST', body, headers, dispatcher: agent });
  await answer.body.json();
}

async function timesOf(count: number, one: (number: number) => Promise<void>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let number = 0; number < count; number += 1) {
    const startedAt = performance.now();
    await one(number);
    times.push(performance.now() - startedAt);
  }
  return times;
}

async function rateOf(count: number, all: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await all();
  return count / ((performance.now() - startedAt) / 1_000);
}

/** `count` bare creates, {@link AT_ONCE} at a time. */
async function bareMany(count: number): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await bareCreate();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Tells when orders have an id at the service. */
class Acceptances implements TaskObserver {
  #waiting: { left: number; readonly done: () => void } | null = null;

  changed: TaskObserver['changed'] = (_task, event) => {
    if (event !== 'accepted' || this.#waiting === null) return;
    this.#waiting.left -= 1;
    if (this.#waiting.left === 0) this.#waiting.done();
  };

  next(count: number): Promise<void> {
    return new Promise((done) => {
      this.#waiting = { left: count, done };
    });
  }
}

await inFolder(async (folder) => {
  const accepted = new Acceptances();
  const house: House = await openHouse({
    baseUrl: upstream.baseUrl,
    file: join(folder, 'store.db'),
    observer: accepted,
  });
  house.start();
  const create = async (key: string): Promise<void> => {
    const done = accepted.next(1);
    await house.tasks.submit(orderOf(key));
    await done;
  };
  await timesOf(100, (number) => create(`warm:${number}`));
  await timesOf(100, bareCreate);
  const bare = await timesOf(SINGLE, bareCreate);
  const ours = await timesOf(SINGLE, (number) => create(`single:${number}`));
  const addedMs = quantile(ours, 0.5) - quantile(bare, 0.5);
  const bareRate = await rateOf(MANY, () => bareMany(MANY));
  const rate = await rateOf(MANY, async () => {
    const done = accepted.next(MANY);
    await Promise.all(Array.from({ length: MANY }, (_, number) => house.tasks.submit(orderOf(`many:${number}`))));
    await done;
  });
  await house.close();
  report([
    {
      what: 'added to one create, median',
      measured: `${addedMs.toFixed(2)} ms`,
      target: 'at most 2 ms',
      isMet: addedMs <= 2,
      remark: `bare undici POST ${quantile(bare, 0.5).toFixed(2)} ms, with Dailies ${quantile(ours, 0.5).toFixed(2)} ms; three commits to disk`,
    },
    {
      what: `creates, ${AT_ONCE} at a time`,
      measured: `${Math.round(rate)}/s`,
      target: '',
      isMet: null,
      remark: `bare undici loop ${Math.round(bareRate)}/s`,
    },
  ]);
});
await agent.destroy();
upstream.stop();
