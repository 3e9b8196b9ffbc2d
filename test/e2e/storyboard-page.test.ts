import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { makeShot, play } from '../fakes/shots.ts';
import type { FakeVideoService } from '../fakes/video-service.ts';
import { overflow, violations } from './accessibility.ts';
import { answered, type RunningDailies } from './dailies.ts';
import { BOX, test as base } from './pages.ts';

// A storyboard in a browser, from its form to the joined cut, and a comparison from its order to its reveal: each
// test has a program of its own.

const SHOTS = 4;
/** Of one shot, as `makeShot` makes it by default. */
const SECONDS = 25 / 24;

const test = base.extend('service', async ({ dir }) => ({
  clip: await readFile(await makeShot(join(dir, 'shot.mp4'))),
}));

/** Fails the first task of a prompt. */
function failOnce({ handlers }: FakeVideoService, prompt: string): void {
  const { create } = handlers;
  handlers.create = (call) => {
    const before = call.service.creates;
    create(call);
    const { prompt: given } = JSON.parse(call.request.body) as { readonly prompt: string };
    const made = [...call.service.tasks.values()].at(-1);
    if (call.service.creates === before || made === undefined || given !== prompt) return;
    handlers.create = create;
    Object.assign(made, { status: 'failed', failure: { code: 'generation_failed', message: 'too dark' } });
  };
}

async function boardOf(dailies: RunningDailies) {
  const found = (await dailies.messages()).find(({ text }) => text.includes('Storyboard:'));
  return { text: found?.text ?? '', labels: found?.buttons.map(({ label }) => label) ?? [] };
}

test('a form is filled from a text file in UTF-16, and refuses one that is no text', async ({ open }) => {
  const page = await open();
  await page.fill(BOX, '/video storyboard');
  await page.press(BOX, 'Enter');
  const form = page.locator('dialog.form[open]');
  const shots = form.locator('[name=shots]');
  const text = { name: 'board.txt', mimeType: 'text/plain' };
  const marked = Buffer.from('\uFEFFa fox\r\nit runs 🦊', 'utf16le');
  await form.locator('input[type=file]').setInputFiles({ ...text, buffer: marked });
  await expect.poll(() => shots.inputValue()).toBe('a fox\nit runs 🦊');
  await form.locator('input[type=file]').setInputFiles({ ...text, buffer: Buffer.from('un zèbre', 'latin1') });
  await form.locator('text=board.txt isn’t text in UTF-8.').waitFor();
  expect(await shots.inputValue()).toBe('a fox\nit runs 🦊');
  await form.locator('input[type=file]').setInputFiles({ ...text, buffer: marked.swap16() });
  await expect.poll(() => form.locator('text=board.txt isn’t text in UTF-8.').count()).toBe(0);
  expect(await shots.inputValue()).toBe('a fox\nit runs 🦊');
  await page.close();
});

test('four shots from a form, one fails and is retried, all are reordered, joined and shown in the gallery', {
  timeout: 600_000,
}, async ({ upstream, dailies, dir, open, newPage }) => {
  const board = () => boardOf(dailies);
  failOnce(upstream, 'it sleeps');
  const page = await open();
  await page.fill(BOX, '/video storyboard');
  await page.press(BOX, 'Enter');
  const form = page.locator('dialog.form[open]');
  const text = { name: 'board.txt', mimeType: 'text/plain' };
  const lines = ['a fox wakes up', 'it runs --seconds 4', '', 'it sleeps', 'it dreams'];
  await form.locator('input[type=file]').setInputFiles({ ...text, buffer: Buffer.from(lines.join('\r\n')) });
  await expect.poll(() => form.locator('[name=shots]').inputValue()).toBe(lines.join('\n'));
  // The blank line is no shot, nor is a first line of options alone.
  await form.locator('text="4 shots"').waitFor();
  await form.locator('[name=shots]').fill(`--aspect 16:9\n${lines.join('\n')}`);
  await form.locator('text="4 shots"').waitFor();
  await form.locator('button[type=submit]').click();
  await page.click('button:has-text("Create 4 shots")');
  await page.waitForSelector('article.private:not(:has(.button)) >> text=Ordered: 4 shots');
  await expect.poll(() => page.locator('text=Nothing has been started.').count()).toBe(0);

  await expect.poll(async () => (await board()).text).toContain('3 of 4 shots are ready; shot 3 failed.');
  expect(upstream.creates).toBe(SHOTS);
  expect((await board()).labels).toContain('Join 3 shots without shot 3');

  // Pressed twice: one clip.
  await page.locator('button:has-text("Retry shot 3")').first().dblclick();
  await expect.poll(async () => (await board()).text).toContain('All 4 shots are ready.');
  expect(upstream.creates).toBe(SHOTS + 1);

  // Each shot has its picture, or where ffmpeg makes none, the beginning of its clip.
  await expect.poll(() => page.locator('.segment :is(img, video)').count()).toBe(SHOTS);
  await playsInTurn(page);
  await page.locator('[data-shot="4"]').focus();
  await page.keyboard.press('Alt+ArrowLeft');
  await expect.poll(async () => (await board()).text).toContain('In the cut: shots 1, 2, 4, 3.');
  await dragTo(page, 3, 2);
  await expect.poll(async () => (await board()).text).toContain('In the cut: shots 1, 3, 2, 4.');
  await dragTo(page, 2, 3);
  await expect.poll(async () => (await board()).text).not.toContain('In the cut');
  // Of these presses, none is answered by a message.
  expect((await dailies.messages()).filter(({ text }) => text.includes('is before shot'))).toEqual([]);

  // Moved in two choices: its menu, and where it goes.
  await page.selectOption('select[aria-label="A shot…"]', { label: '4 · it dreams · ready' });
  const menu = page.locator('article.private:has-text("Shot 4 of the board")');
  await menu.locator('select[aria-label="Move…"]').selectOption({ label: 'Before 1 · a fox wakes up' });
  await menu.locator('text=Shot 4 is before shot 1.').waitFor();
  await expect.poll(async () => (await board()).text).toMatch(/Shot 4[\s\S]*Shot 1[\s\S]*Shot 2[\s\S]*Shot 3/u);

  await page.click('button:has-text("Join 4 shots")');
  await page.locator('.thread > summary:has-text("3 shots, 1 take, 1 cut")').waitFor();
  const cut = async () => (await dailies.messages()).find(({ text: said }) => said.includes('Cut of 4 shots'));
  await expect.poll(async () => (await cut())?.attachments.length).toBe(1);
  const message = await cut();
  expect(message?.text).toMatch(/1\. it dreams[\s\S]*2\. a fox wakes up[\s\S]*3\. it runs[\s\S]*4\. it sleeps/u);
  const file = await fetch(new URL(message?.attachments[0]?.url ?? '', dailies.url));
  const path = join(dir, 'cut.mp4');
  await writeFile(path, Buffer.from(await file.arrayBuffer()));
  const played = await play(path);
  expect(played).toMatchObject({ width: 160, height: 90, frames: SHOTS * 25 });
  expect(Math.abs(played.seconds - SHOTS * SECONDS)).toBeLessThan(1 / 24);
  expect(played.beeps).toHaveLength(SHOTS);
  for (const [at, beep] of played.beeps.entries())
    expect(Math.abs(beep - (played.flashes[at] ?? 0))).toBeLessThan(0.04);
  expect(upstream.creates).toBe(SHOTS + 1);
  const viewport = { width: 360, height: 780 };
  await showsInGallery(await newPage({ colorScheme: 'dark', viewport }), dailies);
});

/** Moves a shot in the gallery, and joins the cut that is of the order before again. */
async function joinsAgain(page: Page): Promise<void> {
  await page.waitForSelector('text=The cut is up to date.');
  await page.locator('[data-shot="4"]').focus();
  await page.keyboard.press('Alt+ArrowRight');
  await page.waitForSelector('text=The board has changed since the last cut.');
  for (const first of ['.shots li', '.card'])
    await expect.poll(() => page.locator(first).first().textContent()).toContain('a fox wakes up');
  await page.click('button:has-text("Join again")');
  await page.waitForSelector('text=The cut is up to date.');
  await expect.poll(() => page.locator('.cut').count()).toBe(2);
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Play the cut' }).click();
  await expect
    .poll(() => page.locator('.timeline .screen video').getAttribute('src'))
    .toMatch(/\/gallery\/cuts\/cut-/u);
}

/** Plays the cut: each shot in its turn, to the end. */
async function playsInTurn(page: Page): Promise<void> {
  const seen = await page.evaluateHandle(() => {
    const shots: string[] = [];
    new MutationObserver(() => {
      const at = document.querySelector<HTMLElement>('.segment[aria-current]')?.dataset['shot'];
      if (at !== undefined && at !== shots.at(-1)) shots.push(at);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
    return shots;
  });
  await page.getByRole('button', { name: 'Play the cut' }).click();
  await expect.poll(() => seen.jsonValue()).toEqual(['1', '2', '3', '4']);
  await page.getByRole('button', { name: 'Play the cut' }).waitFor();
}

/** Drags a shot onto the near half of one that is before it. */
async function dragTo(page: Page, shot: number, before: number): Promise<void> {
  const [from, to] = await Promise.all([shot, before].map((at) => page.locator(`[data-shot="${at}"]`).boundingBox()));
  if (!from || !to) throw new TypeError('a shot is not shown');
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width / 4, to.y + to.height / 2, { steps: 3 });
  await page.mouse.up();
}

/** Finds the clips of the board together, with its order and its cut, which is played and downloaded. */
async function showsInGallery(page: Page, dailies: RunningDailies): Promise<void> {
  const answer = await dailies.message(answered(await dailies.interact('/video gallery', { user: 'ada' })));
  await page.goto(/http:\S+key=[\w-]{43}/u.exec(answer.text)?.[0] ?? '');
  await page.click('button:has-text("Open the gallery as ada")');
  // The retry of shot 3 is a take of it.
  await page.click('.card:has-text("it sleeps")');
  await page.waitForSelector('dd:has-text("shot 3 of 4")');
  await page.route('**/gallery/api/sets/*', async (route) => {
    const response = await route.fetch();
    const found = await response.json();
    await route.fulfill({
      response,
      json: { ...found, cuts: found.cuts.map((one: object) => ({ ...one, bytes: 1_400_000 })) },
    });
  });
  await page.click('text=All clips of its storyboard');
  await page.waitForSelector('h2:has-text("Storyboard of 4 shots")');
  const shots = await page.locator('.shots li').allTextContents();
  expect(shots.map((text) => text.trim())).toEqual([
    'it dreams (shot 4)',
    'a fox wakes up (shot 1)',
    'it runs (shot 2)',
    'it sleeps (shot 3)',
  ]);
  await expect.poll(() => page.locator('.card').count()).toBe(SHOTS);
  const cut = page.locator('.cut');
  expect(await cut.textContent()).toMatch(/Cut of 4 shots4\.2 s · 1\.3 MB · \S/u);
  await page.waitForFunction(() => (document.querySelector('.cut video') as HTMLVideoElement).readyState >= 1);
  const length = await page.evaluate(() => (document.querySelector('.cut video') as HTMLVideoElement).duration);
  expect(Math.abs(length - SHOTS * SECONDS)).toBeLessThan(1 / 24);
  const [download] = await Promise.all([page.waitForEvent('download'), cut.locator('a').click()]);
  expect([await download.failure(), download.suggestedFilename()]).toEqual([null, expect.stringMatching(/\.mp4$/u)]);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  expect(await violations(page)).toEqual([]);
  await joinsAgain(page);
  await page.click('text=Clear filters');
  await page.waitForSelector('.set', { state: 'detached' });
}

test('three people vote in a comparison, one changes their mind, and the models are named to all', {
  timeout: 600_000,
}, async ({ open }) => {
  const [ana, ben, cleo] = [await open({ user: 'ana' }), await open({ user: 'ben' }), await open({ user: 'cleo' })];
  await ana.fill(BOX, '/video compare a red kite --models swift-1,reel-2');
  await ana.press(BOX, 'Enter');
  const voters = [
    [ana, 'A'],
    [ben, 'A'],
    [cleo, 'B'],
    [ben, 'B'],
  ] as const;
  for (const [page, label] of voters) {
    await page.locator(`button:has-text("Vote for ${label}")`).first().click();
    await page.waitForSelector(`text=/ote(?:d for| to) clip ${label}/`);
  }
  await cleo.waitForSelector('text=3 people have voted.');
  for (const page of [ana, ben, cleo]) {
    const shown = await page.locator('.log').innerText();
    expect(shown).toContain('Vote for A');
    expect(shown).not.toMatch(/Reel 2|made in|\$0\.20/u);
  }
  await playsBlindly(cleo);
  await ana.click('button:has-text("Reveal the models")');
  for (const page of [ana, ben, cleo]) await page.waitForSelector('text=won with 2 of 3 votes.');
  await cleo.waitForSelector('text=/Clip B.*made in.*2 votes/');
});

/** Plays both clips on the card in step: in frames of one shape, without anything that tells which model made which. */
async function playsBlindly(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Play side by side' }).click();
  const player = page.locator('article:has-text("Which one is better?") .player');
  await expect.poll(() => player.locator('figcaption').allInnerTexts()).toEqual(['Clip A', 'Clip B']);
  const videos = player.locator('video');
  await page.waitForFunction(() => Number((document.querySelector('.player .seek input') as HTMLInputElement).max) > 1);
  const shapes = await videos.evaluateAll((all) => all.map((one) => [one.clientWidth, one.clientHeight].join(' × ')));
  expect(new Set(shapes).size).toBe(1);
  const words = await videos.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
  expect(new Set(words).size).toBe(1);
  // Nor does the card tell their sizes.
  expect(await page.locator('article:has-text("Vote for") figcaption .size').allInnerTexts()).toEqual([]);
  await player.locator('.play-button[aria-label="Play"]').click();
  await player.locator('.play-button[aria-label="Pause"]').waitFor();
  await player.locator('.play-button[aria-label="Play"]').waitFor();
  const [one = 0, two = 0] = await videos.evaluateAll((all) =>
    all.map((each) => (each as HTMLVideoElement).currentTime),
  );
  expect(one).toBeGreaterThan(0.9);
  expect(Math.abs(one - two)).toBeLessThan(0.2);
}
