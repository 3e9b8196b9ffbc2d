import type { Browser } from 'playwright-core';
import { openChat, shoot, type } from './chat-page.ts';
import { PROMPT } from './drawing.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

/** Chat page: three takes of a prompt, ordered at one price, and the card that lists them. */
export const takes: Picture = {
  file: 'takes.webp',
  make: (browser, path) => withProgram({}, (address) => take(browser, address, path)),
};

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await openChat(browser, url, 640);
  await type(page, `/video create ${PROMPT} --takes 3 --model sketch-480p --seconds 2`, 'takes');
  await page.waitForSelector('article >> text=are ready');
  await shoot(page, path);
}
