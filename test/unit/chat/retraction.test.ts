import { expect, it } from 'vitest';
import { taskPosts } from '#src/chat/posts.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { platformError } from '#test/fakes/platform.ts';
import { BOB, EVENTS, originOf, requestedTask } from '#test/fakes/tasks.ts';

const REMOVED = { kind: 'removed', reason: 'deleted' };

/** Returns a task with notices to an approver, its requester and a subscribed channel. */
async function delivered(house: ChatHouse): Promise<TaskId> {
  const direct = { platform: 'fake', team: 'T1', channel: 'renders', who: 'everyone', by: BOB } as const;
  await house.subscriptions.add(direct);
  const { state, approval, presented } = requestedTask();
  const origin = originOf({ audience: 'team' });
  const request = { state, presented, origin, ...(approval === undefined ? {} : { approval }) };
  const id = await house.task(request);
  await house.happen(id, EVENTS.approve, EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.fetched);
  return id;
}

const keysIn = async ({ store }: ChatHouse, namespace: string): Promise<readonly string[]> => {
  const keys: string[] = [];
  for await (const page of store.contents.records(namespace)) keys.push(...page.map(({ key }) => key));
  return keys;
};

const KINDS = ['cards', 'messages', 'deliveries', 'posts', 'retractions'];
const allKeys = async (house: ChatHouse): Promise<readonly string[]> =>
  (await Promise.all(KINDS.map((kind) => keysIn(house, kind)))).flat();

it('finds the notices to approvers, requester and subscribers, and the message of a task last', async () => {
  const house = new ChatHouse();
  const id = await delivered(house);
  expect(await house.chat.retraction.messagesOf(await house.record(id))).toEqual([
    { channel: 'direct-bob', message: `ask:${id}:fake:T1:bob` },
    { channel: 'clips', message: `end:${id}:done:1` },
    { channel: 'renders', message: `end:${id}:done:1:renders` },
    { channel: 'clips', message: 'm1' },
  ]);
});

it('finds the messages that were replaced', async () => {
  const house = new ChatHouse();
  const id = await house.running();
  house.platform.only.isDeleted = true;
  await house.happen(id, EVENTS.completed, EVENTS.fetched);
  const messages = await house.chat.retraction.messagesOf(await house.record(id));
  expect(messages.map(({ message }) => message)).toEqual([`end:${id}:done:1`, 'm1', 'm2']);
});

it('retracts every message, and again after a restart', async () => {
  const house = new ChatHouse();
  const id = await delivered(house);
  const task = await house.record(id);
  expect(await house.chat.retraction.retract(task, task.origin, 'deleted')).toEqual({ retracted: 4, kept: 0 });
  const next = await house.restart();
  expect(await next.chat.retraction.retract(task, task.origin, 'deleted')).toEqual({ retracted: 4, kept: 0 });
  expect(next.platform.retracted.map(({ view }) => view)).toEqual([REMOVED, REMOVED, REMOVED, REMOVED]);
  expect(next.platform.messages.flatMap(({ files }) => files)).toEqual([]);
});

it('counts the messages that the bot may not change, and retracts the others', async () => {
  const house = new ChatHouse();
  const id = await delivered(house);
  const refusal = platformError('missing_permission', { retryable: false });
  house.platform.fails('retract', 'before', refusal, 'renders');
  const task = await house.record(id);
  expect(await house.chat.retraction.retract(task, task.origin, 'deleted')).toEqual({ retracted: 3, kept: 1 });
  expect(house.platform.retracted).toHaveLength(3);
});

it('rejects with what may pass, and then retracts the rest', async () => {
  const house = new ChatHouse();
  const id = await delivered(house);
  house.platform.fails('retract', 'before', platformError('missing_permission', { retryable: false }), 'renders');
  house.platform.fails('retract', 'before', platformError('rate_limited', { retryAfterMs: 3_000 }), 'm1');
  const task = await house.record(id);
  await expect(house.chat.retraction.retract(task, task.origin, 'deleted')).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfterMs: 3_000,
  });
  const next = await house.restart();
  expect(await next.chat.retraction.retract(task, task.origin, 'deleted')).toEqual({ retracted: 3, kept: 1 });
  expect(next.platform.countOf('retract')).toBe(5);
});

it('waits for an edit of the message', async () => {
  const house = new ChatHouse();
  const id = await delivered(house);
  const task = await house.record(id);
  const finish = house.platform.stalls('retract', 'm1');
  const first = house.chat.retraction.retract(task, task.origin, 'deleted');
  await house.pass(0);
  await expect(house.chat.retraction.retract(task, task.origin, 'deleted')).rejects.toMatchObject({
    code: 'platform_unavailable',
    retryable: true,
  });
  finish();
  expect(await first).toEqual({ retracted: 4, kept: 0 });
});

it('deletes what is stored about the messages', async () => {
  const house = new ChatHouse();
  const id = await delivered(house);
  const other = await house.done({ id: 'other' as TaskId });
  // What a process that died while it posted, or retracted, leaves.
  await house.store.keyv('retractions').set(id, []);
  const before = await allKeys(house);
  const task = await house.record(id);
  await house.chat.retraction.retract(task, task.origin, 'deleted');
  await house.store.commit({ records: await house.chat.retraction.deletions(task) });
  const rest = await allKeys(house);
  const isOfOther = (key: string): boolean => key.includes(other) || key === 'fake:clips:m2';
  expect(rest.toSorted()).toEqual(before.filter(isOfOther).toSorted());
});

it('finds the notices that are recorded by their keys alone', async () => {
  const house = new ChatHouse();
  const id = await delivered(house);
  await taskPosts.change<undefined>(house.store, id, (before) => {
    if (before === undefined) throw new TypeError('nothing was posted');
    const posted = before.posted.map((one) => ({ ...one, message: null }));
    return { value: { ...before, posted }, result: undefined };
  });
  const next = await house.restart();
  const messages = await next.chat.retraction.messagesOf(await next.record(id));
  expect(messages.map(({ message }) => message)).toEqual([
    `ask:${id}:fake:T1:bob`,
    `end:${id}:done:1`,
    `end:${id}:done:1:renders`,
    'm1',
  ]);
});

it('does not repeat a notice that is recorded by its key alone', async () => {
  const house = new ChatHouse();
  house.platform.dies('notify', 'before');
  const id = await house.done();
  const posted = [{ key: `end:${id}:done:1`, message: null }];
  await house.store.keyv('posts').set(id, { revision: 1, of: { platform: 'fake', team: 'T1' }, posted });
  const next = await house.restart();
  expect(await next.record(id)).toMatchObject({ presented: true });
  expect(next.platform.notices).toEqual([]);
});

it('finds the message and the notice of an expired task, whose records are deleted', async () => {
  const house = new ChatHouse();
  const id = await house.done();
  const task = await house.record(id);
  await house.store.commit({ records: await house.chat.retraction.deletions(task) });
  const messages = await house.chat.retraction.messagesOf(task);
  expect(messages.map(({ message }) => message)).toEqual([`end:${id}:done:1`, 'm1']);
});

it('has the adapter expire the own message of a task with its clip, and all of them with its prompt', async () => {
  const house = new ChatHouse();
  const id = await delivered(house);
  const removal = { reason: 'expired', atMs: 1, hasContent: true } as const;
  await house.chat.retraction.expire({ ...(await house.record(id)), removal });
  expect(house.platform.expired).toMatchObject([{ ref: { message: 'm1' }, view: { kind: 'task', task: { removal } } }]);
  house.platform.expired.length = 0;
  await house.chat.retraction.expire({ ...(await house.record(id)), removal: { ...removal, hasContent: false } });
  expect(house.platform.expired.map(({ ref }) => ref.message)).toEqual([
    `ask:${id}:fake:T1:bob`,
    `end:${id}:done:1`,
    `end:${id}:done:1:renders`,
    'm1',
  ]);
  expect(house.platform.expired[0]?.view).toEqual({ kind: 'removed', reason: 'expired' });
});

it('shows until when a clip is kept', async () => {
  const house = new ChatHouse({ keptUntil: async ({ endedAtMs = 0 }) => endedAtMs + 86_400_000 });
  const id = await delivered(house);
  const { endedAtMs = 0 } = await house.record(id);
  expect(house.platform.only.shown.at(-1)?.view).toMatchObject({ keptUntilMs: endedAtMs + 86_400_000 });
});
