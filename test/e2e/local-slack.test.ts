import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser } from '#test/fakes/browser.ts';
import { keepRunning } from '#test/fakes/discord-program.ts';
import { type LocalSlack, localSlackProgram, startLocalSlack } from '#test/fakes/local-slack.ts';
import { type FakeVideoService, startVideoService } from '#test/fakes/video-service.ts';
import { makeDir, type RunningDailies, startDailies } from './dailies.ts';

const program = localSlackProgram();
const WITHIN = 30_000;

// An optional dependency: where npm could not install it, there is nothing to try the bot against.
describe.skipIf(program === null)('on a Slack of somebody else, in a browser', () => {
  let upstream: FakeVideoService;
  let dir: Awaited<ReturnType<typeof makeDir>>;
  let slack: LocalSlack;
  let dailies: RunningDailies;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    upstream = await startVideoService();
    dir = await makeDir();
    slack = await startLocalSlack(program ?? '');
    dailies = await startDailies({ dir: dir.path, upstream, env: slack.env });
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(slack.url);
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await dailies.kill();
    await slack.close();
    await upstream.close();
    await dir.remove();
  });

  const say = async (text: string): Promise<void> => {
    await page.getByPlaceholder('Message #general').fill(text);
    await page.getByRole('main').getByRole('button', { name: 'Send', exact: true }).click();
  };
  // It shows no `rich_text`, in which the prompt and the state stand: settings, buttons and files are what there is to see.
  const sees = (text: string | RegExp) => page.getByText(text).last().waitFor({ timeout: WITHIN });

  test('somebody types, sees the clip on its way, and has it stopped', async () => {
    const letGo = keepRunning(upstream);
    await say('/video a red fox running through snow --seconds 6');
    await sees(/Swift 1 · 6 s · 16:9 · 720p · \$0\.30 · alice/);
    await page.getByRole('button', { name: 'Cancel' }).last().click();
    await page.getByRole('button', { name: 'Retry · $0.30' }).waitFor({ timeout: WITHIN });
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    letGo();
  });

  test('somebody types, and finds the file in the thread', async () => {
    await say('/video a blue fox');
    await sees(/Swift 1 · 4 s/);
    await page.getByText('1 reply').last().click({ timeout: WITHIN });
    await sees(/blue-fox-[0-9a-z]{4}\.mp4/);
    await sees(/your clip “a blue fox” is ready/);
    await expect.poll(() => page.locator('video, a[href*=".mp4"]').count(), { timeout: WITHIN }).toBeGreaterThan(0);
  });

  // Its menus tell the bot nothing before the form is sent: that it follows the model is tried on the fake.
  test('somebody fills in the form', async () => {
    await say('/video');
    const dialog = page.getByRole('dialog').or(page.locator('.modal')).first();
    await dialog.waitFor({ timeout: WITHIN });
    await dialog.locator('input').first().fill('a green fox');
    await dialog.locator('select').first().selectOption('reel-2');
    await dialog.getByRole('button', { name: 'Create clip' }).click();
    await sees(/Reel 2 · /);
  });
});
