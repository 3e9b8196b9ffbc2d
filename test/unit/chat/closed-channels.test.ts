import { describe, expect, it } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { linesOf } from '#commands/ui/card.ts';
import { plainText } from '#commands/ui/plain-text.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { ADA, CLIP, EVENTS, newTask, originOf } from '#test/fakes/tasks.ts';

const SET = taskIdOf('fake:i1');
const IDS = memberIds({ id: SET, of: 2 });
const DONE = [EVENTS.completed, { kind: 'fetched', clip: CLIP }] as const;
const { channel: HERE } = newTask().origin;
const DIRECT = `direct-${ADA.id}`;

/** A set of two takes whose clips are still to be posted. */
async function takes(house = new ChatHouse()): Promise<ChatHouse> {
  for (const [index, id] of IDS.entries()) {
    const set = { id: SET, kind: 'takes', at: index + 1, of: 2 } as const;
    await house.repository.claim(newTask({ id, set, createdAtMs: house.clock.now() }));
  }
  await house.chat.show(SET);
  for (const id of IDS) await house.happen(id, EVENTS.send, EVENTS.accepted);
  return house;
}

const endAll = async (house: ChatHouse) => {
  for (const id of IDS) await house.happen(id, ...DONE);
  await house.pass(5_000);
};

const filesIn = ({ platform }: ChatHouse, channel: string) =>
  platform.messages.filter(({ ref }) => ref.channel === channel).flatMap(({ files }) => files);

describe.each(['message_gone', 'missing_permission'] as const)('a channel that takes no message: %s', (code) => {
  it('sends the clips of a set to their requester, once each, also over a restart', async () => {
    const house = await takes();
    house.platform.closed.set(HERE, code);
    house.platform.lacking = { kind: 'uninvited', to: 'channel', type: '/invite @bot' };
    await house.happen(IDS[0] as TaskId, ...DONE);
    const next = await house.restart();
    await next.happen(IDS[1] as TaskId, ...DONE);
    await next.pass(5_000);
    expect(filesIn(next, DIRECT)).toHaveLength(2);
    for (const id of IDS) expect(await next.record(id)).toMatchObject({ presented: true });
    expect(next.platform.messages.filter(({ ref }) => ref.channel === DIRECT)).toHaveLength(2);
    const views = next.platform.messages.at(-1)?.shown ?? [];
    expect(views.length).toBeGreaterThan(0);
    for (const { view } of views) expect(plainText(linesOf(cardOf(view)))).toContain('I can’t post in');
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
    await house.repository.claim(task);
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
    await house.repository.claim(task);
    await house.happen(task.id, EVENTS.send, EVENTS.accepted, ...DONE);
    await house.pass(5_000);
    expect(filesIn(house, DIRECT)).toHaveLength(1);
    expect(await house.record(task.id)).toMatchObject({ presented: true });
  });
});

it('ends the delivery to a deleted channel', async () => {
  const house = await takes();
  house.platform.closed.set(HERE, 'message_gone');
  await endAll(house);
  for (const id of IDS) expect(await house.record(id)).toMatchObject({ presented: true });
  const calls = house.platform.calls.length;
  await house.pass(3_600_000, 60_000);
  expect(house.platform.calls).toHaveLength(calls);
});

it('offers a clip that neither its channel nor its requester takes, and does not try for ever', async () => {
  const house = await takes();
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
