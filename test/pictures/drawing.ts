import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { frameOf, writePng } from './ffmpeg.ts';

/** Prompt in every picture of a platform. */
export const PROMPT = 'a red fox running through snow, cinematic';
/** Timeout for a clip on a busy machine. */
export const RENDERED_WITHIN_MS = 300_000;

/** Width of a picture in CSS pixels; rendered at twice that resolution, for sharp text. */
const WIDTH = 580;
/** Position of the frame that represents the clip. */
const POSTER_SECONDS = 2.8;
const LABEL = 'Drawn by a script from the messages that the adapter sent. Not a screenshot.';
/** Font folder that the browser's npm package unpacks beside the browser, so that pictures look the same everywhere. */
const FONTS = join(tmpdir(), 'fonts/fonts/Open_Sans');

/** Renders HTML with the style sheet `NAME.css` of this folder, adds the label, and writes it as a PNG. */
export async function draw(browser: Browser, path: string, name: string, html: string): Promise<void> {
  const [shared, own, plain, bold] = await Promise.all([
    readFile(join(import.meta.dirname, 'drawing.css'), 'utf8'),
    readFile(join(import.meta.dirname, `${name}.css`), 'utf8'),
    readFile(join(FONTS, 'OpenSans-Regular.ttf')),
    readFile(join(FONTS, 'OpenSans-Bold.ttf')),
  ]);
  const style = `${fontFace(plain, 400)}${fontFace(bold, 700)}${shared}${own}`;
  const page = await browser.newPage({ viewport: { width: WIDTH, height: 100 }, deviceScaleFactor: 2 });
  await page.setContent(`<style>${style}</style><main>${html}</main><footer>${LABEL}</footer>`);
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  await writePng(await page.screenshot({ fullPage: true, timeout: 0 }), path);
  await page.close();
}

/** Returns a clip as HTML, as a player shows it before playback. */
export async function playerOf(clip: Buffer): Promise<string> {
  const frame = await frameOf(clip, POSTER_SECONDS);
  return `<div class="player"><img src="${dataUrl(frame, 'image/png')}" alt=""><span class="play"></span></div>`;
}

/** Returns the app's icon as HTML. */
export async function appIcon(): Promise<string> {
  const icon = await readFile(new URL('../../src/http/shared-page/icon.svg', import.meta.url));
  return `<img class="avatar" src="${dataUrl(icon, 'image/svg+xml')}" alt="">`;
}

/** Escapes text for HTML. */
export function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

/** Formats the time of day, such as “10:14 AM”. */
export function timeOfDay(ms: number): string {
  return new Date(ms).toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit' });
}

function fontFace(file: Buffer, weight: number): string {
  return `@font-face { font-family: Drawing; font-weight: ${weight}; src: url(${dataUrl(file, 'font/ttf')}) }`;
}

function dataUrl(content: Buffer, type: string): string {
  return `data:${type};base64,${content.toString('base64')}`;
}
