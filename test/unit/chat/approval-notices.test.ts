import { describe, expect, it } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { forgetIn } from '#src/people/personal-records.ts';
import type { Approver } from '#src/tasks/approval.ts';
import type { Task } from '#src/tasks/task.ts';
import { cardText } from '#test/fakes/card-text.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { platformError } from '#test/fakes/platform.ts';
import { ADA, BOB, EVENTS, NOON_MS, requestedTask } from '#test/fakes/tasks.ts';
import { CATALOG } from '../videos/models.ts';

const BEN: Approver = { kind: 'person', ...BOB };
const CLEO: Approver = { kind: 'person', id: 'cleo', name: 'Cleo' };
const SIGNED = { kind: 'signed_off', by: { id: 'cleo', name: 'Cleo' }, atMs: NOON_MS } as const;
const LEADS: Approver = { kind: 'role', id: '99', name: '@leads' };

/** Returns a request to these approvers. */
function asking(askedOf: readonly Approver[], changes: Partial<Task> = {}): Partial<Task> {
  const { state, approval, presented } = requestedTask();
  if (approval === undefined) throw new TypeError('a request without approval');
  return { state, presented, approval: { ...approval, askedOf }, ...changes };
}

/** Returns the notices as `key: place, prompt, pings`. */
function posted({ platform }: ChatHouse): readonly string[] {
  return platform.notices.map(({ key, place, view, replyTo }) => {
    if (view.kind !== 'approval') return key;
    const pings = view.pings.map(({ name }) => name).join(' ');
    return `${key} in ${place.channel}${replyTo === null ? '' : ' below'}: ${view.prompt === null ? 'no prompt' : 'prompt'} ${pings}`.trim();
  });
}

const fail = (kind: string): never => {
  throw new TypeError(`a damaged record of ${kind}`);
};

describe('the approvers of a request', () => {
  it('are notified once: people directly, groups below the task’s message', async () => {
    const house = new ChatHouse({ modelOf: () => CATALOG.defaultModel });
    const id = await house.task(asking([BEN, LEADS, CLEO]));
    await house.pass(60_000, 5_000);
    expect(posted(house)).toEqual([
      `ask:${id}:fake:T1:bob in direct-bob: prompt`,
      `ask:${id}:fake:T1:cleo in direct-cleo: prompt`,
      `ask:${id}: in clips below: prompt @leads`,
    ]);
    expect(house.platform.notices[0]?.view).toMatchObject({
      by: ADA,
      model: 'Swift 1',
      price: { amount: '0.30', currency: 'USD' },
      left: { amount: '36.20', currency: 'USD' },
      expiresAtMs: NOON_MS + 86_400_000,
      decided: null,
    });
    expect(house.platform.view).toMatchObject({ phase: 'requested' });
    expect(await house.record(id)).toMatchObject({ state: 'requested', presented: true });
    await house.restart();
    expect(house.platform.notices).toHaveLength(3);
  });

  it('are administrators below the message, if there are none', async () => {
    const house = new ChatHouse();
    const id = await house.task(asking([]));
    expect(posted(house)).toEqual([`ask:${id}: in clips below: prompt`]);
  });

  it('are those named in ADMINS, if there are none, while they are members and did not request it', async () => {
    const admins = ['ada', 'bob', 'gone'].map((user) => ({ platform: 'fake', user }));
    const house = new ChatHouse({ admins: [...admins, { platform: 'other', user: 'eve' }] });
    house.platform.left.add('gone');
    const id = await house.task(asking([]));
    expect(posted(house)).toEqual([`ask:${id}: in clips below: prompt bob`]);
  });

  it('are administrators once all of them have left; until then, those who stayed', async () => {
    const house = new ChatHouse({ admins: [{ platform: 'fake', user: 'eve' }] });
    house.platform.left.add('bob');
    const id = await house.task(asking([BEN, CLEO]));
    expect(posted(house)).toEqual([`ask:${id}:fake:T1:cleo in direct-cleo: prompt`]);
    house.platform.left.add('cleo');
    await house.happen(id, EVENTS.remind);
    expect(posted(house).slice(1)).toEqual([`remind:${id}: in clips below: prompt eve`]);
  });

  it('are told although it is unknown whether they have left', async () => {
    const house = new ChatHouse();
    house.platform.channels.isMember = () => Promise.reject(platformError('platform_unavailable'));
    const id = await house.task(asking([BEN]));
    expect(posted(house)).toEqual([`ask:${id}:fake:T1:bob in direct-bob: prompt`]);
  });

  it('are pinged below the message where they accept no direct message', async () => {
    const house = new ChatHouse();
    const refusal = platformError('missing_permission', { retryable: false });
    house.platform.fails('notify', 'before', refusal, ':bob');
    const id = await house.task(asking([BEN, CLEO]));
    expect(posted(house)).toEqual([
      `ask:${id}:fake:T1:cleo in direct-cleo: prompt`,
      `ask:${id}: in clips below: prompt Bob`,
    ]);
  });

  it('see the prompt of a private channel as its members, or with the consent of the requester', async () => {
    const private_ = { ...requestedTask().origin, audience: 'channel' } as const;
    for (const [view, isPromptShown, prompt] of [
      [true, false, 'prompt'],
      [false, false, 'no prompt'],
      [false, true, 'prompt'],
    ] as const) {
      const house = new ChatHouse();
      house.platform.memberRights.set('clips', { view, post: view, manage: false });
      const { approval } = asking([BEN]);
      if (approval === undefined) throw new TypeError('no request');
      const id = await house.task({ ...asking([BEN]), origin: private_, approval: { ...approval, isPromptShown } });
      expect(posted(house)).toEqual([`ask:${id}:fake:T1:bob in direct-bob: ${prompt}`]);
    }
  });

  it('see its picture with its prompt alone, until it is decided', async () => {
    const picture = { id: 'relay-1', url: 'https://bot.example/media/relay-1.jpg' };
    const pictured: Task[] = [];
    const pictureOf = async (task: Task) => {
      pictured.push(task);
      return picture;
    };
    const origin = { ...requestedTask().origin, audience: 'channel' } as const;
    for (const [view, shown] of [
      [true, picture],
      [false, null],
    ] as const) {
      const house = new ChatHouse({ pictureOf });
      house.platform.memberRights.set('clips', { view, post: view, manage: false });
      const id = await house.task({ ...asking([BEN]), origin });
      expect(house.platform.notices.map((one) => one.view)).toMatchObject([{ picture: shown }]);
      expect(pictured.splice(0).map((task) => task.id)).toEqual(view ? [id] : []);
      await house.happen(id, EVENTS.decline);
      expect(house.platform.settled[0]?.view).not.toHaveProperty('picture');
    }
  });

  it('are each asked although another one is forgotten meanwhile', async () => {
    const house = new ChatHouse();
    let isDown = true;
    const directChannel = house.platform.channels.directChannel.bind(house.platform);
    house.platform.channels.directChannel = (place, user) =>
      isDown && user === 'cleo' ? Promise.reject(platformError('platform_unavailable')) : directChannel(place, user);
    const id = await house.task(asking([BEN, CLEO]));
    await house.happen(id, EVENTS.forget);
    const { pseudonym } = EVENTS.forget;
    await forgetIn(house.store, { platform: 'fake', team: 'T1', person: BOB, pseudonym }, fail);
    isDown = false;
    await house.pass(600_000, 5_000);
    expect(posted(house).map((one) => one.split(' ')[2]?.replace(':', ''))).toEqual(['direct-bob', 'direct-cleo']);
  });

  it('are reminded once', async () => {
    const house = new ChatHouse();
    const id = await house.task(asking([BEN]));
    await house.happen(id, EVENTS.remind);
    expect(posted(house)).toEqual([
      `ask:${id}:fake:T1:bob in direct-bob: prompt`,
      `remind:${id}:fake:T1:bob in direct-bob: prompt`,
    ]);
    expect(await house.record(id)).toMatchObject({ state: 'requested', presented: true });
  });
});

describe('the decision', () => {
  it('replaces the buttons of every notice; the requester is told of a denial', async () => {
    const house = new ChatHouse();
    const id = await house.task(asking([BEN, LEADS]));
    await house.happen(id, EVENTS.decline);
    const edits = house.platform.settled.map(({ ref, view }) => [ref.channel, view.decided?.declined?.how]);
    expect(edits).toEqual([
      ['direct-bob', 'denied'],
      ['clips', 'denied'],
    ]);
    expect(house.platform.notices.at(-1)).toMatchObject({ key: `end:${id}:declined:0`, mention: ADA });
    expect(house.platform.view).toMatchObject({ phase: 'declined' });
  });

  it('is not shown again by the next process where it is shown, but where that was not certain', async () => {
    const house = new ChatHouse();
    const id = await house.task(asking([BEN, CLEO, LEADS]));
    house.platform.dies('notify', 'before', 'end:');
    // The second notice shows it, which nobody knows.
    const edit = house.platform.edit.bind(house.platform);
    house.platform.edit = async (ref, ...more) => {
      await edit(ref, ...more);
      if (ref.channel === 'direct-cleo' && house.platform.settled.length === 2)
        throw platformError('platform_unavailable');
    };
    await house.happen(id, EVENTS.decline);
    await house.pass(10_000);
    const next = await house.restart();
    expect(next.platform.settled.map(({ ref }) => ref.channel)).toEqual([
      'direct-bob',
      'direct-cleo',
      'direct-cleo',
      'clips',
    ]);
    expect(await next.record(id)).toMatchObject({ state: 'declined', presented: true });
  });

  it('is shown without an approver who is forgotten', async () => {
    const house = new ChatHouse();
    const id = await house.task(asking([LEADS]));
    await house.happen(id, EVENTS.decline);
    const of = { platform: 'fake', team: 'T1', person: BOB, pseudonym: EVENTS.forget.pseudonym };
    await forgetIn(house.store, of, fail);
    await house.happen(id, EVENTS.forget);
    expect(house.platform.settled.map(({ view }) => view.decided?.declined?.by)).toEqual([BOB, of.pseudonym]);
  });

  it('is told to the requester also where a notice is deleted', async () => {
    const house = new ChatHouse();
    const id = await house.task(asking([LEADS, BEN]));
    const edit = house.platform.edit.bind(house.platform);
    house.platform.edit = async (ref, ...more) => {
      if (ref.channel === 'direct-bob') throw platformError('message_gone', { retryable: false });
      await edit(ref, ...more);
    };
    await house.happen(id, EVENTS.decline);
    await house.pass(10_000);
    expect(house.platform.settled.map(({ ref }) => ref.channel)).toEqual(['clips']);
    expect(await house.record(id)).toMatchObject({ state: 'declined', presented: true });
  });

  it('names the approver, and the clip goes on in the same message', async () => {
    const house = new ChatHouse();
    const id = await house.task(asking([BEN]));
    await house.happen(id, EVENTS.approve, EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.fetched);
    expect(house.platform.settled[0]?.view.decided?.approval?.approved).toEqual({ by: BOB, atMs: EVENTS.approve.atMs });
    expect(house.platform.only.files).toHaveLength(1);
    expect(house.platform.view).toMatchObject({ phase: 'done', task: { approval: { approved: { by: BOB } } } });
  });

  it('reaches a notice whose response is still on its way, and ends the notices to further approvers', async () => {
    const house = new ChatHouse();
    const respond = house.platform.stalls('notify', ':bob', 'after');
    const id = await house.task(asking([BEN, CLEO]));
    await house.happen(id, EVENTS.approve);
    expect(house.platform.settled).toEqual([]);
    respond();
    await house.pass(0);
    const edits = house.platform.settled.map(({ ref, view }) => [ref.channel, view.decided?.approval?.approved?.by]);
    expect(edits).toEqual([['direct-bob', BOB]]);
    expect(posted(house)).toEqual([`ask:${id}:fake:T1:bob in direct-bob: prompt`]);
  });

  it('of the requester to withdraw mentions no one', async () => {
    const house = new ChatHouse();
    const id = await house.task(asking([BEN]));
    await house.happen(id, { ...EVENTS.decline, how: 'withdrawn', by: ADA });
    expect(house.platform.notices.filter(({ view }) => view.kind === 'end')).toEqual([]);
    expect(house.platform.settled[0]?.view.decided?.declined).toMatchObject({ how: 'withdrawn' });
    expect(await house.record(id)).toMatchObject({ state: 'declined', presented: true });
  });

  it('reaches the requester and the other approvers where one of their notices was deleted', async () => {
    const house = new ChatHouse();
    const id = await house.task(asking([BEN, CLEO, LEADS]));
    house.platform.gone.add(`ask:${id}:fake:T1:bob`);
    await house.happen(id, EVENTS.decline);
    expect(house.platform.settled.map(({ ref }) => ref.channel)).toEqual(['direct-cleo', 'clips']);
    expect(house.platform.notices.at(-1)).toMatchObject({ key: `end:${id}:declined:0`, mention: ADA });
    expect(await house.record(id)).toMatchObject({ presented: true });
    const messages = (await house.chat.retraction.messagesOf(await house.record(id))).map(({ message }) => message);
    expect(messages).toContain(`ask:${id}:fake:T1:bob`);
  });

  it.each([
    ['is running', []],
    ['is done', [EVENTS.completed, EVENTS.fetched]],
    ['is reviewed', [EVENTS.completed, EVENTS.fetched, { ...EVENTS.review, decision: SIGNED }]],
  ])('no longer names an approver who is forgotten once the clip %s', async (_state, events) => {
    const house = new ChatHouse();
    const id = await house.task(asking([BEN, CLEO]));
    await house.happen(id, EVENTS.approve, EVENTS.send, EVENTS.accepted, ...events);
    const before = house.platform.settled.length;
    await house.happen(id, EVENTS.forget);
    await house.pass(10_000);
    expect(house.platform.view.task?.approval?.approved?.by.name).toBe('Removed person');
    const edits = house.platform.settled.slice(before);
    expect(edits.map(({ ref }) => ref.channel)).toEqual(['direct-bob', 'direct-cleo']);
    for (const { view } of edits) expect(cardText(cardOf(view))).toContain('Approved by Removed person');
  });
});
