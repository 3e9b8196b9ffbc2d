import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MessageRef } from '#src/chat/platform.ts';
import { boardViewOf } from '#src/chat/sets/set-view.ts';
import type { BoardCut, SetMember, SetView } from '#src/chat/view.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { launchBrowser } from '#test/fakes/browser.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { makeShot } from '#test/fakes/shots.ts';
import { originOf } from '#test/fakes/tasks.ts';
import { cutView, doneView, reviewNotice, setView, type TaskViewChanges, taskView } from '#test/fakes/views.ts';
import { wrongWith } from '../../../e2e/accessibility.ts';

const ADA = { id: 'ada', name: 'ada' };
const PLACE = { team: 'playground', channel: 'general', address: {} };
const ORIGIN = originOf({ platform: 'playground', ...PLACE, user: ADA });

/** Shots of 4, 6 and 2 s as ordered, whose clips are shorter. */
const SECONDS = [4, 6, 2];
const PROMPTS = ['a fox wakes up', 'it runs', 'it sleeps'];

let browser: Browser;
let directory: string;
let clip: string;
let house: PlaygroundHouse;
/** Tasks whose clip was asked for, once each. */
let asked: Set<string>;
let complaints: string[];

beforeAll(async () => {
  browser = await launchBrowser();
  directory = await mkdtemp(join(tmpdir(), 'dailies-board-page-'));
  clip = await makeShot(join(directory, 'shot.mp4'), { frames: 24 });
});

afterAll(async () => {
  await browser.close();
  await rm(directory, { recursive: true });
});

beforeEach(async () => {
  asked = new Set();
  complaints = [];
  const { size: bytes } = await stat(clip);
  house = await PlaygroundHouse.start({
    clipOf: async (task) => {
      asked.add(task);
      return { path: clip, bytes, contentType: 'video/mp4' };
    },
  });
});

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  await house.remove();
  expect(complaints).toEqual([]);
});

async function visit({ user = 'ada', ...options }: BrowserContextOptions & { user?: string } = {}): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1100, height: 1400 }, ...options })).newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.addInitScript((name) => sessionStorage.setItem('dailies.user', name), user);
  await page.goto(house.url);
  await page.waitForSelector('.timeline');
  return page;
}

const taskOf = (at: number): TaskId => `shot-${at}` as TaskId;
const placeOf = (at: number) => ({ id: taskOf(1), kind: 'storyboard' as const, of: SECONDS.length, at });

function changesOf(at: number): TaskViewChanges {
  const [seconds = 4, prompt = ''] = [SECONDS[at - 1], PROMPTS[at - 1]];
  return { task: taskOf(at), prompt, set: placeOf(at), request: { seconds } };
}

interface Given {
  readonly order?: readonly number[];
  readonly revision?: number;
  readonly ready?: readonly number[];
  readonly skipped?: readonly number[];
  readonly cut?: BoardCut;
}

function boardView({ order = [1, 2, 3], revision = 0, ready = [1, 2, 3], skipped = [], cut }: Given = {}): SetView {
  const members = order.map((at): SetMember => {
    const isReady = ready.includes(at);
    const original = { task: taskOf(at), retryPrice: null };
    const shot = { at, isSkipped: skipped.includes(at), isReady, isOutdated: false, isRetrying: false, original };
    return { view: isReady ? doneView(changesOf(at)) : taskView(changesOf(at)), message: null, shot };
  });
  const { at: _, ...set } = placeOf(1);
  return boardViewOf(setView(set, members), revision, cut);
}

const openBoard = (given: Given = {}): Promise<MessageRef> => {
  const view = boardView(given);
  return house.platform.open(view.id, ORIGIN, view);
};
const show = (card: MessageRef, given: Given) => house.platform.edit(card, ORIGIN, boardView(given), 'final');

async function postShot(card: MessageRef, at: number, changes: TaskViewChanges = {}): Promise<MessageRef> {
  const below = { ...ORIGIN, address: { below: card.message }, replyTo: card.message };
  const view = doneView({ ...changesOf(at), ...changes });
  const message = await house.platform.open(view.task.id, below, view);
  const { size: bytes } = await stat(clip);
  const file = { path: clip, bytes, contentType: 'video/mp4', name: `shot-${at}.mp4`, description: 'a shot' };
  if (view.phase === 'done') await house.platform.attach(message, below, view, file);
  return message;
}

/** Posts the cut of all shots, below the card. */
async function postCut(card: MessageRef): Promise<MessageRef> {
  const below = { ...ORIGIN, replyTo: card.message };
  const view = cutView({ phase: 'done', handover: { kind: 'attached' } });
  const message = await house.platform.open(view.id, below, view);
  const path = await makeShot(join(directory, 'cut.mp4'), { frames: 72 });
  const { size: bytes } = await stat(path);
  const file = { path, bytes, contentType: 'video/mp4', name: 'cut.mp4', description: 'the cut' };
  await house.platform.attach(message, below, view, file);
  return message;
}

const names = (page: Page) =>
  page.locator('.segments button').evaluateAll((all) => all.map((one) => one.querySelector('.sr')?.textContent));
const order = (page: Page) =>
  page.locator('.segments button').evaluateAll((all) => all.map((one) => Number((one as HTMLElement).dataset['shot'])));
const seekBar = (page: Page) => page.getByRole('slider', { name: 'Time in the cut' });
const time = async (page: Page) => Number(await seekBar(page).inputValue());
const shownVideo = (page: Page) => page.locator('.timeline .screen video:not([hidden])');
const presses = () => house.bot.heard.flatMap(({ kind, what }) => (kind === 'press' ? [what] : []));
/** Records the shots that are shown, one after the other. */
async function watch(page: Page) {
  return page.evaluateHandle(() => {
    const seen: string[] = [];
    new MutationObserver(() => {
      const at = document.querySelector<HTMLElement>('.segment[aria-current]')?.dataset['shot'];
      if (at !== undefined && at !== seen.at(-1)) seen.push(at);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
    return seen;
  });
}

describe('the timeline of a storyboard', () => {
  it('has a segment for each shot of the cut, as wide as it is long, and those left out apart', async () => {
    const card = await openBoard({ ready: [1, 3], order: [3, 1, 2] });
    const page = await visit();
    expect(await names(page)).toEqual([
      'Shot 3: it sleeps, 2 s',
      'Shot 1: a fox wakes up, 4 s',
      'Shot 2: it runs, 6 s, Running 42 %',
    ]);
    const widths = await page
      .locator('.segments li')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
    expect((widths[1] ?? 0) / (widths[0] ?? 1)).toBeCloseTo(2, 1);
    expect((widths[2] ?? 0) / (widths[0] ?? 1)).toBeCloseTo(3, 1);
    await show(card, { order: [3, 1, 2], skipped: [1] });
    await expect.poll(() => order(page)).toEqual([3, 2]);
    expect(await page.locator('.left-out .segment').innerText()).toContain('1');
  });

  it('plays one clip after the other, without those that are not there, and has the next one loaded', async () => {
    await openBoard({ ready: [1, 3] });
    const page = await visit();
    const seen = await watch(page);
    await page.getByRole('button', { name: 'Play the cut' }).click();
    await expect.poll(() => [...asked].toSorted()).toEqual([taskOf(1), taskOf(3)]);
    await expect.poll(() => page.locator('.timeline .screen video').count()).toBe(2);
    await page.getByRole('button', { name: 'Pause the cut' }).waitFor();
    await page.getByRole('button', { name: 'Play the cut' }).waitFor();
    expect(await seen.jsonValue()).toEqual(['1', '3']);
    expect(await time(page)).toBe(12);
    // From the beginning again.
    await page.getByRole('button', { name: 'Play the cut' }).click();
    await expect.poll(() => seen.jsonValue()).toEqual(['1', '3', '1']);
  });

  it('plays the file of a cut that is up to date, and the clips of a board that has changed since', async () => {
    const card = await openBoard();
    const message = await postCut(card);
    await show(card, { cut: { message, isJoining: false, isCurrent: true } });
    const page = await visit();
    await page.locator('[data-shot="2"]').click();
    await expect.poll(() => shownVideo(page).getAttribute('src')).toContain('cut.mp4');
    // Of 12 s as ordered, the second shot begins at 4.
    await expect
      .poll(() => shownVideo(page).evaluate((one) => (one as HTMLVideoElement).currentTime))
      .toBeCloseTo(1, 1);
    await show(card, { cut: { message, isJoining: false, isCurrent: false } });
    await expect.poll(() => shownVideo(page).getAttribute('src')).toContain(`/${taskOf(2)}`);
  });

  it('seeks by a click and by arrow keys', async () => {
    await openBoard();
    const page = await visit();
    await seekBar(page).click({ position: { x: 2, y: 12 } });
    const start = await time(page);
    await seekBar(page).press('ArrowRight');
    await expect.poll(() => time(page)).toBeCloseTo(start + 1, 1);
    await page.locator('[data-shot="2"]').click();
    await expect.poll(() => time(page)).toBe(4);
    await expect.poll(() => shownVideo(page).getAttribute('src')).toContain(`/${taskOf(2)}`);
    await seekBar(page).press('ArrowLeft');
    await expect.poll(() => time(page)).toBe(3);
    await expect.poll(() => shownVideo(page).getAttribute('src')).toContain(`/${taskOf(1)}`);
    const part = () => shownVideo(page).evaluate((one) => (one as HTMLVideoElement).currentTime);
    await expect.poll(part).toBeCloseTo(0.75, 1);
  });

  it('moves a shot by dragging: it is there at once, and stays once the board has it', async () => {
    const card = await openBoard();
    const page = await visit();
    const { promise, resolve } = Promise.withResolvers<void>();
    house.bot.gate = promise;
    await drag(page, 1, 3);
    await expect.poll(() => order(page)).toEqual([2, 3, 1]);
    await expect.poll(presses).toEqual([`move:${taskOf(1)}:0:1:0`]);
    expect(await page.locator('.timeline [role=status]').innerText()).toBe('Shot 1 is now 3 of 3.');
    resolve();
    await show(card, { order: [2, 3, 1], revision: 1 });
    await drag(page, 1, 2);
    await expect.poll(presses).toEqual([`move:${taskOf(1)}:0:1:0`, `move:${taskOf(1)}:1:1:2`]);
    // The answers are not posted.
    expect(await house.messages()).toHaveLength(1);
    await expect.poll(() => shownVideo(page).count()).toBe(0);
  });

  it('goes back with the words of a refusal', async () => {
    await openBoard();
    const page = await visit();
    house.bot.reply = { kind: 'refused', sentence: 'Someone changed this board meanwhile.' };
    await drag(page, 3, 1);
    await page.locator('.timeline [role=alert]:has-text("Someone changed this board meanwhile.")').waitFor();
    expect(await order(page)).toEqual([1, 2, 3]);
    expect(await house.messages()).toHaveLength(1);
    house.bot.reply = privately('Shot 3 is before shot 1.');
    await drag(page, 3, 1);
    await page.locator('.timeline [role=alert]').waitFor({ state: 'detached' });
    expect(await order(page)).toEqual([3, 1, 2]);
  });

  it('does not move a shot whose drag is given up', async () => {
    await openBoard();
    const page = await visit();
    await drag(page, 1, 3, async () => page.keyboard.press('Escape'));
    await page.locator('.segment.dragged').waitFor({ state: 'detached' });
    expect(await order(page)).toEqual([1, 2, 3]);
    expect(presses()).toEqual([]);
  });

  it('moves a shot by keys, one press after the other, and keeps the focus on it', async () => {
    const card = await openBoard();
    const page = await visit();
    const { promise, resolve } = Promise.withResolvers<void>();
    house.bot.gate = promise;
    await page.locator('[data-shot="1"]').focus();
    await page.keyboard.press('Alt+ArrowRight');
    await expect.poll(presses).toEqual([`move:${taskOf(1)}:0:1:3`]);
    await page.keyboard.press('Alt+ArrowRight');
    await expect.poll(() => order(page)).toEqual([2, 3, 1]);
    expect(await page.locator('.timeline [role=status]').innerText()).toBe('Shot 1 is now 3 of 3.');
    const focused = () => page.evaluate(() => (document.activeElement as HTMLElement).dataset['shot']);
    expect(await focused()).toBe('1');
    resolve();
    await show(card, { order: [2, 1, 3], revision: 1 });
    await expect.poll(presses).toEqual([`move:${taskOf(1)}:0:1:3`, `move:${taskOf(1)}:1:1:0`]);
    await show(card, { order: [2, 3, 1], revision: 2 });
    await expect.poll(() => order(page)).toEqual([2, 3, 1]);
    await page.keyboard.press('Alt+ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(focused).toBe('3');
    expect(presses()).toHaveLength(2);
    expect(page.url()).toContain(house.url);
  });

  it('is moved by those who may decide alone', async () => {
    await openBoard();
    const [sam, operator] = [await visit({ user: 'sam' }), await visit({ user: 'operator' })];
    await expect.poll(() => sam.locator('.segment.movable').count()).toBe(0);
    await sam.locator('[data-shot="1"]').focus();
    await sam.keyboard.press('Alt+ArrowRight');
    expect(await order(sam)).toEqual([1, 2, 3]);
    await expect.poll(() => operator.locator('.segment.movable').count()).toBe(3);
    expect(presses()).toEqual([]);
  });

  it('is accessible, light and dark, and fits a narrow window', { timeout: 300_000 }, async () => {
    const card = await openBoard({ ready: [1, 2], skipped: [2] });
    await postShot(card, 1);
    const page = await visit({ reducedMotion: 'reduce' });
    expect(await wrongWith(page)).toEqual([]);
    await page.getByRole('button', { name: 'Play the cut' }).click();
    await shownVideo(page).waitFor();
    await page.locator('.thread > summary').click();
    expect(await wrongWith(page)).toEqual([]);
    const moving = await page
      .locator('.timeline *')
      .evaluateAll((all) => all.filter((one) => getComputedStyle(one).transitionDuration !== '0s').length);
    expect(moving).toBe(0);
  });
});

/** Drags a shot onto the far half of another one, and drops it unless something else is done. */
async function drag(page: Page, from: number, to: number, end = () => page.mouse.up()): Promise<void> {
  const boxOf = async (at: number) => {
    const box = await page.locator(`[data-shot="${at}"]`).boundingBox();
    if (box === null) throw new TypeError(`shot ${at} is not shown`);
    return box;
  };
  const [one, other] = [await boxOf(from), await boxOf(to)];
  const part = one.x < other.x ? 0.75 : 0.25;
  await page.mouse.move(one.x + one.width / 2, one.y + 30);
  await page.mouse.down();
  await page.mouse.move(other.x + other.width * part, one.y + 32, { steps: 4 });
  await page.locator('.segment.dragged').waitFor();
  await end();
}

describe('the thread of a storyboard', () => {
  const inChannel = (page: Page) => page.locator('.log-content > article').count();

  it('is closed inside its card, which is one message of the channel', async () => {
    const card = await openBoard();
    for (const at of [1, 2, 3]) await postShot(card, at);
    await postCut(card);
    const page = await visit();
    expect(await page.locator('.thread > summary').innerText()).toBe('4 messages: 3 shots, 1 cut');
    expect(await inChannel(page)).toBe(1);
    expect(await page.locator('.thread article').first().isVisible()).toBe(false);
    await page.locator('.thread > summary').click();
    await expect.poll(() => page.locator('.thread article:visible').count()).toBe(4);
  });

  it('gets what is posted meanwhile, and what replies to one of its messages', async () => {
    const card = await openBoard({ ready: [1] });
    const page = await visit();
    const shot = await postShot(card, 1);
    await page.locator('.thread > summary:has-text("1 message: 1 shot")').waitFor();
    const view = reviewNotice({ task: taskOf(1) });
    await house.platform.notify({ key: 'review:1', place: PLACE, replyTo: shot, mention: null, view });
    const retry = { ...ORIGIN, replyTo: shot.message };
    await house.platform.open(
      'retry-1' as TaskId,
      retry,
      doneView({ task: 'retry-1' as TaskId, retryOf: taskOf(1), set: null }),
    );
    await page.locator('.thread > summary:has-text("3 messages: 1 shot, 1 take, 1 note")').waitFor();
    expect(await inChannel(page)).toBe(1);
  });

  it('says what is new to those who did not order it', async () => {
    const card = await openBoard();
    await postShot(card, 1);
    const storage = [{ name: 'dailies.read.sam.general', value: '1' }];
    const page = await visit({
      user: 'sam',
      storageState: { cookies: [], origins: [{ origin: house.url, localStorage: storage }] },
    });
    await page.locator('.thread .thread-label:has-text("1 new")').waitFor();
  });

  it('is open where a message in it needs a decision', async () => {
    const card = await openBoard({ ready: [1] });
    await postShot(card, 1);
    const page = await visit();
    expect(await page.locator('.thread article').first().isVisible()).toBe(false);
    await postShot(card, 2, { phase: 'uncertain', state: 'uncertain', handover: null, buttons: ['lookup', 'leave'] });
    await page.locator('.thread article:has-text("it runs")').waitFor();
    await page.locator('.thread .thread-label:has-text("Needs a decision")').waitFor();
  });

  it('opens where a link leads to a message in it, also from another page of the channel', async () => {
    const card = await openBoard();
    const shot = await postShot(card, 2);
    for (let number = 0; number < 120; number += 1)
      await house.post('interactions', { id: `i${number}`, user: 'ada', channel: 'general', text: '/video list' });
    house.bot.reply = {
      kind: 'private',
      card: { lines: [['Look: ', { message: shot, label: 'See it' }]], progress: null, buttons: [] },
    };
    await house.post('interactions', { id: 'link', user: 'ada', channel: 'general', text: '/video list' });
    const context = await browser.newContext({ viewport: { width: 1100, height: 900 } });
    const page = await context.newPage();
    await page.goto(house.url);
    await page.getByRole('button', { name: 'See it' }).click();
    await page.locator(`.thread[open] [id="${shot.message}"]:focus`).waitFor();
    await expect.poll(() => page.locator('.log-content > article').count()).toBeLessThanOrEqual(100);
  });

  it('loses a message that is removed', async () => {
    const card = await openBoard();
    const shot = await postShot(card, 1);
    await postShot(card, 2);
    const page = await visit();
    await page.locator('.thread > summary:has-text("2 messages: 2 shots")').waitFor();
    await house.platform.retract(shot, ORIGIN, { kind: 'removed', reason: 'deleted' });
    await page.locator('.thread > summary').click();
    await expect.poll(() => page.locator('.thread video').count()).toBe(1);
    expect(await page.locator('.thread > summary').innerText()).toBe('2 messages: 2 shots');
  });
});
