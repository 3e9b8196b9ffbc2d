import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ErrorCode } from '#src/errors.ts';
import type { VideoClientOptions } from '#src/videos/client.ts';
import type { Clip, UpstreamId } from '#src/videos/service.ts';
import { fakeClip } from '#test/fakes/clip.ts';
import { inTurn, json, redirect, refuse, serve, text } from '#test/fakes/faults.ts';
import {
  type FakeVideoService,
  type Handler,
  type Handlers,
  type RecordedRequest,
  startVideoService,
} from '#test/fakes/video-service.ts';
import { clientOf, hastyClock } from './client.ts';

const CLIP = fakeClip(300_000);
const OTHER_CLIP = Buffer.concat([CLIP.subarray(0, 40), fakeClip(299_960).subarray(0, 299_960).reverse()]);

const cleanup: (() => Promise<void>)[] = [];
let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dailies-download-'));
  path = join(folder, 'clip.mp4');
});
afterEach(async () => {
  for (const clean of cleanup.splice(0)) await clean();
  await rm(folder, { recursive: true, force: true });
});

async function start(handlers: Partial<Handlers> = {}): Promise<FakeVideoService> {
  const service = await startVideoService({ clip: CLIP, handlers });
  cleanup.push(() => service.close());
  service.add({ id: 'task', status: 'completed' });
  return service;
}

async function download(
  service: FakeVideoService,
  { signal, ...options }: Partial<VideoClientOptions> & { signal?: AbortSignal } = {},
): Promise<Clip> {
  const client = clientOf(service, { clock: hastyClock(), ...options });
  cleanup.push(() => client.close());
  return client.download('task' as UpstreamId, path, signal);
}

/** The whole clip, under its own name, and nothing else. */
async function expectClip(clip: Clip, bytes = CLIP): Promise<void> {
  expect(clip).toEqual({ path, bytes: bytes.length, contentType: 'video/mp4' });
  expect((await readFile(path)).equals(bytes)).toBe(true);
  expect(await readdir(folder)).toEqual(['clip.mp4']);
}

const asked = (requests: readonly RecordedRequest[], header: 'range' | 'if-range' | 'authorization') =>
  requests.map(({ headers }) => headers[header]?.toString());

describe('where the clip is', () => {
  it('behind /content, as bytes', async () => {
    const service = await start();
    await expectClip(await download(service));
    expect(service.requests).toHaveLength(1);
  });

  it('in a folder that is not there yet', async () => {
    const service = await start();
    path = join(folder, 'deep', 'er', 'clip.mp4');
    expect((await download(service)).bytes).toBe(CLIP.length);
  });

  it.each([301, 302, 303, 307, 308] as const)(
    'behind a %i to another origin, which never sees the token',
    async (status) => {
      const storage = await start();
      const service = await start({ content: redirect(status, `${storage.baseUrl}/signed/clip.mp4?sig=1`) });
      await expectClip(await download(service));
      expect(storage.requests.map(({ path: each }) => each)).toEqual(['/signed/clip.mp4?sig=1']);
      expect(asked(storage.requests, 'authorization')).toEqual([undefined]);
      expect(JSON.stringify(storage.requests)).not.toContain(service.token);
    },
  );

  it('behind a relative redirect, which does', async () => {
    const service = await start({ content: redirect(302, '/files/clip.mp4') });
    await expectClip(await download(service));
    expect(asked(service.requests, 'authorization')).toEqual([`Bearer ${service.token}`, `Bearer ${service.token}`]);
  });

  it('back at the service after another origin', async () => {
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
  ])('in JSON, as %s', async (_, bodyOf) => {
    const storage = await start();
    const service = await start({ content: json(200, bodyOf(`${storage.baseUrl}/clip.mp4`)) });
    await expectClip(await download(service));
    expect(asked(storage.requests, 'authorization')).toEqual([undefined]);
  });

  it('where the service refuses the token for it', async () => {
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

  it('without a length, and under any name', async () => {
    const service = await start({
      content: ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/octet-stream' });
        response.write(CLIP.subarray(0, 7), () => response.end(CLIP.subarray(7)));
      },
    });
    await expectClip(await download(service));
  });

  it('already here, from a process that died before it could say so', async () => {
    const service = await start();
    await writeFile(path, CLIP);
    await expectClip(await download(service));
    expect(service.requests).toHaveLength(0);
  });
});

describe('a broken transfer', () => {
  it('goes on where it broke', async () => {
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

  it('goes on in a later call', async () => {
    const service = await start();
    await writeFile(`${path}.part`, CLIP.subarray(0, 250_000));
    await expectClip(await download(service));
    expect(asked(service.requests, 'range')).toEqual([`bytes=${250_000 - 4096}-`]);
  });

  it('goes on behind a redirect', async () => {
    const storage = await start({ file: inTurn(serve(CLIP, { breakAfter: 150_000 }), serve(CLIP)) });
    const service = await start({ content: redirect(302, `${storage.baseUrl}/clip.mp4`) });
    await expectClip(await download(service));
    expect(asked(storage.requests, 'range')[1]).toMatch(/^bytes=[1-9]/);
  });

  it('begins anew where there is no Range', async () => {
    const none = { hasRange: false } as const;
    const content = inTurn(serve(CLIP, { ...none, breakAfter: 200_000 }), serve(CLIP, none));
    await expectClip(await download(await start({ content })));
  });

  it('begins anew where the clip became another one', async () => {
    const service = await start({ content: inTurn(serve(CLIP, { breakAfter: 200_000 }), serve(OTHER_CLIP)) });
    await expectClip(await download(service), OTHER_CLIP);
    expect(service.requests).toHaveLength(3);
  });

  it('begins anew where the ETag says so', async () => {
    const content = inTurn(serve(CLIP, { breakAfter: 200_000, etag: '"v1"' }), serve(OTHER_CLIP, { etag: '"v2"' }));
    const service = await start({ content });
    await expectClip(await download(service), OTHER_CLIP);
    expect(service.requests).toHaveLength(2);
  });

  it('begins anew where the clip became shorter', async () => {
    const service = await start();
    await writeFile(`${path}.part`, fakeClip(900_000));
    await expectClip(await download(service));
  });

  it('begins anew where a range is not the one that was asked for', async () => {
    const wrong: Handler = ({ response }) => {
      response.writeHead(206, { 'content-range': `bytes 7-${CLIP.length - 1}/${CLIP.length}` }).end(CLIP.subarray(7));
    };
    const service = await start({ content: inTurn(wrong, serve(CLIP)) });
    await writeFile(`${path}.part`, CLIP.subarray(0, 250_000));
    await expectClip(await download(service));
  });

  it('goes on where a service sends ranges in pieces: a piece is not the clip', async () => {
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

  it('is given up for now when it gets nowhere; what is there stays', async () => {
    const service = await start({ content: serve(CLIP, { hasRange: false, breakAfter: 200_000 }) });
    const clock = hastyClock();
    await expect(download(service, { clock })).rejects.toMatchObject({ code: 'unavailable', retryable: true });
    expect(service.requests.length).toBeGreaterThan(2);
    expect((await stat(`${path}.part`)).size).toBeGreaterThan(0);
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  it('is asked for less and less often while it gets nowhere', async () => {
    // Too little to count as getting ahead, whatever of it is lost with the connection.
    const service = await start({ content: serve(CLIP, { hasRange: false, breakAfter: 20_000 }) });
    const clock = hastyClock();
    await expect(download(service, { clock })).rejects.toMatchObject({ code: 'unavailable' });
    expect(clock.waits.length).toBeGreaterThan(2);
    expect(clock.waits).toEqual(clock.waits.toSorted((one, other) => one - other));
  });

  it('is not given up while it gets ahead', async () => {
    const clip = fakeClip(2_000_000);
    const service = await start({ content: serve(clip, { breakAfter: 200_000 }) });
    await expectClip(await download(service), clip);
    expect(service.requests.length).toBeGreaterThan(8);
  });

  it('stops when it is no longer wanted; what is there stays', async () => {
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

  it('stands still for no longer than a request may take', async () => {
    const content: Handler = ({ response }) => {
      response.writeHead(200, { 'content-length': CLIP.length });
      response.write(CLIP.subarray(0, 100_000));
    };
    const service = await start({ content: inTurn(content, serve(CLIP)) });
    await expectClip(await download(service, { requestTimeoutMs: 50 }));
  });
});

describe('not yet', () => {
  it.each([400, 404, 409])('%i: looked for again', async (status) => {
    const clock = hastyClock();
    const service = await start({
      content: inTurn(refuse(status, 'not_ready'), refuse(status, 'not_ready'), serve(CLIP)),
    });
    await expectClip(await download(service, { clock }));
    expect(clock.waits).toEqual([375, 750]);
  });

  it.each<[string, Handler, ErrorCode, number]>([
    ['404 for ever', refuse(404, 'not_found'), 'not_ready', 5],
    ['503 for ever', refuse(503, 'busy'), 'unavailable', 5],
    ['429 for ever', refuse(429, 'busy'), 'unavailable', 5],
    ['202 for ever', json(202, {}), 'not_ready', 5],
    ['a task that runs', json(200, { id: 'task', status: 'PROCESSING' }), 'not_ready', 5],
    ['an error as 200', refuse(200, 'busy'), 'not_a_video', 5],
    ['404, come back in ten minutes', refuse(404, 'x', 'No.', { 'retry-after': '600' }), 'not_ready', 1],
  ])('%s: left to the caller', async (_, content, code, requests) => {
    const service = await start({ content });
    await expect(download(service)).rejects.toMatchObject({ code, retryable: true });
    expect(service.requests).toHaveLength(requests);
  });

  it('obeys Retry-After, in seconds and as a date', async () => {
    const clock = hastyClock(Date.UTC(2026, 10, 20, 12));
    const busy = (value: string) => refuse(503, 'busy', 'Busy.', { 'retry-after': value });
    const content = inTurn(busy('9'), busy('Fri, 20 Nov 2026 12:00:11 GMT'), serve(CLIP));
    await expectClip(await download(await start({ content }), { clock }));
    expect(clock.waits).toEqual([9000, 11_000]);
  });
});

describe('never', () => {
  it.each<[string, Handler, ErrorCode]>([
    ['410', refuse(410, 'expired', 'The clip is gone.'), 'gone'],
    ['401, with the token and without', refuse(401, 'invalid_api_key'), 'unauthorised'],
    ['a page', text(200, '<html>Welcome</html>', 'text/html'), 'not_a_video'],
    ['a picture', serve(Buffer.from('\x89PNG\r\n\x1a\n and so on, for a while', 'latin1')), 'not_a_video'],
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

  it('a name that leads to a private network: nothing is sent there', async () => {
    const service = await start({ content: redirect(302, 'https://inside.example/clip.mp4') });
    const resolve: VideoClientOptions['resolve'] = (_, __, callback) =>
      callback(null, [{ address: '10.0.0.1', family: 4 }]);
    await expect(download(service, { resolve })).rejects.toMatchObject({ code: 'refused_address', retryable: false });
  });

  it('a name that changes its mind: the connection goes where the check went', async () => {
    const storage = await start();
    const { port } = new URL(storage.baseUrl);
    const service = await start({ content: redirect(302, `http://cdn.localhost:${port}/clip.mp4`) });
    const answers = ['127.0.0.1', '10.0.0.1'];
    const resolve: VideoClientOptions['resolve'] = (_, __, callback) =>
      callback(null, [{ address: answers.shift() ?? '10.0.0.1', family: 4 }]);
    await expectClip(await download(service, { resolve }));
    expect(storage.requests).toHaveLength(1);
  });

  it('an error as 200 video/mp4: the words are kept, without the token', async () => {
    const content: Handler = ({ response, service }) => {
      const body = JSON.stringify({ error: `quota of ${service.token} exceeded`, success: false });
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': body.length }).end(body);
    };
    await expect(download(await start({ content }))).rejects.toMatchObject({
      code: 'not_a_video',
      words: 'quota of [hidden] exceeded',
    });
  });

  it('a clip without end', async () => {
    const service = await start();
    await expect(download(service, { maxClipBytes: 100_000 })).rejects.toMatchObject({ code: 'bad_answer' });
  });

  it('a full disk', async () => {
    const service = await start();
    await symlink('/dev/full', `${path}.part`);
    await expect(download(service)).rejects.toMatchObject({ code: 'disk_full', retryable: true });
    expect(service.requests).toHaveLength(1);
  });

  it('a path that cannot be written', async () => {
    await writeFile(join(folder, 'file'), '');
    path = join(folder, 'file', 'clip.mp4');
    await expect(download(await start())).rejects.toMatchObject({ code: 'internal', retryable: false });
  });
});
