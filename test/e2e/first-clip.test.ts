import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../fakes/browser.ts';
import { makeDir, type RunningDailies, startDailies } from './dailies.ts';

/** First use: no configuration, one command, the page, a clip. With the embedded service and a real browser. */
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;
let browser: Browser;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  dir = await makeDir();
  dailies = await startDailies({ dir: dir.path });
  browser = await launchBrowser();
  page = await browser.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (entry) => {
    if (entry.type() === 'error') complaints.push(entry.text());
  });
});

afterAll(async () => {
  await browser.close();
  await dailies.kill();
  await dir.remove();
});

/** Returns the size, the clip's length, and the number of coarse colours of the picture decoded at a moment. */
async function decodedAt(seconds: number) {
  return page.evaluate(async (at) => {
    const video = document.querySelector('video');
    if (video === null) throw new Error('there is no clip');
    if (video.readyState < 1)
      await new Promise((done) => video.addEventListener('loadedmetadata', done, { once: true }));
    video.currentTime = at;
    await new Promise((done) => video.addEventListener('seeked', done, { once: true }));
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [160, 90];
    const context = canvas.getContext('2d');
    context?.drawImage(video, 0, 0, 160, 90);
    const pixels = context?.getImageData(0, 0, 160, 90).data ?? new Uint8ClampedArray();
    const colours = new Set<number>();
    for (let index = 0; index < pixels.length; index += 4) {
      colours.add(
        ((pixels[index] ?? 0) >> 5) * 64 + ((pixels[index + 1] ?? 0) >> 5) * 8 + ((pixels[index + 2] ?? 0) >> 5),
      );
    }
    const sum = pixels.reduce((all, value, index) => (all * 31 + value * (index % 7)) % 1_000_003, 7);
    return { width: video.videoWidth, height: video.videoHeight, duration: video.duration, colours: colours.size, sum };
  }, seconds);
}

test('a newcomer types a prompt, watches the progress and plays the clip, also after a reload and a restart', async () => {
  await page.goto(dailies.url);
  await page.fill(
    '.composer textarea',
    '/video create a red fox running through snow, cinematic --seconds 4 --resolution 480p',
  );
  await page.keyboard.press('Enter');
  await page.waitForSelector('.of-task');
  const seen = new Set<number>();
  await expect
    .poll(
      async () => {
        const [task] = (await dailies.messages()).filter((message) => message.task !== null);
        if (typeof task?.progress === 'number') seen.add(task.progress);
        return task?.attachments.length;
      },
      { timeout: 300_000, interval: 50 },
    )
    .toBe(1);
  expect(seen.size).toBeGreaterThan(2);
  expect([...seen]).toEqual([...seen].toSorted((a, b) => a - b));
  await page.waitForSelector('video');
  // A busy browser shows nothing, or the old picture, for a moment after seeking.
  await expect.poll(async () => (await decodedAt(0.5)).colours).toBeGreaterThan(8);
  const early = await decodedAt(0.5);
  expect(early).toMatchObject({ width: 854, height: 480 });
  expect(early.duration).toBeCloseTo(4, 1);
  await expect.poll(async () => (await decodedAt(3.5)).sum).not.toBe(early.sum);
  // Of the requester, once.
  const mentions = async () =>
    (await dailies.messages()).filter(({ replyTo, visibleTo }) => replyTo !== null && visibleTo === null);
  await expect.poll(mentions).toHaveLength(1);
  await page.reload();
  await page.waitForSelector('video');
  await expect.poll(() => page.locator('video').count()).toBe(1);
  expect(complaints).toEqual([]);
  expect(await dailies.stop()).toBe(0);
  dailies = await startDailies({ dir: dir.path });
  complaints.length = 0;
  await page.goto(dailies.url);
  await page.waitForSelector('video');
  await expect.poll(async () => (await decodedAt(2)).colours).toBeGreaterThan(8);
});
