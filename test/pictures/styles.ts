import type { Browser } from 'playwright-core';
import { be, openChat, press, shoot, type } from './chat-page.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

/** Chat page: a style of the team, a clip made with it, and both prompts under Details. */
export const styles: Picture = {
  file: 'styles.webp',
  make: (browser, path) => withProgram({}, (address) => take(browser, address, path)),
};

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await openChat(browser, url, 1000);
  await be(page, 'operator');
  const words = '--before "shot on 35 mm film," --avoid "text, logos"';
  await type(page, `/video style house ${words} --model sketch-480p --seconds 3`, 'Saved.');
  await be(page, 'sam');
  await type(page, '/video create a red fox in snow --style house', 'a red fox in snow');
  await page.waitForSelector('article video');
  await press(page, 'Details');
  await page.waitForSelector('article >> text=Avoid: text, logos');
  await shoot(page, path);
}
