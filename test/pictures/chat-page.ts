import type { Browser, Page } from 'playwright-core';
import { RENDERED_WITHIN_MS } from './drawing.ts';
import { writePicture } from './ffmpeg.ts';

/** Opens the chat page at twice the resolution, for sharp text. */
export async function openChat(browser: Browser, url: string, height: number): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 860, height }, deviceScaleFactor: 2 });
  page.setDefaultTimeout(RENDERED_WITHIN_MS);
  await page.goto(url);
  return page;
}

/** Types a command, sends it and waits for a text in its response. */
export async function type(page: Page, text: string, shown: string): Promise<void> {
  await page.fill('.composer textarea', text);
  await submit(page, shown);
}

/** Sends the typed command and waits for a text in its response. */
export async function submit(page: Page, shown: string): Promise<void> {
  await page.keyboard.press('Escape');
  await page.click('.composer [type=submit]');
  await page.waitForSelector(`article >> text=${shown}`);
}

/** Continues as another person. */
export async function be(page: Page, name: string): Promise<void> {
  await page.click('.user-button');
  await page.click(`.user-option:has-text("${name}")`);
}

/** Continues in another channel. */
export async function enter(page: Page, channel: string): Promise<void> {
  await page.click(`.sidebar >> text=${channel}`);
}

/** Presses a button once it is shown. */
export async function press(page: Page, label: string): Promise<void> {
  await page.click(`button:has-text("${label}") >> nth=0`);
}

/** Scrolls to the last element that matches. */
export async function scrollTo(page: Page, selector: string): Promise<void> {
  await page.locator(selector).last().scrollIntoViewIfNeeded();
}

/** Writes a screenshot of the page, and closes it. */
export async function shoot(page: Page, path: string): Promise<void> {
  await page.waitForTimeout(500);
  await writePicture(await page.screenshot({ timeout: 0 }), path);
  await page.close();
}
