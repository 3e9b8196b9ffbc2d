import { expect } from 'vitest';
import { violations } from './accessibility.ts';
import { administer } from './dailies.ts';
import { BOX, test } from './pages.ts';

// The order form of the chat page in a browser: number of takes, style, and the names of the library.

const WITHIN = { timeout: 300_000 };
const MUG = 'https://93.184.215.14/mug.png';

test('the form orders takes in a style at the price that it shows, and options complete names of the library', {
  timeout: 600_000,
}, async ({ upstream, dailies, open }) => {
  await administer(dailies, '/video style house --before "shot on film,"');
  await administer(dailies, '/video style noir --before "black and white,"');
  await administer(dailies, `/video library add @mug --image ${MUG}`);
  const page = await open({ viewport: { width: 360, height: 900 } });
  await page.fill(BOX, '/video');
  await page.press(BOX, 'Enter');
  const form = page.locator('dialog.form[open]');
  await form.waitFor();
  const labels = async (name: string) => form.locator(`[name=${name}] option`).allTextContents();
  expect(await labels('takes')).toEqual(['One clip', ...[2, 3, 4].map((takes) => `${takes} takes, each charged`)]);
  expect((await labels('style')).slice(1)).toEqual(['house', 'noir']);
  const submit = form.locator('button[type=submit]');
  expect(await submit.textContent()).toContain('$0.20');
  await form.locator('[name=prompt]').fill('a red fox');
  await form.locator('[name=takes]').selectOption('3');
  await form.locator('[name=style]').selectOption('noir');
  await form.locator('[name=image]').fill('@mug');
  await expect.poll(() => submit.textContent(), WITHIN).toContain('$0.60');
  expect(await violations(page)).toEqual([]);
  await submit.click();
  // Its answer may come after the message, and until then nothing can be typed below it.
  await form.waitFor({ state: 'hidden' });
  await page.waitForSelector('article >> text=3 takes');
  const sent = () =>
    upstream.requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body) as object);
  const take = { prompt: 'black and white, a red fox', image_urls: [MUG] };
  await expect.poll(sent, WITHIN).toMatchObject([take, take, take]);
  await page.fill(BOX, '');
  await page.locator(BOX).pressSequentially('/video create a hen --image @m');
  await page.locator('#offers >> text=@mug').click();
  expect(await page.inputValue(BOX)).toBe('/video create a hen --image @mug ');
  expect(upstream.creates).toBe(3);
});
