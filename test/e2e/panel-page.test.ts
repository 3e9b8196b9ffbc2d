import { expect } from 'vitest';
import { violations } from './accessibility.ts';
import { administer } from './dailies.ts';
import { BOX, test } from './pages.ts';

// The panels of the chat page in a browser: switches, boxes, names with completion.

const WITHIN = { timeout: 300_000 };

test('the panels of settings and policy save what was touched, with the keyboard, too', { timeout: 600_000 }, async ({
  dailies,
  open,
}) => {
  await administer(dailies, '/video settings --report_channel #clips --time_zone Europe/Berlin');
  const page = await open({ user: 'operator', viewport: { width: 360, height: 900 } });
  const form = page.locator('dialog.form[open]');
  const openForm = async (command: string, label: string) => {
    const buttons = page.locator(`article >> text=${label}`);
    const before = await buttons.count();
    await page.fill(BOX, command);
    await page.press(BOX, 'Enter');
    await expect.poll(() => buttons.count(), WITHIN).toBe(before + 1);
    await buttons.last().click();
    await form.waitFor();
  };
  const save = async () => {
    await form.locator('button[type=submit]').press('Enter');
    await form.waitFor({ state: 'hidden' });
  };

  await page.locator('article >> text=Months and reports…').waitFor();
  await openForm('/video settings', 'Months and reports…');
  expect(await form.getByLabel('Report channel').inputValue()).toBe('clips');
  expect(await form.getByLabel('Time zone').inputValue()).toBe('Europe/Berlin');
  const alerts = form.getByRole('switch', { name: 'Alerts' });
  expect(await alerts.isChecked()).toBe(true);
  expect(await violations(page)).toEqual([]);
  await alerts.press(' ');
  await form.getByLabel('Report channel').fill('general');
  await save();
  // Its card shows it, in place: that of the command before says the same.
  await expect.poll(() => page.locator('article').last().textContent(), WITHIN).toContain('Saved.');
  await expect.poll(() => page.locator('article').count(), WITHIN).toBe(2);
  const card = await page.locator('article', { hasText: 'Saved.' }).last().textContent();
  expect(card).toMatch(/Report channel.*general/su);
  expect(card).toMatch(/Alerts.*off/su);

  await openForm('/video policy', 'Models and lengths…');
  await form.getByRole('checkbox', { name: 'Swift 1' }).check();
  await form.getByLabel('Length').fill('much');
  expect(await violations(page)).toEqual([]);
  await form.locator('button[type=submit]').click();
  await expect.poll(() => form.textContent(), WITHIN).toContain('seconds: “much” isn’t a length.');
  await form.getByLabel('Length').fill('6');
  await save();
  await expect
    .poll(() => page.locator('article', { hasText: 'Allowed' }).last().textContent(), WITHIN)
    .toContain('Swift 1');

  await openForm('/video approvers', 'Approvers…');
  await form.getByLabel('Who approves').fill('ada, sam');
  await save();
  const approvers = page.locator('article', { hasText: 'Approvers' }).last();
  await expect.poll(() => approvers.textContent(), WITHIN).toMatch(/ada.*sam/su);
});
