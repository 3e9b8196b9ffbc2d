import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { realClip } from '../fakes/discord-program.ts';
import { overflow, violations } from './accessibility.ts';
import { administer, answered } from './dailies.ts';
import { BOX, test as base } from './pages.ts';

// Budgets, approvals and reports on the chat page, in a browser.

const TIMEOUT = { timeout: 600_000 };
const WINDOW = { colorScheme: 'dark', viewport: { width: 1100, height: 900 } } as const;

const test = base.extend('service', async ({ dir }) => ({ clip: await realClip(dir, 0) }));

/** Presses the last visible button whose label begins so. */
async function press(page: Page, label: string): Promise<void> {
  await page.locator(`article .button:has-text("${label}")`).last().click();
}

/** Types a command with the keyboard and waits for a text in the last message. */
async function type(page: Page, text: string, shown: string): Promise<void> {
  await page.fill(BOX, text);
  await send(page, shown);
}

async function send(page: Page, shown: string): Promise<void> {
  await page.focus(BOX);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await page.waitForSelector(`article >> text=${shown}`);
}

async function be(page: Page, name: string): Promise<void> {
  await page.click('.user-button');
  await page.click(`.user-option:has-text("${name}")`);
}

test('a visitor sets a budget, uses it up, and sees what is left', TIMEOUT, async ({ open }) => {
  const page = await open(WINDOW);
  await page.click('.try-budget');
  await expect.poll(() => page.inputValue(BOX)).toBe('/video budget team 0.50 USD');
  expect(await page.textContent('.user-name')).toBe('operator');
  await send(page, 'The monthly budget of the team is now $0.50.');

  await be(page, 'ada');
  await type(page, '/video create a red fox --seconds 8', '$0.40');
  await page.fill(BOX, '/video create a wolf --seconds 4');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await page.waitForSelector('text=$0.10 of $0.50 left, this clip costs $0.20.');
  await expect.poll(() => page.locator('text=operator can raise it.').count()).toBeGreaterThan(0);

  await page.fill(BOX, '');
  await type(page, '/video usage', '$0.40 of $0.50');
  expect(await violations(page)).toEqual([]);

  await page.setViewportSize({ width: 360, height: 780 });
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  expect(await violations(page)).toEqual([]);
});

test(
  'an order over the budget is asked for, approved by someone else, and arrives',
  TIMEOUT,
  async ({ dailies, open }) => {
    await administer(dailies, '/video budget team 0.50 USD');
    answered(await dailies.interact('/video create a red fox --seconds 8', { user: 'ada' }));
    const page = await open(WINDOW);
    await be(page, 'ada');
    await page.fill(BOX, '/video create an owl at night --seconds 6');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await page.waitForSelector('article >> text=this clip costs $0.30');
    await expect.poll(() => page.inputValue(BOX)).toBe('/video create an owl at night --seconds 6');
    await press(page, 'Ask for approval · $0.30');
    // The refusal says what became of it, and the command is gone from the box.
    await page.waitForSelector('article.private >> text=Sent for approval: 1 clip · $0.30. See it');
    await expect.poll(() => page.locator('button:has-text("Ask for approval · $0.30")').count()).toBe(0);
    await expect.poll(() => page.inputValue(BOX)).toBe('');
    await expect.poll(() => page.locator('.composer .wrong').count()).toBe(0);
    const clip = page.locator('article.of-task:has-text("an owl at night")');
    await clip.locator('text=Waiting for approval by an administrator: $0.30 would exceed the budget.').waitFor();

    await press(page, 'Approve · $0.30');
    await page.waitForSelector('article >> text=You requested this, so someone else has to approve it.');

    await be(page, 'operator');
    await press(page, 'Approve · $0.30');
    await page.waitForSelector('article >> text=You can grant $0.20 once. The budget itself stays at $0.50.');
    expect(await violations(page)).toEqual([]);
    await press(page, 'Approve · $0.30, $0.20 over budget');
    await page.waitForSelector('article.private:not(:has(.button)) >> text=Approved for $0.30.');
    await expect.poll(() => page.locator('text=You can grant $0.20 once.').count()).toBe(0);
    await clip.locator('text=Approved by operator.').waitFor();
    await clip.locator('video').waitFor({ timeout: 300_000 });

    await page.setViewportSize({ width: 360, height: 780 });
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await violations(page)).toEqual([]);
  },
);

test('the report of a month arrives with its chart', TIMEOUT, async ({ start, newPage }) => {
  const october = await start(startedAt('2026-10-31T12:00:00Z'));
  answered(await october.interact('/video create a red fox --seconds 8'));
  await october.stop();
  const november = await start(startedAt('2026-11-01T00:10:00Z'));
  const page = await newPage({ colorScheme: 'dark' });
  await page.goto(november.url);
  // Without a report channel it is for the administrators alone.
  await be(page, 'operator');
  await page.waitForSelector('article:has-text("October") img.picture');
  expect(await page.getAttribute('img.picture', 'alt')).toContain('$0.40 Swift 1');
  expect(await coloursOf(page, 'img.picture')).toBeGreaterThan(3);

  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 780 });
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  expect(await violations(page)).toEqual([]);
});

/** Returns the environment of a program whose clock starts at a time. */
function startedAt(time: string): Readonly<Record<string, string>> {
  const shift = `const now = Date.now; const by = ${Date.parse(time)} - now(); Date.now = () => now() + by;`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}` };
}

/** Decodes a picture and counts its colours, each of which covers at least a thousandth of it. */
function coloursOf(page: Page, selector: string): Promise<number> {
  return page.$eval(selector, async (element) => {
    const picture = element as HTMLImageElement;
    await picture.decode();
    const { naturalWidth: width, naturalHeight: height } = picture;
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const drawing = canvas.getContext('2d');
    drawing?.drawImage(picture, 0, 0);
    const pixels = new Uint32Array(drawing?.getImageData(0, 0, width, height).data.buffer ?? new ArrayBuffer(0));
    const counts = new Map<number, number>();
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
    return [...counts.values()].filter((count) => count > pixels.length / 1000).length;
  });
}
