import { expect, test } from 'vitest';
import { type AskedAgain, insist } from './people.ts';

/** Asks again with these outcomes, of which the last one repeats, a second each. @returns the number of times. */
async function timesAsked(withinMs: number, ...outcomes: readonly AskedAgain[]): Promise<number> {
  let nowMs = 0;
  let times = 0;
  const askAgain = async (): Promise<AskedAgain> => {
    const outcome = outcomes[Math.min(times, outcomes.length - 1)];
    times += 1;
    return outcome ?? { unanswered: 0, wasHeard: true };
  };
  const pause = async (): Promise<void> => {
    nowMs += 1_000;
  };
  await insist(askAgain, { withinMs, nowMs: () => nowMs, pause });
  return times;
}

const DOWN: AskedAgain = { unanswered: 2, wasHeard: false };
const TURNED_AWAY: AskedAgain = { unanswered: 2, wasHeard: true };

test('users repeat an order while every replica is down, until one answers it', async () => {
  const down = Array.from({ length: 50 }, () => DOWN);
  expect(await timesAsked(75_000, ...down, TURNED_AWAY, { unanswered: 0, wasHeard: true })).toBe(52);
});

test('users give up an order that replicas keep turning away, or that none of them responds to', async () => {
  expect(await timesAsked(75_000, TURNED_AWAY)).toBe(20);
  expect(await timesAsked(75_000, DOWN)).toBe(75);
});
