import { pino } from 'pino';
import { expect, it } from 'vitest';
import { MemoryQueue } from '#src/engine/queue/memory/queue.ts';
import type { JobHandler, WorkQueue } from '#src/engine/queue/queue.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { pass, settle } from '#test/fakes/settle.ts';

const clock = new ManualClock(Date.UTC(2026, 10, 22));
const logger = pino({ level: 'silent' });
const store = new MemoryStore();

/** The queue of a process, with its runs by job kind. */
async function started(): Promise<{ readonly queue: WorkQueue; readonly begun: string[] }> {
  const begun: string[] = [];
  const noted =
    (kind: string): JobHandler =>
    async (id) => {
      begun.push(`${kind} ${id}`);
      return null;
    };
  const concurrency = { send: 1, poll: 1, fetch: 1, deliver: 1, notify: 1, join: 1, frame: 1 };
  const queue = new MemoryQueue({ clock, logger, concurrency, store });
  await queue.restorePauses();
  queue.start({
    send: noted('send'),
    poll: noted('poll'),
    fetch: noted('fetch'),
    deliver: noted('deliver'),
    notify: noted('notify'),
    join: noted('join'),
    frame: noted('frame'),
  });
  return { queue, begun };
}

it('pauses no longer than the service asked for, although the clock was an hour ahead at that time', async () => {
  clock.step(3_600_000);
  const first = await started();
  first.queue.pause('poll', 3_000);
  await settle();
  await first.queue.drain();
  clock.step(-3_600_000);

  const second = await started();
  second.queue.schedule('poll', 'a', clock.now());
  await pass(clock, 3_000);
  expect(second.begun).toEqual(['poll a']);
});

it('pauses after a restart for as long as the service asked for before it', async () => {
  const first = await started();
  first.queue.pause('send', 40_000);
  // A shorter pause does not override it.
  first.queue.pause('send', 5_000);
  await settle();
  expect(first.queue.names).toContain('send');
  await first.queue.drain();
  clock.advance(2_000);

  const second = await started();
  second.queue.schedule('send', 'a', clock.now());
  second.queue.schedule('poll', 'b', clock.now());
  await pass(clock, 37_500);
  expect(second.begun).toEqual(['poll b']);
  await pass(clock, 500);
  expect(second.begun).toEqual(['poll b', 'send a']);
});
