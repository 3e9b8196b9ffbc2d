import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchBrowser } from '#test/fakes/browser.ts';
import { keepRunning } from '#test/fakes/discord-program.ts';
import { type LocalSlack, localSlackProgram, startLocalSlack } from '#test/fakes/local-slack.ts';
import { type FakeVideoService, startVideoService } from '#test/fakes/video-service.ts';
import { makeDir, type RunningDailies, startDailies } from './dailies.ts';

const program = localSlackProgram();
const WITHIN = 300_000;

// An optional dependency: without it, there is no Slack emulator to run the bot against.
describe.skipIf(program === null)('on a third-party Slack emulator, in a browser', () => {
  let upstream: FakeVideoService;
  let dir: Awaited<ReturnType<typeof makeDir>>;
  let slack: LocalSlack;
  let dailies: RunningDailies;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await launchBrowser();
  }, 300_000);

  // Every test has its own: a clip that is still being made would otherwise show its buttons to the next one.
  beforeEach(async () => {
    upstream = await startVideoService();
    dir = await makeDir();
    slack = await startLocalSlack(program ?? '');
    dailies = await startDailies({ dir: dir.path, upstream, env: slack.env });
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(slack.url);
  }, 300_000);

  afterEach(async () => {
    await page.close();
    await dailies.kill();
    await slack.close();
    await upstream.close();
    await dir.remove();
  });

  afterAll(async () => {
    await browser.close();
  });

  const say = async (text: string): Promise<void> => {
    await page.getByPlaceholder('Message #general').fill(text);
    await page.getByRole('main').getByRole('button', { name: 'Send', exact: true }).click();
  };
  // It renders no `rich_text`, which holds the prompt and the state: only settings, buttons and files are visible.
  const sees = (text: string | RegExp) => page.getByText(text).last().waitFor({ timeout: WITHIN });

  test('a user types a command, sees the progress, and cancels', async () => {
    const letGo = keepRunning(upstream);
    await say('/video a red fox running through snow --seconds 6');
    await sees(/Swift 1 · 6 s · 16:9 · 720p · \$0\.30 · alice/);
    await page.getByRole('button', { name: 'Cancel' }).last().click();
    await page.getByRole('button', { name: 'Retry · $0.30' }).waitFor({ timeout: WITHIN });
    await expect.poll(() => page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    letGo();
  });

  test('a user types a command, and finds the file in the thread', async () => {
    await say('/video a blue fox');
    await sees(/Swift 1 · 4 s/);
    await page.getByText('1 reply').last().click({ timeout: WITHIN });
    await sees(/blue-fox-[0-9a-z]{4}\.mp4/);
    await sees(/your clip “a blue fox” is ready/);
    await expect.poll(() => page.locator('video, a[href*=".mp4"]').count(), { timeout: WITHIN }).toBeGreaterThan(0);
  });

  // Its menus send nothing before the form is submitted: model-dependent options are tested on the fake.
  test('a user fills in the form', async () => {
    await say('/video');
    const dialog = page.getByRole('dialog').or(page.locator('.modal')).first();
    await dialog.waitFor({ timeout: WITHIN });
    await dialog.locator('input').first().fill('a green fox');
    await dialog.locator('select').first().selectOption('reel-2');
    await dialog.getByRole('button', { name: 'Create clip' }).click();
    await sees(/Reel 2 · /);
  });
});
