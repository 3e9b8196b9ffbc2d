import { pino } from 'pino';
import { expect, it } from 'vitest';
import { AttachmentPlanner } from '#src/chat/attachment-plan.ts';
import { CardDelivery, type Outcome } from '#src/chat/card-delivery.ts';
import { Cards } from '#src/chat/cards.ts';
import { MessageLocks } from '#src/chat/message-lock.ts';
import { deliveryRecords } from '#src/chat/records.ts';
import type { Handover } from '#src/chat/view.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { FakePlatform, platformError } from '#test/fakes/platform.ts';
import { CLIP, newTask } from '#test/fakes/tasks.ts';
import { taskView } from '#test/fakes/views.ts';

/** Delivers the clip of a task whose card was posted while it ran; `happened` collects calls, writes and checks. */
async function begin() {
  const store = new MemoryStore();
  const clock = new ManualClock();
  const logger = pino({ level: 'silent' });
  const platform = new FakePlatform();
  const locks = new MessageLocks({ leases: store.leases, exclusive: store.exclusive, clock });
  const task = newTask();
  const viewed = (phase: 'running' | 'done', handover: Handover | null) => taskView({ task: task.id, phase, handover });
  const running = {
    id: task.id,
    origin: task.origin,
    isOutcome: false,
    view: async () => viewed('running', null),
    place: async () => task.origin,
  };
  const cards = new Cards({ store, locks, platformOf: () => platform });
  await cards.open(running);
  const handing = new AttachmentPlanner({
    fitter: { isThere: false, fit: async () => null },
    links: { forClip: async () => null },
  });
  const happened: string[] = [];
  for (const method of ['open', 'edit', 'attach'] as const) {
    const call = platform[method].bind(platform) as (...args: never[]) => Promise<never>;
    platform[method] = (...args: never[]) => {
      happened.push(method);
      return call(...args);
    };
  }
  const keyv = store.keyv(deliveryRecords.name);
  const set = keyv.set.bind(keyv);
  keyv.set = (...args) => {
    happened.push('write');
    return set(...args);
  };
  const delivery = new CardDelivery({ store, cards, handing, platformOf: () => platform, logger });
  const outcome: Outcome = {
    ...running,
    isOutcome: true,
    view: async (_card, handover = null) => viewed('done', handover),
    file: { of: task, name: 'fox.mp4', description: 'a fox', find: async () => CLIP },
  };
  const lock = { assertHeld: () => void happened.push('check') };
  return {
    platform,
    happened,
    show: () => delivery.show(outcome, lock),
    record: () => deliveryRecords.get(store, task.id),
  };
}

it('checks the lock before every call to the platform, and before a delivery is recorded', async () => {
  const { platform, happened, show } = await begin();
  platform.fails('attach', 'before', platformError('message_gone', { retryable: false }));
  expect(await show()).toBe(true);
  expect(happened).toEqual(['check', 'attach', 'check', 'write', 'open', 'check', 'attach', 'check', 'write']);
});

it('checks the lock before an outcome is shown in the message that refused it', async () => {
  const { platform, happened, show } = await begin();
  const refusal = platformError('missing_permission', { retryable: false });
  for (const method of ['attach', 'edit'] as const) platform.fails(method, 'before', refusal);
  expect(await show()).toBe(true);
  expect(happened.slice(0, 4)).toEqual(['check', 'attach', 'check', 'edit']);
  expect(happened.slice(-2)).toEqual(['check', 'edit']);
});

it('notes that a card is behind its file, until it has been edited', async () => {
  const { platform, show, record } = await begin();
  platform.refusesToShow = platformError('missing_permission', { retryable: false });
  await expect(show()).rejects.toMatchObject({ code: 'missing_permission' });
  expect(await record()).toMatchObject({ handover: { kind: 'attached' }, isBehind: true });
  platform.refusesToShow = null;
  await show();
  expect(platform.view).toMatchObject({ phase: 'done' });
  const delivered = await record();
  expect(delivered).toMatchObject({ handover: { kind: 'attached' } });
  expect(delivered).not.toHaveProperty('isBehind');
});
