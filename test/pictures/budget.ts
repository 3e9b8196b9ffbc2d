import type { Browser, Page } from 'playwright-core';
import { RENDERED_WITHIN_MS } from './drawing.ts';
import { writePng } from './ffmpeg.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

const VIEWPORT = { width: 860, height: 760 };

/** Chat page: a budget is set, an order beyond it is refused, and the spend is shown. */
export const budget: Picture = {
  file: 'budget.png',
  make: (browser, path) => withProgram({}, (address) => take(browser, address, path)),
};

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await browser.newPage({ viewport: VIEWPORT, deviceScaleFactor: 2 });
  page.setDefaultTimeout(RENDERED_WITHIN_MS);
  await page.goto(url);
  await page.click('.try-budget');
  await submit(page, 'The monthly budget of the team is now $0.50.');
  await type(page, '/video create a red fox running through snow --seconds 8', 'Queued');
  await type(page, '/video create a wolf at night --seconds 6', 'would exceed');
  await type(page, '/video usage', 'used');
  await page.waitForTimeout(500);
  await writePng(await page.screenshot({ timeout: 0 }), path);
  await page.close();
}

async function type(page: Page, text: string, shown: string): Promise<void> {
  await page.fill('.composer textarea', text);
  await submit(page, shown);
}

async function submit(page: Page, shown: string): Promise<void> {
  await page.keyboard.press('Escape');
  await page.click('.composer [type=submit]');
  await page.waitForSelector(`text=${shown}`);
}
