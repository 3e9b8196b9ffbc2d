import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { MessageRef } from '#src/chat/platform.ts';
import { boardViewOf } from '#src/chat/sets/set-view.ts';
import type { SetMember, SetView } from '#src/chat/view.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { writeClip } from '#test/fakes/clip.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { originOf } from '#test/fakes/tasks.ts';
import { approvalNotice, cutView, doneView, endNotice, reviewNotice, setView, taskView } from '#test/fakes/views.ts';

// What comes with the card of a storyboard: its board, from which the page makes a timeline, and its thread.

const ADA = { id: 'ada', name: 'ada' };
const PLACE = { team: 'playground', channel: 'general', address: {} };
const ORIGIN = originOf({ platform: 'playground', ...PLACE, user: ADA });

let house: PlaygroundHouse;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dailies-board-'));
  const clip = await writeClip(directory, { bytes: 5_000 });
  house = await PlaygroundHouse.start({
    clipOf: async () => ({ path: clip.path, bytes: 5_000, contentType: 'video/mp4' }),
    posterOf: async () => clip.path,
  });
});

afterEach(async () => {
  await house.remove();
  await rm(directory, { recursive: true, force: true });
});

const taskOf = (at: number): TaskId => `shot-${at}` as TaskId;
const placeOf = (at: number) => ({ id: taskOf(1), kind: 'storyboard' as const, of: 3, at });

/** Returns the board of a clip, a shot in progress and, where it was removed, one without content. */
function boardView(revision = 4, removed: readonly number[] = []): SetView {
  const members = [2, 1, 3].map((at): SetMember => {
    const changes = { task: taskOf(at), prompt: `prompt ${at}`, set: placeOf(at), by: ADA };
    const removal = { reason: 'deleted', atMs: 0, hasContent: false } as const;
    const isRemoved = removed.includes(at);
    const isReady = at !== 1;
    const view = !isReady ? taskView(changes) : doneView(isRemoved ? { ...changes, prompt: '', removal } : changes);
    const original = { task: taskOf(at), retryPrice: null };
    const shot = { at, isSkipped: at === 3, isReady, isOutdated: false, isRetrying: false, original };
    return { view, message: null, shot };
  });
  const { at: _, ...set } = placeOf(1);
  return boardViewOf(setView(set, members), revision);
}

const open = (): Promise<MessageRef> => house.platform.open(boardView().id, ORIGIN, boardView());
const below = ({ message }: MessageRef) => ({ ...ORIGIN, replyTo: message });
const shot = (card: MessageRef, at: number) => {
  const changes = { task: taskOf(at), set: placeOf(at), prompt: `prompt ${at}` };
  return house.platform.open(taskOf(at), below(card), doneView(changes));
};
const shown = async (id: string) => (await house.messages()).find((message) => message.id === id);

it('has the shots in the order of the cut, with the addresses of those that are there', async () => {
  const { message } = await open();
  const board = (await shown(message))?.board;
  expect(board).toMatchObject({ set: taskOf(1), revision: 4, by: 'ada', cut: null });
  expect(board?.shots).toEqual([
    {
      at: 2,
      task: taskOf(2),
      prompt: 'prompt 2',
      seconds: 6,
      state: null,
      progress: null,
      isSkipped: false,
      url: `/playground/clips/${message}/${taskOf(2)}`,
      poster: `/playground/posters/${message}/${taskOf(2)}`,
    },
    expect.objectContaining({ at: 1, state: 'Running', progress: 42, url: null, poster: null }),
    expect.objectContaining({ at: 3, state: null, isSkipped: true }),
  ]);
  const clip = await house.get(board?.shots[0]?.url ?? '', { range: 'bytes=0-9' });
  expect([clip.status, clip.headers.get('content-type')]).toEqual([206, 'video/mp4']);
  expect((await house.get(board?.shots[0]?.poster ?? '')).status).toBe(200);
});

it('serves no clip but those on it', async () => {
  const { message } = await open();
  for (const path of [`${message}/${taskOf(1)}`, `${message}/other`, `other/${taskOf(2)}`])
    expect((await house.get(`/playground/clips/${path}`)).status, path).toBe(404);
});

it('has a board once its shots are ordered', async () => {
  const { boardRevision: _, ...view } = boardView();
  const { message } = await house.platform.open(view.id, ORIGIN, view);
  expect((await shown(message))?.board).toBe(null);
});

it('loses what is removed', async () => {
  const card = await open();
  await house.platform.edit(card, ORIGIN, boardView(4, [2]), 'final');
  expect((await shown(card.message))?.board?.shots[0]).toMatchObject({ prompt: '', state: 'Removed', url: null });
  expect((await house.get(`/playground/clips/${card.message}/${taskOf(2)}`)).status).toBe(404);
  expect((await house.get(`/playground/posters/${card.message}/${taskOf(2)}`)).status).toBe(204);
  await house.platform.retract(card, ORIGIN, { kind: 'removed', reason: 'deleted' });
  expect((await shown(card.message))?.board).toBe(null);
  expect(await storedIn(house.store)).not.toContain('prompt 3');
});

it('forgets its requester', async () => {
  await open();
  await house.platform.forget('playground', ADA, { id: 'forgotten-1', name: 'Removed person' });
  expect(await storedIn(house.store)).not.toContain('"ada"');
});

it('has shots, cuts, takes and notes in its thread; mentions and orders of their own are in the channel', async () => {
  const card = await open();
  const first = await shot(card, 2);
  const cut = await house.platform.open('cut-1' as TaskId, below(card), cutView());
  const take = doneView({ task: 'take' as TaskId, retryOf: taskOf(2) });
  const retry = await house.platform.open('take' as TaskId, below(first), take);
  const notice = { place: PLACE, mention: ADA };
  const note = { ...notice, replyTo: retry, view: reviewNotice({ task: 'take' as TaskId }) };
  const notes = await house.platform.notify({ ...note, key: 'note' });
  const threads = await Promise.all(
    [first, cut, retry, notes].map(async ({ message }) => (await shown(message))?.thread),
  );
  expect(threads).toEqual(['shot', 'cut', 'take', 'note'].map((kind) => ({ card: card.message, kind })));
  const others = [
    await house.platform.notify({ ...notice, key: 'end', replyTo: card, view: endNotice(ORIGIN) }),
    await house.platform.notify({ ...notice, key: 'ask', replyTo: card, view: approvalNotice() }),
    await house.platform.open('set-again' as TaskId, below(card), boardView()),
    await house.platform.open('alone' as TaskId, ORIGIN, doneView()),
  ];
  for (const { message } of others) expect((await shown(message))?.thread).toBe(null);
});

it('comes with its thread where messages are grouped, and counts as one', async () => {
  const alone = await house.platform.open('alone' as TaskId, ORIGIN, doneView());
  const card = await open();
  const [two, three] = [await shot(card, 2), await shot(card, 3)];
  const last = await house.platform.open('last' as TaskId, ORIGIN, doneView());
  const ids = async (query: string) => (await house.messages('general', query)).map(({ id }) => id);
  const all = [alone, card, two, three, last].map(({ message }) => message);
  expect(await ids('')).toEqual(all);
  const grouped = [alone, card, last, two, three].map(({ message }) => message);
  expect(await ids('&threads=grouped')).toEqual(grouped);
  expect(await ids('&threads=grouped&limit=2')).toEqual(grouped.slice(1));
  // A message of a thread leads to its card.
  expect(await ids(`&threads=grouped&limit=1&around=${three.message}`)).toEqual(
    [card, two, three].map((one) => one.message),
  );
  expect(await ids(`&threads=grouped&before=${card.message}`)).toEqual([alone.message]);
  const scanned = vi.spyOn(house.store, 'scan');
  await house.platform.retract(card, ORIGIN, { kind: 'removed', reason: 'deleted' });
  expect(await ids('&threads=grouped')).toEqual(grouped);
  const threads = scanned.mock.calls.map(([index]) => index).filter((index) => index.includes('thread'));
  expect(threads).toEqual([expect.stringContaining(card.message)]);
  expect((await house.get('/playground/messages?threads=other')).status).toBe(400);
});
