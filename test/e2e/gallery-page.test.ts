import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { launchBrowser } from '../fakes/browser.ts';
import { ffmpeg, realClip } from '../fakes/discord-program.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { overflow, violations } from './accessibility.ts';
import { administer, answered, makeDir, questionToDelete, type RunningDailies, startDailies } from './dailies.ts';

// The gallery in a browser: each test has a program of its own, with one clip of each prompt.

const TIMEOUT = { timeout: 600_000 };
const PROMPTS = ['a red fox', 'a grey wolf', '<img src=x onerror="document.title=1"> at night', 'a hare'];

let browser: Browser;
let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;
let complaints: string[] = [];

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

beforeEach(async () => {
  dir = await makeDir();
  upstream = await startVideoService({ clip: await realClip(dir.path, 0) });
  dailies = await startDailies({ dir: dir.path, upstream, env: { FFMPEG_PATH: ffmpeg } });
  for (const prompt of PROMPTS) {
    const order = answered(await dailies.interact(`/video create ${prompt} --seconds 4`, { user: 'ada' }));
    await dailies.reaches(order, 'completed');
  }
});

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  await dailies.kill();
  await upstream.close();
  await dir.remove();
});

/** Requests a link in the chat. */
async function linkFor(user: string): Promise<string> {
  const answer = await dailies.message(answered(await dailies.interact('/video gallery', { user })));
  expect(answer.visibleTo).toBe(user);
  return /http:\S+key=[\w-]{43}/.exec(answer.text)?.[0] ?? '';
}

async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  complaints = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (entry) => {
    if (entry.type() === 'error' && !entry.text().startsWith('Failed to load resource')) complaints.push(entry.text());
  });
  return page;
}

/** Opens the gallery as a user does: link, button, grid. */
async function visit(options: BrowserContextOptions = {}, user = 'ada'): Promise<Page> {
  const page = await newPage(options);
  await page.goto(await linkFor(user));
  await page.click(`button:has-text("Open the gallery as ${user}")`);
  await page.waitForSelector('.card');
  return page;
}

test('a link opens the gallery once, by its button', TIMEOUT, async () => {
  const link = await linkFor('ada');
  const page = await newPage();
  // A preview of the link does not use it up.
  expect((await fetch(link)).status).toBe(200);
  await page.goto(link);
  expect(await violations(page)).toEqual([]);
  await page.click('button:has-text("Open the gallery as ada")');
  await page.waitForSelector('.card');
  expect(new URL(page.url()).search).toBe('');
  await expect.poll(() => page.locator('.card').count()).toBe(PROMPTS.length);
  const other = await newPage();
  await other.goto(link);
  await other.waitForSelector('text=This link has been used');
  await other.goto(`${dailies.url}/gallery`);
  await other.waitForSelector('text=Your visit has ended');
  expect(await violations(other)).toEqual([]);
});

test('a person finds a clip, plays it and goes back, by keyboard alone', TIMEOUT, async () => {
  const page = await visit({ viewport: { width: 1100, height: 900 } });
  await page.keyboard.press('/');
  await page.keyboard.type('fox');
  await page.waitForFunction(() => document.querySelectorAll('.card').length === 1);
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.waitForFunction((count) => document.querySelectorAll('.card').length === count, PROMPTS.length);
  await page.focus('.card');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await page.waitForSelector(`.lightbox h2:has-text(${JSON.stringify(PROMPTS[2])})`);
  expect(await page.title()).toBe('Dailies gallery');
  expect(await page.locator('.facts').textContent()).toContain('Channel#general');
  await page.waitForFunction(() => (document.querySelector('.player video') as HTMLVideoElement).readyState >= 1);
  await page.waitForSelector('.play-button:focus');
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.waitForSelector('.card:focus');
  expect(await page.locator('.card:focus').textContent()).toContain('onerror');
  expect(complaints).toEqual([]);
});

test(
  'a clip plays under the pointer or with the focus: one at a time, and nothing is loaded before',
  TIMEOUT,
  async () => {
    const page = await visit({ viewport: { width: 1100, height: 900 } });
    const loaded: string[] = [];
    page.on('request', (request) => {
      const [, id] = /\/gallery\/clips\/([\w-]+)$/.exec(request.url()) ?? [];
      if (id !== undefined) loaded.push(id);
    });
    const cards = page.locator('.card');
    const [first, second, third] = await cards.evaluateAll((all) => all.map(({ id }) => id.replace('clip-', '')));
    const previews = () => page.locator('.preview').evaluateAll((all) => all.map((one) => one.closest('.card')?.id));
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await cards.nth(2).hover();
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await cards.nth(0).hover();
    await page.waitForFunction(() => Number(document.querySelector<HTMLVideoElement>('.preview')?.currentTime) > 0);
    expect(await page.locator('.preview').evaluate((video: HTMLVideoElement) => video.muted)).toBe(true);
    await cards.nth(1).hover();
    await expect.poll(previews).toEqual([`clip-${second}`]);
    await page.locator('h1').hover();
    await expect.poll(previews).toEqual([]);
    await page.keyboard.press('/');
    await cards.nth(0).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(previews).toEqual([`clip-${first}`]);
    expect(new Set(loaded)).toEqual(new Set([first, second]));
    expect(loaded).not.toContain(third);
    // One tab stop for all clips.
    expect(await page.locator('.card[tabindex="0"]').evaluateAll((all) => all.map(({ id }) => id))).toEqual([
      `clip-${first}`,
    ]);
    expect(complaints).toEqual([]);
  },
);

test(
  'a lightbox leads from clip to clip, has their addresses, and gives back the place in the grid',
  TIMEOUT,
  async () => {
    const page = await visit({ viewport: { width: 500, height: 500 } });
    const cards = page.locator('.card');
    await expect.poll(() => cards.count()).toBe(PROMPTS.length);
    const ids = await cards.evaluateAll((all) => all.map(({ id }) => id.replace('clip-', '')));
    const hash = () => new URL(page.url()).hash;
    const scrolled = () => page.evaluate(() => Math.round(scrollY));
    await cards.nth(2).focus();
    const before = await scrolled();
    expect(before).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.lightbox .facts');
    expect(hash()).toBe(`#/clip/${ids[2]}`);
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector(`.lightbox video[src$="${ids[3]}"]`);
    await page.waitForSelector('.lightbox [aria-label="Next clip"][aria-disabled="true"]');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await page.waitForSelector(`.lightbox video[src$="${ids[2]}"]`);
    await page.keyboard.press('Escape');
    await page.waitForSelector(`#clip-${ids[2]}:focus`);
    await expect.poll(async () => [hash(), await scrolled()]).toEqual(['', before]);
    // The browser's own way back does the same; a reload shows the clip as a page.
    await page.keyboard.press('Enter');
    await page.waitForSelector('.lightbox .facts');
    await page.goBack();
    await page.waitForSelector('.lightbox', { state: 'detached' });
    await page.waitForSelector(`#clip-${ids[2]}:focus`);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.lightbox .facts');
    await page.reload();
    await page.waitForSelector('main.clip-page .facts');
    expect(hash()).toBe(`#/clip/${ids[2]}`);
    await page.keyboard.press('Escape');
    await page.waitForSelector(`#clip-${ids[2]}:focus`);
    expect(complaints).toEqual([]);
  },
);

test('two versions of a clip are compared in step, and Escape leads back one step at a time', TIMEOUT, async () => {
  const page = await visit({ viewport: { width: 1100, height: 900 } });
  await page.click('.card:has-text("a grey wolf")');
  await page.click('button:has-text("Retry · $0.20")');
  await page.click('.takes button:has-text("Compare")');
  const videos = page.locator('.lightbox .player video');
  await expect.poll(() => videos.count()).toBe(2);
  expect(await page.locator('.player figcaption span').allTextContents()).toEqual(['v1', 'v2']);
  await page.waitForFunction(() => Number((document.querySelector('.seek input') as HTMLInputElement).max) > 1);
  expect(await violations(page)).toEqual([]);
  await page.fill('.seek input', '1');
  const times = () => videos.evaluateAll((all) => all.map((video) => (video as HTMLVideoElement).currentTime));
  await expect.poll(times).toEqual([1, 1]);
  await page.click('.play-button[aria-label="Play"]');
  await page.waitForSelector('.play-button[aria-label="Pause"]');
  // It plays to its end, together.
  await page.waitForSelector('.play-button[aria-label="Play"]');
  const [one = 0, two = 0] = await times();
  expect(one).toBeGreaterThan(1);
  expect(Math.abs(one - two)).toBeLessThan(0.2);
  await page.keyboard.press('Escape');
  await expect.poll(() => videos.count()).toBe(1);
  await page.click('.takes a');
  await page.waitForSelector('.takes li:nth-child(2):has-text("This one")');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.card:focus:has-text("a grey wolf")');
  expect(complaints).toEqual([]);
});

test('several clips are selected with the mouse and by keyboard, and downloaded together', TIMEOUT, async () => {
  const page = await visit({ viewport: { width: 1100, height: 900 } });
  const cards = page.locator('.card');
  await expect.poll(() => cards.count()).toBe(PROMPTS.length);
  const ids = await cards.evaluateAll((all) => all.map(({ id }) => id.replace('clip-', '')));
  const chosen = async () => {
    const address = await page.locator('.together a').getAttribute('href');
    return new URL(address ?? '', page.url()).searchParams.get('ids')?.split(',');
  };
  await cards.nth(0).hover();
  await page.click('.select >> nth=0');
  await page.waitForSelector('text="1 selected"');
  await page
    .locator('.select')
    .nth(2)
    .click({ modifiers: ['Shift'] });
  await page.waitForSelector('text="3 selected"');
  expect(await chosen()).toEqual(ids.slice(0, 3));
  await cards.nth(1).focus();
  await page.keyboard.press(' ');
  await page.waitForSelector('text="2 selected"');
  expect(await chosen()).toEqual([ids[0], ids[2]]);
  expect(await violations(page)).toEqual([]);
  const [archive] = await Promise.all([page.waitForEvent('download'), page.click('.together a')]);
  expect(await archive.failure()).toBeNull();
  await page.click('text=Select none');
  await page.waitForSelector('.together a:has-text("Download these 4 clips")');
  expect(complaints).toEqual([]);
});

test(
  'a wall of posters shows no words, and takes in what is made and leaves out what is deleted',
  TIMEOUT,
  async () => {
    const page = await visit({ viewport: { width: 1100, height: 900 } });
    await page.click('text=Poster wall');
    const tiles = page.locator('.wall .card');
    await expect.poll(() => tiles.count()).toBe(PROMPTS.length);
    expect(new URL(page.url()).search).toBe('?view=wall');
    await page.mouse.move(0, 899);
    const shown = () =>
      page
        .locator('.wall .prompt')
        .evaluateAll((all) => all.filter((one) => getComputedStyle(one).opacity !== '0').map((one) => one.textContent));
    await expect.poll(shown).toEqual([]);
    expect(await page.locator('header.top').isVisible()).toBe(false);
    await tiles.nth(1).focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(shown).toEqual(['a hare']);
    const order = answered(await dailies.interact('/video create a tall tree --seconds 4', { user: 'bob' }));
    const { task } = await dailies.reaches(order, 'completed');
    await page.waitForSelector('.wall .card:has-text("a tall tree")');
    const question = await questionToDelete(dailies, task ?? '', 'bob');
    await dailies.press(question.id, question.buttons[0]?.id ?? '', { user: 'bob' });
    await page.waitForSelector('.wall .card:has-text("a tall tree")', { state: 'detached' });
    await page.reload();
    await expect.poll(() => tiles.count()).toBe(PROMPTS.length);
    await tiles.nth(0).click();
    await page.waitForSelector('.lightbox .facts');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.wall .card:focus');
    await page.click('text=Leave the wall');
    await page.waitForSelector('.grid .card');
    await page.goBack();
    await page.waitForSelector('.wall .card');
    // What is filtered by from there is shown in the grid, with its filters.
    await tiles.nth(0).click();
    await page.click('.lightbox .facts button:has-text("ada")');
    await page.waitForSelector('.grid .card');
    expect(await page.inputValue('.filters select >> nth=0')).toBe('ada');
    expect(complaints).toEqual([]);
  },
);

test('a wall whose filter changes while it is read again goes on with the new one', TIMEOUT, async () => {
  const page = await visit({ viewport: { width: 1100, height: 900 } });
  answered(await dailies.interact('/video create a tall tree --seconds 4', { user: 'bob' }));
  await page.click('text=Poster wall');
  await page.waitForSelector('.wall .card:has-text("a tall tree")');
  const isRead = (url: string, person: string | null) =>
    /\/api\/clips\?/.test(url) && new URL(url).searchParams.get('person') === person;
  const released = Promise.withResolvers<void>();
  const held: Request[] = [];
  let hasEnded = false;
  page.on('requestfailed', (request) => {
    hasEnded ||= held.includes(request);
  });
  await page.route(/\/api\/clips\?/, async (route) => {
    if (isRead(route.request().url(), null)) {
      held.push(route.request());
      await released.promise;
    }
    await route.continue();
  });
  await page.waitForRequest((request) => isRead(request.url(), null));
  await page.click('.wall .card:has-text("a hare")');
  await page.click('.lightbox .facts button:has-text("ada")');
  await page.waitForSelector('.grid .card');
  await page.click('text=Poster wall');
  answered(await dailies.interact('/video create a small tree --seconds 4', { user: 'ada' }));
  await page.waitForSelector('.wall .card:has-text("a small tree")');
  expect(hasEnded).toBe(false);
  const answer = page.waitForResponse((response) => isRead(response.url(), null));
  released.resolve();
  await (await answer).finished();
  await page.waitForResponse((response) => isRead(response.url(), 'ada'));
  await expect.poll(() => page.locator('.wall .card:has-text("a tall tree")').count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('a clip is downloaded whole, and only in the session of its person', TIMEOUT, async () => {
  const page = await visit();
  await page.click('.card >> nth=0');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.clip >> text=Download')]);
  expect(download.suggestedFilename()).toMatch(/^hare-.{4}\.mp4$/);
  await page.keyboard.press('Escape');
  const [archive] = await Promise.all([page.waitForEvent('download'), page.click('.together a')]);
  expect(archive.suggestedFilename()).toBe('dailies-clips.zip');
  expect(await archive.failure()).toBeNull();
  await page.click('.card >> nth=0');
  const address = await page.getAttribute('.player video', 'src');
  expect((await fetch(`${dailies.url}${address}`)).status).toBe(401);
});

test(
  'a double click orders one retry for the price on its button, whose clip appears and is deleted',
  TIMEOUT,
  async () => {
    const page = await visit();
    await page.click('.card:has-text("a grey wolf")');
    await page.waitForSelector('button:has-text("Retry · $0.20")');
    // A take that is done before the page has shown anything is never said to be in the making.
    const said = Promise.withResolvers<void>();
    await page.route('**/gallery/api/clips/**', (route) => said.promise.then(() => route.continue()));
    await page.dblclick('button:has-text("Retry · $0.20")');
    await page.waitForSelector('text=Another take is being made.');
    said.resolve();
    await page.waitForSelector('.takes a');
    await expect.poll(() => page.locator('.takes li').count()).toBe(2);
    await page.click('.takes a');
    await page.waitForSelector('.takes li:nth-child(2):has-text("This one")');
    await page.waitForSelector('#clip-title:has-text("a grey wolf")');
    const wolves = async () =>
      (await dailies.messages()).filter(({ text, state }) => text.includes('a grey wolf') && state);
    expect(await wolves()).toHaveLength(2);
    await questionToDelete(dailies, (await wolves()).at(-1)?.task ?? '', 'ada');
    await page.click('button:has-text("Delete…")');
    await page.click('.reply button:has-text("Delete")');
    await page.waitForSelector('h1:focus:has-text("Gallery")');
    await page.waitForSelector('.notice:has-text("Deleted")');
    expect(await violations(page)).toEqual([]);
    await expect.poll(wolves).toHaveLength(1);
    await page.click('text=Leave');
    await page.waitForSelector('text=You have left the gallery.');
    expect(complaints).toEqual([]);
  },
);

test('the page fits 360 pixels and the dark scheme, without violations of axe', TIMEOUT, async () => {
  const page = await visit({ colorScheme: 'dark', viewport: { width: 360, height: 780 } });
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  await page.click('button:has-text("Filters")');
  const wideFields = await page.evaluate(() =>
    [...document.querySelectorAll('.filters :is(input, select)')].filter(
      (field) => field.getBoundingClientRect().width > (field.closest('label')?.getBoundingClientRect().width ?? 0),
    ),
  );
  expect(wideFields).toHaveLength(0);
  expect(await violations(page)).toEqual([]);
  await page.selectOption('.filters select >> nth=0', { label: 'ada (you)' });
  await page.fill('.filters input[type=search]', 'no such clip');
  await page.waitForSelector('text=No clips match these filters.');
  expect(await violations(page)).toEqual([]);
  await page.click('text=Clear filters');
  await page.click('.card >> nth=1');
  await page.waitForSelector('.facts');
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  expect(await violations(page)).toEqual([]);
});

test('defaults that a person sets there are those of their next order', TIMEOUT, async () => {
  const page = await visit({ colorScheme: 'dark', viewport: { width: 360, height: 780 } }, 'dora');
  await page.click('.card >> nth=0');
  await page.waitForSelector('.lightbox video');
  await page.reload();
  await page.waitForSelector('main.clip-page video');
  await page.click('button:has-text("Your defaults")');
  await page.selectOption('dialog select >> nth=1', '6');
  await page.waitForSelector('dialog >> text=Saved.');
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  // It closed the dialog alone: the clip behind it is still shown.
  expect(new URL(page.url()).hash).toMatch(/^#\/clip\//);
  const order = answered(await dailies.interact('/video create a red kite', { user: 'dora' }));
  expect((await dailies.message(order)).text).toContain('6 s');
  expect(complaints).toEqual([]);
});

test('the chat page leads to the gallery', TIMEOUT, async () => {
  const page = await newPage({ viewport: { width: 1100, height: 900 } });
  // Someone who has no earlier link in the channel.
  await page.addInitScript(() => sessionStorage.setItem('dailies.user', 'carol'));
  await page.goto(dailies.url);
  await page.click('.sidebar-end >> text=Gallery');
  await page.waitForSelector('.card');
  expect(await page.textContent('.who')).toBe('You are carol');
  // Nothing was posted for it.
  expect((await dailies.messages()).filter(({ visibleTo }) => visibleTo === 'carol')).toEqual([]);
});

test('the chat page is accessible with headings and tables, also on a phone', TIMEOUT, async () => {
  const page = await newPage({ viewport: { width: 1100, height: 900 } });
  await page.goto(dailies.url);
  for (const [command, shown] of [
    ['/video models', '.table'],
    ['/video help', '.heading'],
  ]) {
    await page.fill('.composer textarea', `${command} `);
    await page.press('.composer textarea', 'Enter');
    await page.waitForSelector(`article:last-of-type ${shown}`);
  }
  expect(await violations(page)).toEqual([]);
  for (const width of [390, 320]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await violations(page)).toEqual([]);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  }
});

test(
  'the frame of a clip on the chat page is that of the file, with its picture until it is played, and more in its details',
  TIMEOUT,
  async () => {
    // The file has 320 × 180, whatever was ordered.
    const order = answered(await dailies.interact('/video create a tall tree --seconds 4 --aspect 9:16'));
    await dailies.reaches(order, 'completed');
    const page = await newPage();
    await page.goto(dailies.url);
    const frame = page.locator(`#${order} .frame`);
    await frame.locator('video').waitFor();
    const ratio = () => frame.evaluate((element) => element.clientWidth / element.clientHeight);
    await expect.poll(ratio).toBeCloseTo(320 / 180, 1);
    const poster = await frame.locator('video').getAttribute('poster');
    const picture = await fetch(new URL(poster ?? '', dailies.url));
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    // At 0, some browsers show no picture where there is no poster.
    const time = () => frame.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime);
    await expect.poll(time).toBeGreaterThan(0);
    await expect.poll(() => frame.locator('.play').count()).toBe(1);
    // Its details have four frames side by side.
    await page.locator(`#${order} button`, { hasText: 'Details' }).click();
    const strip = page.locator('img.strip');
    await strip.scrollIntoViewIfNeeded();
    const width = () => strip.evaluate((image: HTMLImageElement) => image.naturalWidth);
    await expect.poll(width).toBe(1280);
    expect(await strip.getAttribute('alt')).toBe('Frames of “a tall tree”');
    expect(await violations(page)).toEqual([]);
  },
);

test(
  'a clip is reviewed on the chat page; its sign-off is posted once over a kill, and shown here',
  TIMEOUT,
  async () => {
    await administer(dailies, '/video review on --own off --post_to final');
    const message = answered(await dailies.interact('/video create a red fox in fog --seconds 4', { user: 'ada' }));
    const { task } = await dailies.reaches(message, 'completed');
    const page = await newPage({ viewport: { width: 1100, height: 900 } });
    await page.addInitScript(() => sessionStorage.setItem('dailies.user', 'bob'));
    await page.goto(dailies.url);
    const card = page.locator('article', { hasText: 'a red fox in fog' }).first();
    const player = card.locator('video');
    const seek = (to: number) =>
      player.evaluate((video: HTMLVideoElement, atSeconds) => {
        video.currentTime = atSeconds;
      }, to);
    const seconds = (video = player) => video.evaluate((element: HTMLVideoElement) => element.currentTime);
    await player.evaluate(
      (video: HTMLVideoElement) => video.readyState > 0 || new Promise((done) => (video.onloadedmetadata = done)),
    );
    // The form begins with the moment at which the player was stopped.
    await seek(1.4);
    await card.locator('.button:has-text("Request changes")').click();
    expect(await page.inputValue('dialog [name="at"]')).toBe('0:01');
    await page.click('dialog button:has-text("Close")');
    await seek(0);
    await card.locator('.button:has-text("Request changes")').click();
    expect(await page.inputValue('dialog [name="at"]')).toBe('');
    await page.fill('dialog [name="note"]', '0:09 too dark');
    await page.click('dialog button:has-text("Request changes")');
    await page.waitForSelector('dialog >> text=0:09 is after the end of this clip');
    await page.fill('dialog [name="note"]', '0:01 too dark');
    await page.click('dialog button:has-text("Request changes")');
    await page.waitForSelector('article >> text=bob requested changes to v1');
    await page.waitForSelector('article >> text=bob requested changes: 0:01 too dark');
    // The time of the note leads there, on the card and in the note's own message.
    for (const note of ['article:has(video)', 'article:not(:has(video))']) {
      await seek(0);
      await page.locator(`${note}:has-text("too dark") button:text-is("0:01")`).click();
      expect(await seconds()).toBe(1);
    }
    const notes = await visit();
    await notes.goto(`${dailies.url}/gallery#/clip/${task}`);
    await notes.waitForSelector('dd:has-text("changes requested by bob")');
    await notes.click('.notes li:has-text("too dark") button:text-is("0:01")');
    const shown = notes.locator('.player video');
    await expect.poll(() => seconds(shown)).toBe(1);
    // Its mark on the seek bar leads there as well.
    await notes.fill('.seek input', '0');
    await expect.poll(() => seconds(shown)).toBe(0);
    await notes.click('.marker[title="too dark (bob)"]');
    await expect.poll(() => seconds(shown)).toBe(1);
    expect(await violations(notes)).toEqual([]);
    await card.locator('.button:has-text("Sign off")').click();
    await page.waitForSelector('article >> text=Signed off by bob');
    expect(await violations(page)).toEqual([]);
    const posted = async () =>
      (await dailies.messages('final')).map(({ text, attachments }) => [text, attachments.length]);
    await expect.poll(posted).toEqual([[expect.stringContaining('Signed off: v1 of “a red fox in fog”'), 1]]);
    await dailies.kill();
    dailies = await startDailies({ dir: dir.path, upstream, env: { FFMPEG_PATH: ffmpeg } });
    const gallery = await visit();
    await gallery.goto(`${dailies.url}/gallery#/clip/${task}`);
    await gallery.waitForSelector('dd:has-text("signed off by bob")');
    expect(await posted()).toHaveLength(1);
    expect(await violations(gallery)).toEqual([]);
  },
);
