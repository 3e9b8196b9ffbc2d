import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations, withoutFocusRing, wrongWith } from './accessibility.ts';
import { administer } from './dailies.ts';
import { test } from './pages.ts';

// The page Settings of the chat page in a browser: the panels with their forms, and the audit log beside them.

const TIMEOUT = { timeout: 600_000 };
const ADMINISTRATOR = { user: 'operator', viewport: { width: 1440, height: 900 } } as const;

/** Opens a form by a button of a panel, with the keyboard. */
async function openForm(page: Page, panel: string, label: string): Promise<Locator> {
  await page.locator(`#settings-${panel} .button:has-text("${label}")`).first().press('Enter');
  const form = page.locator('dialog.form[open]');
  await form.waitFor();
  return form;
}

async function save(form: Locator): Promise<void> {
  await form.locator('button[type=submit]').press('Enter');
  await form.waitFor({ state: 'detached' });
}

test(
  'an administrator sees what is set, and saves it in forms with its change beside it',
  TIMEOUT,
  async ({ dailies, open }) => {
    await administer(dailies, '/video settings --report_channel #clips --time_zone Europe/Berlin');
    await administer(dailies, '/video style house --before "shot on film,"');
    const before = (await dailies.messages()).length;
    const page = await open(ADMINISTRATOR);
    await page.click('.settings-link');
    const [settings, audit] = [page.locator('#settings-settings'), page.locator('#settings-audit')];
    await expect.poll(() => settings.textContent()).toMatch(/Time zone: Europe\/Berlin.*Alerts: on/su);
    await expect.poll(() => audit.textContent()).toContain('Changes of this team');
    expect(await page.title()).toBe('Settings · Dailies');
    const panels = await page.locator('.panels .heading').allTextContents();
    expect(panels.slice(0, 6)).toEqual([
      'Settings of this team',
      'Monthly budgets',
      'Approvers',
      'Allowed here',
      'Styles of this team',
      'Reviews',
    ]);
    const newest = () => audit.locator('.headline').first().textContent();
    expect(await newest()).toBe('operator added the style house.');

    const months = await openForm(page, 'settings', 'Months and reports…');
    expect(await months.getByLabel('Report channel').inputValue()).toBe('clips');
    await months.getByRole('switch', { name: 'Alerts' }).press(' ');
    await save(months);
    await expect.poll(() => settings.textContent()).toMatch(/Saved\..*Alerts: off/su);
    await page.waitForSelector('#settings-settings:focus');
    await expect.poll(newest).toBe('operator turned alerts off.');

    const budget = await openForm(page, 'budget', 'Set a budget…');
    await budget.getByLabel('Amount per month').fill('much');
    await budget.locator('button[type=submit]').click();
    await expect.poll(() => budget.textContent()).toContain('“much” isn’t an amount');
    await budget.getByLabel('Amount per month').fill('50');
    await save(budget);
    await expect.poll(() => page.textContent('#settings-budget')).toContain('is now $50.00');
    await expect.poll(newest).toBe('operator set the team’s budget to $50.00.');
    // What was saved before is read again.
    await expect.poll(() => settings.textContent()).not.toContain('Saved.');
    expect(await settings.textContent()).toContain('Alerts: off');

    const style = await openForm(page, 'style', 'Change…');
    await style.getByLabel('After the prompt').fill('grainy');
    await save(style);
    await expect.poll(newest).toBe('operator changed the style house.');

    // All of that is on the page alone, which keeps its address.
    expect(await dailies.messages()).toHaveLength(before);
    await page.reload();
    await expect.poll(newest).toBe('operator changed the style house.');
    await page.click('.channel:has-text("clips")');
    await page.waitForSelector('.composer');
    await expect.poll(() => page.locator('.settings').count()).toBe(0);
  },
);

test('the audit log leads back by pages, and begins anew after a change', TIMEOUT, async ({ dailies, open }) => {
  for (let amount = 1; amount <= 11; amount += 1) await administer(dailies, `/video budget team --amount ${amount}`);
  const page = await open(ADMINISTRATOR);
  await page.click('.settings-link');
  const headlines = page.locator('#settings-audit .headline');
  await expect.poll(() => headlines.count()).toBe(10);
  await page.locator('#settings-audit .button').last().press('Enter');
  await expect.poll(() => headlines.allTextContents()).toEqual(['operator set the team’s budget to $1.00.']);
  await page.waitForSelector('#settings-audit:focus');
  const reviews = await openForm(page, 'review', 'Reviews…');
  await reviews.getByRole('switch').first().press(' ');
  await save(reviews);
  await expect.poll(() => headlines.first().textContent()).toBe('operator turned review on in #general.');
});

test('others read why they see no settings; a lost answer can be asked for again', TIMEOUT, async ({ open }) => {
  const page = await open({ user: 'ada' });
  await page.click('.settings-link');
  await page.waitForSelector('.settings >> text=Only the operator, and people named in ADMINS, can do this.');
  await expect.poll(() => page.locator('.settings :is(button, section, form)').count()).toBe(0);
  expect(await violations(page)).toEqual([]);
  await page.route('**/playground/settings?*', (route) => route.abort());
  await page.click('.user-button');
  await page.click('.user-option:has-text("operator")');
  await page.waitForSelector('.settings >> text=I can’t reach Dailies.');
  expect(await violations(page)).toEqual([]);
  await page.unroute('**/playground/settings?*');
  await page.click('.settings .button:has-text("Try again")');
  await page.waitForSelector('#settings-settings');
  await expect.poll(() => page.locator('.settings > .trouble').count()).toBe(0);
});

test(
  'the settings are accessible in every window, with their form and after a change',
  TIMEOUT,
  async ({ dailies, open }) => {
    await administer(dailies, '/video style house --before "shot on film,"');
    await administer(dailies, '/video budget team --amount 50');
    await administer(dailies, '/video approvers @ben');
    const page = await open(ADMINISTRATOR);
    await page.click('.settings-link');
    await page.waitForSelector('#settings-audit');
    expect(await wrongWith(page)).toEqual([]);
    expect(await withoutFocusRing(page)).toEqual([]);
    const form = await openForm(page, 'policy', 'Models and lengths…');
    expect(await wrongWith(page)).toEqual([]);
    await form.getByLabel('Length').fill('6');
    await save(form);
    await page.waitForSelector('#settings-policy >> text=Saved.');
    expect(await wrongWith(page)).toEqual([]);
  },
);
