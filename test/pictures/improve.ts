import type { Browser } from 'playwright-core';
import { startEnhancer } from '../fakes/enhancer.ts';
import { be, openChat, press, shoot, type } from './chat-page.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

/** Chat page: a finished clip, and its prompt beside the one that a language model wrote, each with its price. */
export const improve: Picture = {
  file: 'improve.webp',
  async make(browser, path) {
    const enhancer = await startEnhancer();
    const env = { ENHANCER_URL: enhancer.url, ENHANCER_TOKEN: enhancer.token };
    try {
      await withProgram(env, (address) => take(browser, address, path));
    } finally {
      await enhancer.close();
    }
  },
};

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await openChat(browser, url, 900);
  await be(page, 'sam');
  await type(page, '/video create a red fox in snow --model sketch-480p --seconds 3', 'a red fox in snow');
  await page.waitForSelector('article video');
  await press(page, 'Details');
  await press(page, 'Improve');
  await page.waitForSelector('article >> text=A language model wrote');
  await shoot(page, path);
}
