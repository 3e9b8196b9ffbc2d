import { describe, expect, it } from 'vitest';
import type { Notice } from '#src/chat/platform.ts';
import type { TaskId } from '#src/tasks/task.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { platformError } from '#test/fakes/platform.ts';
import { BOB, EVENTS, originOf } from '#test/fakes/tasks.ts';

describe('slow notices', () => {
  it('do not delay the attachment of other clips', async () => {
    const house = new ChatHouse();
    const release = ['a', 'b', 'c', 'd'].map((id) => house.platform.stalls('notify', `end:${id}:`));
    for (const id of ['a', 'b', 'c', 'd', 'e']) await house.done({ id: id as TaskId });
    expect(house.platform.messages.map(({ files }) => files.length)).toEqual([1, 1, 1, 1, 1]);
    expect(house.delivered).toMatchObject(['a', 'b', 'c', 'd', 'e'].map((id) => ({ task: { id }, lagMs: 0 })));
    expect(await house.store.count('outbox')).toBe(5);
    for (const go of release) go();
    await house.pass(0);
    expect(house.platform.notices).toHaveLength(5);
    expect(await house.store.count('outbox')).toBe(0);
    expect(house.platform.countOf('attach')).toBe(5);
  });

  it('leave the message as the delivery left it', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    await house.pass(3_000);
    const release = house.platform.stalls('notify');
    await house.happen(id, EVENTS.failed);
    const before = house.platform.only.shown.length;
    // A poll response that arrives after the end of the task.
    const late = { id: 'late' as UpstreamId, status: 'in_progress', progress: 90, failure: null } as const;
    house.chat.progressed({ ...(await house.record(id)), state: 'polling' }, late);
    await house.pass(60_000, 5_000);
    expect(house.platform.only.shown).toHaveLength(before);
    release();
    await house.pass(60_000, 5_000);
    expect(house.platform.only.shown).toHaveLength(before);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('are followed by later changes of the task, without duplicates', async () => {
    const house = new ChatHouse();
    const release = house.platform.stalls('notify', ':lost:');
    const id = await house.task({}, EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.unfetchable);
    await house.happen(id, EVENTS.refetch, EVENTS.fetched);
    expect(house.platform.only.files).toHaveLength(1);
    release();
    await house.pass(10_000);
    expect(house.platform.notices.map(({ key }) => key)).toEqual([`end:${id}:lost:1`, `end:${id}:done:1`]);
    expect(house.platform.countOf('attach')).toBe(1);
    expect(house.platform.view.phase).toBe('done');
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('continue after a restart without another edit of the message', async () => {
    const house = new ChatHouse();
    house.platform.dies('notify', 'before');
    await house.done();
    const before = house.platform.only.shown.length;
    const next = await house.restart();
    expect(next.platform.notices).toHaveLength(1);
    expect(next.platform.countOf('attach')).toBe(1);
    expect(next.platform.only.shown).toHaveLength(before);
    expect(next.delivered).toEqual([]);
  });

  it('are posted without a reply when the message is deleted in between', async () => {
    const house = new ChatHouse();
    house.platform.fails('notify', 'before', platformError('message_gone', { retryable: false }));
    const id = await house.done();
    expect(house.platform.notices).toMatchObject([{ key: `end:${id}:done:1`, replyTo: null }]);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });
});

describe('subscriptions', () => {
  it('announce clips that the team may see, and none from a private channel', async () => {
    const house = new ChatHouse();
    const subscription = { platform: 'fake', team: 'T1', channel: 'renders', who: 'everyone', by: BOB } as const;
    await house.subscriptions.add(subscription);
    await house.done({ id: 'open' as TaskId, origin: originOf({ audience: 'team' }) });
    await house.done({ id: 'secret' as TaskId, origin: originOf({ channel: 'secret', audience: 'channel' }) });
    const notified = house.platform.notices.map(({ place, view }) => [place.channel, taskOf(view)]);
    expect(notified.filter(([channel]) => channel === 'renders')).toEqual([['renders', 'open']]);
    expect(house.platform.notices.some(({ onlyFor }) => onlyFor !== undefined)).toBe(false);
    expect(notified).toHaveLength(3);
  });

  it('notify a user directly of the clips of one channel, except their own', async () => {
    const house = new ChatHouse();
    const direct = { platform: 'fake', team: 'T1', channel: 'direct-bob', from: 'clips', who: 'everyone' } as const;
    await house.subscriptions.add({ ...direct, by: BOB });
    const team = { audience: 'team' } as const;
    await house.done({ id: 'one' as TaskId, origin: originOf(team) });
    await house.done({ id: 'two' as TaskId, origin: originOf({ ...team, channel: 'general' }) });
    await house.done({ id: 'three' as TaskId, origin: originOf({ ...team, user: BOB }) });
    await house.done({ id: 'four' as TaskId, origin: originOf({ audience: 'channel' }) });
    const toBob = house.platform.notices.filter(({ place }) => place.channel === 'direct-bob');
    expect(toBob.map(({ view }) => taskOf(view))).toEqual(['one']);
    // A platform that can post silently notifies the person of it.
    expect(toBob.map(({ onlyFor }) => onlyFor)).toEqual([BOB]);
  });
});

describe('a subscription by direct message', () => {
  const direct = {
    platform: 'fake',
    team: 'T1',
    channel: 'direct-bob',
    from: 'clips',
    who: 'everyone',
    by: BOB,
  } as const;
  const carol = { ...direct, channel: 'direct-carol', by: { id: 'carol', name: 'Carol' } } as const;
  const posted = { platform: 'fake', team: 'T1', channel: 'renders', who: 'everyone', by: BOB } as const;
  const start = async () => {
    const house = new ChatHouse();
    for (const one of [direct, carol, posted]) await house.subscriptions.add(one);
    return house;
  };
  const finish = async (house: ChatHouse) => {
    await house.done({ id: 'one' as TaskId, origin: originOf({ audience: 'team' }) });
    return house.platform.notices.map(({ place }) => place.channel).filter((channel) => channel !== 'clips');
  };
  const left = async (house: ChatHouse) =>
    (await house.subscriptions.list('fake', 'T1')).map(({ channel }) => channel).toSorted();

  it('ends where the person left the team, without a notice to them, and their posts in a channel go on', async () => {
    const house = await start();
    house.platform.left.add(BOB.id);
    expect((await finish(house)).toSorted()).toEqual(['direct-carol', 'renders']);
    expect(await left(house)).toEqual(['direct-carol', 'renders']);
  });

  it('ends with the first notice that the platform refuses, and not with one that fails', async () => {
    const house = await start();
    house.platform.fails('notify', 'before', platformError('platform_unavailable'), 'end:one:done:1:direct-carol');
    house.platform.fails(
      'notify',
      'before',
      platformError('missing_permission', { retryable: false }),
      'end:one:done:1:direct-bob',
    );
    await finish(house);
    await house.pass(60_000);
    expect(await left(house)).toEqual(['direct-carol', 'renders']);
  });
});

describe('a platform that posts clips as separate messages', () => {
  it('mentions the requester with the clip, without a separate notice', async () => {
    const house = new ChatHouse();
    house.platform.limits = { ...house.platform.limits, mentionsWithFile: true };
    const id = await house.done();
    expect(house.platform.only.files).toMatchObject([
      { notice: { mention: { id: 'ada' }, view: { phase: 'done', handover: 'attached', subscribed: false } } },
    ]);
    expect(house.platform.notices).toEqual([]);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it.each(['before', 'after'] as const)('does so once when the process dies %s the platform acted', async (when) => {
    const house = new ChatHouse();
    house.platform.limits = { ...house.platform.limits, mentionsWithFile: true };
    house.platform.dies('attach', when);
    await house.done();
    const next = await house.restart();
    await next.pass(10_000);
    expect(next.platform.only.files).toMatchObject([{ notice: { mention: { id: 'ada' } } }]);
    expect(next.platform.notices).toEqual([]);
  });

  it('brings a card up to date that may be edited again, without the clip or the mention a second time', async () => {
    const house = new ChatHouse();
    house.platform.limits = { ...house.platform.limits, mentionsWithFile: true };
    const refusal = platformError('missing_permission', { retryable: false });
    house.platform.refusesToShow = refusal;
    house.platform.fails('edit', 'before', refusal, 'final');
    const id = await house.done();
    expect(house.platform.only.shown.at(-1)?.view.phase).not.toBe('done');
    const next = await house.restart();
    await next.pass(600_000, 10_000);
    expect(next.platform.view).toMatchObject({ phase: 'done', handover: { kind: 'attached' } });
    expect(next.platform.only.files).toHaveLength(1);
    expect(next.platform.countOf('attach')).toBe(1);
    expect(next.platform.notices).toEqual([]);
    expect(await next.record(id)).toMatchObject({ presented: true });
  });

  it('keeps the clip of a card that was deleted before it could be edited', async () => {
    const house = new ChatHouse();
    house.platform.limits = { ...house.platform.limits, mentionsWithFile: true };
    house.platform.refusesToShow = platformError('missing_permission', { retryable: false });
    house.platform.fails('edit', 'before', platformError('message_gone', { retryable: false }), 'final');
    const id = await house.done();
    await house.pass(600_000, 10_000);
    expect([house.platform.only.files.length, house.platform.countOf('attach')]).toEqual([1, 1]);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('posts a notice where there is no clip', async () => {
    const house = new ChatHouse();
    house.platform.limits = { ...house.platform.limits, mentionsWithFile: true };
    const id = await house.task({}, EVENTS.send, EVENTS.accepted, EVENTS.failed);
    expect(house.platform.notices).toMatchObject([{ key: `end:${id}:failed:1` }]);
  });
});

function taskOf(view: Notice['view']): TaskId | null {
  return view.kind === 'end' ? view.task : null;
}
