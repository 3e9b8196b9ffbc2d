import type { Browser } from 'playwright-core';
import { be, openChat, shoot, type } from './chat-page.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

/** Chat page: rules of a team, and an order that they refuse, by the name of the word and the length. */
export const policy: Picture = {
  file: 'policy.png',
  make: (browser, path) => withProgram({}, (address) => take(browser, address, path)),
};

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await openChat(browser, url, 620);
  await be(page, 'operator');
  await type(page, '/video policy --models swift-1 --seconds 6 --clips 2 --words blood, gore', 'Forbidden words');
  await be(page, 'sam');
  await type(page, '/video policy', 'Administrators change this');
  await type(page, '/video create a cold-blooded heist, blood on snow --seconds 8', 'isn’t allowed here');
  await shoot(page, path);
}
