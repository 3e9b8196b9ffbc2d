import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { DurationEstimates, durationOf } from '#src/tasks/duration-estimates.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { EVENTS, lived, NOON_MS, newTask, waitingTask } from '#test/fakes/tasks.ts';

const load = (store: MemoryStore) => DurationEstimates.load(store, pino({ level: 'silent' }));

describe('the estimated duration of clips', () => {
  it('is null before three clips are finished', async () => {
    const waits = await load(new MemoryStore());
    expect(waits.usual('swift-1')).toBeNull();
    await waits.learn('swift-1', 100);
    await waits.learn('swift-1', 200);
    expect(waits.usual('swift-1')).toBeNull();
    await waits.learn('swift-1', 300);
    expect(waits.usual('swift-1')).toEqual({ fromMs: 200, toMs: 300 });
    expect(waits.usual('epic-pro')).toBeNull();
  });

  it('is the interquartile range, without outliers', async () => {
    const waits = await load(new MemoryStore());
    for (const durationMs of [7_200_000, 100, 110, 120, 130, 140, 150, 160, 1])
      await waits.learn('swift-1', durationMs);
    expect(waits.usual('swift-1')).toEqual({ fromMs: 110, toMs: 150 });
  });

  it('is based on the latest forty, and kept across a restart', async () => {
    const store = new MemoryStore();
    const waits = await load(store);
    for (let at = 0; at < 60; at += 1) await waits.learn('swift-1', 1_000_000);
    for (let at = 0; at < 40; at += 1) await waits.learn('swift-1', 5);
    await waits.learn('epic-pro', 7);
    const again = await load(store);
    expect(again.usual('swift-1')).toEqual({ fromMs: 5, toMs: 5 });
    expect(again.usual('epic-pro')).toBeNull();
  });
});

describe('several processes', () => {
  it('share their clips’ durations, and lose none of a burst', async () => {
    const store = new MemoryStore();
    const [ours, theirs] = [await load(store), await load(store)];
    await Promise.all([ours.learn('swift-1', 1), ours.learn('swift-1', 1)]);
    await theirs.learn('swift-1', 1);
    expect(theirs.usual('swift-1')).toEqual({ fromMs: 1, toMs: 1 });
  });
});

describe('the duration of a task', () => {
  const { send, accepted, completed, failed, cancel, lost, resubmit, identify } = EVENTS;

  it('is the time for which the service made it', () => {
    expect(durationOf(lived(newTask(), send, accepted, completed))).toBe(119_000);
  });

  it.each([
    ['is not finished', [send, accepted]],
    ['failed', [send, accepted, failed]],
    ['was cancelled', [send, accepted, cancel, completed]],
    ['was sent again', [send, lost, resubmit, send, accepted, completed]],
    ['waited for a user', [send, lost, { ...identify, atMs: NOON_MS + 90_000 }, completed]],
  ] as const)('is null when it %s', (_name, events) => {
    expect(durationOf(lived(newTask(), ...events))).toBeNull();
  });

  it('does not count the time before its acceptance, and the time for which the service had it queued', () => {
    const late = { ...accepted, atMs: NOON_MS + 60_001 };
    expect(durationOf(lived(newTask(), send, late, completed))).toBe(completed.atMs - late.atMs);
    const queued = { ...completed, queuedAtMs: completed.atMs - 4_000 };
    expect(durationOf(lived(newTask(), send, accepted, queued))).toBe(4_000);
    const framed = { kind: 'framed', of: newTask().id, url: 'https://dailies.example/media/frame-a' } as const;
    expect(durationOf(lived(waitingTask(), framed, send, late, queued))).toBe(4_000);
  });
});
