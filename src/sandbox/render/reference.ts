import { readFile, stat } from 'node:fs/promises';
import { type Image, loadImage } from '@napi-rs/canvas';
import { imageSize } from 'image-size';
import { Agent, request } from 'undici';
import { readBounded } from '../../http/index.ts';
import { type AddressGuard, guardPublicAddresses } from '../../videos/index.ts';
import type { ReferenceSource } from './job.ts';

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

/** Reads the number of pixels from the header of a picture. @returns `null` for anything but a PNG, JPEG or WebP */
function pixelsOf(bytes: Buffer): number | null {
  const { type = '', width, height } = imageSize(bytes);
  return FORMATS.has(type) ? width * height || null : null;
}

const FORMATS: ReadonlySet<string> = new Set(['png', 'jpg', 'webp']);
