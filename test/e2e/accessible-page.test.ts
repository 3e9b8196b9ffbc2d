import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { FFMPEG, makeShot } from '../fakes/shots.ts';
import type { FakeVideoService } from '../fakes/video-service.ts';
import { withoutFocusRing, wrongWith } from './accessibility.ts';
import { administer } from './dailies.ts';
import { BOX, test as base } from './pages.ts';

// The pages in their main states: axe finds nothing, nothing is beside the window, and every control shows its focus.

const TIMEOUT = { timeout: 900_000 };

const test = base
  .extend('viewport', { scope: 'file' }, { width: 1440, height: 900 })
  .extend('service', async ({ dir }) => ({ clip: await readFile(await makeShot(join(dir, 'shot.mp4'))) }))
  .extend('env', { FFMPEG_PATH: FFMPEG });

async function say(page: Page, text: string, shown: string): Promise<void> {
  await page.fill(BOX, text);
  await page.focus(BOX);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await page.waitForSelector(shown);
}

/** Keeps the tasks in progress as they are, while `isHeld` says so. */
function hold({ handlers }: FakeVideoService, isHeld: () => boolean): void {
  const { retrieve } = handlers;
  handlers.retrieve = (call) => {
    if (isHeld() && call.task !== undefined) call.task.polls = 0;
    retrieve(call);
  };
}

/** Checks a page in one state after the other. @returns what was wrong in which, and the check of a state */
function createStates(page: Page) {
  const wrong: string[] = [];
  const check = async (state: string): Promise<void> => {
    wrong.push(...(await wrongWith(page)).map((found) => `${state}: ${found}`));
  };
  const tab = async (state: string): Promise<void> => {
    wrong.push(...(await withoutFocusRing(page)).map((found) => `${state}: no focus on ${found}`));
  };
  return { wrong, check, tab };
}

test('the chat page is accessible in its main states', TIMEOUT, async ({ upstream, open }) => {
  let isHeld = true;
  hold(upstream, () => isHeld);
  const page = await open({ channel: 'empty' });
  const { wrong, check, tab } = createStates(page);
  await check('empty');
  await tab('empty');
  await page.click('.connect-link');
  await page.waitForSelector('dialog.connect');
  await check('connect');
  await page.keyboard.press('Escape');
  await page.click('.user-button');
  await check('who are you');
  await page.keyboard.press('Escape');
  await page.locator(BOX).pressSequentially('/video c');
  await page.waitForSelector('#offers');
  await check('suggestions');
  await say(page, '/video', 'dialog.form[open]');
  await check('form');
  await tab('form');
  await page.keyboard.press('Escape');
  await say(page, '/video create a red fox --seconds 4', '[role=progressbar]');
  await say(page, '/video create a grey wolf --seconds 4 --takes 3', 'article >> text=3 takes');
  await say(page, '/video compare a red kite --models swift-1,reel-2', 'article >> text=Making 2 clips');
  await check('in progress');
  await tab('in progress');
  isHeld = false;
  await page.waitForSelector('text=your 3 takes of “a grey wolf” are ready.');
  await page.waitForSelector('text=Which one is better?');
  await check('clips, takes, comparison');
  await page.click('button:has-text("Reveal the models")');
  await page.waitForSelector('text=Nobody voted.');
  await check('revealed');
  await tab('revealed');
  expect(wrong).toEqual([]);
});

test('boards, lists and settings of the chat page are accessible', TIMEOUT, async ({ dailies, open }) => {
  await administer(dailies, '/video review on --own off');
  const page = await open();
  const { wrong, check } = createStates(page);
  await say(page, '/video storyboard', 'dialog.form[open]');
  await page.fill('dialog [name=shots]', 'a fox wakes up --seconds 4\nit runs --seconds 4\nit sleeps --seconds 4');
  await page.click('dialog button[type=submit]');
  await page.click('button:has-text("Create 3 shots")');
  await page.waitForSelector('text=All 3 shots are ready.');
  await page.click('button:has-text("Join 3 shots")');
  await page.waitForSelector('text=up to date');
  // The answer to the press is in the thread, which it opens.
  await page.waitForSelector('.thread[open] article >> text=Cut of 3 shots');
  await check('board with its thread');
  await page.click('.thread > summary');
  await page.waitForSelector('.thread:not([open])');
  await page.getByRole('button', { name: 'Play the cut' }).click();
  // The screen has its size, once it plays.
  await page.waitForFunction(
    () => Number((document.querySelector('.timeline .seek input') as HTMLInputElement).value) > 0,
  );
  await check('board that plays');
  await page.click('.thread > summary');
  await page.selectOption('select[aria-label="A shot…"]', { index: 1 });
  await page.waitForSelector('article.private:has-text("Shot 1 of the board")');
  await check('shot');
  await page.locator('.button:has-text("Request changes")').first().click();
  await page.fill('dialog [name=note]', '0:00 too dark');
  await page.click('dialog button:has-text("Request changes")');
  await page.waitForSelector('article >> text=ada requested changes: 0:00 too dark');
  for (const [command, shown] of [
    ['/video list', 'text=Details'],
    ['/video models', '.table'],
    ['/video help', '.heading'],
    ['/video settings', 'text=Settings'],
    ['/video nonsense', 'text=nonsense'],
  ] as const)
    await say(page, command, `article:last-of-type >> ${shown} >> nth=0`);
  await check('list, models, help, settings');
  expect(wrong).toEqual([]);
});

test('the gallery is accessible in its main states', TIMEOUT, async ({ dailies, open }) => {
  await administer(dailies, '/video review on --own off');
  const chat = await open();
  await say(chat, '/video create a red fox --seconds 4', 'text=your clip “a red fox” is ready.');
  await chat.click('.button:has-text("Request changes")');
  await chat.fill('dialog [name=note]', '0:00 too dark');
  await chat.click('dialog button:has-text("Request changes")');
  await chat.waitForSelector('article >> text=ada requested changes: 0:00 too dark');
  // The message may come before the answer, which closes the dialog.
  await chat.locator('dialog[open]').waitFor({ state: 'hidden' });
  await say(chat, '/video create a grey wolf --seconds 4 --takes 2', 'text=your 2 takes of “a grey wolf” are ready.');
  const page = await open();
  await page.click('.sidebar-end >> text=Gallery');
  await page.waitForURL('**/gallery');
  await page.waitForSelector('.card');
  const { wrong, check, tab } = createStates(page);
  await check('grid');
  await tab('grid');
  await page.click('.select >> nth=0');
  await page.waitForSelector('text="1 selected"');
  await check('selection');
  await page.click('text=Select none');
  await page.click('text=Poster wall');
  await page.waitForSelector('.wall');
  await check('wall');
  await tab('wall');
  await page.click('text=Leave the wall');
  await page.click('button:has-text("Your defaults")');
  await page.waitForSelector('dialog select');
  await check('defaults');
  await page.keyboard.press('Escape');
  await page.click('.card:has-text("a red fox")');
  await page.waitForSelector('.lightbox .notes');
  await check('lightbox');
  await tab('lightbox');
  await page.reload();
  await page.waitForSelector('.clip-page .notes');
  await check('clip');
  await tab('clip');
  await page.keyboard.press('Escape');
  await page.click('.card:has-text("a grey wolf") >> nth=0');
  await page.click('text=All clips of its order');
  await page.waitForSelector('h2:has-text("2 takes")');
  await check('set');
  await page.click('text=Clear filters');
  await page.fill('.filters input[type=search]', 'no such clip');
  await page.waitForSelector('text=No clips match these filters.');
  await check('nothing found');
  await page.click('text=Leave');
  await page.waitForSelector('text=You have left the gallery.');
  await check('left');
  expect(wrong).toEqual([]);
});

test(
  'progress is read as one, and what a screen reader is told is the order and its end',
  TIMEOUT,
  async ({ upstream, open }) => {
    let isHeld = true;
    hold(upstream, () => isHeld);
    const page = await open();
    await page.evaluate(() => {
      const region = document.querySelector('[role=status].sr');
      const told: string[] = [];
      Object.assign(window, { told });
      if (region !== null)
        new MutationObserver(() => {
          const words = region.textContent ?? '';
          if (words !== (told.at(-1) ?? '')) told.push(words);
        }).observe(region, { childList: true, characterData: true, subtree: true });
    });
    await say(page, '/video create a red fox --seconds 4', '[role=progressbar][aria-valuetext="Rendering, 33 %"]');
    expect(await page.getAttribute('[role=progressbar]', 'aria-valuenow')).toBe('33');
    expect(await page.textContent('.waiting')).toBe('Rendering');
    isHeld = false;
    await page.waitForSelector('text=your clip “a red fox” is ready.');
    // @ts-expect-error defined above
    const told = (await page.evaluate(() => window.told)) as readonly string[];
    // The end of the clip and its notice may come in one rendering.
    expect(told.at(0)).toMatch(/^a red fox/);
    expect(told.at(-1)).toBe('ada your clip “a red fox” is ready.');
    expect(told.slice(1, -1).filter((words) => !words.includes('Done in'))).toEqual([]);
  },
);

test('nothing moves for a reader who asks for that', TIMEOUT, async ({ upstream, open }) => {
  hold(upstream, () => true);
  const page = await open();
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await say(page, '/video create a red fox --seconds 4', '[role=progressbar][aria-valuetext="Rendering, 33 %"]');
  const moving = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('*')]
        .filter((one) => {
          const { animationName, transitionDuration } = getComputedStyle(one);
          return animationName !== 'none' || transitionDuration !== '0s';
        })
        .map(({ className }) => String(className)),
    );
  expect(await moving()).toEqual([]);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  expect(await moving()).toContain('waiting running');
});
