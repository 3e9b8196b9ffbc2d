import type { Browser } from 'playwright-core';
import { be, enter, openChat, shoot, type } from './chat-page.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

/** Chat page: a clip above the team's threshold waits, and its approver sees the request. */
export const approval: Picture = {
  file: 'approval.png',
  make: (browser, path) => withProgram({}, (address) => take(browser, address, path)),
};

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await openChat(browser, url, 480);
  await be(page, 'operator');
  await enter(page, 'clips');
  await type(page, '/video budget team 20 USD', 'The monthly budget of the team is now $20.00.');
  await type(page, '/video settings --approve_above 0.30', 'Clips that cost more need an approval.');
  await type(page, '/video approvers add ada', 'ada may approve from now on.');
  await enter(page, 'general');
  await be(page, 'sam');
  await type(page, '/video create a red fox running through snow --seconds 8', 'Waiting for approval');
  await be(page, 'ada');
  await page.waitForSelector('article .button:has-text("Approve · $0.40")');
  await shoot(page, path);
}
