import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TaskId } from '#src/tasks/task.ts';
import { launchBrowser } from '#test/fakes/browser.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { doneView, endNotice, taskView } from '#test/fakes/views.ts';

let browser: Browser;
let house: PlaygroundHouse;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

beforeEach(async () => {
  house = await PlaygroundHouse.start();
});

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  await house.remove();
});

const BOX = '.composer textarea';

async function visit(options: BrowserContextOptions = {}, path = '/'): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(house.url + path);
  await page.waitForSelector('.welcome, article');
  return page;
}

const originOf = (interaction: string, channel = 'general') => {
  const user = { id: 'ada', name: 'ada' };
  return { platform: 'playground', team: 'playground', channel, address: {}, user, interaction };
};

const openTask = (task: string, changes: Parameters<typeof taskView>[0] = {}, channel = 'general') =>
  house.platform.open(task as TaskId, originOf(task, channel), taskView({ task: task as TaskId, ...changes }));

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement;
    return element?.getAttribute('aria-label') ?? element?.textContent?.trim() ?? '';
  });

const typed = (page: Page): Promise<string> => page.inputValue(BOX);

/** Returns the scroll position of the log. */
const places = (page: Page) =>
  page.evaluate(() => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = document.querySelector('.log') ?? {};
    return { top: scrollTop, toEnd: Math.round(scrollHeight - scrollTop - clientHeight) };
  });

/** Returns the axe violations of at least serious impact. */
async function serious(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    // @ts-expect-error defined by the script above
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations
      .filter(({ impact }: { impact: string }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => `${id}: ${nodes[0]?.html}`);
  });
}

describe('accessibility', () => {
  it.each(['light', 'dark'] as const)('has no violations in any state of the page, in %s', async (colorScheme) => {
    const page = await visit({ colorScheme, viewport: { width: 1100, height: 1400 } });
    const found: Record<string, readonly string[]> = { empty: await serious(page) };
    const running = await openTask('task-1');
    await page.waitForSelector('[role=progressbar]');
    found['running'] = await serious(page);
    await openTask('task-2', { phase: 'failed', state: 'failed', failure: { code: 'moderated', words: 'no' } });
    await openTask('task-3', { phase: 'uncertain', state: 'uncertain', buttons: ['lookup', 'again', 'leave'] });
    await house.platform.edit(running, originOf('task-1'), doneView(), 'final');
    const view = endNotice(originOf(''));
    const place = { team: 'playground', channel: 'general', address: {} };
    await house.platform.notify({ key: 'end', place, replyTo: running, mention: originOf('').user, view });
    house.bot.reply = { kind: 'refused', sentence: 'Unknown option --sconds.' };
    await page.fill(BOX, '/video create a fox --sconds 4');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.private');
    const item = { kind: 'item', title: [{ untrusted: 'a fox' }], small: ['done'] } as const;
    const blocks = [
      { kind: 'heading', line: ['Clips'] },
      { ...item, accessory: { message: running, label: 'Open' } },
      { kind: 'table', columns: ['Who', 'Amount'], rows: [[['ada'], ['$1.00']]] },
    ] as const;
    house.bot.reply = { kind: 'public', card: { blocks, progress: null, buttons: [] } };
    await house.post('interactions', { id: 'list', user: 'sam', channel: 'general', text: '/video list' });
    await page.waitForSelector('table');
    await page.hover('.of-task');
    found['done, failed, uncertain, refused, list'] = await serious(page);
    await page.fill(BOX, '/video create a fox --');
    await page.waitForSelector('[role=option]');
    found['suggestions'] = await serious(page);
    await page.click('.user-button');
    found['people'] = await serious(page);
    await page.keyboard.press('Escape');
    await page.click('.connect-link');
    found['connect'] = await serious(page);
    await page.click('dialog >> text=Close');
    const empty = (name: string) => ({ name, label: name, value: '', required: name === 'prompt', long: false });
    const fields = ['prompt', 'model', 'seconds', 'aspect', 'resolution'].map(empty);
    house.bot.reply = { kind: 'form', form: { id: 'create', title: 'A new clip', submit: 'Create', fields } };
    await page.fill(BOX, '/video');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog select');
    const problems = [{ field: 'prompt', sentence: 'What should it show?' }];
    house.bot.reply = { kind: 'refused', sentence: 'What should it show?', problems };
    await page.click('dialog [type=submit]');
    await page.waitForSelector('[aria-invalid]');
    found['form'] = await serious(page);
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((state) => [state, []])));
  });

  it('has no violations on the access page', async () => {
    const closed = await PlaygroundHouse.start({ accessToken: 'an access token of this test' });
    const page = await (await browser.newContext()).newPage();
    await page.goto(closed.url);
    await expect.poll(() => page.locator('input').count()).toBeGreaterThan(0);
    expect(await serious(page)).toEqual([]);
    await page.context().close();
    await closed.remove();
  });

  it('has live announcements in plain text, and an accessible name for every message', async () => {
    const page = await visit();
    const card = { lines: [['asked for ', { timeMs: Date.UTC(2026, 10, 20) }, ' by ', { person: originOf('').user }]] };
    house.bot.reply = { kind: 'public', card: { ...card, progress: null, buttons: [] } };
    await house.post('interactions', { id: 'i1', user: 'sam', channel: 'general', text: '/video status' });
    await page.waitForSelector('article');
    const status = () => page.locator('.sr[role=status]').textContent();
    await expect.poll(status).toMatch(/^asked for .+ by ada$/);
    expect(await status()).not.toMatch(/\d{4}-\d\d-\d\dT/);
    expect(await page.locator('article').getAttribute('aria-label')).toMatch(/^Dailies to sam: asked for/);
  });
});

describe('keyboard', () => {
  it('types into the message box on a fresh page, after a dialog, in another channel, from a message', async () => {
    await openTask('task-1');
    const page = await visit();
    await page.keyboard.type('/v');
    await expect.poll(() => typed(page)).toBe('/v');
    await page.click('.connect-link');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.keyboard.type('i');
    await expect.poll(() => typed(page)).toBe('/vi');
    await page.click('.channel >> text=clips');
    await expect.poll(() => typed(page)).toBe('');
    await page.keyboard.type('hello');
    await expect.poll(() => typed(page)).toBe('hello');
    await page.click('.channel >> text=general');
    await expect.poll(() => typed(page)).toBe('/vi');
    await page.focus('article');
    await page.keyboard.type('d');
    await expect.poll(() => typed(page)).toBe('/vid');
  });

  it('keeps the focus on a press, also while it is in flight and when its button is removed', async () => {
    const message = await openTask('task-1');
    const page = await visit();
    let answer = () => {};
    house.bot.gate = new Promise((resolve) => {
      answer = () => resolve(undefined);
    });
    await page.focus('.button >> text=Cancel');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.button[aria-busy=true]');
    expect(await focused(page)).toBe('Cancel');
    answer();
    await page.waitForSelector('.private');
    expect(await focused(page)).toBe('Cancel');
    await house.platform.edit(message, originOf('task-1'), doneView(), 'final');
    await page.waitForSelector('.button >> text=Retry');
    expect(await focused(page)).toMatch(/^Dailies to ada/);
  });

  it('has few tab stops per channel, and arrow keys move between messages', async () => {
    for (let at = 1; at <= 30; at += 1) await openTask(`task-${at}`, { prompt: `prompt ${at}` });
    const page = await visit();
    await page.focus('.user-button');
    const stops: string[] = [];
    for (let at = 0; at < 12 && (await page.evaluate(() => document.activeElement?.tagName)) !== 'TEXTAREA'; at += 1) {
      await page.keyboard.press('Tab');
      stops.push(await focused(page));
    }
    expect(stops).toEqual([
      expect.stringContaining('prompt 30'),
      'Cancel',
      'Details',
      'Retry by reaction',
      'Message #general',
    ]);
    await page.focus('article[data-current=true]');
    await page.keyboard.press('ArrowUp');
    expect(await focused(page)).toContain('prompt 29');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Cancel');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Home');
    expect(await focused(page)).toMatch(/prompt 1\b/);
    await page.focus('article[data-current=true] .toolbar button');
    await page.keyboard.press('ArrowRight');
    expect(await focused(page)).toBe('Cancel by reaction');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await focused(page)).toBe('Message #general');
  });

  it('skips to the message box', async () => {
    const page = await visit();
    await page.focus('.skip');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
  });
});

describe('input', () => {
  it('appears in the channel at once, and its response keeps what was typed since', async () => {
    let answer = () => {};
    house.bot.gate = new Promise((resolve) => {
      answer = () => resolve(undefined);
    });
    house.bot.reply = { kind: 'refused', sentence: 'Not that.' };
    const page = await visit();
    await page.keyboard.type('/video usage x');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.pending >> text=/video usage x');
    await page.keyboard.type('/video create the next');
    answer();
    await page.waitForSelector('.private >> text=Not that.');
    await page.waitForSelector('.pending', { state: 'detached' });
    expect(await typed(page)).toBe('/video create the next');
    await page.reload();
    await page.waitForSelector('article');
    expect(await typed(page)).toBe('/video create the next');
  });

  it('rejected by the server is restored with the error', async () => {
    const page = await visit();
    await page.route('**/interactions', (route) =>
      route.fulfill({ status: 400, contentType: 'application/json', body: '{"error":"text: is too long."}' }),
    );
    await page.keyboard.type('/video usage');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.composer .trouble >> text=is too long');
    expect(await typed(page)).toBe('/video usage');
  });

  it('refused by the bot is restored into an empty box, once', async () => {
    house.bot.reply = { kind: 'refused', sentence: 'Not that.' };
    const page = await visit();
    await page.keyboard.type('/video usage x');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.private >> text=Not that.');
    await expect.poll(() => typed(page)).toBe('/video usage x');
    await page.fill(BOX, '');
    await page.click('.channel >> text=clips');
    await page.click('.channel >> text=general');
    await page.waitForSelector('.private >> text=Not that.');
    expect(await typed(page)).toBe('');
  });

  it('in plain text is sent as it is', async () => {
    const page = await visit();
    await page.keyboard.type('hello team');
    await page.waitForSelector('.hint >> text=asks before');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.private');
    const [message] = await house.messages();
    expect(message?.asked).toMatchObject({ what: 'hello team', how: 'interaction' });
  });
});

describe('a long channel', () => {
  /** Fills #general; every third message is ephemeral for sam. */
  const fill = async (count: number): Promise<void> => {
    for (let at = 1; at <= count; at += 1) {
      const isPrivate = at % 3 === 0;
      const card = { lines: [[`message ${at}.`]], progress: null, buttons: [] };
      house.bot.reply = { kind: isPrivate ? 'private' : 'public', card };
      await house.post('interactions', {
        id: `p${at}`,
        user: isPrivate ? 'sam' : 'ada',
        channel: 'general',
        text: '/video list',
      });
    }
    house.bot.reply = privately('Yes.');
  };

  it('pages to its beginning past ephemeral messages of others, and jumps to an old message', async () => {
    await openTask('task-1', { prompt: 'the first one' });
    await fill(240);
    const oldest = (await house.messages()).find(({ clip }) => clip !== null)?.id ?? '';
    const row = {
      kind: 'item',
      title: ['an old clip'],
      small: [],
      accessory: { message: { channel: 'general', message: oldest }, label: 'Open' },
    } as const;
    house.bot.reply = { kind: 'public', card: { blocks: [row], progress: null, buttons: [] } };
    await house.post('interactions', { id: 'list', user: 'ada', channel: 'clips', text: '/video list' });
    const page = await visit({}, '/#clips');
    await page.click('.item-link');
    await page.waitForSelector(`#${oldest}`);
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe(oldest);
    await expect.poll(() => page.locator('text=Show earlier messages').count()).toBe(0);
    await page.click('.pill >> text=Jump to the latest');
    await page.waitForSelector('text=message 239.');
    await expect.poll(async () => (await places(page)).toEnd).toBeLessThan(2);
    await expect.poll(() => page.locator(`#${oldest}`).count()).toBe(0);
    await page.click('text=Show earlier messages');
    await page.waitForSelector(`#${oldest}`, { state: 'attached' });
  });

  it('shows new messages below as a pill, and scrolls to one’s own responses', async () => {
    await fill(40);
    const page = await visit({ viewport: { width: 900, height: 500 } });
    await expect.poll(async () => (await places(page)).toEnd).toBeLessThan(2);
    await page.evaluate(() => document.querySelector('.log')?.scrollTo({ top: 200 }));
    await expect.poll(async () => (await places(page)).top).toBe(200);
    await openTask('task-9', { prompt: 'a paper boat' });
    await page.waitForSelector('.pill >> text=1 new message');
    expect((await places(page)).top).toBe(200);
    await page.focus(BOX);
    await page.keyboard.type('/video usage x');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.private >> text=Yes.');
    await expect.poll(async () => (await places(page)).toEnd).toBeLessThan(2);
    await expect.poll(() => page.locator('.pill').count()).toBe(0);
  });

  it('shows the pill for a message that arrives before the scroll event', async () => {
    await fill(40);
    const page = await visit({ viewport: { width: 900, height: 500 } });
    await expect.poll(async () => (await places(page)).toEnd).toBeLessThan(2);
    await page.evaluate(() => {
      const log = document.querySelector('.log');
      log?.addEventListener('scroll', (event) => event.stopImmediatePropagation(), { capture: true });
      log?.scrollTo({ top: 200 });
    });
    await openTask('task-9', { prompt: 'a paper boat' });
    await page.waitForSelector('.pill >> text=1 new message');
    expect((await places(page)).top).toBe(200);
  });

  it('stays at its end when the log shrinks before the scroll event', async () => {
    await fill(30);
    const page = await visit({ viewport: { width: 900, height: 600 } });
    await expect.poll(async () => (await places(page)).toEnd).toBeLessThan(2);
    await page.evaluate(() => {
      const log = document.querySelector<HTMLElement>('.log-frame');
      if (log !== null) log.style.maxHeight = '300px';
      document.querySelector('.log')?.dispatchEvent(new Event('scroll'));
    });
    await expect.poll(async () => (await places(page)).toEnd).toBeLessThan(2);
    await openTask('task-9', { prompt: 'a paper boat' });
    await page.waitForSelector('text=a paper boat');
    await expect.poll(async () => (await places(page)).toEnd).toBeLessThan(2);
  });
});

it('removes the banner on reconnect, and sends a press made meanwhile', async () => {
  await openTask('task-1');
  const page = await visit();
  await house.restart(async () => {
    await page.waitForSelector('.banner');
    await page.click('.button >> text=Details');
  });
  await page.waitForSelector('.private >> text=Yes.');
  await page.waitForSelector('.banner', { state: 'detached' });
  await expect.poll(() => page.locator('.toast, .composer .trouble:not(:empty)').count()).toBe(0);
});

it.each(['/#%E0%A4%A', `/#${'x'.repeat(61)}`, '/#a%00b'])('opens #general for the invalid channel %s', async (path) => {
  const page = await visit({}, path);
  expect(await page.locator('.welcome').textContent()).toContain('#general');
});
