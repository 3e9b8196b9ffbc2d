import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { field, formReply } from '#commands/ui/form-ids.ts';
import type { MessageRef } from '#src/chat/platform.ts';
import type { SetMember, SetView } from '#src/chat/view.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { launchBrowser } from '#test/fakes/browser.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { makeShot } from '#test/fakes/shots.ts';
import { originOf } from '#test/fakes/tasks.ts';
import { doneView, reviewNotice, setView, taskView } from '#test/fakes/views.ts';

const ORIGIN = originOf({
  platform: 'playground',
  team: 'playground',
  channel: 'general',
  user: { id: 'ada', name: 'ada' },
});

let browser: Browser;
let directory: string;
let shot: string;
let house: PlaygroundHouse;

beforeAll(async () => {
  browser = await launchBrowser();
  directory = await mkdtemp(join(tmpdir(), 'dailies-set-page-'));
  shot = await makeShot(join(directory, 'shot.mp4'), { frames: 96 });
});

afterAll(async () => {
  await browser.close();
  await rm(directory, { recursive: true });
});

beforeEach(async () => {
  house = await PlaygroundHouse.start();
});

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  await house.remove();
});

async function visit(width = 1100): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width, height: 900 } })).newPage();
  await page.goto(house.url);
  await page.waitForSelector('.welcome, article');
  return page;
}

const taskOf = (at: number): TaskId => `take-${at}` as TaskId;
const fileOf = (at: number): string => `red-fox-f00d-${at}.mp4`;

/** Returns the card of four takes, of which these are there, and the others in progress. */
function takes(...there: readonly number[]): SetView {
  const set = { id: taskOf(1), kind: 'takes', of: 4 } as const;
  const members = [1, 2, 3, 4].map((at): SetMember => {
    const changes = { task: taskOf(at), prompt: 'a red fox', set: { ...set, at } };
    if (!there.includes(at)) return { view: taskView(changes), message: null };
    return { view: doneView(changes), message: null, file: { name: fileOf(at), description: 'a red fox' } };
  });
  return setView(set, members);
}

async function attach(message: MessageRef, at: number, ...there: readonly number[]): Promise<void> {
  const { size: bytes } = await stat(shot);
  const file = { path: shot, bytes, contentType: 'video/mp4', name: fileOf(at), description: 'a red fox' };
  await house.platform.attach(message, ORIGIN, takes(...there), file);
}

async function allTakes(): Promise<MessageRef> {
  const message = await house.platform.open(takes().id, ORIGIN, takes());
  for (const at of [3, 1, 4, 2]) await attach(message, at, ...[3, 1, 4, 2].slice(0, [3, 1, 4, 2].indexOf(at) + 1));
  return message;
}

const names = (page: Page) => page.locator('.clips figcaption b').allTextContents();

it('reserves the frames of all takes, and fills each in its place', async () => {
  const message = await house.platform.open(takes().id, ORIGIN, takes());
  const page = await visit();
  const boxes = () => page.locator('.clips .frame').evaluateAll((all) => all.map((one) => one.getBoundingClientRect()));
  await expect.poll(() => names(page)).toEqual(['Take 1', 'Take 2', 'Take 3', 'Take 4']);
  const before = await boxes();
  await attach(message, 3, 3);
  await page.waitForSelector('.clips figure:nth-child(3) video');
  expect(await boxes()).toEqual(before);
  // Two rows of two.
  expect(new Set(before.map(({ top }) => Math.round(top))).size).toBe(2);
  await expect.poll(() => page.locator('figure[aria-hidden=true] [role=progressbar]').count()).toBe(3);
  await expect.poll(() => page.locator('figure:not([aria-hidden]) [role=progressbar]').count()).toBe(0);
});

it('plays each clip alone, under its name, and offers it for download', async () => {
  await allTakes();
  const page = await visit();
  await page.getByRole('button', { name: 'Play: Take 2: a red fox' }).click();
  const playing = () =>
    page.locator('.clips video').evaluateAll((all) => all.map((one) => (one as HTMLVideoElement).controls));
  await expect.poll(playing).toEqual([false, true, false, false]);
  const download = page.getByRole('link', { name: 'Download Take 3' });
  expect(await download.getAttribute('download')).toBe(fileOf(3));
  const posters = await page.locator('.clips video').evaluateAll((all) => all.map((one) => one.getAttribute('poster')));
  expect(posters.map((url) => url?.endsWith('?poster'))).toEqual([true, true, true, true]);
});

it('plays the clips side by side and in step, and one by one again', async () => {
  await allTakes();
  const page = await visit();
  await page.getByRole('button', { name: 'Play side by side' }).click();
  await expect
    .poll(() => page.locator('.player figcaption span').allTextContents())
    .toEqual(['Take 1', 'Take 2', 'Take 3', 'Take 4']);
  await expect.poll(() => page.locator('.clips').count()).toBe(0);
  const videos = page.locator('.player video');
  const ready = () => videos.evaluateAll((all) => all.every((one) => (one as HTMLVideoElement).readyState >= 1));
  await expect.poll(ready).toBe(true);
  await page.locator('.player .seek input').fill('2');
  const times = () => videos.evaluateAll((all) => all.map((one) => (one as HTMLVideoElement).currentTime));
  await expect.poll(times).toEqual([2, 2, 2, 2]);
  await page.getByRole('button', { name: 'Play one by one' }).click();
  await expect.poll(() => names(page)).toHaveLength(4);
});

it('announces the takes once, when all are there', async () => {
  const message = await house.platform.open(takes().id, ORIGIN, takes());
  const page = await visit();
  const said = await page.evaluateHandle(() => {
    const all: string[] = [];
    const region = document.querySelector('[aria-live=polite].sr');
    if (region !== null)
      new MutationObserver(() => region.textContent && all.push(region.textContent)).observe(region, {
        childList: true,
        characterData: true,
        subtree: true,
      });
    return all;
  });
  await page.waitForSelector('.clips');
  for (const there of [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4]]) {
    await attach(message, there.at(-1) ?? 0, ...there);
    await page.waitForSelector(`.clips figure:nth-child(${there.length}) video`);
  }
  await expect.poll(() => said.jsonValue()).toEqual([expect.stringMatching(/Take 1 · Done.*Take 4 · Done/su)]);
});

it('leads from a note to its moment in the clip that it is about', async () => {
  const message = await allTakes();
  const place = { team: 'playground', channel: 'general', address: {} };
  const view = reviewNotice({ task: taskOf(3) });
  await house.platform.notify({ key: 'review:1', place, replyTo: message, mention: null, view });
  const page = await visit();
  const videos = page.locator('.clips video');
  const ready = () => videos.evaluateAll((all) => all.every((one) => (one as HTMLVideoElement).readyState >= 1));
  await expect.poll(ready).toBe(true);
  await page.getByRole('button', { name: 'Show the clip at 0:03' }).click();
  const times = () => videos.evaluateAll((all) => all.map((one) => Math.round((one as HTMLVideoElement).currentTime)));
  await expect.poll(times).toEqual([0, 0, 3, 0]);
});

it('fills the time of a form from a clip that is stopped, and leaves it empty for one that was never played', async () => {
  await allTakes();
  const page = await visit();
  const ready = () =>
    page.locator('.clips video').evaluateAll((all) => all.every((one) => (one as HTMLVideoElement).currentTime > 0));
  await expect.poll(ready).toBe(true);
  const form = formReply({ form: 'changes', task: taskOf(1), after: 0 }, { title: 'Ask for changes', submit: 'Send' }, [
    field('at', 'Time in the clip'),
  ]);
  house.bot.reply = form;
  const time = async () => {
    await page.locator('.buttons .button').first().click();
    const value = await page.locator('dialog.form[open] [name=at]').inputValue();
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'hidden' });
    return value;
  };
  expect(await time()).toBe('');
  await page.evaluate((task) => {
    const video = document.querySelector(`[data-task="${task}"] video`) as HTMLVideoElement;
    video.currentTime = 2;
  }, taskOf(1));
  await expect.poll(time).toBe('0:02');
});

it('has one column where the screen is narrow', async () => {
  await allTakes();
  const page = await visit(360);
  const lefts = await page
    .locator('.clips figure')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
  expect(new Set(lefts).size).toBe(1);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
});
