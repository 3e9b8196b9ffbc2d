import type { Browser } from 'playwright-core';
import { be, openChat, press, shoot, type } from './chat-page.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

/** Chat page: a clip is finished in a channel with reviews, and changes are requested at a time of it. */
export const review: Picture = {
  file: 'review.webp',
  make: (browser, path) => withProgram({}, (address) => take(browser, address, path)),
};

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await openChat(browser, url, 900);
  await be(page, 'operator');
  await type(page, '/video review on', 'Sign off');
  await be(page, 'sam');
  await type(page, '/video create a red fox running through snow --model sketch-480p --seconds 3', 'a red fox');
  await be(page, 'ada');
  await press(page, 'Request changes');
  await page.fill('dialog.form[open] [name=at]', '0:02');
  await page.fill('dialog.form[open] [name=note]', 'The moon is too bright here.');
  await page.click('dialog.form[open] button[type=submit]');
  await page.waitForSelector('article >> text=too bright');
  await shoot(page, path);
}
