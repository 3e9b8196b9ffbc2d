import type { BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from '#test/fakes/browser.ts';
import { test as base } from './fixtures.ts';

/** Message box of the chat page. */
export const BOX = '.composer textarea';

/** Window that is opened with the chat page. */
interface WindowOptions extends BrowserContextOptions {
  /** Person of the page. Default: the first one that it offers. */
  readonly user?: string;
  /** Default: the first one. */
  readonly channel?: string;
}

const NO_ENV: Readonly<Record<string, string>> = {};

/** Test of the pages in a browser, which the tests of a file share. */
export const test = base
  /** Size of the windows. */
  .extend('viewport', { scope: 'file' }, { width: 1000, height: 900 })
  .extend('newContext', { scope: 'file' }, async ({ viewport }, { onCleanup }) => {
    const browser = await launchBrowser();
    onCleanup(() => browser.close());
    return (options: BrowserContextOptions = {}) => browser.newContext({ viewport, ...options });
  })
  /** Environment of `dailies`. */
  .extend('env', NO_ENV)
  .extend('dailies', ({ start, env }) => start(env))
  /** Opens a page in a window of its own, which is closed after the test. */
  .extend('newPage', async ({ newContext, onTestFinished }) => async (options?: BrowserContextOptions) => {
    const context = await newContext(options);
    onTestFinished(() => context.close());
    return context.newPage();
  })
  /** Opens the chat page of `dailies`, and waits until it shows its channel. */
  .extend('open', async ({ newPage, dailies }) => async (options: WindowOptions = {}): Promise<Page> => {
    const { user, channel = '', ...window } = options;
    const page = await newPage(window);
    if (user !== undefined) await page.addInitScript((name) => sessionStorage.setItem('dailies.user', name), user);
    await page.goto(`${dailies.url}/#${channel}`);
    await page.waitForSelector('.welcome, article');
    return page;
  });
