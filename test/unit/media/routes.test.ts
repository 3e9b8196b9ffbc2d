import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DailiesError } from '#src/errors.ts';
import { createHttpServer } from '#src/http/server.ts';
import { LINK_LIFETIME_MS, SignedLinks } from '#src/media/clip-links.ts';
import { serveMedia } from '#src/media/routes.ts';
import { fakeClip } from '#test/fakes/clip.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const BYTES = fakeClip(10_000);

let directory: string;
let clock: ManualClock;
let links: SignedLinks;
let http: FastifyInstance;
let asked: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dailies-media-'));
  await writeFile(join(directory, 'clip.mp4'), BYTES);
  clock = new ManualClock();
  links = new SignedLinks({ publicUrl: 'http://here', secret: 'a secret of some length', clock });
  asked = [];
  http = await serve(links);
});

afterEach(async () => {
  await http.close();
  await rm(directory, { recursive: true });
});

async function serve(given: SignedLinks | null): Promise<FastifyInstance> {
  const server = createHttpServer(pino({ level: 'silent' }));
  await serveMedia(server, {
    links: given,
    redirectFor: async (id) => (id === 'stored' ? 'https://bucket.example/stored.mp4?signature=1' : null),
    find: async (id) => {
      asked.push(id);
      if (id === 'away') throw new TypeError('it cannot be fetched now');
      if (id === 'gone' || id === 'task_unknown') throw new DailiesError(id, { code: id, retryable: false });
      const file = { bytes: BYTES.length, contentType: 'video/mp4' };
      const clip = join(directory, 'clip.mp4');
      if (id === 'clip') return { ...file, path: clip, name: 'rotfüchse-7f3a.mp4' };
      if (id === 'drawing') return { ...file, contentType: 'image/svg+xml', path: clip, name: 'fox.svg' };
      if (id === 'half') return { ...file, path: clip, name: 'half a fox \uD83E.mp4' };
      return id === 'missing' ? { ...file, path: join(directory, 'missing.mp4'), name: 'missing.mp4' } : undefined;
    },
  });
  return server;
}

/** Returns the path of a signed link. */
function pathOf(id: string): string {
  return links.sign(id).url.slice('http://here'.length);
}

describe('GET /media/{id}', () => {
  it('responds with 503 and Retry-After while the clip is unavailable', async () => {
    const answer = await http.inject(pathOf('away'));
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('10');
    expect(answer.json().error).toMatch(/try again/);
  });

  it.each(['gone', 'task_unknown'] as const)('responds with 410 if the service reports %s', async (code) => {
    const answer = await http.inject(pathOf(code));
    expect(answer.statusCode).toBe(410);
    expect(answer.headers['retry-after']).toBeUndefined();
    expect(answer.json().error).toMatch(/not here any more/);
  });

  it('serves the clip for a signed link', async () => {
    const answer = await http.inject(pathOf('clip'));
    expect(answer.statusCode).toBe(200);
    expect(answer.rawPayload.equals(BYTES)).toBe(true);
    expect(answer.headers).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': '10000',
      'accept-ranges': 'bytes',
      'content-disposition': "inline; filename*=UTF-8''rotf%C3%BCchse-7f3a.mp4",
      'cache-control': 'private, max-age=3600',
      'x-content-type-options': 'nosniff',
    });
  });

  it('prevents scripts in a picture from running in our origin', async () => {
    const { headers } = await http.inject(pathOf('drawing'));
    expect(headers).toMatchObject({ 'content-type': 'image/svg+xml', 'content-security-policy': 'sandbox' });
  });

  it.each([
    ['bytes=0-99', 0, 99],
    ['bytes=9990-', 9_990, 9_999],
    ['bytes=-10', 9_990, 9_999],
  ])('serves a part for Range: %s', async (range, from, to) => {
    const answer = await http.inject({ url: pathOf('clip'), headers: { range } });
    expect(answer.statusCode).toBe(206);
    expect(answer.headers['content-range']).toBe(`bytes ${from}-${to}/10000`);
    expect(answer.rawPayload.equals(BYTES.subarray(from, to + 1))).toBe(true);
  });

  it('says nothing of the time of the file, and keeps its validator', async () => {
    const first = await http.inject(pathOf('clip'));
    await utimes(join(directory, 'clip.mp4'), 1, 1);
    const second = await http.inject(pathOf('clip'));
    expect(first.headers['last-modified']).toBeUndefined();
    expect(first.headers.etag).toMatch(/^"[\w-]{43}"$/);
    expect(second.headers.etag).toBe(first.headers.etag);
  });

  it('answers a browser that has the file, or a part of it', async () => {
    const { etag = '' } = (await http.inject(pathOf('clip'))).headers;
    const ask = (headers: Readonly<Record<string, string>>) => http.inject({ url: pathOf('clip'), headers });
    expect((await ask({ 'if-none-match': etag })).statusCode).toBe(304);
    expect((await ask({ 'if-none-match': '"another"' })).statusCode).toBe(200);
    expect((await ask({ range: 'bytes=5-9', 'if-range': etag })).rawPayload).toEqual(BYTES.subarray(5, 10));
    expect((await ask({ range: 'bytes=5-9', 'if-range': '"another"' })).rawPayload).toHaveLength(BYTES.length);
  });

  it('leads straight to a clip at the storage', async () => {
    const { statusCode, headers } = await http.inject(pathOf('stored'));
    expect({ statusCode, location: headers.location, cache: headers['cache-control'] }).toEqual({
      statusCode: 302,
      location: 'https://bucket.example/stored.mp4?signature=1',
      cache: 'no-store',
    });
    expect(asked).toEqual([]);
    // The address is signed for GET alone.
    await http.inject({ method: 'HEAD', url: pathOf('stored') });
    expect(asked).toEqual(['stored']);
  });

  it('rejects an unsatisfiable range', async () => {
    const answer = await http.inject({ url: pathOf('clip'), headers: { range: 'bytes=20000-' } });
    expect(answer.statusCode).toBe(416);
  });

  it('responds to HEAD with the size', async () => {
    const answer = await http.inject({ method: 'HEAD', url: pathOf('clip') });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-length']).toBe('10000');
    expect(answer.payload).toBe('');
  });

  it('responds with 410 to an expired link', async () => {
    const path = pathOf('clip');
    clock.advance(LINK_LIFETIME_MS);
    const answer = await http.inject(path);
    expect(answer.statusCode).toBe(410);
    expect(answer.json()).toEqual({ error: 'This link has expired. Ask for a new one in the chat.' });
    expect(asked).toEqual([]);
  });

  it('does not look up ids without a valid signature', async () => {
    const other = pathOf('clip').replace('/clip?', '/other?');
    const paths = [
      '/media/clip',
      '/media/clip?expires=9999999999&signature=AAAA',
      other,
      `${pathOf('clip')}&signature=x`,
    ];
    for (const path of [...paths, '/media/..%2F..%2Fetc%2Fpasswd', '/media/']) {
      const answer = await http.inject(path);
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toEqual({ error: 'Not found.' });
    }
    expect(asked).toEqual([]);
  });

  it.each(['nobody', 'missing'])('responds with 404 to a signed id without a file: %s', async (id) => {
    const answer = await http.inject(pathOf(id));
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toEqual({ error: 'Not found.' });
    expect(asked).toEqual([id]);
  });

  it('serves a file whose name contains a lone surrogate', async () => {
    const url = links.sign('half').url.replace('http://here', '');
    const answer = await http.inject(url);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-disposition']).toContain("filename*=UTF-8''half%20a%20fox");
  });

  it('responds with 404 if links are off', async () => {
    const off = await serve(null);
    expect((await off.inject(pathOf('clip'))).statusCode).toBe(404);
    expect(asked).toEqual([]);
    await off.close();
  });
});
