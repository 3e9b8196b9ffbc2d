import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ErrorCode } from '#src/errors.ts';
import type { AddressRefusal } from '#src/videos/addresses.ts';
import type { VideoClientOptions } from '#src/videos/client.ts';
import type { Clip, UpstreamId } from '#src/videos/service.ts';
import { fakeClip, wholeClip } from '#test/fakes/clip.ts';
import { inTurn, json, redirect, refuse, serve, text } from '#test/fakes/faults.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import type { FakeVideoService, Handler, Handlers, RecordedRequest } from '#test/fakes/video-service.ts';
import { clientOf, hastyClock, startService } from '../client.ts';

const CLIP = fakeClip(300_000);
const WHOLE_CLIP = wholeClip(200_000);
const OTHER_CLIP = Buffer.concat([CLIP.subarray(0, 40), fakeClip(299_960).subarray(0, 299_960).reverse()]);

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dailies-download-'));
  path = join(folder, 'clip.mp4');
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function start(handlers: Partial<Handlers> = {}): Promise<FakeVideoService> {
  const service = await startService({ clip: CLIP, handlers });
  service.add({ id: 'task', status: 'completed' });
  return service;
}

interface DownloadOptions extends Partial<VideoClientOptions> {
  readonly signal?: AbortSignal;
  /** Number of attempts by the caller, as by the queue. Default 1. */
  readonly tries?: number;
}

async function download(
  service: FakeVideoService,
  { signal, tries = 1, ...options }: DownloadOptions = {},
): Promise<Clip> {
  const client = clientOf(service, { clock: hastyClock(), ...options });
  for (let left = tries; left > 1; left -= 1) {
    try {
      return await client.download('task' as UpstreamId, path, signal);
    } catch (thrown) {
      expect(thrown).toMatchObject({ retryable: true });
    }
  }
  return client.download('task' as UpstreamId, path, signal);
}

/** Expects the complete clip at its final path, and no other file. */
async function expectClip(clip: Clip, bytes = CLIP, doubt: Pick<Clip, 'isUnproven'> = {}): Promise<void> {
  expect(clip).toEqual({ path, bytes: bytes.length, contentType: 'video/mp4', ...doubt });
  expect((await readFile(path)).equals(bytes)).toBe(true);
  expect(await readdir(folder)).toEqual(['clip.mp4']);
}

const asked = (requests: readonly RecordedRequest[], header: 'range' | 'if-range' | 'authorization') =>
  requests.map(({ headers }) => headers[header]?.toString());

describe('the location of a clip', () => {
  it('is /content', async () => {
    const service = await start();
    await expectClip(await download(service));
    expect(service.requests).toHaveLength(1);
  });

  it('is saved to a new folder', async () => {
    const service = await start();
    path = join(folder, 'deep', 'er', 'clip.mp4');
    expect((await download(service)).bytes).toBe(CLIP.length);
  });

  it.each([301, 302, 303, 307, 308] as const)(
    'is behind a %i to another origin, which does not get the token',
    async (status) => {
      const storage = await start();
      const service = await start({ content: redirect(status, `${storage.baseUrl}/signed/clip.mp4?sig=1`) });
      await expectClip(await download(service));
      expect(storage.requests.map(({ path: each }) => each)).toEqual(['/signed/clip.mp4?sig=1']);
      expect(asked(storage.requests, 'authorization')).toEqual([undefined]);
      expect(JSON.stringify(storage.requests)).not.toContain(service.token);
    },
  );

  it('is behind a relative redirect, which gets the token', async () => {
    const service = await start({ content: redirect(302, '/files/clip.mp4') });
    await expectClip(await download(service));
    expect(asked(service.requests, 'authorization')).toEqual([`Bearer ${service.token}`, `Bearer ${service.token}`]);
  });

  it('is at the service again after another origin', async () => {
    const service = await start();
    const storage = await start({ file: redirect(307, `${service.baseUrl}/files/clip.mp4`) });
    service.handlers.content = redirect(302, `${storage.baseUrl}/hop`);
    await expectClip(await download(service));
    expect(asked(storage.requests, 'authorization')).toEqual([undefined]);
  });

  it.each<[string, (url: string) => unknown]>([
    ['url', (url) => ({ url })],
    ['video_url', (url) => ({ video_url: url, cover: 'https://cdn.example/a.png' })],
    ['an envelope', (url) => ({ code: 200, message: 'success', data: { video_url: url } })],
    ['data in a list', (url) => ({ data: [{ url }] })],
    ['a task with metadata', (url) => ({ id: 'task', status: 'completed', metadata: { url } })],
    ['a bare string', (url) => url],
    ['output in a list', (url) => ({ status: 'succeeded', output: [url] })],
    ['urls', (url) => ({ urls: [url] })],
    ['result_url', (url) => ({ result_url: url })],
    ['videoUrl, beside what it was made from', (url) => ({ input: { url: 'https://a.example/1.png' }, videoUrl: url })],
    ['video, an object', (url) => ({ thumbnail: { url: 'https://a.example/1.png' }, video: { url } })],
  ])('is in JSON, as %s', async (_, bodyOf) => {
    const storage = await start();
    const service = await start({ content: json(200, bodyOf(`${storage.baseUrl}/clip.mp4`)) });
    await expectClip(await download(service));
    expect(asked(storage.requests, 'authorization')).toEqual([undefined]);
  });

  it.each([
    ['clip.mp4', '/store/task/clip.mp4'],
    ['files/clip?sig=1', '/store/task/files/clip?sig=1'],
    ['/files/clip.mp4', '/files/clip.mp4'],
  ])('is in JSON, as the relative URL %s', async (url, expected) => {
    const file: Handler = (call) => (call.request.path === '/store/task/info' ? json(200, { url }) : serve(CLIP))(call);
    const service = await start({ content: redirect(302, '/store/task/info'), file });
    await expectClip(await download(service));
    expect(service.requests[2]?.path).toBe(expected);
  });

  it.each<[string, unknown]>([
    ['a data: URI', { url: `data:video/mp4;base64,${WHOLE_CLIP.toString('base64')}` }],
    ['base64 under any name', { created: 4, data: [{ b64_json: WHOLE_CLIP.toString('base64') }] }],
    ['a bare string of base64', WHOLE_CLIP.toString('base64')],
  ])('is the JSON itself, as %s', async (_, body) => {
    await expectClip(await download(await start({ content: json(200, body) })), WHOLE_CLIP);
  });

  it('is compressed although identity was requested', async () => {
    const content: Handler = ({ response }) => {
      const body = gzipSync(WHOLE_CLIP);
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length }).end(body);
    };
    await expectClip(await download(await start({ content })), WHOLE_CLIP);
  });

  it('is behind a redirect where the service refuses the token', async () => {
    const file: Handler = (call) =>
      call.request.headers.authorization === undefined
        ? serve(CLIP)(call)
        : call.refuse(403, 'only_one_auth', 'Signed links take no token.');
    const service = await start({ content: redirect(302, '/signed'), file });
    await expectClip(await download(service));
    expect(asked(service.requests, 'authorization')).toEqual([
      `Bearer ${service.token}`,
      `Bearer ${service.token}`,
      undefined,
    ]);
  });

  it('has no length and a generic content type', async () => {
    const service = await start({
      content: ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/octet-stream' });
        response.write(WHOLE_CLIP.subarray(0, 7), () => response.end(WHOLE_CLIP.subarray(7)));
      },
    });
    await expectClip(await download(service), WHOLE_CLIP);
    expect(service.requests).toHaveLength(1);
  });

  it('is the local file of a process that died before recording it', async () => {
    const service = await start();
    await writeFile(path, CLIP);
    await expectClip(await download(service));
    expect(service.requests).toHaveLength(0);
  });
});

describe('a clip without a stated length', () => {
  const closing =
    (bytes: Buffer): Handler =>
    ({ response }) => {
      response.shouldKeepAlive = false;
      response.writeHead(200, { 'content-type': 'video/mp4', connection: 'close', 'transfer-encoding': 'identity' });
      response.end(bytes);
    };

  it('is downloaded again where its boxes show that it is truncated', async () => {
    const service = await start({ content: inTurn(closing(WHOLE_CLIP.subarray(0, 150_000)), closing(WHOLE_CLIP)) });
    await expectClip(await download(service, { tries: 2 }), WHOLE_CLIP);
    expect(asked(service.requests, 'range')).toEqual([undefined, undefined]);
  });

  it('is accepted as unproven when a second download is identical', async () => {
    const cut = WHOLE_CLIP.subarray(0, 150_000);
    const service = await start({ content: closing(cut) });
    await expect(download(service)).rejects.toMatchObject({ code: 'unavailable', retryable: true });
    await expectClip(await download(service, { tries: 2 }), cut, { isUnproven: true });
  });

  it('is not accepted when the second download is truncated elsewhere', async () => {
    const service = await start({
      content: inTurn(
        closing(WHOLE_CLIP.subarray(0, 150_000)),
        closing(WHOLE_CLIP.subarray(0, 90_000)),
        closing(WHOLE_CLIP),
      ),
    });
    await expectClip(await download(service, { tries: 3 }), WHOLE_CLIP);
  });
});

describe('a slow transfer', () => {
  /** Creates a service that sends `pieceBytes` per second of the clock. */
  async function dripping(pieceBytes: number, options: { readonly hasRange?: boolean } = {}) {
    const clock = new ManualClock();
    const seconds: number[] = [];
    const service = await start({
      content: ({ request, response }) => {
        const from =
          options.hasRange === true ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0;
        const headers = { 'content-length': CLIP.length - from };
        if (from === 0) response.writeHead(200, headers);
        else
          response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${CLIP.length - 1}/${CLIP.length}` });
        let second = 0;
        const drip = (at: number): void => {
          if (response.destroyed) return void seconds.push(second);
          const end = Math.min(CLIP.length, at + pieceBytes);
          response.write(CLIP.subarray(at, end), () => {
            if (end === CLIP.length) return void response.end();
            second += 1;
            clock.advance(1_000);
            setImmediate(() => drip(end));
          });
        };
        drip(from);
      },
    });
    return { service, clock, seconds };
  }

  it('fails below 8 KB/s over a minute, which frees its slot', async () => {
    const { service, clock } = await dripping(1_000);
    await expect(download(service, { clock })).rejects.toMatchObject({ code: 'timed_out', retryable: true });
    expect(service.requests).toHaveLength(1);
    expect((await stat(`${path}.part`)).size).toBeLessThan(CLIP.length);
  });

  it('continues above that', async () => {
    const { service, clock } = await dripping(9_000);
    await expectClip(await download(service, { clock }));
  });

  it('gets more time with each attempt, so that a slow clip completes in the end', async () => {
    const { service, clock } = await dripping(1_000);
    await expectClip(await download(service, { clock, tries: 4 }));
  });
});

describe('a broken transfer', () => {
  it('resumes where it broke', async () => {
    const content = inTurn(serve(CLIP, { breakAfter: 200_000, etag: '"v1"' }), serve(CLIP, { etag: '"v1"' }));
    const service = await start({ content });
    await expectClip(await download(service));
    const [first, second] = asked(service.requests, 'range');
    expect(first).toBeUndefined();
    const from = Number(/^bytes=(\d+)-$/.exec(second ?? '')?.[1]);
    expect(from).toBeGreaterThan(0);
    expect(from).toBeLessThan(200_000);
    expect(asked(service.requests, 'if-range')).toEqual([undefined, '"v1"']);
  });

  it('resumes in a later call', async () => {
    const service = await start();
    await writeFile(`${path}.part`, CLIP.subarray(0, 250_000));
    await expectClip(await download(service));
    expect(asked(service.requests, 'range')).toEqual([`bytes=${250_000 - 4096}-`]);
  });

  it('resumes behind a redirect', async () => {
    const storage = await start({ file: inTurn(serve(CLIP, { breakAfter: 150_000 }), serve(CLIP)) });
    const service = await start({ content: redirect(302, `${storage.baseUrl}/clip.mp4`) });
    await expectClip(await download(service));
    expect(asked(storage.requests, 'range')[1]).toMatch(/^bytes=[1-9]/);
  });

  it('starts over without Range support', async () => {
    const none = { hasRange: false } as const;
    const content = inTurn(serve(CLIP, { ...none, breakAfter: 200_000 }), serve(CLIP, none));
    await expectClip(await download(await start({ content })));
  });

  it('starts over when the clip has changed', async () => {
    const service = await start({ content: inTurn(serve(CLIP, { breakAfter: 200_000 }), serve(OTHER_CLIP)) });
    await expectClip(await download(service), OTHER_CLIP);
    expect(service.requests).toHaveLength(3);
  });

  it('starts over when the ETag has changed', async () => {
    const content = inTurn(serve(CLIP, { breakAfter: 200_000, etag: '"v1"' }), serve(OTHER_CLIP, { etag: '"v2"' }));
    const service = await start({ content });
    await expectClip(await download(service), OTHER_CLIP);
    expect(service.requests).toHaveLength(2);
  });

  it('starts over when the clip has become shorter', async () => {
    const service = await start();
    await writeFile(`${path}.part`, fakeClip(900_000));
    await expectClip(await download(service));
  });

  it('starts over when the range differs from the requested one', async () => {
    const wrong: Handler = ({ response }) => {
      response.writeHead(206, { 'content-range': `bytes 7-${CLIP.length - 1}/${CLIP.length}` }).end(CLIP.subarray(7));
    };
    const service = await start({ content: inTurn(wrong, serve(CLIP)) });
    await writeFile(`${path}.part`, CLIP.subarray(0, 250_000));
    await expectClip(await download(service));
  });

  it('resumes when a service sends partial ranges, each shorter than the clip', async () => {
    const pieces: Handler = ({ request, response }) => {
      const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const piece = CLIP.subarray(from, from + 100_000);
      const range = `bytes ${from}-${from + piece.length - 1}/${CLIP.length}`;
      response.writeHead(206, { 'content-range': range, 'content-length': piece.length }).end(piece);
    };
    const service = await start({ content: pieces });
    await expectClip(await download(service));
    expect(service.requests.length).toBeGreaterThan(2);
  });

  it('is left to the caller without progress; the partial file stays', async () => {
    const service = await start({ content: serve(CLIP, { hasRange: false, breakAfter: 200_000 }) });
    await expect(download(service)).rejects.toMatchObject({ code: 'unavailable', retryable: true });
    // A reset may lose bytes that were sent, so that a later attempt gets further than an earlier one.
    expect(service.requests.length).toBeGreaterThanOrEqual(2);
    expect(service.requests.length).toBeLessThanOrEqual(2 + 200_000 / 65_536);
    expect((await stat(`${path}.part`)).size).toBeGreaterThan(0);
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  it('is left to the caller at once after too little progress', async () => {
    const clock = hastyClock();
    const service = await start({ content: serve(CLIP, { hasRange: false, breakAfter: 20_000 }) });
    await expect(download(service, { clock })).rejects.toMatchObject({ code: 'unavailable' });
    expect(service.requests).toHaveLength(1);
    expect(clock.waits).toEqual([]);
  });

  it('continues while it makes progress', async () => {
    const clip = fakeClip(2_000_000);
    const service = await start({ content: serve(clip, { breakAfter: 200_000 }) });
    await expectClip(await download(service), clip);
    expect(service.requests.length).toBeGreaterThan(8);
  });

  it('stops when it is aborted; the partial file stays', async () => {
    const controller = new AbortController();
    const service = await start({
      content: ({ response }) => {
        response.writeHead(200, { 'content-length': CLIP.length });
        response.write(CLIP.subarray(0, 100_000), () => setImmediate(() => controller.abort()));
      },
    });
    await expect(download(service, { signal: controller.signal })).rejects.toMatchObject({ retryable: true });
    expect(service.requests).toHaveLength(1);
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  it('stalls no longer than the request timeout', async () => {
    const content: Handler = ({ response }) => {
      response.writeHead(200, { 'content-length': CLIP.length });
      response.write(CLIP.subarray(0, 100_000));
    };
    const service = await start({ content: inTurn(content, serve(CLIP)) });
    await expectClip(await download(service, { requestTimeoutMs: 50, tries: 2 }));
  });
});

describe('temporary failures', () => {
  it.each([400, 404, 409])('%i: succeeds at the next attempt', async (status) => {
    const service = await start({ content: inTurn(refuse(status, 'not_ready'), serve(CLIP)) });
    await expectClip(await download(service, { tries: 2 }));
  });

  it.each<[string, Handler, ErrorCode]>([
    ['repeated 404', refuse(404, 'not_found'), 'not_ready'],
    ['repeated 503', refuse(503, 'busy'), 'unavailable'],
    ['repeated 429', refuse(429, 'busy'), 'unavailable'],
    ['repeated 202', json(202, {}), 'not_ready'],
    ['a running task', json(200, { id: 'task', status: 'PROCESSING' }), 'not_ready'],
    ['a maintenance page', text(200, '<html>Back soon</html>', 'text/html'), 'not_a_video'],
    ['an empty response', text(200, ''), 'not_a_video'],
    ['an error as 200', refuse(200, 'busy'), 'not_a_video'],
    ['404 with Retry-After', refuse(404, 'x', 'No.', { 'retry-after': '600' }), 'not_ready'],
  ])('%s: left to the caller', async (_, content, code) => {
    const service = await start({ content });
    await expect(download(service)).rejects.toMatchObject({ code, retryable: true });
    expect(service.requests).toHaveLength(1);
  });

  it('passes on Retry-After, in seconds and as a date', async () => {
    const clock = hastyClock(Date.UTC(2026, 10, 20, 12));
    const busy = (value: string) => refuse(503, 'busy', 'Busy.', { 'retry-after': value });
    const service = await start({ content: inTurn(busy('9'), busy('Fri, 20 Nov 2026 12:00:11 GMT')) });
    await expect(download(service, { clock })).rejects.toMatchObject({ retryAfterMs: 9_000 });
    await expect(download(service, { clock })).rejects.toMatchObject({ retryAfterMs: 11_000 });
    expect(clock.waits).toEqual([]);
  });

  it('succeeds after two maintenance pages', async () => {
    const page = text(200, '<html>Back soon</html>', 'text/html');
    await expectClip(await download(await start({ content: inTurn(page, page, serve(CLIP)) }), { tries: 3 }));
  });
});

describe('permanent failures', () => {
  it.each<[string, Handler, ErrorCode]>([
    ['410', refuse(410, 'expired', 'The clip is gone.'), 'gone'],
    ['401, with the token and without', refuse(401, 'invalid_api_key'), 'unauthorised'],
    ['file:', redirect(302, 'file:///etc/passwd'), 'refused_address'],
    ['http: beyond loopback', redirect(302, 'http://cdn.example/clip.mp4'), 'refused_address'],
    ['cloud metadata', redirect(302, 'http://169.254.169.254/latest/meta-data'), 'refused_address'],
    ['a private network', json(200, { url: 'https://10.0.0.1/clip.mp4' }), 'refused_address'],
    ['no address', redirect(302, 'https://'), 'refused_address'],
    ['a circle', redirect(302, '/v1/videos/task/content'), 'refused_address'],
  ])('%s', async (_, content, code) => {
    const service = await start({ content });
    await expect(download(service)).rejects.toMatchObject({ code, retryable: false });
    expect(await readdir(folder)).toEqual([]);
  });

  it.each<[string, Buffer]>([
    ['an image', Buffer.from('\x89PNG\r\n\x1a\n and so on, for a while', 'latin1')],
    ['only the first box of a clip', Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isommp42', 'latin1')],
    ['a manifest that resembles a box', Buffer.from(`<!--free--><MPD>${' '.repeat(5_000)}`, 'latin1')],
  ])('%s, twice in a row', async (_, bytes) => {
    const service = await start({ content: serve(bytes) });
    const client = clientOf(service);
    const fetch = () => client.download('task' as UpstreamId, path);
    await expect(fetch()).rejects.toMatchObject({ code: 'not_a_video', retryable: true });
    await expect(fetch()).rejects.toMatchObject({ code: 'not_a_video', retryable: bytes[0] === 0x3c });
    expect(await readdir(folder)).toEqual([]);
  });

  it.each<[string, Handler, AddressRefusal]>([
    ['a circle', redirect(302, '/v1/videos/task/content'), 'redirects'],
    ['JSON with its own URL', json(200, { url: '/v1/videos/task/content' }), 'redirects'],
    ['an empty Location', redirect(302, ''), 'no_address'],
    ['http://', redirect(302, 'http://'), 'no_address'],
    ['ftp:', redirect(302, 'ftp://cdn.example/a.mp4'), 'not_web'],
    ['data: in a redirect', redirect(302, 'data:video/mp4;base64,AAAA'), 'not_web'],
    ['credentials', redirect(302, 'https://a:b@cdn.example/a.mp4'), 'credentials'],
    ['http: beyond loopback', redirect(302, 'http://cdn.example/clip.mp4'), 'not_https'],
    ['a private network', redirect(302, 'https://10.0.0.1/clip.mp4'), 'private_network'],
    ["Azure's own host", redirect(302, 'https://168.63.129.16/clip.mp4'), 'private_network'],
  ])('%s, with the reason', async (_, content, words) => {
    const service = await start({ content });
    await expect(download(service)).rejects.toMatchObject({ code: 'refused_address', words });
  });

  it('a host that resolves to a private network: nothing is sent there', async () => {
    const service = await start({ content: redirect(302, 'https://inside.example/clip.mp4') });
    const resolve: VideoClientOptions['resolve'] = (_, __, callback) =>
      callback(null, [{ address: '10.0.0.1', family: 4 }]);
    await expect(download(service, { resolve })).rejects.toMatchObject({ code: 'refused_address', retryable: false });
  });

  it('a host whose address changes: the connection uses the checked address', async () => {
    const storage = await start();
    const { port } = new URL(storage.baseUrl);
    const service = await start({ content: redirect(302, `http://cdn.localhost:${port}/clip.mp4`) });
    const answers = ['127.0.0.1', '10.0.0.1'];
    const resolve: VideoClientOptions['resolve'] = (_, __, callback) =>
      callback(null, [{ address: answers.shift() ?? '10.0.0.1', family: 4 }]);
    await expectClip(await download(service, { resolve }));
    expect(storage.requests).toHaveLength(1);
  });

  it('an error as 200 video/mp4: the message is kept, without the token', async () => {
    const content: Handler = ({ response, service }) => {
      const body = JSON.stringify({ error: `quota of ${service.token} exceeded`, success: false });
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': body.length }).end(body);
    };
    await expect(download(await start({ content }))).rejects.toMatchObject({
      code: 'not_a_video',
      words: 'quota of [hidden] exceeded',
    });
  });

  it('a clip over the size limit', async () => {
    const service = await start();
    await expect(download(service, { maxClipBytes: 100_000 })).rejects.toMatchObject({ code: 'bad_answer' });
    expect(await readdir(folder)).toEqual([]);
  });

  it('a full disk', async () => {
    const service = await start();
    await symlink('/dev/full', `${path}.part`);
    await expect(download(service)).rejects.toMatchObject({ code: 'disk_full', retryable: true });
    expect(service.requests).toHaveLength(1);
  });

  it('a path that is not writable', async () => {
    await writeFile(join(folder, 'file'), '');
    path = join(folder, 'file', 'clip.mp4');
    await expect(download(await start())).rejects.toMatchObject({ code: 'internal', retryable: false });
  });
});
