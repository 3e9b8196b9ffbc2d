import { Agent, request } from 'undici';
import type { TaskObserver } from '#src/pipeline/repository.ts';
import { type HouseOptions, openHouse, orderOf, quantile } from './house.ts';

const WARM_UP = 100;
const SINGLE = 500;
const MANY = 2_000;
/** Number of concurrent bare creates, the same as the concurrency limit of Dailies. */
export const AT_ONCE = 8;

/** Cost of creates, bare and with Dailies. */
export interface CreateCosts {
  /** Median duration of consecutive creates in ms. */
  readonly bareMs: number;
  readonly oursMs: number;
  /** Rate of concurrent creates, {@link AT_ONCE} at a time, per second. */
  readonly bareRate: number;
  readonly ourRate: number;
}

/** Measures creates on a store, beside bare ones in the same run. */
export async function measureCreates(at: HouseOptions): Promise<CreateCosts> {
  const bare = new BareCreates(at.baseUrl);
  const accepted = new Acceptances();
  const pipeline = await openHouse({ ...at, observer: accepted });
  pipeline.start();
  const create = async (key: string): Promise<void> => {
    const done = accepted.next(1);
    await pipeline.tasks.submit(orderOf(key));
    await done;
  };
  await timesOf(WARM_UP, (number) => create(`warm:${number}`));
  await timesOf(WARM_UP, () => bare.one());
  const bareTimes = await timesOf(SINGLE, () => bare.one());
  const ourTimes = await timesOf(SINGLE, (number) => create(`single:${number}`));
  const bareRate = await rateOf(MANY, () => bare.many(MANY));
  const ourRate = await rateOf(MANY, async () => {
    const done = accepted.next(MANY);
    await Promise.all(Array.from({ length: MANY }, (_, number) => pipeline.tasks.submit(orderOf(`many:${number}`))));
    await done;
  });
  await pipeline.close();
  await bare.close();
  return { bareMs: quantile(bareTimes, 0.5), oursMs: quantile(ourTimes, 0.5), bareRate, ourRate };
}

class BareCreates {
  readonly #agent = new Agent({ allowH2: false, pipelining: 0 });
  readonly #url: string;
  readonly #body: string;

  constructor(baseUrl: string) {
    this.#url = `${baseUrl}/v1/videos`;
    const { prompt } = orderOf('').request;
    this.#body = JSON.stringify({ model: 'swift-1', prompt, duration: 4, video_duration: 4 });
  }

  async one(): Promise<void> {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-bench' };
    const sent = { method: 'POST', body: this.#body, headers, dispatcher: this.#agent } as const;
    await (await request(this.#url, sent)).body.json();
  }

  async many(count: number): Promise<void> {
    let left = count;
    const worker = async (): Promise<void> => {
      while (left-- > 0) await this.one();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
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

/** Observer that notices when a number of orders have been accepted by the service. */
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
