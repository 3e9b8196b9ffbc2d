import { setTimeout as after } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { type HouseOptions, openHouse } from './house.ts';

/** Number of concurrent polls, bare or with Dailies. */
export const AT_ONCE = 32;
const ROUND_MS = 3_000;
const WARM_UP_MS = 500;

/** Measures the polls per second of a bare undici loop over that many tasks. */
export async function bareRound(baseUrl: string, tasks: number): Promise<number> {
  const agent = new Agent({ connections: AT_ONCE });
  const headers = { authorization: 'Bearer sk-bench' };
  const endsAt = performance.now() + ROUND_MS;
  let polls = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const answer = await request(`${baseUrl}/v1/videos/task-${polls % tasks}`, { headers, dispatcher: agent });
      await answer.body.json();
      polls += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await agent.destroy();
  return polls / (ROUND_MS / 1_000);
}

/** Result of one round of Dailies. */
export interface HouseRound {
  /** Polls per second. */
  readonly rate: number;
  readonly polls: number;
}

/**
 * Measures the polls of Dailies at full speed on a store with open tasks.
 * @param measured called when the measurement begins, and when it has ended.
 */
export async function houseRound(
  at: HouseOptions,
  measured: () => Promise<void> = async () => {},
): Promise<HouseRound> {
  const pipeline = await openHouse(at);
  pipeline.start();
  await pipeline.tasks.resume();
  await after(WARM_UP_MS);
  await measured();
  const before = pipeline.polls();
  const startedAt = performance.now();
  await after(ROUND_MS);
  const polls = pipeline.polls() - before;
  const rate = polls / ((performance.now() - startedAt) / 1_000);
  await measured();
  await pipeline.close();
  return { rate, polls };
}
