import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '#src/errors.ts';
import type { Clips } from '#src/pipeline/clip-files.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { FlakyStore, writesTask } from '#test/fakes/flaky-store.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { platformError } from '#test/fakes/platform.ts';
import { ADA, BOB, CLIP, EVENTS, newTask, originOf } from '#test/fakes/tasks.ts';
import { errorOf } from '#test/fakes/videos.ts';

const NAME = `red-fox-running-snow-${newTask().id.slice(0, 4)}.mp4`;

/** What people see in the end, whatever happened on the way. */
function seen({ platform }: ChatHouse) {
  const { files, shown } = platform.only;
  return {
    phase: shown.at(-1)?.view.phase,
    files: files.map(({ name, bytes }) => ({ name, bytes })),
    notices: platform.notices.map(({ key }) => key),
  };
}

const DELIVERED = {
  phase: 'done',
  files: [{ name: NAME, bytes: 1_000 }],
  notices: [`end:${newTask().id}:done:1`],
};

describe('a finished clip', () => {
  it('is put on the task’s message, with the prompt for those who cannot see it, and its requester is told once', async () => {
    const house = new ChatHouse();
    const id = await house.done();
    expect(seen(house)).toEqual(DELIVERED);
    expect(house.platform.only.files[0]).toMatchObject({
      path: CLIP.path,
      description: 'a red fox running through snow',
    });
    expect(house.platform.view).toMatchObject({ handover: { kind: 'attached' }, state: 'completed' });
    expect(house.platform.notices[0]).toMatchObject({
      mention: ADA,
      place: { team: 'T1', channel: 'clips', address: {} },
      replyTo: house.platform.only.ref,
      view: { kind: 'end', phase: 'done', task: id, message: house.platform.only.ref, subscribed: false },
    });
    expect(await house.record(id)).toMatchObject({ presented: true });
    expect(house.delivered).toMatchObject([{ task: { id }, handover: { kind: 'attached' }, lagMs: 0 }]);
    await house.pass(600_000, 10_000);
    await house.chat.resume();
    await house.pass(600_000, 10_000);
    expect(seen(house)).toEqual(DELIVERED);
    expect(house.platform.countOf('attach')).toBe(1);
    expect(house.clock.pending).toBe(0);
  });

  it('of a message opened for the first time by the delivery is delivered too', async () => {
    const house = new ChatHouse();
    await house.repository.claim(newTask());
    const { send, accepted, completed, fetched } = EVENTS;
    await house.happen(newTask().id, send, accepted, completed, fetched);
    await house.pass(10_000);
    expect(seen(house)).toEqual(DELIVERED);
  });
});

describe('a delivery that fails', () => {
  const steps = [
    ['attach', ''],
    ['notify', 'end:'],
  ] as const;
  const codes = ['platform_unavailable', 'rate_limited', 'missing_permission', 'internal', 'unauthorised'] as const;
  const cases = steps.flatMap(([method, of]) => codes.map((code) => ({ method, of, code })));

  it.each(cases)(
    'at $method with $code is repeated until it succeeds, doubling nothing',
    async ({ method, of, code }) => {
      const house = new ChatHouse();
      for (let at = 0; at < 6; at += 1) {
        house.platform.fails(method, at % 2 === 0 ? 'before' : 'after', platformError(code, { retryable: false }), of);
      }
      const id = await house.done();
      expect(await house.record(id)).toMatchObject({ presented: false });
      await house.pass(600_000, 1_000);
      expect(seen(house)).toEqual(DELIVERED);
      expect(house.failed).toEqual(Array.from({ length: 6 }, () => code));
      expect(house.delivered).toHaveLength(1);
      expect(await house.store.count('outbox')).toBe(0);
      // What was handed over is not handed over again because telling of it failed.
      expect(house.platform.countOf('attach')).toBe(method === 'attach' ? 7 : 1);
    },
  );

  it('waits longer each time, and as long as the platform asks', async () => {
    const house = new ChatHouse();
    house.platform.fails('attach', 'before', platformError('platform_unavailable'));
    house.platform.fails('attach', 'before', platformError('rate_limited', { retryAfterMs: 50_000 }));
    await house.done();
    await house.pass(499, 1);
    expect(house.platform.countOf('attach')).toBe(1);
    await house.pass(1);
    expect(house.platform.countOf('attach')).toBe(2);
    await house.pass(49_999, 1_000);
    expect(house.platform.countOf('attach')).toBe(2);
    await house.pass(1);
    expect(seen(house)).toEqual(DELIVERED);
  });
});

describe('a clip whose file is lost before it was delivered', () => {
  /** A house that looks for clips in vain, at first or for good. */
  function searching(code: ErrorCode, forLooks = Number.POSITIVE_INFINITY) {
    let looks = 0;
    const find: Clips['find'] = async ({ clip }) => {
      if (clip === undefined) return clip;
      looks += 1;
      if (looks > forLooks) return clip;
      throw errorOf(code, { retryable: code === 'not_ready' || code === 'unavailable' });
    };
    return { house: new ChatHouse({ find }), looks: () => looks };
  }

  it('and dropped by the service, is said to be lost, and not looked for for ever', async () => {
    const { house, looks } = searching('gone');
    const id = await house.done();
    await house.pass(1_800_000, 1_000);
    const task = await house.record(id);
    expect(task).toMatchObject({ state: 'completed', failure: { code: 'gone' }, presented: true });
    expect(task).not.toHaveProperty('clip');
    expect(seen(house)).toEqual({ phase: 'lost', files: [], notices: [`end:${id}:lost:1`] });
    expect(house.platform.view.buttons).toContain('refetch');
    expect(await house.store.count('outbox')).toBe(0);
    expect(looks()).toBe(10);
  });

  it('here, is delivered by a process that has it', async () => {
    const { house } = searching('gone', 9);
    await house.done();
    await house.pass(1_800_000, 1_000);
    expect(seen(house)).toEqual(DELIVERED);
  });

  it.each([
    ['not_ready', 1_800_000],
    ['unavailable', 86_400_000],
    ['disk_full', 86_400_000],
  ] as const)('and may still be had (%s), is looked for as long as any other', async (code, patienceMs) => {
    const { house } = searching(code);
    const id = await house.done();
    await house.pass(patienceMs - 1_000, 10_000);
    expect(await house.record(id)).toMatchObject({ clip: CLIP });
    await house.pass(600_000, 10_000);
    expect(await house.record(id)).toMatchObject({ failure: { code }, presented: true });
  });
});

describe('a process that dies', () => {
  const points = [
    ['attach', 'before'],
    ['attach', 'after'],
    ['notify', 'before'],
    ['notify', 'after'],
  ] as const;

  it.each(points)('in %s, %s the platform acted, loses and doubles nothing', async (method, when) => {
    const house = new ChatHouse();
    house.platform.dies(method, when);
    await house.done();
    expect((await house.record(newTask().id)).presented).toBe(false);
    const next = await house.restart();
    await next.pass(10_000);
    expect(seen(next)).toEqual(DELIVERED);
    expect((await next.record(newTask().id)).presented).toBe(true);
    const last = await next.restart();
    expect(seen(last)).toEqual(DELIVERED);
  });

  it.each(['unwritten', 'answer_lost'] as const)(
    'when all was shown but that was not stored (%s), shows it once',
    async (how) => {
      const store = new FlakyStore(new MemoryStore());
      const house = new ChatHouse({ store });
      store.failNext(
        how,
        writesTask(({ clip, presented }) => clip !== undefined && presented),
      );
      await house.done();
      const next = await house.restart();
      await next.pass(10_000);
      expect(seen(next)).toEqual(DELIVERED);
      expect(next.platform.countOf('attach')).toBe(1);
      expect((await next.record(newTask().id)).presented).toBe(true);
    },
  );

  it('while it told the requester does not mention anybody twice for a task that failed', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    house.platform.dies('notify', 'after');
    await house.happen(id, EVENTS.failed);
    const next = await house.restart();
    expect(seen(next)).toEqual({ phase: 'failed', files: [], notices: [`end:${id}:failed:1`] });
  });
});

describe('a message that somebody deleted', () => {
  it('before the clip was posted is followed by another one with the clip, once', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    house.platform.only.isDeleted = true;
    await house.happen(id, { kind: 'completed', atMs: house.clock.now() }, EVENTS.fetched);
    const [, second] = house.platform.messages;
    expect(house.platform.messages).toHaveLength(2);
    expect(second?.files).toMatchObject([CLIP]);
    expect(house.platform.notices).toMatchObject([
      { key: `end:${id}:done:1`, replyTo: second?.ref, view: { phase: 'done', handover: 'attached' } },
    ]);
    expect(await house.chat.messageOf(id)).toEqual(second?.ref);
    expect(await house.record(id)).toMatchObject({ presented: true });
    await house.pass(3_600_000, 60_000);
    expect(house.platform.countOf('open')).toBe(2);
    expect(house.platform.countOf('notify')).toBe(1);
  });

  it.each(['before', 'after'] as const)('is followed by one even where a process dies over it, %s', async (when) => {
    const house = new ChatHouse();
    const id = await house.running();
    house.platform.only.isDeleted = true;
    house.platform.dies('open', when, '~2');
    await house.happen(id, { kind: 'completed', atMs: house.clock.now() }, EVENTS.fetched);
    const next = await house.restart();
    await next.pass(20_000);
    expect(next.platform.messages.map(({ files }) => files.length)).toEqual([0, 1]);
    expect(next.platform.notices).toHaveLength(1);
    expect(await next.record(id)).toMatchObject({ presented: true });
  });

  it('again before the clip was posted leaves it to the requester, who can have it shown', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    house.platform.only.isDeleted = true;
    house.platform.fails('attach', 'before', platformError('message_gone', { retryable: false }));
    house.platform.fails('attach', 'before', platformError('message_gone', { retryable: false }));
    await house.happen(id, { kind: 'completed', atMs: house.clock.now() }, EVENTS.fetched);
    expect(house.platform.messages).toHaveLength(2);
    expect(house.platform.notices).toMatchObject([{ replyTo: null, view: { phase: 'done', handover: 'unshown' } }]);
    expect(await house.chat.view(await house.record(id))).toMatchObject({
      phase: 'done',
      handover: { kind: 'unshown' },
      buttons: ['show', 'retry', 'edit', 'details'],
    });
    expect(await house.chat.messageOf(id)).toBeUndefined();
    for (const message of house.platform.messages) message.isDeleted = true;
    await house.happen(id, EVENTS.want);
    expect(house.platform.messages.map(({ files }) => files.length)).toEqual([0, 0, 1]);
    expect(house.platform.notices).toHaveLength(1);
    expect((await house.chat.view(await house.record(id))).handover).toEqual({ kind: 'attached' });
  });

  it('after the clip was posted stays deleted until somebody wants the clip', async () => {
    const house = new ChatHouse();
    const id = await house.done();
    house.platform.only.isDeleted = true;
    await house.pass(60_000, 10_000);
    expect(house.platform.messages).toHaveLength(1);
    await house.happen(id, EVENTS.want);
    await house.happen(id, EVENTS.want);
    expect(house.platform.messages.map(({ files }) => files.length)).toEqual([1, 1]);
    expect(house.platform.notices).toHaveLength(1);
  });

  it('with its whole channel ends the delivery', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    house.platform.only.isDeleted = true;
    house.platform.fails('notify', 'before', platformError('message_gone', { retryable: false }));
    await house.happen(id, EVENTS.failed);
    expect(await house.record(id)).toMatchObject({ presented: true });
    await house.pass(3_600_000, 60_000);
    expect(house.platform.countOf('notify')).toBe(1);
  });
});

describe('who is told', () => {
  it.each([
    ['failed', [EVENTS.send, EVENTS.accepted, EVENTS.failed], 'failed'],
    ['rejected', [EVENTS.send, EVENTS.refused], 'refused'],
    ['uncertain', [EVENTS.send, EVENTS.lost], 'uncertain'],
    ['lost', [EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.unfetchable], 'lost'],
  ] as const)('the requester of a task that is %s', async (_name, events, phase) => {
    const house = new ChatHouse();
    await house.task({}, ...events);
    await house.pass(10_000);
    expect(house.platform.notices).toMatchObject([{ mention: ADA, view: { phase, subscribed: false } }]);
    expect(house.platform.view.phase).toBe(phase);
  });

  it('nobody of a cancelled task, nor of what became of it', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.happen(id, EVENTS.cancel);
    expect(house.platform.view).toMatchObject({ phase: 'cancelled', cancelledBy: BOB, lateOutcome: null });
    await house.happen(id, EVENTS.completed);
    await house.pass(5_000);
    expect(house.platform.view).toMatchObject({ phase: 'cancelled', lateOutcome: 'completed' });
    expect(house.platform.view.buttons).not.toContain('show');
    expect(house.delivered).toHaveLength(1);
    await house.happen(id, EVENTS.fetched);
    expect(house.platform.view.buttons).toContain('show');
    expect(house.delivered).toHaveLength(2);
    expect(house.platform.only.files).toEqual([]);
    expect(house.platform.notices).toEqual([]);
  });

  it('nobody when the clip of a cancelled task cannot be had; whoever wants it can have it tried again', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.happen(id, EVENTS.cancel, EVENTS.completed, EVENTS.unfetchable);
    expect(house.platform.view).toMatchObject({ phase: 'cancelled', lateOutcome: 'completed' });
    expect(house.platform.view.buttons).toContain('show');
    expect(await house.record(id)).toMatchObject({ presented: true });
    expect(house.platform.notices).toEqual([]);
    await house.happen(id, EVENTS.want, EVENTS.unfetchable);
    expect(house.platform.notices).toMatchObject([{ view: { phase: 'lost' } }]);
  });

  it.each([
    ['there already', [EVENTS.fetched, EVENTS.want]],
    ['still being fetched', [EVENTS.want, EVENTS.fetched]],
    ['fetched again', [EVENTS.unfetchable, EVENTS.want, EVENTS.fetched]],
  ] as const)('the requester, when the clip of a cancelled task is wanted after all: %s', async (_name, events) => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.happen(id, EVENTS.cancel, EVENTS.completed);
    await house.happen(id, ...events);
    await house.pass(10_000);
    expect(seen(house)).toEqual(DELIVERED);
  });

  it('the requester once for each send whose answer was lost', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send, EVENTS.lost);
    await house.happen(id, EVENTS.leave);
    await house.pass(10_000);
    expect(house.platform.view).toMatchObject({ phase: 'uncertain', leftBy: BOB });
    expect(house.platform.notices.map(({ key }) => key)).toEqual([`end:${id}:uncertain:1`]);
    await house.happen(id, EVENTS.resubmit, EVENTS.send, EVENTS.lost);
    await house.pass(10_000);
    expect(house.platform.notices.map(({ key }) => key)).toEqual([`end:${id}:uncertain:1`, `end:${id}:uncertain:2`]);
  });

  it('the requester of a task that the service does not know, also where its answer was lost before', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send, EVENTS.lost);
    await house.pass(10_000);
    await house.happen(id, EVENTS.identify, EVENTS.disowned);
    await house.pass(10_000);
    expect(house.platform.view).toMatchObject({ phase: 'uncertain', failure: { code: 'task_unknown' } });
    expect(house.platform.notices.map(({ key }) => key)).toEqual([`end:${id}:uncertain:1`, `end:${id}:disowned:1`]);
  });

  it('the requester of a refusal, with the sends before it that may be billed', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send, EVENTS.lost, EVENTS.resubmit, EVENTS.send, EVENTS.refused);
    expect(house.platform.view).toMatchObject({ phase: 'refused', sends: 1 });
    expect(house.platform.notices.at(-1)).toMatchObject({
      key: `end:${id}:refused:1`,
      view: { phase: 'refused', sends: 1 },
    });
  });

  it('the requester of a clip that could not be had, and again when it came', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.unfetchable);
    await house.happen(id, EVENTS.refetch, EVENTS.unfetchable);
    await house.happen(id, EVENTS.refetch, EVENTS.fetched);
    await house.pass(10_000);
    expect(house.platform.notices.map(({ key }) => key)).toEqual([`end:${id}:lost:1`, `end:${id}:done:1`]);
    expect(house.platform.view.phase).toBe('done');
  });

  it('in time, also where somebody asks for the clip a day later', async () => {
    const house = new ChatHouse();
    const { send, accepted, completed, unfetchable, refetch, fetched } = EVENTS;
    const id = await house.task({}, send, accepted, { ...completed, atMs: house.clock.now() }, unfetchable);
    await house.pass(24 * 3_600_000, 600_000);
    await house.happen(id, refetch, fetched);
    expect(house.delivered.map(({ lagMs }) => lagMs)).toEqual([0, null]);
  });

  it('those who asked to be, each channel once, of clips alone', async () => {
    const house = new ChatHouse();
    const there = (channel: string, who: typeof ADA | 'everyone', team = 'T1') =>
      house.subscriptions.add({ platform: 'fake', team, channel, who, by: BOB });
    await there('news', 'everyone');
    await there('news', ADA);
    await there('ada-fans', ADA);
    await there('bob-fans', BOB);
    await there('clips', 'everyone');
    await there('elsewhere', 'everyone', 'T2');
    const id = await house.done();
    const end = `end:${id}:done:1`;
    expect(seen(house).notices).toEqual([end, `${end}:news`, `${end}:ada-fans`]);
    expect(house.platform.notices[1]).toMatchObject({
      place: { team: 'T1', channel: 'news' },
      replyTo: null,
      view: { subscribed: true, message: house.platform.only.ref },
    });
    await house.task({ id: 'failing' as typeof id }, EVENTS.send, EVENTS.refused);
    expect(house.platform.notices.slice(3)).toMatchObject([{ view: { phase: 'refused', subscribed: false } }]);
  });

  it('the others, when one channel cannot be told', async () => {
    const house = new ChatHouse();
    for (const channel of ['closed', 'open']) {
      await house.subscriptions.add({ platform: 'fake', team: 'T1', channel, who: 'everyone', by: BOB });
    }
    house.platform.fails('notify', 'before', platformError('missing_permission', { retryable: false }), ':closed');
    const id = await house.done();
    expect(house.platform.notices.map(({ place }) => place.channel)).toEqual(['clips', 'open']);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('each once, when telling one of them has to be repeated or the process dies in the middle', async () => {
    const house = new ChatHouse();
    for (const channel of ['a', 'b', 'c']) {
      await house.subscriptions.add({ platform: 'fake', team: 'T1', channel, who: 'everyone', by: BOB });
    }
    house.platform.fails('notify', 'before', platformError('platform_unavailable'), ':b');
    house.platform.dies('notify', 'after', ':c');
    await house.done();
    await house.pass(10_000);
    const next = await house.restart();
    await next.pass(10_000);
    expect(next.platform.notices.map(({ place }) => place.channel)).toEqual(['clips', 'a', 'b', 'c']);
    expect(next.platform.calls.filter((call) => call.endsWith(':a'))).toHaveLength(1);
  });
});

describe('a task that moves on while it is shown', () => {
  it('is shown as it is by then', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    const letGo = house.platform.stalls('edit', 'final');
    await house.happen(id, EVENTS.cancel);
    await house.happen(id, EVENTS.completed, EVENTS.fetched);
    letGo();
    await house.pass(10_000);
    expect(house.platform.view).toMatchObject({ phase: 'cancelled', lateOutcome: 'completed' });
    expect(await house.record(id)).toMatchObject({ presented: true });
    expect(house.delivered).toMatchObject([{ task: { lateOutcome: 'completed', clip: CLIP } }]);
  });

  it('is shown as it is by then, also where that is not for the outbox', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    const letGo = house.platform.stalls('edit', 'final');
    await house.happen(id, EVENTS.cancel);
    await house.happen(id, EVENTS.completed);
    letGo();
    await house.pass(10_000);
    expect(house.platform.view).toMatchObject({ phase: 'cancelled', lateOutcome: 'completed' });
  });
});

describe('draining', () => {
  it.each(['attach', 'notify'] as const)('waits for the step that runs: %s', async (method) => {
    const house = new ChatHouse();
    const letGo = house.platform.stalls(method);
    await house.done();
    let isDrained = false;
    const drained = house.queue.drain().then(() => {
      isDrained = true;
    });
    await house.pass(1_000);
    expect(isDrained).toBe(false);
    letGo();
    await drained;
    expect(house.platform.only.files).toHaveLength(1);
    // What was not begun is done after the next start.
    expect(house.platform.notices).toHaveLength(method === 'notify' ? 1 : 0);
    const next = await house.restart();
    expect(seen(next)).toEqual(DELIVERED);
    expect((await next.record(newTask().id)).presented).toBe(true);
    expect(next.platform.countOf('attach')).toBe(1);
  });
});

describe('a platform that is turned off', () => {
  it('keeps its deliveries until it is on again', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.repository.claim(newTask({ id: 'away' as typeof id, origin: originOf({ platform: 'away' }) }));
    await house.happen('away' as typeof id, EVENTS.send, EVENTS.refused);
    await house.pass(60_000, 1_000);
    expect(await house.record('away' as typeof id)).toMatchObject({ presented: false });
    expect(new Set(house.failed)).toEqual(new Set(['platform_unavailable']));
    expect(await house.chat.resume()).toBe(1);
  });
});
