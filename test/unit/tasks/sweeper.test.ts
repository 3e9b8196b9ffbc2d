import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createInProcessQueue } from '#src/tasks/in-process-queue.ts';
import type { StepKind } from '#src/tasks/queue.ts';
import { createRecorder } from '#src/tasks/recorder.ts';
import { createSweeper } from '#src/tasks/sweeper.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { pass } from '#test/fakes/settle.ts';
import { EVENTS, NOON_MS, newTask } from '#test/fakes/tasks.ts';

const PACE = { firstMs: 5_000, minMs: 5_000, maxMs: 30_000, deadlineMs: 1_800_000 };

/** A sweeper beside a queue that knows nothing of what is in the store. */
function forgetful() {
  const [store, clock] = [new MemoryStore(), new ManualClock(NOON_MS)];
  const logger = pino({ level: 'silent' });
  const queue = createInProcessQueue({
    clock,
    logger,
    concurrency: { send: 8, poll: 8, fetch: 8, deliver: 8, notify: 8 },
  });
  const stepped: string[] = [];
  const noted = (kind: StepKind) => async (id: string) => {
    stepped.push(`${kind} ${id}`);
    return null;
  };
  queue.start({
    send: noted('send'),
    poll: noted('poll'),
    fetch: noted('fetch'),
    deliver: noted('deliver'),
    notify: noted('notify'),
  });
  const lost: string[] = [];
  const found = (lane: string, count: number): void => void lost.push(`${lane} ${count}`);
  const sweeper = createSweeper({ store, queue, clock, pace: PACE, logger, found });
  return { store, clock, queue, stepped, lost, sweeper, recorder: createRecorder(store, []) };
}

describe('a sweep', () => {
  it('has stepped what the queue forgot, in the lane it belongs in, and says how much that was', async () => {
    const { clock, stepped, lost, sweeper, recorder } = forgetful();
    const claimed = newTask({ id: 'claimed' as never });
    const polling = newTask({ id: 'polling' as never });
    const failed = newTask({ id: 'failed' as never });
    for (const task of [claimed, polling, failed]) await recorder.claim(task);
    for (const { id } of [polling, failed]) {
      await recorder.record(id, EVENTS.send);
      await recorder.record(id, EVENTS.accepted);
    }
    await recorder.record(failed.id, { ...EVENTS.failed, atMs: NOON_MS });
    sweeper.start();
    await pass(clock, 25_000);
    expect(stepped.toSorted()).toEqual(['deliver failed', 'poll polling', 'send claimed']);
    expect(lost.toSorted()).toEqual(['deliver:fake 1', 'poll 1', 'send 1']);
  });

  it('leaves alone what is planned', async () => {
    const { clock, queue, stepped, lost, sweeper, recorder } = forgetful();
    await recorder.claim(newTask());
    queue.schedule('send', newTask().id, NOON_MS + 300_000);
    sweeper.start();
    await pass(clock, 299_000, 1_000);
    expect(stepped).toEqual([]);
    expect(lost).toEqual([]);
  });

  it('finds what seems to be of the future, since its maker had another clock, and does not count it', async () => {
    const { clock, stepped, lost, sweeper, recorder } = forgetful();
    await recorder.claim(newTask({ createdAtMs: NOON_MS + 3_600_000 }));
    sweeper.start();
    await pass(clock, 20_000, 1_000);
    expect(stepped).toEqual([`send ${newTask().id}`]);
    expect(lost).toEqual([]);
  });

  it('finds what was planned for a time that only a wrong clock can have meant', async () => {
    const { clock, queue, stepped, sweeper, recorder } = forgetful();
    await recorder.claim(newTask());
    queue.schedule('send', newTask().id, NOON_MS + 3_600_000);
    sweeper.start();
    await pass(clock, 20_000, 1_000);
    expect(stepped).toEqual([`send ${newTask().id}`]);
  });
});
