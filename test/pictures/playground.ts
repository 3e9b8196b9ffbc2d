import type { Browser, Page } from 'playwright-core';
import { PROMPT, RENDERED_WITHIN_MS } from './drawing.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';
import { Reel } from './reel.ts';

const COMMAND = `/video create ${PROMPT} `;
const VIEWPORT = { width: 860, height: 620 };
/** Number of letters typed between two frames. */
const LETTERS = 6;
/** Number of moments at which the clip is shown, and the time between them. */
const MOMENTS = 20;
const MOMENT_MS = 200;

/** Chat page: a command is typed, its clip is rendered by the embedded service, and plays. */
export const playground: Picture = {
  file: 'playground.webp',
  make: (browser, path) =>
    withProgram({}, async (address) => {
      const reel = new Reel();
      await record(browser, address, reel);
      await reel.write(path);
    }),
};

async function record(browser: Browser, url: string, reel: Reel): Promise<void> {
  const page = await browser.newPage({ viewport: VIEWPORT });
  // A busy machine takes long for a screenshot.
  page.setDefaultTimeout(RENDERED_WITHIN_MS);
  await page.goto(url);
  await page.waitForSelector('.welcome');
  await reel.show(page, 1200);
  for (let at = 0; at < COMMAND.length; at += LETTERS) {
    await page.keyboard.type(COMMAND.slice(at, at + LETTERS));
    await reel.show(page, 110);
  }
  await page.waitForSelector('.hint >> text=$');
  await reel.show(page, 900);
  await page.keyboard.press('Enter');
  const deadlineMs = Date.now() + RENDERED_WITHIN_MS;
  while ((await page.locator('video').count()) === 0) {
    if (Date.now() > deadlineMs) throw new Error('the clip was not rendered in time');
    await reel.show(page, 160);
    await page.waitForTimeout(700);
  }
  await page.waitForSelector('.mentions-me');
  await page.waitForFunction(() => (document.querySelector('video')?.readyState ?? 0) >= 2);
  await reel.show(page, 900);
  await play(page, reel);
  await page.close();
}

/** Shows the clip moment by moment, so that playback does not depend on this machine's speed. */
async function play(page: Page, reel: Reel): Promise<void> {
  await page.click('.play');
  await page.evaluate(() => {
    const video = document.querySelector('video');
    video?.pause();
    if (video !== null) video.controls = false;
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  });
  await page.mouse.move(0, 0);
  for (let at = 0; at < MOMENTS; at += 1) {
    await page.evaluate(
      async (seconds) => {
        const video = document.querySelector('video');
        if (video === null) return;
        video.currentTime = seconds;
        await new Promise((done) => video.addEventListener('seeked', done, { once: true }));
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      },
      0.05 + (at * MOMENT_MS) / 1000,
    );
    await reel.show(page, MOMENT_MS);
  }
  await reel.show(page, 1500);
}
