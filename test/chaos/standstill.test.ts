import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchStandstill } from './standstill.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('a run that only takes long counts', () => {
  const end = watchStandstill();
  vi.advanceTimersByTime(180_000);
  expect(end).not.toThrow();
});

test('a run does not count if the machine stood still in its course', () => {
  const end = watchStandstill();
  vi.advanceTimersByTime(5_000);
  vi.setSystemTime(Date.now() + 35 * 60_000);
  vi.advanceTimersByTime(5_000);
  expect(end).toThrow('the machine stood still for 2101 s, so the run does not count');
});

test('a run does not count if the machine stood still at its end', () => {
  const end = watchStandstill();
  const read = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 11_000);
  expect(end).toThrow('the machine stood still for 11 s');
  read.mockRestore();
});
