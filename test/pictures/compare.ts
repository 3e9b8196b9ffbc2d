import type { Browser } from 'playwright-core';
import { be, openChat, press, scrollTo, shoot, type } from './chat-page.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

const ORDER = '/video compare a red fox in snow --models sketch-480p,reel-2 --seconds 3';
const VOTES = [
  ['sam', 'B'],
  ['ada', 'A'],
  ['operator', 'B'],
] as const;

/** Chat page: two clips of a comparison, blind until three people have voted, and the reveal on its card. */
export const compare: Picture = {
  file: 'compare.webp',
  make: (browser, path) => withProgram({}, (address) => take(browser, address, path)),
};

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await openChat(browser, url, 1000);
  await be(page, 'sam');
  await type(page, ORDER, 'Clip A');
  for (const [person, label] of VOTES) {
    await be(page, person);
    await press(page, `Vote for ${label}`);
    await page.waitForSelector(`article >> text=You voted for clip ${label}.`);
  }
  await be(page, 'sam');
  await press(page, 'Reveal the models');
  await page.waitForSelector('article >> text=won with 2 of 3 votes');
  await scrollTo(page, 'article:has-text("won with 2 of 3 votes")');
  await shoot(page, path);
}
