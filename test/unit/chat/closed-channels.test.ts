import { describe, expect, it } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { linesOf } from '#commands/ui/card.ts';
import { plainText } from '#commands/ui/plain-text.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { SetKind, TaskEvent, TaskId } from '#src/tasks/task.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { platformError } from '#test/fakes/platform.ts';
import { ADA, BOB, CLIP, EVENTS, newTask, originOf } from '#test/fakes/tasks.ts';

const SET = taskIdOf('fake:i1');
const IDS = memberIds({ id: SET, of: 2 });
const DONE = [EVENTS.completed, { kind: 'fetched', clip: CLIP }] as const;
const { channel: HERE } = newTask().origin;
const DIRECT = `direct-${ADA.id}`;

const KINDS = ['takes', 'storyboard', 'comparison'] as const satisfies readonly SetKind[];
/** Ends without a file of a task that is at the service. */
const ENDS: readonly (readonly [phase: string, events: readonly TaskEvent[]])[] = [
  ['failed', [EVENTS.failed]],
  ['uncertain', [EVENTS.disowned]],
  ['lost', [EVENTS.completed, EVENTS.unfetchable]],
];

/** A set of two clips that are still to be posted. */
async function setOf(kind: SetKind = 'takes', house = new ChatHouse()): Promise<ChatHouse> {
  for (const [index, id] of IDS.entries()) {
    const set = { id: SET, kind, at: index + 1, of: 2 };
    await house.repository.claim([newTask({ id, set, createdAtMs: house.clock.now() })]);
  }
  await house.chat.show(SET);
  for (const id of IDS) await house.happen(id, EVENTS.send, EVENTS.accepted);
  return house;
}

const endAll = async (house: ChatHouse) => {
  for (const id of IDS) await house.happen(id, ...DONE);
  await house.pass(5_000);
};

/** Closes the channel of the tasks. */
const close = ({ platform }: ChatHouse, code: 'message_gone' | 'missing_permission'): void => {
  platform.closed.set(HERE, code);
  platform.lacking = { kind: 'uninvited', to: 'channel', type: '/invite @bot' };
};

/** Expects that nothing is tried any more, and returns the texts of the notices to the requester. */
const settled = async (house: ChatHouse): Promise<readonly string[]> => {
  await house.pass(600_000, 60_000);
  const calls = house.platform.calls.length;
  await house.pass(3_600_000, 60_000);
  expect(house.platform.calls).toHaveLength(calls);
  const { notices } = house.platform;
  expect(notices.map(({ place }) => place.channel)).toEqual(notices.map(() => DIRECT));
  return notices.map((notice) => plainText(linesOf(cardOf(notice.view, notice.mention))));
};

const filesIn = ({ platform }: ChatHouse, channel: string) =>
  platform.messages.filter(({ ref }) => ref.channel === channel).flatMap(({ files }) => files);

it.each([
  ['a clip', DONE],
  ['an end without one', [EVENTS.failed]],
] as const)('shows %s in both messages where the right that was refused is back', async (_what, events) => {
  const house = new ChatHouse();
  const id = await house.running();
  for (const kind of ['attach', 'edit'] as const)
    house.platform.fails(kind, 'before', platformError('missing_permission', { retryable: false }));
  await house.happen(id, ...events);
  await house.pass(60_000, 1_000);
  const { messages } = house.platform;
  expect(messages.map(({ ref }) => ref.channel)).toEqual([HERE, HERE]);
  expect(messages.map(({ shown }) => shown.at(-1)?.view.buttons)).toEqual(
    messages.map(() => messages.at(-1)?.shown.at(-1)?.view.buttons),
  );
  expect(messages.map(({ shown }) => shown.at(-1)?.view.phase)).toEqual(
    messages.map(() => (events === DONE ? 'done' : 'failed')),
  );
  expect(messages.flatMap(({ files }) => files)).toHaveLength(events === DONE ? 1 : 0);
});

it.each([
  ['a clip', DONE],
  ['an end without one', [EVENTS.failed]],
] as const)('leaves no card behind that shows %s as running, once a right is back', async (_what, events) => {
  const house = new ChatHouse();
  const id = await house.running();
  for (const channel of [HERE, DIRECT]) house.platform.closed.set(channel, 'missing_permission');
  await house.happen(id, ...events);
  await house.pass(60_000, 1_000);
  house.platform.closed.clear();
  await house.pass(600_000, 60_000);
  const phases = house.platform.messages.map(({ shown }) => shown.at(-1)?.view.phase);
  expect(new Set(phases)).toEqual(new Set([events === DONE ? 'done' : 'failed']));
  expect(house.platform.messages.flatMap(({ files }) => files)).toHaveLength(events === DONE ? 1 : 0);
});

describe.each(['message_gone', 'missing_permission'] as const)('a channel that takes no message: %s', (code) => {
  it.each(KINDS)('sends the clips of a set to their requester, once each, also over a restart: %s', async (kind) => {
    const house = await setOf(kind);
    close(house, code);
    await house.happen(IDS[0] as TaskId, ...DONE);
    const next = await house.restart();
    await next.happen(IDS[1] as TaskId, ...DONE);
    await next.pass(5_000);
    expect(filesIn(next, DIRECT)).toHaveLength(2);
    for (const id of IDS) expect(await next.record(id)).toMatchObject({ presented: true });
    const direct = next.platform.messages.filter(({ ref }) => ref.channel === DIRECT);
    expect(direct).toHaveLength(kind === 'storyboard' ? 2 : 1);
    const views = next.platform.messages.at(-1)?.shown ?? [];
    expect(views.length).toBeGreaterThan(0);
    for (const { view } of views) expect(plainText(linesOf(cardOf(view)))).toContain('I can’t post in');
    const [notice, ...more] = await settled(next);
    expect([notice, more]).toEqual([expect.stringContaining('are ready.'), []]);
  });

  it.each(ENDS)('shows an end without a file to the requester, with its buttons: %s', async (phase, events) => {
    const house = new ChatHouse();
    const id = await house.running();
    close(house, code);
    await house.happen(id, ...events);
    const [notice, ...more] = await settled(house);
    expect([notice, more]).toEqual([expect.stringContaining('your clip'), []]);
    const [, direct, ...others] = house.platform.messages;
    expect([direct?.ref.channel, others]).toEqual([DIRECT, []]);
    expect(direct?.shown.at(-1)?.view).toMatchObject({ phase, awayFrom: HERE });
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('shows an end to the requester that follows another one, and no end again', async () => {
    const house = new ChatHouse();
    const id = await house.task({}, EVENTS.send, EVENTS.lost);
    close(house, code);
    await house.happen(id, EVENTS.identify, EVENTS.disowned);
    await house.pass(600_000, 60_000);
    const direct = house.platform.messages.filter(({ ref }) => ref.channel === DIRECT);
    expect(direct.map(({ shown }) => shown.at(-1)?.view.phase)).toEqual(['uncertain']);
    for (const message of direct) message.isDeleted = true;
    await house.happen(id, EVENTS.leave);
    await house.pass(600_000, 60_000);
    expect(house.platform.messages.filter(({ ref }) => ref.channel === DIRECT)).toHaveLength(1);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('shows a request without an answer that has no message yet to the requester, also of a set', async () => {
    const house = await setOf();
    close(house, code);
    const task = newTask({ id: taskIdOf('fake:i2'), createdAtMs: house.clock.now() });
    await house.repository.claim([task]);
    await house.happen(task.id, EVENTS.send, EVENTS.lost);
    await house.happen(IDS[0] as TaskId, EVENTS.disowned);
    await house.happen(IDS[1] as TaskId, EVENTS.failed);
    await settled(house);
    const direct = house.platform.messages.filter(({ ref }) => ref.channel === DIRECT);
    expect(direct.map(({ shown }) => shown.at(-1)?.view.phase)).toEqual(['uncertain', 'uncertain']);
    for (const id of [task.id, ...IDS]) expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it.each([
    ['of a review to the requester', BOB, [expect.stringContaining('Too dark.')]],
    ['on one’s own clip to nobody', ADA, []],
  ])('sends the note %s, once, and keeps the clip’s message', async (_whose, by, notes) => {
    const house = new ChatHouse({ settingsOf: async () => ({ reviewIn: [HERE] }) });
    const id = await house.done();
    house.platform.notices.splice(0);
    close(house, code);
    const decision = { kind: 'changes_requested', by, atMs: 0, note: { text: 'Too dark.' } } as const;
    await house.happen(id, { kind: 'review', decision, after: 0 });
    expect(await settled(house)).toEqual(notes);
    expect(await house.record(id)).toMatchObject({ presented: true });
    if (code === 'missing_permission') expect(await house.chat.messageOf(id)).toEqual(house.platform.only.ref);
  });

  it('ends the delivery of a cancelled clip that the service may still make', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    close(house, code);
    await house.happen(id, EVENTS.cancel);
    expect(await settled(house)).toEqual([]);
    expect(await house.record(id)).toMatchObject({ state: 'cancelled', presented: true });
    expect(house.failed).toEqual([]);
  });

  it('delivers a clip once that somebody asks for after nobody could be reached', async () => {
    const house = new ChatHouse();
    for (const channel of [HERE, DIRECT]) house.platform.closed.set(channel, code);
    const task = newTask({ createdAtMs: house.clock.now() });
    await house.repository.claim([task]);
    await house.happen(task.id, EVENTS.send, EVENTS.accepted, ...DONE);
    await house.pass(60_000, 1_000);
    house.platform.closed.clear();
    for (const _ of ['twice', 'over']) {
      await house.happen(task.id, { kind: 'want' });
      await house.pass(600_000, 60_000);
    }
    expect(house.platform.messages.map(({ files }) => files.length)).toEqual([1]);
  });

  it('sends a clip whose card is there to its requester', async () => {
    const house = new ChatHouse();
    const id = await house.running();
    house.platform.closed.set(HERE, code);
    await house.happen(id, ...DONE);
    await house.pass(60_000, 1_000);
    expect(filesIn(house, DIRECT)).toHaveLength(1);
    expect(await house.record(id)).toMatchObject({ presented: true });
  });

  it('leads nobody else to a direct message', async () => {
    const house = new ChatHouse();
    const { platform, team } = newTask().origin;
    await house.subscriptions.add({ platform, team, channel: 'news', who: 'everyone', by: ADA });
    house.platform.closed.set(HERE, code);
    const task = newTask({ createdAtMs: house.clock.now(), origin: originOf({ audience: 'team' }) });
    await house.repository.claim([task]);
    await house.happen(task.id, EVENTS.send, EVENTS.accepted, ...DONE);
    await house.pass(5_000);
    const news = house.platform.notices.find(({ place }) => place.channel === 'news');
    expect(news?.view).toMatchObject({ message: { channel: HERE } });
    if (news !== undefined) expect(plainText(linesOf(cardOf(news.view, null)))).not.toContain('See it');
  });

  it('sends a clip that has no message yet to its requester', async () => {
    const house = new ChatHouse();
    house.platform.closed.set(HERE, code);
    const task = newTask({ createdAtMs: house.clock.now() });
    await house.repository.claim([task]);
    await house.happen(task.id, EVENTS.send, EVENTS.accepted, ...DONE);
    await house.pass(5_000);
    expect(filesIn(house, DIRECT)).toHaveLength(1);
    expect(await house.record(task.id)).toMatchObject({ presented: true });
  });
});

it('ends the delivery to a deleted channel', async () => {
  const house = await setOf();
  house.platform.closed.set(HERE, 'message_gone');
  await endAll(house);
  for (const id of IDS) expect(await house.record(id)).toMatchObject({ presented: true });
  const calls = house.platform.calls.length;
  await house.pass(3_600_000, 60_000);
  expect(house.platform.calls).toHaveLength(calls);
});

it('offers a clip that neither its channel nor its requester takes, and does not try for ever', async () => {
  const house = await setOf();
  for (const channel of [HERE, DIRECT]) house.platform.closed.set(channel, 'message_gone');
  await endAll(house);
  for (const id of IDS) {
    const task = await house.record(id);
    expect(task).toMatchObject({ presented: true });
    expect((await house.chat.view(task)).buttons).toContain('show');
  }
  house.platform.closed.clear();
  await house.happen(IDS[0] as TaskId, EVENTS.want);
  await house.pass(5_000);
  expect(filesIn(house, HERE)).toHaveLength(1);
});
