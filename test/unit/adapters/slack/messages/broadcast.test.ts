import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BROADCAST_WORDS } from '#commands/sentences/attachments.ts';
import type { MessageRef } from '#src/chat/platform.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
import type { FakeSlack } from '#test/fakes/slack/index.ts';
import { buttonsOf, plainOf, SlackHouse } from '#test/fakes/slack-house.ts';
import { doneView, taskView } from '#test/fakes/views.ts';

const TASK = 'task-1' as TaskId;

let house: SlackHouse;
let slack: FakeSlack;
let directory: string;

beforeEach(async () => {
  house = await SlackHouse.start();
  slack = house.slack;
  directory = await mkdtemp(join(tmpdir(), 'dailies-slack-broadcast-'));
});

afterEach(async () => {
  await house.remove();
  await rm(directory, { recursive: true });
  expect(slack.violations).toEqual([]);
});

/** Delivers a clip of Alice's that was ordered in a thread, or in none, and returns its card. */
async function delivered(channel: string, threadTs?: string): Promise<MessageRef & { readonly origin: Origin }> {
  const dm = slack.dm(slack.users.alice);
  if (channel === dm) slack.people.say('a red fox', { channel, ...(threadTs === undefined ? {} : { threadTs }) });
  else if (threadTs === undefined) slack.people.slash('/video a red fox', { channel });
  else slack.people.mention('a red fox', { channel, threadTs });
  const { caller: origin } = await house.heard(({ what }) => what === 'a red fox');
  const message = await house.platform.open(TASK, origin, taskView({ task: TASK }));
  await house.platform.attach(message, origin, doneView({ task: TASK }), await writeClip(directory));
  return { ...message, origin };
}

const button = ({ message }: MessageRef): string | undefined =>
  buttonsOf(slack.message(message)).find(({ label }) => label === BROADCAST_WORDS.button)?.id;
const broadcast = (channel = slack.channels.general) => slack.messages(channel).filter((one) => one.isBroadcast);
const press = async (card: MessageRef, id: string, user = slack.users.alice): Promise<string> => {
  const before = house.whispers(user, card.channel).length;
  slack.people.press(card.message, id, { user });
  await slack.until(() => house.whispers(user, card.channel).length > before, 'an answer');
  return plainOf(house.whispers(user, card.channel).at(-1) as Parameters<typeof plainOf>[0]);
};
const inThread = () => delivered(slack.channels.general, slack.people.say('our clips').ts);

it('sends a clip of a thread to the channel as well, once, without another upload', async () => {
  const card = await inThread();
  const id = button(card) ?? '';
  expect(await press(card, id)).toBe(BROADCAST_WORDS.done);
  expect(broadcast()).toMatchObject([{ threadTs: slack.message(card.message).threadTs }]);
  expect(JSON.stringify(broadcast()[0]?.blocks)).toContain('/permalinks/files/');
  expect(await press(card, id)).toBe(BROADCAST_WORDS.already);
  await house.restart();
  await slack.botReady();
  expect(await press(card, id)).toBe(BROADCAST_WORDS.already);
  expect(broadcast()).toHaveLength(1);
  expect(slack.files).toHaveLength(1);
  // The next edit of the card leaves the button out.
  await house.platform.edit(card, card.origin, doneView({ task: TASK }), 'final');
  expect(button(card)).toBeUndefined();
});

it('sends it once for two presses at the same time', async () => {
  const card = await inThread();
  const id = button(card) ?? '';
  for (let at = 0; at < 2; at += 1) slack.people.press(card.message, id);
  await slack.until(() => house.whispers(slack.users.alice, card.channel).length >= 3, 'two answers');
  expect(broadcast()).toHaveLength(1);
});

it('is for the requester alone', async () => {
  const card = await inThread();
  expect(await press(card, button(card) ?? '', slack.users.bob)).toBe(BROADCAST_WORDS.notYours);
  expect(broadcast()).toEqual([]);
});

it('is not offered outside of threads, nor in a direct message', async () => {
  expect(button(await delivered(slack.channels.clips))).toBeUndefined();
  await house.remove();
  house = await SlackHouse.start();
  slack = house.slack;
  expect(button(await delivered(slack.dm(slack.users.alice), slack.people.openPane().ts))).toBeUndefined();
});

it('is retracted with its clip', async () => {
  const card = await inThread();
  await press(card, button(card) ?? '');
  const removed = { kind: 'removed', reason: 'deleted' } as const;
  await house.platform.retract(card, { ...card.origin, interaction: '', address: {} }, removed);
  expect(broadcast().map(plainOf)).toEqual(['This clip was deleted.']);
});

it('sends nothing once the clip is gone, and says why a channel refuses it', async () => {
  const card = await inThread();
  const id = button(card) ?? '';
  slack.fail('chat.postMessage', 'restricted_action');
  expect(await press(card, id)).toContain('settings don’t let the app post here');
  const { blocks } = slack.message(card.message);
  const removed = { kind: 'removed', reason: 'deleted' } as const;
  await house.platform.retract(card, { ...card.origin, interaction: '', address: {} }, removed);
  // A press that was on its way.
  slack.message(card.message).blocks = blocks;
  expect(await press(card, id)).toBe(BROADCAST_WORDS.gone);
  expect(broadcast()).toEqual([]);
});
