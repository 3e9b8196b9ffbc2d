import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { MessageRef } from '#src/chat/platform.ts';
import type { ComparisonView, SetMember, SetView } from '#src/chat/view.ts';
import type { SetKind, Task, TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { originOf } from '#test/fakes/tasks.ts';
import { doneView, reviewNotice, setView, type TaskViewChanges, taskView } from '#test/fakes/views.ts';

const ADA = { id: 'ada', name: 'ada' };
const ORIGIN = originOf({ platform: 'playground', team: 'playground', channel: 'general', user: ADA });
const PROMPT = 'a red fox running through snow, cinematic, at dawn';

let house: PlaygroundHouse;
let directory: string;
/** Tasks whose clip or picture was asked for. */
let asked: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dailies-set-card-'));
  asked = [];
  const posterOf = async (id: string) => {
    asked.push(id);
    return null;
  };
  house = await PlaygroundHouse.start({ dataDir: directory, posterOf });
});

afterEach(async () => {
  await house.remove();
  await rm(directory, { recursive: true, force: true });
});

const VOTING: ComparisonView = {
  stage: 'voting',
  ended: 2,
  voters: 0,
  revealsAtMs: null,
  tally: [],
  clips: [1, 2],
  settings: { seconds: 6 },
};

const taskOf = (at: number): TaskId => `${at}00dfeed0000` as TaskId;
const fileOf = (at: number): string => `red-fox-f00d-${at}.mp4`;

/** Returns a clip of a set; one that is there has its file on the card. */
function clip(at: number, changes: TaskViewChanges = {}, isThere = true): SetMember {
  const view = doneView({ task: taskOf(at), prompt: PROMPT, by: ADA, ...changes });
  return { view, message: null, ...(isThere ? { file: { name: fileOf(at), description: PROMPT } } : {}) };
}

function pending(at: number): SetMember {
  return { view: taskView({ task: taskOf(at), prompt: PROMPT, by: ADA }), message: null };
}

/** Returns a removed clip, whose content was removed as well unless its file has expired, which chats keep. */
function removed(at: number, reason: NonNullable<Task['removal']>['reason']): SetMember {
  const hasContent = reason === 'expired';
  const removal = { reason, atMs: house.clock.now(), hasContent };
  return clip(at, { removal, ...(hasContent ? {} : { prompt: '' }) }, hasContent);
}

function cardOf(members: readonly SetMember[], kind: SetKind = 'takes', comparison?: ComparisonView): SetView {
  const set = { id: taskOf(1), kind, of: members.length };
  const placed = members.map(({ view, ...member }, index) => ({
    ...member,
    view: { ...view, task: { ...view.task, set: { ...set, at: index + 1 } } },
  }));
  return setView(set, placed, comparison === undefined ? {} : { comparison });
}

const open = (view: SetView): Promise<MessageRef> => house.platform.open(view.id, ORIGIN, view);

async function attach(message: MessageRef, view: SetView, at: number): Promise<void> {
  const file = await writeClip(directory, { name: fileOf(at), description: PROMPT, bytes: 5_000 + at });
  await house.platform.attach(message, ORIGIN, view, file);
  await rm(file.path);
}

/** Opens the card of three takes, each with its clip. */
async function threeTakes(): Promise<MessageRef> {
  const message = await open(cardOf([pending(1), pending(2), pending(3)]));
  // The second is ready first, and a repeated delivery adds nothing.
  await attach(message, cardOf([pending(1), clip(2), pending(3)]), 2);
  await attach(message, cardOf([clip(1), clip(2), pending(3)]), 1);
  await attach(message, cardOf([clip(1), clip(2), pending(3)]), 1);
  await attach(message, cardOf([clip(1), clip(2), clip(3)]), 3);
  return message;
}

const shown = async ({ message }: MessageRef) => (await house.messages()).find(({ id }) => id === message);
const filesOn = async (message: MessageRef) => (await shown(message))?.tasks?.map(({ file }) => file);
const names = async (message: MessageRef) => (await shown(message))?.attachments.map(({ name }) => name).toSorted();
const onDisk = async () => (await readdir(join(directory, 'playground'))).length;
/** Has a user see a private reply that names a task, or quotes its prompt. */
const reply = (id: string, text: string) => {
  house.bot.reply = { kind: 'private', card: { lines: [[text]], progress: null, buttons: [] } };
  return house.post('interactions', { id, user: 'ada', channel: 'general', text: '/video list' });
};
const replies = async () =>
  (await house.messages()).flatMap(({ visibleTo, text }) => (visibleTo === null ? [] : [text]));

it('holds every clip of takes once, in the order of the card, with its name', async () => {
  const message = await threeTakes();
  const card = await shown(message);
  expect(card?.attachments.map(({ name, bytes }) => [name, bytes])).toEqual([
    [fileOf(2), 5_002],
    [fileOf(1), 5_001],
    [fileOf(3), 5_003],
  ]);
  const [first, second, third] = card?.tasks ?? [];
  expect([first, second, third]).toMatchObject(
    [1, 2, 3].map((at) => ({ task: taskOf(at), state: 'completed', name: `Take ${at}`, file: fileOf(at) })),
  );
  expect(third?.clip).toMatchObject({ phase: 'done', aspectRatio: '16:9' });
  expect(await onDisk()).toBe(3);
});

it('leads to the file and the picture of each clip by its own task', async () => {
  const message = await threeTakes();
  for (const { url, name, bytes } of (await shown(message))?.attachments ?? []) {
    expect((await house.get(url)).headers.get('content-length'), name).toBe(String(bytes));
    expect((await house.get(`${url}?poster`)).status).toBe(204);
  }
  expect(asked).toEqual([taskOf(2), taskOf(1), taskOf(3)]);
});

it('plays each clip from the bucket, and stores no copy', async () => {
  const found: TaskId[] = [];
  const redirectFor = async (id: TaskId) => {
    found.push(id);
    return `https://bucket.example/${id}.mp4`;
  };
  const inBucket = await PlaygroundHouse.start({
    dataDir: directory,
    clipLinks: { origin: 'https://bucket.example', redirectFor },
  });
  await house.remove();
  house = inBucket;
  const message = await threeTakes();
  expect(await onDisk()).toBe(0);
  for (const { url } of (await shown(message))?.attachments ?? []) expect((await house.get(url)).status).toBe(302);
  expect(found).toEqual([taskOf(2), taskOf(1), taskOf(3)]);
});

it('names compared clips by their labels, and says of a blind one that it is', async () => {
  const blind = { blind: { set: taskOf(1), at: 1 } };
  const view = cardOf([clip(1, blind), pending(2)], 'comparison', VOTING);
  const tasks = (await shown(await open(view)))?.tasks;
  expect(tasks?.map(({ name, file, clip: facts }) => [name, file, facts?.isBlind])).toEqual([
    ['Clip A', fileOf(1), true],
    ['Clip B', null, false],
  ]);
});

it('leaves the shots of a storyboard to their own messages', async () => {
  const [first] = (await shown(await open(cardOf([clip(1), pending(2)], 'storyboard'))))?.tasks ?? [];
  expect(first).toEqual({ task: taskOf(1), state: 'completed', progress: null });
});

it('loses the file of a deleted clip with the private replies that show it, and keeps the others', async () => {
  const message = await threeTakes();
  await reply('i1', `ID ${taskOf(2)}`);
  await reply('i2', `ID ${taskOf(3)}`);
  await reply('i3', PROMPT);
  const gone = (await shown(message))?.attachments.find(({ name }) => name === fileOf(2))?.url ?? '';
  for (let time = 0; time < 2; time += 1)
    await house.platform.edit(message, ORIGIN, cardOf([clip(1), removed(2, 'deleted'), clip(3)]), 'final');
  expect(await names(message)).toEqual([fileOf(1), fileOf(3)]);
  expect(await filesOn(message)).toEqual([fileOf(1), null, fileOf(3)]);
  expect(await onDisk()).toBe(2);
  expect((await house.get(gone)).status).toBe(404);
  expect(await replies()).toEqual([`ID ${taskOf(3)}`, PROMPT]);
});

it('loses no file to a progress edit, which may be late, nor the way to delete it', async () => {
  const message = await threeTakes();
  await reply('i1', `ID ${taskOf(2)}`);
  const view = cardOf([clip(1), removed(2, 'deleted'), pending(3)]);
  await house.platform.edit(message, ORIGIN, view, 'progress');
  expect(await names(message)).toEqual([1, 2, 3].map(fileOf));
  expect(await filesOn(message)).toEqual([1, 2, 3].map(fileOf));
  expect(await onDisk()).toBe(3);
  await house.platform.edit(message, ORIGIN, view, 'final');
  expect(await onDisk()).toBe(1);
  expect(await replies()).toEqual([]);
});

it('loses the file of an expired clip alone, and no reply', async () => {
  const message = await threeTakes();
  await reply('i1', `ID ${taskOf(1)}`);
  const view = cardOf([removed(1, 'expired'), clip(2), clip(3)]);
  for (let time = 0; time < 2; time += 1) await house.platform.expire(message, view);
  const once = await shown(message);
  expect(await filesOn(message)).toEqual([null, fileOf(2), fileOf(3)]);
  expect(await names(message)).toEqual([fileOf(2), fileOf(3)]);
  expect(once?.text).toContain('Done, and removed since');
  expect(await onDisk()).toBe(2);
  await house.platform.edit(message, ORIGIN, view, 'final');
  expect(await replies()).toHaveLength(1);
});

it('is retracted with all its files, and all private replies that quote it', async () => {
  const message = await threeTakes();
  await reply('i1', `ID ${taskOf(3)}`);
  await reply('i2', PROMPT);
  await reply('i3', 'a blue whale');
  await house.platform.retract(message, ORIGIN, { kind: 'removed', reason: 'deleted' });
  expect(await shown(message)).toMatchObject({ attachments: [], tasks: [] });
  expect(await onDisk()).toBe(0);
  expect(await replies()).toEqual(['a blue whale']);
  expect(await storedIn(house.store)).not.toContain('running through snow');
});

it('forgets its requester', async () => {
  await threeTakes();
  await house.platform.forget('playground', ADA, { id: 'forgotten-1', name: 'Removed person' });
  expect(await storedIn(house.store)).not.toContain('"ada"');
});

it('knows the clip that the notice of a decision is about', async () => {
  const message = await threeTakes();
  const place = { team: 'playground', channel: 'general', address: {} };
  const view = reviewNotice({ task: taskOf(2) });
  const notice = await house.platform.notify({ key: 'review:1', place, replyTo: message, mention: null, view });
  expect(await shown(notice)).toMatchObject({ task: null, about: taskOf(2) });
});
