import { setTimeout } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { be, openChat, shoot } from './chat-page.ts';
import { RENDERED_WITHIN_MS } from './drawing.ts';
import { inFolder } from './ffmpeg.ts';
import type { Picture } from './main.ts';
import { withProgram } from './program.ts';

/** Orders by the day on which the program starts for them. */
const ORDERS: Readonly<Record<string, readonly (readonly [user: string, text: string])[]>> = {
  '2026-10-05': [
    ['ada', 'a red fox running through snow --seconds 8'],
    ['sam', 'waves at dusk --seconds 6'],
  ],
  '2026-10-13': [
    ['ada', 'an owl at night --model reel-2'],
    ['sam', 'rain on a window --seconds 4'],
    ['sam', 'a market in the rain [fail]'],
  ],
  '2026-10-20': [
    ['ada', 'a harbour in fog --model reel-2'],
    ['ada', 'a lighthouse --seconds 8'],
    ['sam', 'a train in the hills --seconds 8'],
  ],
  '2026-10-27': [['sam', 'clouds over a field --model reel-2']],
  '2026-10-30': [['ada', 'a bridge in the mist --seconds 6']],
};

/** Chat page: the report of a month with its chart, on the first day of the next. */
export const report: Picture = {
  file: 'report.png',
  make: (browser, path) =>
    inFolder(async (dir) => {
      const store = { STORE_URL: `sqlite:${dir}/dailies.db` };
      for (const day of Object.keys(ORDERS))
        await withProgram({ ...store, ...startedAt(`${day}T12:00:00Z`) }, (url) => order(url, day));
      await withProgram({ ...store, ...startedAt('2026-11-01T08:00:00Z') }, (url) => take(browser, url, path));
    }),
};

/** Places the orders of a day, and waits until each clip is done or failed. */
async function order(url: string, day: string): Promise<void> {
  await say(url, 'operator', '/video settings --report_channel general', `${day} settings`);
  const orders = ORDERS[day] ?? [];
  for (const [at, [user, prompt]] of orders.entries()) await say(url, user, `/video create ${prompt}`, `${day} ${at}`);
  const before = Object.keys(ORDERS).filter((one) => one < day);
  const count = orders.length + before.reduce((sum, one) => sum + (ORDERS[one]?.length ?? 0), 0);
  const deadlineMs = Date.now() + RENDERED_WITHIN_MS;
  while ((await endedClips(url)) < count) {
    if (Date.now() > deadlineMs) throw new Error(`the clips of ${day} did not end in time`);
    await setTimeout(500);
  }
}

async function say(url: string, user: string, text: string, id: string): Promise<void> {
  const body = JSON.stringify({ id, user, channel: 'clips', text });
  const headers = { 'content-type': 'application/json' };
  const { status } = await fetch(new URL('/playground/interactions', url), { method: 'POST', headers, body });
  if (status >= 300) throw new Error(`${text}: HTTP ${status}`);
}

/** Counts the clips that are done or failed. */
async function endedClips(url: string): Promise<number> {
  const response = await fetch(new URL('/playground/messages?channel=clips&user=operator', url));
  const messages = (await response.json()) as readonly {
    readonly clip: { readonly endedAtMs: number | null } | null;
  }[];
  return messages.filter(({ clip }) => clip !== null && clip.endedAtMs !== null).length;
}

async function take(browser: Browser, url: string, path: string): Promise<void> {
  const page = await openChat(browser, url, 720);
  await be(page, 'operator');
  await page.waitForSelector('article:has-text("October") img.picture');
  await shoot(page, path);
}

/** Returns the environment of a program whose clock starts at a time. */
function startedAt(time: string): Readonly<Record<string, string>> {
  const shift = `const now = Date.now; const by = ${Date.parse(time)} - now(); Date.now = () => now() + by;`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}` };
}
