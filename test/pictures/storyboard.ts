import type { Browser } from 'playwright-core';
import { openChat, press, scrollTo, shoot } from './chat-page.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

const SHOTS = ['a fox wakes up in the snow', 'it runs through the trees', 'it sleeps under the stars'];

/** Chat page: a storyboard of three shots, and their joined cut. */
export const storyboard: Picture = {
  file: 'storyboard.webp',
  make: (browser, path) => withProgram({}, (address) => take(browser, address, path)),
};

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await openChat(browser, url, 900);
  await page.fill('.composer textarea', '/video storyboard --model sketch-480p --seconds 2');
  await page.keyboard.press('Escape');
  await page.click('.composer [type=submit]');
  await page.fill('dialog.form[open] [name=shots]', SHOTS.join('\n'));
  await page.click('dialog.form[open] button[type=submit]');
  await press(page, 'Create 3 shots');
  await press(page, 'Join 3 shots');
  await page.waitForSelector('text=up to date');
  await page.click('.segment >> nth=1');
  await scrollTo(page, '.timeline');
  await shoot(page, path);
}
