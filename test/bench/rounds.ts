import { setTimeout as after } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { type HouseOptions, openHouse } from './house.ts';

/** How many polls are under way at once, bare or ours. */
export const AT_ONCE = 32;
const ROUND_MS = 3_000;
const WARM_UP_MS = 500;

/** Polls per second of a bare undici loop over so many tasks. */
export async function bareRound(baseUrl: string, tasks: number): Promise<number> {
  const agent = new Agent({ connections: AT_ONCE });
  const headers = { authorization: 'Bearer sk-bench' };
  const endsAt = performance.now() + ROUND_MS;
  let polls = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const answer = await request(`${baseUrl}/v1/videos/task-${polls % tasks}`, { headers, dispatcher: agent });
      await answer.body.json();
      polls += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  await agent.destroy();
  return polls / (ROUND_MS / 1_000);
}

/** What one round of Dailies came to. */
export interface HouseRound {
  /** Polls per second. */
  readonly rate: number;
  readonly polls: number;
}

/**
 * Polls of Dailies, as fast as it goes, on a store with open tasks.
 * @param measured called when what is counted begins, and when it has ended.
 */
export async function houseRound(
  at: HouseOptions,
  measured: () => Promise<void> = async () => {},
): Promise<HouseRound> {
  const house = await openHouse(at);
  house.start();
  await house.tasks.resume();
  await after(WARM_UP_MS);
  await measured();
  const before = house.polls();
  const startedAt = performance.now();
  await after(ROUND_MS);
  const polls = house.polls() - before;
  const rate = polls / ((performance.now() - startedAt) / 1_000);
  await measured();
  await house.close();
  return { rate, polls };
}
