import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readMarks } from '#src/media/ai-marks.ts';
import { c2paBox } from '../fakes/boxes.ts';
import { sendBytes } from '../fakes/clip.ts';
import { makeShot } from '../fakes/shots.ts';
import { administer, answered, buttonOf } from './dailies.ts';
import { test } from './fixtures.ts';

const WITHIN = 300_000;

test('clips and their cut have the word AI on their cards, and the cut says so in its file', async ({
  dir,
  upstream,
  start,
}) => {
  const shot = await readFile(await makeShot(join(dir, 'shot.mp4')));
  const clip = Buffer.concat([shot, c2paBox('trainedAlgorithmicMedia')]);
  upstream.handlers.content = (call) => sendBytes(call, clip);
  const dailies = await start();
  expect(await administer(dailies, '/video settings --ai_label on')).toContain('AI label: on.');
  const asked = answered(await dailies.interact('/video storyboard\na fox\nit runs'));
  const board = answered(await dailies.press(asked, buttonOf(await dailies.message(asked), 'order')));
  await expect
    .poll(async () => (await dailies.message(board)).text, { timeout: WITHIN })
    .toContain('All 2 shots are ready');
  await dailies.press(board, buttonOf(await dailies.message(board), 'join'));
  const attached = async () => (await dailies.messages()).filter(({ attachments }) => attachments.length > 0);
  await expect.poll(async () => (await attached()).length, { timeout: WITHIN }).toBe(3);
  for (const { text } of await attached()) expect(text).toContain(' · AI · ');
  const clips = join(dir, 'data/clips');
  const cut = (await readdir(clips)).find((name) => name.startsWith('cut-'));
  expect(await readMarks(join(clips, `${cut}`))).toMatchObject({ kinds: ['iptc'], lost: ['c2pa'] });
});
