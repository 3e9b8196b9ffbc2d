import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from '#commands/bot-port.ts';
import { DailiesError } from '#src/errors.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { launchBrowser } from '#test/fakes/browser.ts';
import { writeClip } from '#test/fakes/clip.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { doneView, endNotice, taskView } from '#test/fakes/views.ts';

let browser: Browser;
let house: PlaygroundHouse;
/** Errors reported by the browser, including violations of the content security policy. */
let complaints: string[];

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

beforeEach(async () => {
  house = await PlaygroundHouse.start();
  complaints = [];
});

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  await house.remove();
  expect(complaints).toEqual([]);
});

/** Opens the page in a separate browser context, as another user's browser would be. */
async function visit(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (entry) => {
    const isNetwork = entry.text().startsWith('Failed to load resource');
    if (entry.type() === 'error' && !isNetwork) complaints.push(entry.text());
  });
  await page.goto(house.url);
  await page.waitForSelector('.welcome, article');
  return page;
}

const ORIGIN = { platform: 'playground', team: 'playground', channel: 'general', address: {} };

function originOf(interaction: string) {
  return { ...ORIGIN, user: { id: 'ada', name: 'ada' }, interaction };
}

function openTask(task: string, changes: Parameters<typeof taskView>[0] = {}) {
  return house.platform.open(task as TaskId, originOf(task), taskView({ task: task as TaskId, ...changes }));
}

/** Retryable failure, such as an outage of Redis after the claim; a retry is deduplicated. */
const AWAY = new DailiesError('writing', { code: 'store_unavailable', retryable: true });
const FIELDS = [{ name: 'prompt', label: 'What it shows', value: 'a fox', required: true, long: true }];
const FORM: Reply = { kind: 'form', form: { id: 'create', title: 'Make a clip', submit: 'Make it', fields: FIELDS } };

const typed = (page: Page): Promise<string> => page.inputValue('.composer textarea');

describe('a newcomer', () => {
  it('sees the welcome, clicks the example, and has ordered a clip', async () => {
    const page = await visit();
    house.bot.reply = { kind: 'task', task: 'task-1' as TaskId };
    house.bot.onShow = () => openTask('task-1');
    await page.click('.example');
    await page.waitForSelector('.of-task');
    expect(house.bot.heard[0]?.what).toBe('create a red fox running through snow, cinematic');
    await expect.poll(() => page.locator('.welcome').count()).toBe(0);
    await page.click('.connect-link');
    const dialog = page.locator('dialog[open]');
    expect(await dialog.textContent()).toContain('DISCORD_TOKEN');
    await expect.poll(() => dialog.locator('a[target=_blank]').count()).toBe(2);
  });
});

it('works in a browser that refuses to store anything', async () => {
  const context = await browser.newContext();
  await context.addInitScript(() => {
    const refused = {
      get: (): never => {
        throw new DOMException('refused', 'SecurityError');
      },
    };
    Object.defineProperties(globalThis, { localStorage: refused, sessionStorage: refused });
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(house.url);
  await page.waitForSelector('.welcome');
  await page.click('.user-button');
  await page.click('.user-option >> text=sam');
  await page.waitForSelector('.user-name >> text=sam');
});

describe('typing', () => {
  it('is completed by the keyboard, from the slash to the last value', async () => {
    house.bot.suggestions = [
      { value: 'swift-1', label: 'Swift 1' },
      { value: 'epic-pro', label: 'Epic Pro' },
    ];
    const page = await visit();
    const { keyboard } = page;
    await page.focus('.composer textarea');
    await keyboard.type('/');
    await page.waitForSelector('[role=option]');
    await keyboard.press('ArrowDown');
    await keyboard.press('ArrowUp');
    await keyboard.press('Enter');
    expect(await typed(page)).toBe('/video create ');
    await keyboard.type('a fox --mo');
    await keyboard.press('Tab');
    expect(await typed(page)).toBe('/video create a fox --model ');
    await page.waitForSelector('[role=option] >> text=Epic Pro');
    await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    expect(await typed(page)).toBe('/video create a fox --model epic-pro ');
    await keyboard.press('Shift+Enter');
    await keyboard.type('in snow');
    await keyboard.press('Enter');
    await page.waitForSelector('.private >> text=Yes.');
    expect(house.bot.heard).toMatchObject([{ what: 'create a fox --model epic-pro \nin snow' }]);
    expect(await typed(page)).toBe('');
    await keyboard.press('ArrowUp');
    expect(await typed(page)).toContain('in snow');
  });

  it('closes the offers on Escape, and then sends on Enter', async () => {
    const page = await visit();
    await page.focus('.composer textarea');
    await page.keyboard.type('/video us');
    await page.waitForSelector('[role=option]');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('[role=option]').count()).toBe(0);
    await page.keyboard.press('Enter');
    await expect.poll(() => house.bot.heard[0]?.what).toBe('us');
  });

  it('is restored after a refusal', async () => {
    house.bot.reply = { kind: 'refused', sentence: 'seconds: 30 is not offered.' };
    const page = await visit();
    await page.fill('.composer textarea', '/video create a fox --seconds=30');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.private >> text=seconds: 30 is not offered.');
    expect(await page.locator('.only-you').textContent()).toContain('Only you can see this');
    await expect.poll(() => typed(page)).toBe('/video create a fox --seconds=30');
    await page.click('.only-you >> text=Dismiss');
    await page.waitForSelector('.welcome');
    await page.reload();
    await page.waitForSelector('.welcome');
  });

  it('is retried automatically under the same id after a broken connection', async () => {
    const page = await visit();
    let attempts = 0;
    await page.route('**/interactions', async (route) => {
      await route.fetch();
      attempts += 1;
      await (attempts === 1 ? route.abort() : route.fallback());
    });
    await page.fill('.composer textarea', '/video create a fox');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.private >> text=Yes.');
    await page.waitForSelector('.pending', { state: 'detached' });
    expect(attempts).toBeGreaterThan(1);
    expect(house.bot.heard).toHaveLength(1);
  });

  it('is kept after a failure and retried under the same id; under a new one after a response', async () => {
    house.bot.reply = AWAY;
    const page = await visit();
    await page.fill('.composer textarea', '/video create a fox');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.pending .trouble');
    expect(await typed(page)).toBe('');
    house.bot.reply = { kind: 'refused', sentence: 'Not that fox.' };
    await page.click('.pending .button >> text=Try again');
    await page.waitForSelector('.private >> text=Not that fox.');
    await expect.poll(() => typed(page)).toBe('/video create a fox');
    house.bot.reply = privately('Taken.');
    await page.focus('.composer textarea');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.private >> text=Taken.');
    const [failed, refused, taken] = house.bot.heard.map(({ caller }) => caller.interaction);
    expect(refused).toBe(failed);
    expect(taken).not.toBe(failed);
  });

  it('in a form is retried under the same id after a failure', async () => {
    house.bot.reply = FORM;
    const page = await visit();
    await page.fill('.composer textarea', '/video');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog textarea');
    house.bot.reply = AWAY;
    await page.click('dialog >> text=Make it');
    await page.waitForSelector('dialog .trouble >> text=database');
    house.bot.reply = privately('Taken.');
    await page.click('dialog >> text=Make it');
    await page.waitForSelector('dialog', { state: 'detached' });
    const sent = house.bot.heard.filter(({ kind }) => kind === 'submit').map(({ caller }) => caller.interaction);
    expect(sent).toEqual([sent[0], sent[0]]);
  });

  it('opens a form and submits its values', async () => {
    house.bot.reply = FORM;
    const page = await visit();
    await page.fill('.composer textarea', '/video');
    await page.keyboard.press('Enter');
    await page.fill('dialog textarea', 'a red fox');
    house.bot.reply = { kind: 'refused', sentence: 'prompt: too short.' };
    await page.click('dialog >> text=Make it');
    await page.waitForSelector('dialog .trouble >> text=too short');
    house.bot.reply = privately('Taken.');
    await page.fill('dialog textarea', 'a red fox in snow');
    await page.click('dialog >> text=Make it');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(house.bot.heard.at(-1)).toMatchObject({ what: { form: 'create', values: { prompt: 'a red fox in snow' } } });
    // The refusal was shown in the form alone.
    expect((await house.messages()).map(({ text }) => text)).toEqual(['Taken.']);
  });

  it('offers the choices of each model with prices in an order form, and shows errors at their fields', async () => {
    const empty = (name: string) => ({ name, label: `${name}: a, b, c`, value: '', required: false, long: false });
    const fields = [...FIELDS, ...['model', 'seconds', 'aspect', 'resolution'].map(empty)];
    const media = { image: ['https://a.example/1.png'], audio: [], video: [] };
    house.bot.reply = { kind: 'form', form: { id: 'create', title: 'A new clip', submit: 'Create', fields, media } };
    const page = await visit();
    await page.fill('.composer textarea', '/video');
    await page.keyboard.press('Enter');
    const submit = page.locator('dialog [type=submit]');
    await expect.poll(() => submit.textContent()).toBe('Create · $0.20');
    const price = page.locator('dialog .price');
    expect(await price.textContent()).toBe('Swift 1 · $0.05/s · 4 s = $0.20');
    await page.selectOption('[name=seconds]', '8');
    expect(await submit.textContent()).toBe('Create · $0.40');
    expect(await price.textContent()).toBe('Swift 1 · $0.05/s · 8 s = $0.40');
    expect(await page.inputValue('[name=image]')).toBe('https://a.example/1.png');
    await page.selectOption('[name=model]', 'sketch-480p');
    await expect.poll(() => page.locator('[name=resolution]').count()).toBe(0);
    expect(await page.locator('[name=seconds] option').first().textContent()).toBe('1 s · $0.02 (default)');
    const problems = [{ field: 'prompt', sentence: 'That prompt is too long.' }];
    house.bot.reply = { kind: 'refused', sentence: 'That prompt is too long.', problems };
    await submit.click();
    await page.waitForSelector('#problem-prompt >> text=too long');
    await expect.poll(() => page.locator('dialog .trouble:not(:empty)').count()).toBe(1);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('prompt');
    const { what } = house.bot.heard.at(-1) ?? {};
    expect(what).toMatchObject({
      values: { model: 'sketch-480p', seconds: '1', resolution: '' },
    });
    expect(house.bot.heard.at(-1)?.caller.shown).toEqual({ price: { amount: '0.02', currency: 'USD' } });
  });
});

describe('messages', () => {
  it('are live in two windows, and persist across a reload', async () => {
    const [one, two] = await Promise.all([visit(), visit()]);
    const message = await openTask('task-1');
    for (const page of [one, two]) await page.waitForSelector('text=Running · 42 %');
    await house.platform.edit(message, originOf('task-1'), taskView({ progress: 80 }), 'progress');
    for (const page of [one, two]) await page.waitForSelector('text=Running · 80 %');
    await one.reload();
    await one.waitForSelector('text=Running · 80 %');
  });

  it('are hidden from other users if ephemeral, and highlighted for a mentioned user', async () => {
    const ada = await visit();
    await house.post('interactions', { id: 'i1', user: 'ada', channel: 'general', text: '/video usage' });
    const notice = {
      key: 'end',
      place: ORIGIN,
      replyTo: null,
      mention: originOf('').user,
      view: endNotice(originOf('')),
    };
    await house.platform.notify(notice);
    await ada.waitForSelector('.mentions-me >> text=@ada');
    await expect.poll(() => ada.locator('.private').count()).toBe(1);
    await ada.click('.user-button');
    await ada.fill('.user-menu input', 'sam');
    await ada.keyboard.press('Enter');
    await ada.waitForSelector('.user-name >> text=sam');
    await ada.waitForSelector('article');
    await expect.poll(() => ada.locator('.private, .mentions-me').count()).toBe(0);
  });

  it('are caught up on reconnect, with a banner meanwhile', async () => {
    await openTask('task-1');
    const page = await visit();
    await house.restart(async () => {
      await page.waitForSelector('.banner >> text=Connection lost.');
      await openTask('task-2', { prompt: 'a paper boat' });
    });
    await page.waitForSelector('text=a paper boat');
    await page.waitForSelector('.banner', { state: 'detached' });
  });

  it('render user input as plain text', async () => {
    const prompt =
      '<img src=x onerror=alert(1)> <script>alert(2)</script> **bold** https://evil.example javascript:alert(3)';
    await openTask('task-1', { prompt });
    const page = await visit();
    expect(await page.locator('.headline').textContent()).toContain(prompt);
    await expect.poll(() => page.locator('.card img, .card script, .card a').count()).toBe(0);
  });

  it('accept presses and reactions', async () => {
    const { message } = await openTask('task-1');
    const page = await visit();
    await page.click('.button >> text=Cancel');
    await expect.poll(() => house.bot.heard[0]?.what).toBe('cancel:task-1');
    house.bot.reply = null;
    await page.hover('.of-task');
    await page.click('[aria-label="Retry by reaction"]');
    await page.waitForSelector('.reaction[aria-pressed=true] >> text=1');
    expect(house.bot.heard.at(-1)).toMatchObject({ kind: 'react', what: { emoji: '🔁', message: { message } } });
  });

  it('link a reply to its original', async () => {
    const message = await openTask('task-1');
    for (let at = 2; at < 12; at += 1) await openTask(`task-${at}`, { phase: 'failed', state: 'failed' });
    const view = endNotice(originOf(''));
    await house.platform.notify({ key: 'end', place: ORIGIN, replyTo: message, mention: null, view });
    const page = await visit({ viewport: { width: 900, height: 500 } });
    expect(await page.locator(`#${message.message}`).isVisible()).toBe(true);
    await page.click('.reply-line');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe(message.message);
  });
});

describe('the view', () => {
  const places = (page: Page) =>
    page.evaluate(() => {
      const log = document.querySelector('.log');
      const below = [...document.querySelectorAll('article')].at(1)?.getBoundingClientRect().top ?? 0;
      return {
        top: log?.scrollTop ?? 0,
        toEnd: (log?.scrollHeight ?? 0) - (log?.scrollTop ?? 0) - (log?.clientHeight ?? 0),
        below,
      };
    });

  it('does not shift when a running task gets its clip', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'dailies-page-'));
    const message = await openTask('task-1');
    await openTask('task-2');
    const page = await visit({ viewport: { width: 900, height: 1600 } });
    const frame = () => page.locator('article').first().locator('.frame').boundingBox();
    const before = { frame: await frame(), places: await places(page) };
    await house.platform.edit(message, originOf('task-1'), taskView({ progress: 99 }), 'progress');
    await page.waitForSelector('text=Running · 99 %');
    expect({ frame: await frame(), places: await places(page) }).toEqual(before);
    await house.platform.attach(message, originOf('task-1'), doneView(), await writeClip(directory));
    await page.waitForSelector('video');
    const after = await frame();
    expect([after?.width, after?.height]).toEqual([before.frame?.width, before.frame?.height]);
    await rm(directory, { recursive: true });
  });

  it('stays at the end if it was there, and else keeps its position', async () => {
    for (let at = 0; at < 12; at += 1) await openTask(`task-${at}`);
    const page = await visit({ viewport: { width: 900, height: 600 } });
    await expect.poll(async () => (await places(page)).toEnd).toBeLessThan(2);
    await openTask('task-more', { prompt: 'a paper boat' });
    await page.waitForSelector('text=a paper boat');
    await expect.poll(async () => (await places(page)).toEnd).toBeLessThan(2);
    await page.evaluate(() => document.querySelector('.log')?.scrollTo({ top: 300 }));
    await expect.poll(async () => (await places(page)).top).toBe(300);
    await openTask('task-last', { prompt: 'a lighthouse' });
    await page.waitForSelector('text=a lighthouse', { state: 'attached' });
    expect((await places(page)).top).toBe(300);
  });

  it.each(['light', 'dark'] as const)('fits a narrow screen in %s', async (colorScheme) => {
    await openTask('task-1', { prompt: 'unbreakable'.repeat(30), phase: 'uncertain', state: 'uncertain' });
    await house.post('interactions', { id: 'i1', user: 'ada', channel: 'general', text: `/video ${'x'.repeat(200)}` });
    const page = await visit({ viewport: { width: 320, height: 568 }, colorScheme });
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(await overflow()).toBe(0);
    await page.fill('.composer textarea', '/video create a fox --');
    await page.waitForSelector('[role=option]');
    expect(await overflow()).toBe(0);
  });
});
