import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { answered, buttonOf, questionToDelete } from './dailies.ts';
import { test } from './fixtures.ts';

const PROMPT = 'an unreleased teaser';

test('a deleted clip is gone from disk and chat, stays in the books, and is never made again', async ({
  dir,
  upstream,
  start,
}) => {
  let dailies = await start();
  const order = { id: 'the order' };
  const message = answered(await dailies.interact(`/video create ${PROMPT}`, order));
  const { task } = await dailies.reaches(message, 'completed');
  const clips = () => readdir(join(dir, 'data', 'clips'));
  await expect.poll(clips).toEqual([`${task}.mp4`]);
  const notices = async () => (await dailies.messages()).filter(({ replyTo }) => replyTo === message);
  await expect.poll(notices).toHaveLength(1);
  const retry = buttonOf(await dailies.message(message), 'retry');

  const question = await questionToDelete(dailies, task ?? '');
  const confirmed = answered(await dailies.press(question.id, buttonOf(question, 'delete')));
  expect((await dailies.message(confirmed)).text).toBe(`Deleted: ${task?.slice(0, 8)}.`);
  await expect.poll(clips).toEqual([]);
  await expect.poll(async () => (await dailies.message(message)).text).toBe('This clip was deleted.');
  const shown = JSON.stringify([await dailies.message(message), await notices()]);
  expect(shown).not.toContain(PROMPT);

  await dailies.kill();
  dailies = await start();
  await dailies.interact(`/video create ${PROMPT}`, order);
  await dailies.press(message, retry);
  const usage = await dailies.message(answered(await dailies.interact('/video usage')));
  expect(JSON.stringify(usage)).toContain('$0.20');
  expect(upstream.posts).toBe(1);
  expect(await clips()).toEqual([]);
  expect((await dailies.messages()).filter((one) => one.task === task)).toEqual([]);
});
