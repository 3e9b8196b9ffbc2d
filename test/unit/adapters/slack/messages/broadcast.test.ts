import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { PostRecord } from '#adapters/slack/messages/message-store.ts';
import { BROADCAST_WORDS } from '#commands/sentences/attachments.ts';
import type { MessageRef } from '#src/chat/platform.ts';
import type { RecordWrite } from '#src/engine/store/store.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
import type { FakeSlack } from '#test/fakes/slack/index.ts';
import { buttonsOf, plainOf, SlackHouse, whispersTo } from '#test/fakes/slack-house.ts';
import { doneView, taskView } from '#test/fakes/views.ts';

const TASK = 'task-1' as TaskId;
const REMOVED = 'This clip was deleted.';

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

type Card = MessageRef & { readonly origin: Origin };

/** Delivers a clip of Alice's that was ordered in a thread, or in none, and returns its card. @param before runs before its delivery */
async function delivered(channel: string, threadTs?: string, before: () => void = () => undefined): Promise<Card> {
  const dm = slack.dm(slack.users.alice);
  if (channel === dm) slack.people.say('a red fox', { channel, ...(threadTs === undefined ? {} : { threadTs }) });
  else if (threadTs === undefined) slack.people.slash('/video a red fox', { channel });
  else slack.people.mention('a red fox', { channel, threadTs });
  const { caller: origin } = await house.heard(({ what }) => what === 'a red fox');
  const message = await house.platform.open(TASK, origin, taskView({ task: TASK }));
  before();
  await house.platform.attach(message, origin, doneView({ task: TASK }), await writeClip(directory));
  return { ...message, origin };
}

const button = ({ message }: MessageRef): string | undefined =>
  buttonsOf(slack.message(message)).find(({ label }) => label === BROADCAST_WORDS.button)?.id;
const broadcast = (channel = slack.channels.general) => slack.messages(channel).filter((one) => one.isBroadcast);
const press = async (card: MessageRef, id: string, user = slack.users.alice): Promise<string> => {
  const answers = () => whispersTo(slack, user, card.channel).map(plainOf);
  const before = answers().length;
  slack.people.press(card.message, id, { user });
  await slack.until(() => answers().length > before, 'an answer');
  return answers().at(-1) ?? '';
};
const retract = (card: Card): Promise<void> =>
  house.platform.retract(
    card,
    { ...card.origin, interaction: '', address: {} },
    { kind: 'removed', reason: 'deleted' },
  );
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
  await slack.until(() => whispersTo(slack, slack.users.alice, card.channel).length >= 3, 'two answers');
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

it('sends it, too, by the button of a reply in place of an edit', async () => {
  const root = slack.people.say('our clips').ts;
  const card = await delivered(slack.channels.general, root, () => slack.fail('chat.update', 'edit_window_closed'));
  expect(button(card)).toBeUndefined();
  const standIn = slack
    .messages(card.channel)
    .find((one) => one.ts !== card.message && button({ ...card, message: one.ts }));
  const reply = { ...card, message: standIn?.ts ?? '' };
  expect(await press(reply, button(reply) ?? '')).toBe(BROADCAST_WORDS.done);
  expect(await press(reply, button(reply) ?? '')).toBe(BROADCAST_WORDS.already);
  expect(broadcast()).toMatchObject([{ threadTs: root }]);
});

it('is retracted with its clip', async () => {
  const card = await inThread();
  await press(card, button(card) ?? '');
  await house.restart();
  await retract(card);
  expect(broadcast().map(plainOf)).toEqual([REMOVED]);
});

/** Holds the next commit that writes a record, until the returned function is called. */
function holdCommit(isIt: (record: RecordWrite) => boolean) {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { store } = house;
  const commit = store.commit.bind(store);
  const spy = vi.spyOn(store, 'commit').mockImplementation(async (change) => {
    if (change.records.some(isIt)) {
      spy.mockRestore();
      reached.resolve();
      await released.promise;
    }
    return commit(change);
  });
  return { reached: reached.promise, goOn: released.resolve };
}

it('is retracted, too, where it is sent while the clip is being removed', async () => {
  const card = await inThread();
  const { blocks } = slack.message(card.message);
  const { reached, goOn } = holdCommit(({ namespace, value }) => namespace === 'slack_files' && value === null);
  const retracted = retract(card);
  await reached;
  // A press that was on its way.
  slack.message(card.message).blocks = blocks;
  expect(await press(card, button(card) ?? '')).toBe(BROADCAST_WORDS.done);
  goOn();
  await retracted;
  expect(broadcast().map(plainOf)).toEqual([REMOVED]);
});

it('is deleted where the clip is removed while it is being sent', async () => {
  const card = await inThread();
  const isPosted = ({ namespace, value }: RecordWrite) =>
    namespace === 'slack_posts' && typeof (value as PostRecord | null)?.message === 'string';
  const { reached, goOn } = holdCommit(isPosted);
  const pressed = press(card, button(card) ?? '');
  await reached;
  expect(broadcast()).toHaveLength(1);
  await retract(card);
  goOn();
  expect(await pressed).toBe(BROADCAST_WORDS.gone);
  expect(broadcast()).toEqual([]);
});

it('sends nothing once the clip is gone, and says why a channel refuses it', async () => {
  const card = await inThread();
  const id = button(card) ?? '';
  slack.fail('chat.postMessage', 'restricted_action');
  expect(await press(card, id)).toContain('settings don’t let the app post here');
  const { blocks } = slack.message(card.message);
  await retract(card);
  // A press that was on its way.
  slack.message(card.message).blocks = blocks;
  expect(await press(card, id)).toBe(BROADCAST_WORDS.gone);
  expect(broadcast()).toEqual([]);
});
