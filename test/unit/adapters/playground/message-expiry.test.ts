import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AttachmentFolder } from '#adapters/playground/files.ts';
import { MESSAGES_KEPT_MS, messageExpiry } from '#adapters/playground/message-expiry.ts';
import { MessageStore } from '#adapters/playground/message-store.ts';
import { ResponseCache } from '#adapters/playground/response-cache.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { runJob } from '#test/fakes/jobs.ts';
import { storedIn } from '#test/fakes/stored.ts';

const DAY_MS = 24 * 3_600_000;
const card = { lines: [], buttons: [], progress: null } as const;

it('deletes messages of more than a year with their files, but not what is open or undelivered', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'dailies-messages-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, 'clip.mp4'), 'clip');
  const house = new ChatHouse();
  const { store, clock } = house;
  const files = new AttachmentFolder(join(dir, 'playground'));
  const messages = new MessageStore(store, clock, files);
  const running = await house.running({ id: 'running' as TaskId });
  const release = house.platform.stalls('attach');
  const undelivered = await house.done({ id: 'undelivered' as TaskId });
  const clip = { name: 'clip.mp4', path: join(dir, 'clip.mp4') };
  const attachments = [{ name: clip.name, description: '', contentType: 'video/mp4', bytes: 4 }];
  const post = async (id: string, task: TaskId | null): Promise<void> => {
    await files.keep(id, clip);
    await messages.post({
      id,
      channel: id === 'elsewhere' ? 'other' : 'general',
      card: { ...card },
      task,
      attachments,
    });
  };
  await post('text', null);
  await post('elsewhere', null);
  await post('gone', 'no-task' as TaskId);
  await post('running', running);
  await post('undelivered', undelivered);
  clock.step(DAY_MS);
  await post('newer', null);
  clock.step(MESSAGES_KEPT_MS - DAY_MS / 2);
  const responses = { expire: async () => undefined };
  const promptsKeptMs = async () => null;
  const expiry = messageExpiry({ store, messages, responses, promptsKeptMs, clock });
  for (let time = 0; time < 2; time += 1) expect(await runJob(expiry, { store, clock })).toBe(true);
  const left = (await Array.fromAsync(messages.all())).flat().map(({ id }) => id);
  expect(left.toSorted()).toEqual(['newer', 'running', 'undelivered']);
  expect(await readdir(files.path)).toHaveLength(3);
  release();
});

it('deletes private replies once prompts of their age go, and the responses to requests after a year', async () => {
  const { store, clock } = new ChatHouse();
  const messages = new MessageStore(store, clock, new AttachmentFolder('/nowhere'));
  const responses = new ResponseCache(store, clock);
  let keptMs: number | null = null;
  const promptsKeptMs = async () => keptMs;
  const expiry = messageExpiry({ store, messages, responses, promptsKeptMs, clock });
  const post = (id: string, visibleTo: string | null) =>
    messages.post({ id, channel: 'general', card: { ...card }, visibleTo });
  const left = async () => (await Array.fromAsync(messages.all())).flat().map(({ id }) => id);
  const ask = async (message: string) => responses.once('k', 'ada', async () => ({ status: 202, body: { message } }));
  await post('public', null);
  await post('private', 'ada');
  await ask('first');
  clock.step(40 * DAY_MS);
  await post('newer', 'ada');
  expect(await runJob(expiry, { store, clock })).toBe(true);
  expect((await left()).toSorted()).toEqual(['newer', 'private', 'public']);
  keptMs = 30 * DAY_MS;
  expect(await runJob(expiry, { store, clock })).toBe(true);
  expect((await left()).toSorted()).toEqual(['newer', 'public']);
  expect(await ask('second')).toMatchObject({ body: { message: 'first' } });
  expect(await storedIn(store)).toContain('playground_responses');
  clock.step(MESSAGES_KEPT_MS);
  expect(await runJob(expiry, { store, clock })).toBe(true);
  expect(await storedIn(store)).not.toContain('playground_responses');
  expect(await store.count('playground-answers')).toBe(0);
});
