import { readFile, stat } from 'node:fs/promises';
import { type Image, loadImage, type SKRSContext2D } from '@napi-rs/canvas';
import { imageSize } from 'image-size';
import { Agent, request } from 'undici';
import { FONTS } from '../../fonts.ts';
import { readBounded } from '../../http/index.ts';
import { type AddressGuard, guardPublicAddresses } from '../../videos/index.ts';
import type { ReferenceSource } from './job.ts';
import type { Frame } from './painter.ts';

/** Largest reference image in bytes. */
const MAX_BYTES = 30 * 1024 * 1024;
/** Timeout of the download of one reference image, to the last byte. */
const TIMEOUT_MS = 10_000;
/** Largest reference image in pixels, checked in its header, since a small file can decompress to a huge picture. */
const MAX_PIXELS = 60_000_000;

const MAX_REDIRECTS = 5;

/**
 * Reads one reference image. Returns `null` if it is unavailable, not on the public internet, or no PNG, JPEG or WebP:
 * the clip then says so instead of failing.
 * @param isLoopbackAllowed true: a URL may lead to this machine.
 */
export async function readReference(source: ReferenceSource, isLoopbackAllowed: boolean): Promise<Image | null> {
  try {
    const picture = 'path' in source ? await readOwn(source.path) : await fetchPublic(source.url, isLoopbackAllowed);
    const pixels = picture === null ? null : pixelsOf(picture);
    return picture === null || pixels === null || pixels > MAX_PIXELS ? null : await loadImage(picture);
  } catch {
    return null;
  }
}

async function readOwn(path: string): Promise<Buffer | null> {
  return (await stat(path)).size > MAX_BYTES ? null : readFile(path);
}

/** Fetches a URL given by a user. Each redirect is validated like the URL itself (SSRF). */
async function fetchPublic(url: string, isLoopbackAllowed: boolean): Promise<Buffer | null> {
  const guard = guardPublicAddresses({ isLoopbackAllowed });
  const dispatcher = new Agent({ connect: { lookup: guard.lookup }, connectTimeout: TIMEOUT_MS });
  try {
    return await follow(new URL(url), { guard, dispatcher, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } finally {
    await dispatcher.destroy();
  }
}

interface FetchOptions {
  readonly guard: AddressGuard;
  readonly dispatcher: Agent;
  readonly signal: AbortSignal;
}

async function follow(first: URL, { guard, dispatcher, signal }: FetchOptions): Promise<Buffer | null> {
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    await guard.check(url);
    const { statusCode, headers, body } = await request(url, { dispatcher, signal });
    const { location } = headers;
    if (statusCode < 300 || statusCode >= 400 || typeof location !== 'string') {
      return statusCode === 200 ? readBounded(body, MAX_BYTES) : null;
    }
    url = new URL(location, url);
  }
  return null;
}

/** Paints the reference images as a fan of prints in the upper left; an unavailable one is labelled as such. */
export function paintReferences(ctx: SKRSContext2D, prints: readonly (Image | null)[], frame: Frame): void {
  const { width, height, unit, seconds } = frame;
  const card = unit * (prints.length > 4 ? 0.2 : 0.27);
  const step = Math.min(card * 1.12, (width - unit * 0.2 - card) / Math.max(1, prints.length - 1));
  prints.forEach((image, index) => {
    const sway = Math.sin(seconds * 0.9 + index * 1.7) * 0.012;
    ctx.save();
    ctx.translate(unit * 0.09 + card / 2 + step * index, Math.min(height * 0.24, unit * 0.27));
    ctx.rotate((index % 2 === 0 ? -1 : 1) * 0.045 + sway);
    paintPrint(ctx, image, card, 1.03 + 0.07 * (seconds / frame.duration));
    ctx.restore();
  });
}

/** Paints one print around the origin. @param zoom zoom of the camera into the picture, at least 1. */
function paintPrint(ctx: SKRSContext2D, image: Image | null, card: number, zoom: number): void {
  const border = card * 0.055;
  ctx.fillStyle = 'rgba(0,0,0,0.28)';
  ctx.fillRect(-card / 2 + border * 0.6, -card / 2 + border * 0.9, card, card * 1.14);
  ctx.fillStyle = '#fbf8f1';
  ctx.fillRect(-card / 2, -card / 2, card, card * 1.14);
  const side = card - border * 2;
  ctx.beginPath();
  ctx.rect(-side / 2, -side / 2, side, side);
  ctx.clip();
  if (image === null) {
    ctx.fillStyle = '#d8d3c8';
    ctx.fillRect(-side / 2, -side / 2, side, side);
    ctx.fillStyle = '#6d675c';
    ctx.textAlign = 'center';
    ctx.font = `${Math.max(10, Math.round(card * 0.085))}px ${FONTS.text}`;
    ctx.fillText('reference', 0, -card * 0.02);
    ctx.fillText('unavailable', 0, card * 0.09);
    return;
  }
  const scale = (side / Math.min(image.width, image.height)) * zoom;
  ctx.drawImage(
    image,
    (-image.width * scale) / 2,
    (-image.height * scale) / 2,
    image.width * scale,
    image.height * scale,
  );
}

/** Reads the number of pixels from the header of a picture. @returns `null` for anything but a PNG, JPEG or WebP */
function pixelsOf(bytes: Buffer): number | null {
  const { type = '', width, height } = imageSize(bytes);
  return FORMATS.has(type) ? width * height || null : null;
}

const FORMATS: ReadonlySet<string> = new Set(['png', 'jpg', 'webp']);
