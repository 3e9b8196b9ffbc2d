import { expect, it } from 'vitest';
import { createInteractivePriority } from '#src/pipeline/priority.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { deferred, settle } from '#test/fakes/settle.ts';

const signal = new AbortController().signal;

/** A priority, a yielding job, and its runs. */
function scene() {
  const clock = new ManualClock(0);
  const interactivePriority = createInteractivePriority(clock);
  const begun: string[] = [];
  const step = interactivePriority.after(async (id) => {
    begun.push(id);
    return null;
  });
  return { clock, interactivePriority, begun, step };
}

it('starts at once while no interaction is in flight', async () => {
  const { begun, step } = scene();
  await step('a', signal);
  expect(begun).toEqual(['a']);
});

it('yields until the last interaction has ended', async () => {
  const { interactivePriority, begun, step, clock } = scene();
  const [one, other] = [deferred<void>(), deferred<void>()];
  const answers = [interactivePriority.during(() => one.promise), interactivePriority.during(() => other.promise)];
  const stepped = step('a', signal);
  one.resolve();
  await answers[0];
  await settle();
  expect(begun).toEqual([]);
  other.resolve();
  await stepped;
  expect(begun).toEqual(['a']);
  expect(clock.pending).toBe(0);
});

it('starts after 100 ms under any load', async () => {
  const { interactivePriority, begun, step, clock } = scene();
  const never = deferred<void>();
  void interactivePriority.during(() => never.promise);
  const stepped = step('a', signal);
  clock.advance(99);
  await settle();
  expect(begun).toEqual([]);
  clock.advance(1);
  await stepped;
  expect(begun).toEqual(['a']);
});

it('no longer counts an interaction that failed', async () => {
  const { interactivePriority, begun, step } = scene();
  await expect(interactivePriority.during(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await step('a', signal);
  expect(begun).toEqual(['a']);
});
