import type { Browser } from 'playwright-core';
import { be, openChat, shoot, type } from './chat-page.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

/** Addresses that need no name resolution, so that the picture can be made without a network. */
const IMAGES = ['mug', 'harbour', 'nora'].map((name) => [name, `https://93.184.215.14/${name}.png`] as const);

/** Chat page: the images of a team, and an order that misspells the name of one. */
export const library: Picture = {
  file: 'library.png',
  make: (browser, path) => withProgram({}, (address) => take(browser, address, path)),
};

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await openChat(browser, url, 620);
  await be(page, 'ada');
  for (const [name, address] of IMAGES) {
    await type(page, `/video library add @${name} --image ${address}`, `@${name}`);
  }
  await be(page, 'sam');
  await type(page, '/video library', 'Reference library');
  await type(page, '/video create @mug beside the window --image @harbor', 'Did you mean');
  await shoot(page, path);
}
