import type { Browser } from 'playwright-core';
import { openChat, shoot, submit, type } from './chat-page.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

/** Chat page: a budget is set, an order beyond it is refused, and the spend is shown. */
export const budget: Picture = {
  file: 'budget.png',
  make: (browser, path) => withProgram({}, (address) => take(browser, address, path)),
};

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await openChat(browser, url, 760);
  await page.click('.try-budget');
  await submit(page, 'The monthly budget of the team is now $0.50.');
  await type(page, '/video create a red fox running through snow --seconds 8', 'Queued');
  await type(page, '/video create a wolf at night --seconds 6', 'would exceed');
  await type(page, '/video usage', 'used');
  await shoot(page, path);
}
