import type { Browser } from 'playwright-core';
import { be, openChat, press, shoot, type } from './chat-page.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

/** Gallery: the takes of a prompt, and a single clip. */
export const gallery: Picture = {
  file: 'gallery.webp',
  make: (browser, path) => withProgram({}, (address) => take(browser, address, path)),
};

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await openChat(browser, url, 640);
  await be(page, 'ada');
  await type(page, '/video create waves at dusk --model sketch-480p --seconds 2', 'waves');
  await type(page, '/video create a red fox in snow --takes 2 --model sketch-480p --seconds 2', 'takes');
  await page.waitForSelector('article >> text=are ready');
  await type(page, '/video gallery', 'gallery');
  const link = await page.locator('article a[href*="key="]').last().getAttribute('href');
  await page.goto(new URL(link ?? '', url).href);
  await press(page, 'Open the gallery as ada');
  await page.waitForSelector('.card');
  await shoot(page, path);
}
