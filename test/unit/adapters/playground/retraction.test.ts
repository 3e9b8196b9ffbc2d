import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Reply } from '#commands/bot-port.ts';
import { listRow } from '#commands/list.ts';
import { detailsCard } from '#commands/orders/details.ts';
import { offerCard } from '#commands/orders/offer-cards.ts';
import { type Card, heading, layOut } from '#commands/ui/card.ts';
import type { MessageRef } from '#src/chat/platform.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { newTask, originOf } from '#test/fakes/tasks.ts';
import { approvalNotice, doneView, endNotice } from '#test/fakes/views.ts';

const TASK = 'a1b2c3d4e5f6' as TaskId;
const PROMPT = 'a red fox running through snow, cinematic, at dawn, with a long shadow behind it';
const REMOVED = 'This clip was deleted.';

let house: PlaygroundHouse;
let directory: string;
let task: Task;
let message: MessageRef;
/** Tasks whose picture was asked for. */
let pictured: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dailies-retraction-'));
  pictured = [];
  const posterOf = async (id: string) => {
    pictured.push(id);
    const path = join(directory, 'fox.poster.jpg');
    await writeFile(path, 'a picture');
    return path;
  };
  house = await PlaygroundHouse.start({ dataDir: directory, posterOf });
  const origin = originOf({ platform: 'playground', channel: 'general', user: { id: 'ada', name: 'ada' } });
  const { request } = newTask();
  task = newTask({ id: TASK, origin, request: { ...request, prompt: PROMPT } });
  const view = doneView({ task: TASK, prompt: PROMPT, by: origin.user });
  message = await house.platform.open(TASK, origin, view);
  const file = await writeClip(directory, { description: PROMPT });
  await house.platform.attach(message, origin, view, file);
  await rm(file.path);
});

afterEach(async () => {
  await house.remove();
  await rm(directory, { recursive: true, force: true });
});

const retract = (): Promise<void> =>
  house.platform.retract(message, { ...task.origin, interaction: '' }, { kind: 'removed', reason: 'deleted' });
/** Has a user give a command with this reply. */
const reply = async (user: string, answer: Reply, text = '/video list'): Promise<void> => {
  house.bot.reply = answer;
  await house.post('interactions', { id: randomUUID(), user, channel: 'general', text });
};
const privately = (card: Card): Reply => ({ kind: 'private', card });
const listOf = (one: Task): Reply =>
  privately(layOut([heading('Team clips'), listRow({ task: one, message, phase: 'done', isCancellable: false })]));
const offer = (prompt: string): Reply =>
  privately(
    offerCard({
      reason: { kind: 'late' },
      prompt,
      clips: [],
      draft: 'other' as TaskId,
      hasRun: false,
      fix: null,
      isImprovable: false,
    }),
  );
/** Replaces the record of the newest message that a user sees. */
const damage = async (user: string, record: unknown): Promise<void> => {
  const newest = (await house.messages('general', `&user=${user}`)).at(-1);
  await house.store.keyv('playground_messages').set(newest?.id ?? '', record);
};
const textsOf = async (user: string): Promise<readonly string[]> =>
  (await house.messages('general', `&user=${user}`)).map(({ text }) => text);

it('leaves no way to the picture of the clip, which no name but that of the clip leads to', async () => {
  const shown = (await house.messages()).find(({ id }) => id === message.message);
  const url = shown?.attachments[0]?.url ?? '';
  expect(await house.get(`${url}?poster`)).toMatchObject({ status: 200, body: 'a picture' });
  expect(pictured).toEqual([TASK]);
  expect((await house.get(`/playground/files/${message.message}/other.mp4?poster`)).status).toBe(204);
  await retract();
  expect((await house.get(`${url}?poster`)).status).toBe(204);
  expect(pictured).toEqual([TASK]);
});

it('removes the private replies that show the task, and leaves the others', async () => {
  const other = newTask({ id: 'f00dfeed0001' as TaskId, request: { ...task.request, prompt: 'a blue whale' } });
  await reply('ada', offer(PROMPT), PROMPT);
  await reply('ada', listOf(task));
  await reply('ben', listOf(task));
  await reply('ben', privately(detailsCard(task, [], { media: [], marks: null, strip: null })));
  await reply('ben', listOf(other));
  await reply('cleo', offer('a red fox, drawn by hand'), 'a red fox, drawn by hand');
  expect(await storedIn(house.store)).toContain('running through snow');
  await retract();
  expect(await textsOf('ada')).toEqual([REMOVED]);
  expect(await textsOf('ben')).toEqual([REMOVED, expect.stringContaining('a blue whale')]);
  expect(await textsOf('cleo')).toEqual([REMOVED, expect.stringContaining('drawn by hand')]);
  expect(await storedIn(house.store)).not.toContain('running through snow');
});

it('removes the private replies whose selects name the task by its words', async () => {
  const menu = (prompt: string): Reply => {
    const options = [{ id: 'shot:set:2', label: `Before 2 · ${prompt}`.slice(0, 75) }];
    return privately(layOut([['Shot 1 of the board']], { selects: [{ placeholder: 'Move…', options }] }));
  };
  await reply('ben', menu(PROMPT));
  await reply('ben', menu('a blue whale'));
  await retract();
  expect(await textsOf('ben')).toEqual([REMOVED, expect.stringContaining('Shot 1')]);
  expect(await storedIn(house.store)).not.toContain('running through snow');
});

it.each([
  ['null', null],
  ['an object without the fields of a message', { visibleTo: 'ben', task: null }],
])('removes private replies beside one whose record is %s', async (_, record) => {
  await reply('ben', listOf(task));
  await damage('ben', record);
  await reply('ben', listOf(task));
  await retract();
  expect(await textsOf('ben')).toEqual([REMOVED]);
});

it('ends where the record of the message is null', async () => {
  await damage('ada', null);
  await retract();
  expect(await house.messages()).toEqual([]);
});

it('replaces the notices that an earlier version posted below the message, and no other task', async () => {
  const { origin } = task;
  const place = { team: origin.team, channel: 'general', address: {} };
  const view = endNotice(origin, { prompt: PROMPT });
  await house.platform.notify({ key: 'end:1', place, replyTo: message, mention: origin.user, view });
  const retry = { ...origin, replyTo: message.message };
  await house.platform.open('retry1234567' as TaskId, retry, doneView({ prompt: PROMPT, by: origin.user }));
  await retract();
  expect(await textsOf('ada')).toEqual([REMOVED, REMOVED, expect.stringContaining('running through snow')]);
});

it('deletes the files', async () => {
  const folder = join(directory, 'playground');
  const [before] = await house.messages();
  expect(await readdir(folder)).toHaveLength(1);
  await retract();
  expect(await readdir(folder)).toEqual([]);
  expect((await house.get(before?.attachments[0]?.url ?? '')).status).toBe(404);
});

it('is not edited again when repeated', async () => {
  await retract();
  const [once] = await house.messages();
  await retract();
  expect(await house.messages()).toEqual([once]);
});

it('does not store forms, which have the prompt', async () => {
  const field = { name: 'prompt', label: 'Prompt', value: PROMPT, note: '', isLong: true };
  const form = { id: 'edit:x', title: 'Edit', submit: 'Create', fields: [field] };
  await reply('ada', { kind: 'form', form: form as never }, '/video');
  await retract();
  expect(await storedIn(house.store)).not.toContain('running through snow');
});

it('deletes the file of an expired clip, and shows that it expired', async () => {
  const removal = { reason: 'expired', atMs: house.clock.now(), hasContent: true } as const;
  expect(await readdir(join(directory, 'playground'))).toHaveLength(1);
  for (let time = 0; time < 2; time += 1)
    await house.platform.expire(message, doneView({ task: TASK, prompt: PROMPT, by: task.origin.user, removal }));
  expect(await readdir(join(directory, 'playground'))).toEqual([]);
  const [shown] = (await house.get('/playground/messages?channel=general')).body;
  expect(shown).toMatchObject({
    attachments: [],
    task: TASK,
    text: expect.stringMatching(/red fox.*This clip expired/s),
  });
});

it('replaces what quotes the prompt once that expired, too', async () => {
  await house.platform.expire(message, { kind: 'removed', reason: 'expired' });
  expect(await readdir(join(directory, 'playground'))).toEqual([]);
  expect(await storedIn(house.store)).not.toMatch(/red fox/);
  await house.platform.expire({ ...message, message: 'm-none' }, { kind: 'removed', reason: 'expired' });
});

it('shows pictures in a list from its own address, and none once the clip is removed', async () => {
  const poster = { id: TASK, url: 'https://bot.example/media/secret.jpg?signature=1' };
  const row = listRow({ task, message, phase: 'done', isCancellable: false, poster });
  await reply('ada', privately(layOut([heading('Team clips'), row])));
  const list = (await house.messages()).find(({ text }) => text.includes('Team clips'));
  const url = `/playground/posters/${list?.id}/${TASK}`;
  expect(list?.card.blocks[1]).toMatchObject({ picture: { url, alt: `A frame of “${PROMPT}”` } });
  expect(JSON.stringify(await house.messages())).not.toContain('signature');
  const pictureAt = (path: string) => fetch(`${house.url}${path}`).then(async (response) => response.text());
  expect(await pictureAt(url)).toBe('a picture');
  // Only what a message shows.
  expect(await pictureAt(`/playground/posters/${message.message}/${TASK}`)).toBe('');
  expect(await pictureAt(`/playground/posters/${list?.id}/another`)).toBe('');
  await retract();
  expect(await pictureAt(url)).toBe('');
});

it('shows the frames of a clip, and the picture of a request, from its own address', async () => {
  const strip = { id: `${TASK}.strip`, url: null };
  await reply('ada', privately(detailsCard(task, [], { media: [], marks: null, strip })));
  const { origin } = task;
  const place = { team: origin.team, channel: 'general', address: {} };
  const view = approvalNotice({ prompt: 'a hen', picture: { id: 'relay-1', url: 'https://bot.example/?signature=1' } });
  await house.platform.notify({ key: 'ask:1', place, replyTo: null, mention: null, view });
  const shown = (await house.messages()).flatMap(({ id, card }) =>
    card.blocks.flatMap((block) => ('picture' in block && block.picture ? [{ id, ...block.picture }] : [])),
  );
  const path = (at: number, picture: string) => `/playground/posters/${shown[at]?.id}/${picture}`;
  expect(shown).toMatchObject([
    { url: path(0, strip.id), alt: `Frames of “${PROMPT}”` },
    { url: path(1, 'relay-1'), alt: 'Picture for “a hen”' },
  ]);
  const status = async (url: string) => (await fetch(`${house.url}${url}`)).status;
  expect(await Promise.all(shown.map(({ url }) => status(`${url}`)))).toEqual([200, 200]);
  expect(await Promise.all([path(0, 'relay-1'), path(1, strip.id), path(0, TASK)].map(status))).toEqual([
    204, 204, 204,
  ]);
  expect(JSON.stringify(await house.messages())).not.toContain('signature');
  await retract();
  expect(await status(path(0, strip.id))).toBe(204);
});
