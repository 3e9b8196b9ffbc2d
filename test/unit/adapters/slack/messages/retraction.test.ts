import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Attached, MessageRef } from '#src/chat/platform.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
import type { FakeSlack } from '#test/fakes/slack/index.ts';
import { plainOf, SlackHouse } from '#test/fakes/slack-house.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { doneView, endNotice, taskView } from '#test/fakes/views.ts';

const TASK = 'task-1' as TaskId;
const REMOVED = 'This clip was deleted.';
const KEPT = { code: 'missing_permission', retryable: false };

let house: SlackHouse;
let slack: FakeSlack;
let directory: string;
let origin: Origin;

beforeEach(async () => {
  house = await SlackHouse.start();
  slack = house.slack;
  directory = await mkdtemp(join(tmpdir(), 'dailies-slack-retraction-'));
  slack.people.slash('/video a fox');
  origin = (await house.heard()).caller;
  await slack.until(() => house.whispers(slack.users.alice, slack.channels.general).length === 1, 'an answer');
});

afterEach(async () => {
  await house.remove();
  await rm(directory, { recursive: true });
  expect(slack.violations).toEqual([]);
});

const open = (): Promise<MessageRef> => house.platform.open(TASK, origin, taskView({ task: TASK }));
const attach = async (message: MessageRef): Promise<Attached> => {
  const notice = { view: endNotice(origin), mention: origin.user };
  return house.platform.attach(message, origin, doneView({ task: TASK }), await writeClip(directory, { notice }));
};
const retract = (message: MessageRef): Promise<void> =>
  house.platform.retract(message, { ...origin, interaction: '', address: {} }, { kind: 'removed', reason: 'deleted' });
/** Returns the visible messages of the bot in a channel. */
const textsIn = (channel: string): readonly string[] =>
  slack
    .messages(channel)
    .filter(({ visibleTo }) => visibleTo === null)
    .map((message) => plainOf(message).trim());
const files = () => slack.files.filter(({ isDeleted }) => !isDeleted);

it('retracts a clip that its requester got in a direct message', async () => {
  const message = await open();
  slack.kick(origin.channel);
  await attach(message);
  const direct = slack.dm(slack.users.alice);
  expect(textsIn(direct)).toEqual([expect.stringContaining('a red fox')]);
  await retract(message);
  expect([...textsIn(direct), ...textsIn(origin.channel)]).toEqual([REMOVED, REMOVED]);
  expect(files()).toEqual([]);
});

it.each([
  { refusals: 0, left: [REMOVED, REMOVED] },
  { refusals: 2, left: [] },
])('replaces the reply in place of an edit too, and deletes what can no longer be edited ($refusals)', async (of) => {
  const message = await open();
  slack.fail('chat.update', 'edit_window_closed');
  await house.platform.edit(message, origin, doneView({ task: TASK }), 'final');
  expect(textsIn(origin.channel)).toHaveLength(2);
  for (let times = 0; times < of.refusals; times += 1) slack.fail('chat.update', 'cant_update_message');
  await retract(message);
  expect(textsIn(origin.channel)).toEqual(of.left);
});

it('deletes the clip, and tells that a message in an archived channel stays', async () => {
  const message = await open();
  await attach(message);
  slack.archive(origin.channel);
  await expect(retract(message)).rejects.toMatchObject(KEPT);
  expect(files()).toEqual([]);
  expect(await storedIn(house.store)).not.toMatch(/red.fox/);
});

it('replaces the messages, and tells that a clip stays which it may not delete', async () => {
  const message = await open();
  await attach(message);
  slack.fail('files.delete', 'file_deleting_disabled');
  await expect(retract(message)).rejects.toMatchObject(KEPT);
  expect(textsIn(origin.channel)).toEqual([REMOVED, REMOVED]);
});

it('does not take a channel out of reach for a deleted message', async () => {
  origin = { ...origin, channel: slack.channels.secret };
  const message = await open();
  slack.kick(origin.channel);
  await expect(retract(message)).rejects.toMatchObject(KEPT);
});

it('finds the message of a clip that an earlier version delivered', async () => {
  const message = await open();
  await attach(message);
  const key = `${message.channel}:${message.message}`;
  const { message: _ts, ...earlier } = (await house.store.keyv('slack_files').get<{ message: string }>(key)) ?? {};
  await house.store.keyv('slack_files').set(key, earlier);
  await retract(message);
  expect(textsIn(origin.channel)).toEqual([REMOVED, REMOVED]);
});

it('has deleted the file once its card says so', async () => {
  const message = await open();
  await attach(message);
  slack.fail('files.delete', 'ratelimited');
  await expect(retract(message)).rejects.toMatchObject({ retryable: true });
  expect(plainOf(slack.message(message.message))).not.toContain(REMOVED);
  await retract(message);
  expect(files()).toEqual([]);
  expect(plainOf(slack.message(message.message))).toContain(REMOVED);
});

it('passes on a rate limit, and goes on from there', async () => {
  const message = await open();
  await attach(message);
  slack.fail('files.delete', 'ratelimited');
  await expect(retract(message)).rejects.toMatchObject({ code: 'rate_limited', retryable: true });
  expect(files()).toHaveLength(1);
  await retract(message);
  expect(files()).toEqual([]);
});

it('leaves calls for other edits when many messages are retracted', async () => {
  const message = await open();
  const retractions = Array.from({ length: 30 }, () => retract(message));
  const outcomes = await Promise.allSettled(retractions);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(24);
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  for (const reason of refused) expect(reason).toMatchObject({ code: 'rate_limited' });
  const progress = taskView({ task: TASK, progress: 50 });
  await house.platform.edit(message, origin, progress, 'progress');
});
