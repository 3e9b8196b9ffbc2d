import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { AttachmentFolder } from '#adapters/playground/files.ts';
import { createMessageExpiry, MESSAGES_KEPT_MS } from '#adapters/playground/message-expiry.ts';
import { MessageStore } from '#adapters/playground/message-store.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';

const DAY_MS = 24 * 3_600_000;
const card = { lines: [], buttons: [], progress: null } as const;

it('deletes messages of more than a year with their files, but not what is open or undelivered', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'dailies-messages-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, 'clip.mp4'), 'clip');
  const house = new ChatHouse();
  const { store, clock } = house;
  const messages = new MessageStore(store, clock);
  const files = new AttachmentFolder(join(dir, 'playground'));
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
  const expiry = createMessageExpiry({ store, messages, files, clock, logger: pino({ level: 'silent' }) });
  for (let time = 0; time < 2; time += 1) expect(await expiry.runNow()).toBe(true);
  const left = (await Array.fromAsync(messages.all())).flat().map(({ id }) => id);
  expect(left.toSorted()).toEqual(['newer', 'running', 'undelivered']);
  expect(await readdir(files.path)).toHaveLength(3);
  await expiry.stop();
  release();
});
