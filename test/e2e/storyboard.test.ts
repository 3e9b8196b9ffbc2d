import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { launchBrowser } from '../fakes/browser.ts';
import { sendBytes } from '../fakes/clip.ts';
import { makeShot, play } from '../fakes/shots.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { answered, buttonOf, makeDir, questionToDelete, type RunningDailies, startDailies } from './dailies.ts';

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;
let browser: Browser;

beforeEach(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
  browser = await launchBrowser();
});

afterEach(async () => {
  await browser.close();
  await dailies.kill();
  await upstream.close();
  await dir.remove();
});

/** Pictures of the shots, at 24 per second; the second one is silent. */
const FRAMES = [25, 30, 28, 33] as const;
const FLASH_FRAME = 12;
const WITHIN = 300_000;

/** Has the service make another shot for each create, by its prompt; the first one of `it wakes` fails. */
async function serveShots(): Promise<void> {
  const files = await Promise.all(
    FRAMES.map(async (frames, at) =>
      readFile(await makeShot(join(dir.path, `${at}.mp4`), { frames, channels: at === 1 ? null : 2 })),
    ),
  );
  const prompts = ['a fox', 'it runs', 'it sleeps', 'it wakes'];
  const shotOf = new Map<string, number>();
  let hasFailed = false;
  const { create, retrieve } = upstream.handlers;
  upstream.handlers.create = (call) => {
    create(call);
    const { prompt } = JSON.parse(call.request.body) as { prompt: string };
    const id = [...upstream.tasks.keys()].at(-1);
    if (id !== undefined) shotOf.set(id, prompts.indexOf(prompt));
  };
  upstream.handlers.retrieve = (call) => {
    if (call.task !== undefined && shotOf.get(call.task.id) === 3 && !hasFailed) {
      hasFailed = true;
      call.task.status = 'failed';
      call.task.failure = { code: 'generation_failed', message: 'boom' };
    }
    retrieve(call);
  };
  upstream.handlers.content = (call) => sendBytes(call, files[shotOf.get(call.task?.id ?? '') ?? 0] ?? Buffer.alloc(0));
}

test('a storyboard of four shots, one failing and retried, joined over a kill into one cut', async () => {
  await serveShots();
  dailies = await startDailies({ dir: dir.path, upstream });
  const page = await browser.newPage();
  await page.addInitScript(() => sessionStorage.setItem('dailies.user', 'ana'));
  await page.goto(dailies.url);
  answered(await dailies.interact('/video storyboard a fox\nit runs\nit sleeps\nit wakes'));
  await page.getByRole('button', { name: /^Create 4 shots/u }).click({ timeout: WITHIN });
  await page
    .getByRole('button', { name: /^Retry shot 4/u })
    .first()
    .click({ timeout: WITHIN });
  const joining = page.getByRole('button', { name: 'Join 4 shots', exact: true });
  await joining.click({ timeout: WITHIN });
  await page.locator('strong', { hasText: /^(?:Joining|Cut of) 4 shots/u }).waitFor({ timeout: WITHIN });
  await dailies.kill();
  dailies = await startDailies({ dir: dir.path, upstream });
  const cuts = async () => (await dailies.messages()).filter(({ text }) => text.includes('of 4 shots · 0:0'));
  await expect
    .poll(async () => (await cuts()).map(({ attachments }) => attachments.length), { timeout: WITHIN })
    .toEqual([1]);
  const [cut] = await cuts();
  expect(cut).toMatchObject({ task: null, state: null, text: expect.stringMatching(/1\. a fox[\s\S]*4\. it wakes/u) });
  const [file] = cut?.attachments ?? [];
  expect(file?.name).toMatch(/^cut-fox-[0-9a-f]{4}\.mp4$/u);
  const clips = join(dir.path, 'data/clips');
  const made = (await readdir(clips)).filter((name) => name.startsWith('cut-'));
  expect(made.filter((name) => name.endsWith('.mp4'))).toHaveLength(1);
  const path = join(clips, made.find((name) => name.endsWith('.mp4')) ?? '');
  const bytes = await fetch(new URL(file?.url ?? '', dailies.url)).then((response) => response.arrayBuffer());
  expect(Buffer.from(bytes).equals(await readFile(path))).toBe(true);
  const played = await play(path);
  const frames = FRAMES.reduce((sum, each) => sum + each, 0);
  expect(played).toMatchObject({ width: 160, height: 90, frames });
  expect(Math.abs(played.seconds - frames / 24)).toBeLessThan(1 / 24);
  const starts = FRAMES.map((_, at) => FRAMES.slice(0, at).reduce((sum, each) => sum + each, FLASH_FRAME) / 24);
  expect(played.flashes.map((flash, at) => Math.abs(flash - (starts[at] ?? 0)) < 1 / 24)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(played.beeps).toHaveLength(3);
  for (const beep of played.beeps)
    expect(Math.min(...played.flashes.map((flash) => Math.abs(flash - beep)))).toBeLessThan(0.04);
  // A second press, on a page that was loaded before, makes nothing, and buys nothing.
  const board = async () => (await dailies.messages()).find(({ text }) => text.startsWith('Storyboard: '));
  await expect.poll(async () => (await board())?.text, { timeout: WITHIN }).toContain('Cut: See it · up to date');
  const ids = (await board())?.buttons.map(({ id }) => id) ?? [];
  expect(ids).not.toContainEqual(expect.stringMatching(/^join:/u));
  const set = ids.find((id) => id.startsWith('details:'))?.slice('details:'.length) ?? '';
  const again = answered(await dailies.press((await board())?.id ?? '', `join:${set}`, { user: 'ana' }));
  expect((await dailies.message(again)).text).toContain('These shots are joined already.');
  expect(await cuts()).toHaveLength(1);
  expect(upstream.posts).toBe(5);
  // Nothing of a deleted clip is left in a cut.
  const shot = (await dailies.messages()).find(({ task, attachments }) => task !== null && attachments.length === 1);
  const question = await questionToDelete(dailies, shot?.task ?? '');
  await dailies.press(question.id, buttonOf(question, 'delete'));
  await expect.poll(async () => (await dailies.message(cut?.id ?? '')).text).toBe('This clip was deleted.');
  expect((await dailies.message(cut?.id ?? '')).attachments).toEqual([]);
  expect((await readdir(clips)).filter((name) => name.startsWith('cut-'))).toEqual([]);
});
