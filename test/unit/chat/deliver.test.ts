import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '#src/errors.ts';
import type { Clips } from '#src/pipeline/clip-files.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { FlakyStore, writesTask } from '#test/fakes/flaky-store.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { platformError } from '#test/fakes/platform.ts';
import { ADA, BOB, CLIP, EVENTS, NOON_MS, newTask, originOf, requestedTask } from '#test/fakes/tasks.ts';
import { errorOf } from '#test/fakes/videos.ts';

const NAME = `red-fox-running-snow-${newTask().id.slice(0, 4)}.mp4`;

/** Returns the final state of the chat as users see it. */
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

describe('a completed clip', () => {
  it('is attached to the task’s message, with the prompt as alt text, and notifies its requester once', async () => {
    const house = new ChatHouse();
    const id = await house.done();
    expect(seen(house)).toEqual(DELIVERED);
    expect(house.platform.only.files[0]).toMatchObject({
      path: CLIP.path,
      description: 'a red fox running through snow',
    });
    expect(house.platform.view).toMatchObject({ handover: { kind: 'attached' }, task: { state: 'completed' } });
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

  it('is delivered where the delivery itself opens the message', async () => {
    const house = new ChatHouse();
    await house.repository.claim([newTask()]);
    const { send, accepted, completed, fetched } = EVENTS;
    await house.happen(newTask().id, send, accepted, completed, fetched);
    await house.pass(10_000);
    expect(seen(house)).toEqual(DELIVERED);
  });
});

describe('a failed delivery', () => {
  const steps = [
    ['attach', ''],
    ['notify', 'end:'],
  ] as const;
  const codes = ['platform_unavailable', 'rate_limited', 'missing_permission', 'internal', 'unauthorised'] as const;
  const cases = steps.flatMap(([method, of]) => codes.map((code) => ({ method, of, code })));

  it.each(cases)(
    'at $method with $code is retried until it succeeds, without duplicates',
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
      // A failed notice does not repeat the upload.
      expect(house.platform.countOf('attach')).toBe(method === 'attach' ? 7 : 1);
    },
  );

  it('is retried with backoff, and after the platform’s retryAfterMs', async () => {
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

describe('a clip whose file is lost before its delivery', () => {
  /** Creates a chat whose look-ups of clips fail `forLooks` times, by default always. */
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

  it('is shown as lost after a limited number of attempts where the service dropped it', async () => {
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

  it('is looked for again where the clock was stepped by an hour after the end', async () => {
    const { house } = searching('not_ready', 10);
    await house.done();
    house.clock.step(3_600_000);
    await house.pass(1_800_000, 1_000);
    expect(seen(house)).toEqual(DELIVERED);
  });

  it('is looked for again where the platform failed often before', async () => {
    let isThere = true;
    const find: Clips['find'] = async ({ clip }) => {
      if (isThere) return clip;
      isThere = true;
      throw errorOf('gone', { retryable: false });
    };
    const house = new ChatHouse({ find });
    for (let at = 0; at < 12; at += 1) house.platform.fails('attach', 'before', platformError('platform_unavailable'));
    await house.done();
    while (house.platform.countOf('attach') < 12) await house.pass(10_000);
    isThere = false;
    await house.pass(1_800_000, 10_000);
    expect(seen(house)).toEqual(DELIVERED);
  });

  it('is delivered by another process that has it', async () => {
    const { house } = searching('gone', 9);
    await house.done();
    await house.pass(1_800_000, 1_000);
    expect(seen(house)).toEqual(DELIVERED);
  });

  it.each([
    ['not_ready', 1_800_000],
    ['unavailable', 86_400_000],
    ['disk_full', 86_400_000],
  ] as const)(
    'is retried as long as any other download where it may still be available (%s)',
    async (code, timeoutMs) => {
      const { house } = searching(code);
      const id = await house.done();
      await house.pass(timeoutMs - 1_000, 10_000);
      expect(await house.record(id)).toMatchObject({ clip: CLIP });
      await house.pass(600_000, 10_000);
      expect(await house.record(id)).toMatchObject({ failure: { code }, presented: true });
    },
  );
});

describe('a process crash', () => {
  const points = [
    ['attach', 'before'],
    ['attach', 'after'],
    ['notify', 'before'],
    ['notify', 'after'],
  ] as const;

  it.each(points)('in %s, %s the platform acted, loses and duplicates nothing', async (method, when) => {
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
    'after showing the clip but before storing that (%s), shows it once',
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

  it('during the notice of a failed task mentions the requester once', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    house.platform.dies('notify', 'after');
    await house.happen(id, EVENTS.failed);
    const next = await house.restart();
    expect(seen(next)).toEqual({ phase: 'failed', files: [], notices: [`end:${id}:failed:1`] });
  });
});

describe('a message that shows its outcome already', () => {
  it('is not edited again by a request that was posted with it, nor by the next process', async () => {
    const house = new ChatHouse();
    house.platform.dies('notify', 'before');
    const id = await house.task(requestedTask());
    expect(house.platform.countOf('edit')).toBe(0);
    const next = await house.restart();
    expect(await next.record(id)).toMatchObject({ presented: true });
    expect(next.platform.countOf('edit')).toBe(0);
  });

  it('is not edited again by the next process where this one died before it recorded the delivery', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    house.platform.dies('notify', 'before');
    await house.happen(id, EVENTS.failed);
    const edits = house.platform.countOf('edit');
    await house.store.keyv('deliveries').delete(id);
    const next = await house.restart();
    expect(await next.record(id)).toMatchObject({ presented: true });
    expect(next.platform.countOf('edit')).toBe(edits);
  });

  it('is edited again where the response to the edit was lost', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    const edits = house.platform.countOf('edit');
    house.platform.fails('edit', 'after', platformError('platform_unavailable'), 'final');
    await house.happen(id, EVENTS.failed);
    await house.pass(10_000);
    expect(await house.record(id)).toMatchObject({ presented: true });
    expect(house.platform.countOf('edit') - edits).toBe(2);
  });

  it('is edited for a person whom it names and who is forgotten', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.happen(id, EVENTS.cancel);
    await house.happen(id, EVENTS.forget);
    expect(house.platform.view.task?.cancelledBy).toEqual(EVENTS.forget.pseudonym);
  });
});

describe('a deleted message', () => {
  it('is replaced by another one with the clip, once, if it was deleted before the clip was posted', async () => {
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

  it.each(['before', 'after'] as const)(
    'is replaced by one message even when the process dies %s the platform opened it',
    async (when) => {
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
    },
  );

  it('is not replaced twice, but the requester can still have the clip posted', async () => {
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

  it('is not left as running where its replacement is filled by a repeated attempt', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    for (const method of ['attach', 'edit'] as const)
      house.platform.fails(method, 'before', platformError('missing_permission', { retryable: false }));
    house.platform.fails('attach', 'before', platformError('platform_unavailable'));
    await house.happen(id, { kind: 'completed', atMs: house.clock.now() }, EVENTS.fetched);
    await house.pass(600_000, 60_000);
    expect(house.platform.messages.map(({ files }) => files.length)).toEqual([0, 1]);
    expect(house.platform.messages.map(({ shown }) => shown.at(-1)?.view.phase)).toEqual(['done', 'done']);
    // From then on, only the replacement is edited.
    const [before = 0, after = 0] = house.platform.messages.map(({ shown }) => shown.length);
    await house.happen(id, EVENTS.want);
    expect(house.platform.messages.map(({ shown }) => shown.length)).toEqual([before, after + 1]);
  });

  it('is not replaced twice by an attempt that is repeated', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    house.platform.only.isDeleted = true;
    house.platform.fails('attach', 'before', platformError('message_gone', { retryable: false }));
    house.platform.fails('attach', 'before', platformError('platform_unavailable'));
    await house.happen(id, { kind: 'completed', atMs: house.clock.now() }, EVENTS.fetched);
    for (const message of house.platform.messages) message.isDeleted = true;
    await house.pass(600_000, 60_000);
    expect(house.platform.messages).toHaveLength(2);
    expect((await house.chat.view(await house.record(id))).handover).toEqual({ kind: 'unshown' });
  });

  it('is not replaced after the clip was posted until a user requests the clip', async () => {
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

  it('ends the delivery if its whole channel was deleted', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    house.platform.only.isDeleted = true;
    for (const channel of ['clips', `direct-${ADA.id}`]) house.platform.closed.set(channel, 'message_gone');
    await house.happen(id, EVENTS.failed);
    expect(await house.record(id)).toMatchObject({ presented: true });
    const calls = house.platform.calls.length;
    await house.pass(3_600_000, 60_000);
    expect(house.platform.calls).toHaveLength(calls);
    expect(house.platform.notices).toEqual([]);
  });
});

describe('completion notices', () => {
  it.each([
    ['failed', [EVENTS.send, EVENTS.accepted, EVENTS.failed], 'failed'],
    ['rejected', [EVENTS.send, EVENTS.refused], 'refused'],
    ['uncertain', [EVENTS.send, EVENTS.lost], 'uncertain'],
    ['lost', [EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.unfetchable], 'lost'],
  ] as const)('mention the requester of a task that is %s', async (_name, events, phase) => {
    const house = new ChatHouse();
    await house.task({}, ...events);
    await house.pass(10_000);
    expect(house.platform.notices).toMatchObject([{ mention: ADA, view: { phase, subscribed: false } }]);
    expect(house.platform.view.phase).toBe(phase);
  });

  it('are not posted for a cancelled task and its later outcome', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.happen(id, EVENTS.cancel);
    expect(house.platform.view).toMatchObject({ phase: 'cancelled', task: { cancelledBy: BOB } });
    expect(house.platform.view.task).not.toHaveProperty('lateOutcome');
    await house.happen(id, EVENTS.completed);
    await house.pass(5_000);
    expect(house.platform.view).toMatchObject({ phase: 'cancelled', task: { lateOutcome: 'completed' } });
    expect(house.platform.view.buttons).not.toContain('show');
    expect(house.delivered).toHaveLength(1);
    await house.happen(id, EVENTS.fetched);
    expect(house.platform.view.buttons).toContain('show');
    expect(house.delivered).toHaveLength(2);
    expect(house.platform.only.files).toEqual([]);
    expect(house.platform.notices).toEqual([]);
  });

  it('are not posted where the clip of a cancelled task is unavailable, until a user requests it', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.happen(id, EVENTS.cancel, EVENTS.completed, EVENTS.unfetchable);
    expect(house.platform.view).toMatchObject({ phase: 'cancelled', task: { lateOutcome: 'completed' } });
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
  ] as const)(
    'mention the requester when the clip of a cancelled task is requested after all: %s',
    async (_name, events) => {
      const house = new ChatHouse();
      const id = await house.running();
      await house.happen(id, EVENTS.cancel, EVENTS.completed);
      await house.happen(id, ...events);
      await house.pass(10_000);
      expect(seen(house)).toEqual(DELIVERED);
    },
  );

  it('mention the requester once for each submission whose response was lost', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send, EVENTS.lost);
    await house.happen(id, EVENTS.leave);
    await house.pass(10_000);
    expect(house.platform.view).toMatchObject({ phase: 'uncertain', task: { leftBy: BOB } });
    expect(house.platform.notices.map(({ key }) => key)).toEqual([`end:${id}:uncertain:1`]);
    await house.happen(id, EVENTS.resubmit, EVENTS.send, EVENTS.lost);
    await house.pass(10_000);
    expect(house.platform.notices.map(({ key }) => key)).toEqual([`end:${id}:uncertain:1`, `end:${id}:uncertain:2`]);
  });

  it('mention the requester of a lost request once the search for it is over, and not before', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send, { ...EVENTS.lost, isListed: true });
    await house.pass(10_000);
    expect(house.platform.view).toMatchObject({
      phase: 'uncertain',
      task: { failure: { search: { untilMs: NOON_MS + 600_000 } } },
    });
    expect(house.platform.notices).toEqual([]);
    expect(await house.record(id)).toMatchObject({ presented: true });
    await house.happen(id, EVENTS.sought);
    await house.pass(10_000);
    expect(house.platform.view).toMatchObject({ task: { failure: { search: { result: 'none' } } } });
    expect(house.platform.notices.map(({ key }) => key)).toEqual([`end:${id}:uncertain:1`]);
  });

  it('mention the requester of a task unknown to the service, even after a lost response', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send, EVENTS.lost);
    await house.pass(10_000);
    await house.happen(id, EVENTS.identify, EVENTS.disowned);
    await house.pass(10_000);
    expect(house.platform.view).toMatchObject({ phase: 'uncertain', task: { failure: { code: 'task_unknown' } } });
    expect(house.platform.notices.map(({ key }) => key)).toEqual([`end:${id}:uncertain:1`, `end:${id}:disowned:1`]);
  });

  it('mention the requester of a refused task, with the earlier submissions that may be billed', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send, EVENTS.lost, EVENTS.resubmit, EVENTS.send, EVENTS.refused);
    expect(house.platform.view).toMatchObject({ phase: 'refused', task: { sends: 1 } });
    expect(house.platform.notices.at(-1)).toMatchObject({
      key: `end:${id}:refused:1`,
      view: { phase: 'refused', sends: 1 },
    });
  });

  it('mention the requester of an unavailable clip, and again once it is downloaded', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.unfetchable);
    await house.happen(id, EVENTS.refetch, EVENTS.unfetchable);
    await house.happen(id, EVENTS.refetch, EVENTS.fetched);
    await house.pass(10_000);
    expect(house.platform.notices.map(({ key }) => key)).toEqual([`end:${id}:lost:1`, `end:${id}:done:1`]);
    expect(house.platform.view.phase).toBe('done');
  });

  it('report no lag for a clip that a user requests a day later', async () => {
    const house = new ChatHouse();
    const { send, accepted, completed, unfetchable, refetch, fetched } = EVENTS;
    const id = await house.task({}, send, accepted, { ...completed, atMs: house.clock.now() }, unfetchable);
    await house.pass(24 * 3_600_000, 600_000);
    await house.happen(id, refetch, fetched);
    expect(house.delivered.map(({ lagMs }) => lagMs)).toEqual([0, null]);
  });

  it('are posted once in each subscribed channel, for clips only', async () => {
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

  it('are posted in the other channels where one fails permanently', async () => {
    const house = new ChatHouse();
    for (const channel of ['closed', 'open']) {
      await house.subscriptions.add({ platform: 'fake', team: 'T1', channel, who: 'everyone', by: BOB });
    }
    house.platform.fails('notify', 'before', platformError('missing_permission', { retryable: false }), ':closed');
    const id = await house.done();
    expect(house.platform.notices.map(({ place }) => place.channel)).toEqual(['clips', 'open']);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('are posted once each when one is retried or the process dies in between', async () => {
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

describe('a task that changes while it is being shown', () => {
  it('is shown again in its new state', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    const release = house.platform.stalls('edit', 'final');
    await house.happen(id, EVENTS.cancel);
    await house.happen(id, EVENTS.completed, EVENTS.fetched);
    release();
    await house.pass(10_000);
    expect(house.platform.view).toMatchObject({ phase: 'cancelled', task: { lateOutcome: 'completed' } });
    expect(await house.record(id)).toMatchObject({ presented: true });
    expect(house.delivered).toMatchObject([{ task: { lateOutcome: 'completed', clip: CLIP } }]);
  });

  it('is shown again even where the change is not for the outbox', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    const release = house.platform.stalls('edit', 'final');
    await house.happen(id, EVENTS.cancel);
    await house.happen(id, EVENTS.completed);
    release();
    await house.pass(10_000);
    expect(house.platform.view).toMatchObject({ phase: 'cancelled', task: { lateOutcome: 'completed' } });
  });
});

describe('draining', () => {
  it.each(['attach', 'notify'] as const)('waits for the job in flight: %s', async (method) => {
    const house = new ChatHouse();
    const release = house.platform.stalls(method);
    await house.done();
    let isDrained = false;
    const drained = house.queue.drain().then(() => {
      isDrained = true;
    });
    await house.pass(1_000);
    expect(isDrained).toBe(false);
    release();
    await drained;
    expect(house.platform.only.files).toHaveLength(1);
    // Jobs that had not started run after the next start.
    expect(house.platform.notices).toHaveLength(method === 'notify' ? 1 : 0);
    const next = await house.restart();
    expect(seen(next)).toEqual(DELIVERED);
    expect((await next.record(newTask().id)).presented).toBe(true);
    expect(next.platform.countOf('attach')).toBe(1);
  });
});

describe('a disabled platform', () => {
  it('keeps its deliveries until it is enabled again', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.repository.claim([newTask({ id: 'away' as typeof id, origin: originOf({ platform: 'away' }) })]);
    await house.happen('away' as typeof id, EVENTS.send, EVENTS.refused);
    await house.pass(60_000, 1_000);
    expect(await house.record('away' as typeof id)).toMatchObject({ presented: false });
    expect(new Set(house.failed)).toEqual(new Set(['platform_unavailable']));
    expect(await house.chat.resume()).toBe(1);
  });
});
