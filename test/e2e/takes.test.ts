import { afterEach, beforeEach, expect, test } from 'vitest';
import { keepRunning } from '../fakes/discord-program.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { answered, makeDir, type RunningDailies, startDailies } from './dailies.ts';

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;

beforeEach(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
});

afterEach(async () => {
  await dailies.kill();
  await upstream.close();
  await dir.remove();
});

test('three takes: one card, three clips below it, one mention; also over a kill and a redelivery', async () => {
  const letGo = keepRunning(upstream);
  dailies = await startDailies({ dir: dir.path, upstream });
  const card = answered(await dailies.interact('/video create a red fox --takes 3', { id: 'same' }));
  // Killed during a create, a take would be uncertain.
  await expect.poll(async () => (await dailies.message(card)).text).toMatch(/(Take \d · Running.*\s*){3}/u);
  await dailies.kill();
  dailies = await startDailies({ dir: dir.path, upstream });
  expect(answered(await dailies.interact('/video create a red fox --takes 3', { id: 'same' }))).toBe(card);
  letGo();
  await expect
    .poll(async () => (await dailies.messages()).filter(({ attachments }) => attachments.length === 1))
    .toHaveLength(3);
  await expect
    .poll(async () => JSON.stringify(await dailies.messages()))
    .toContain('your 3 takes of “a red fox” are ready.');
  const messages = await dailies.messages();
  expect(messages.filter(({ replyTo }) => replyTo === card)).toHaveLength(4);
  expect(messages.find(({ id }) => id === card)?.text).toMatch(/Take 1 · Done.*\nTake 2 · Done.*\nTake 3 · Done/);
  expect(upstream.posts).toBe(3);
});

test('a comparison: clips together under labels, without a model in any message until the reveal', async () => {
  dailies = await startDailies({ dir: dir.path, upstream });
  const card = answered(await dailies.interact('/video compare a red fox --models swift-1,reel-2'));
  await expect
    .poll(async () => (await dailies.messages()).filter(({ attachments }) => attachments.length === 1))
    .toHaveLength(2);
  await expect.poll(async () => (await dailies.message(card)).text).toContain('Which one is the best?');
  const blind = (await dailies.messages()).filter(({ author }) => author !== 'ada');
  expect(JSON.stringify(blind)).not.toMatch(/swift-1|reel-2|Swift 1|Reel 2/u);
  const { buttons } = await dailies.message(card);
  expect(buttons.map(({ label }) => label)).toEqual(['Vote for A', 'Vote for B', 'Reveal the models', 'Details']);
});
