import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCanvas } from '@napi-rs/canvas';
import { describe, expect, it, onTestFinished } from 'vitest';
import { countFrames, decodePicture, difference, shareOf } from '#test/fakes/decoded.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import {
  type RefusalBody,
  SKETCH,
  sandboxClient,
  startSandbox,
  type TaskBody,
  TOKEN,
  temporaryFolder,
} from '#test/fakes/sandbox-client.ts';
import { PROGRAM_ENV } from '../fakes/program-env.ts';

// The embedded service over HTTP, checked against the specification of the video service.

/** States of a task that was rendered for a while: a busy machine may look when it is completed already. */
const STARTED = ['in_progress', 'completed'] as const;

async function refusalOf(response: Response): Promise<RefusalBody & { readonly status: number }> {
  return { status: response.status, ...((await response.json()) as RefusalBody) };
}

/** Serves one all-magenta picture. */
async function serveImage(): Promise<string> {
  const canvas = createCanvas(300, 200);
  const ctx = canvas.getContext('2d');
  ctx.fillStyle = '#ff00ff';
  ctx.fillRect(0, 0, 300, 200);
  const png = canvas.toBuffer('image/png');
  const server = createServer((request, response) => {
    if (request.url === '/missing.png') response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'image/png' }).end(png);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a task', () => {
  it('goes from queued through in_progress to completed, with progress that never decreases', async () => {
    const { create, until, retrieve } = await startSandbox();
    const created = await create({ ...SKETCH, duration: 1, video_duration: 3 });
    expect(created).toEqual({
      id: expect.stringMatching(/^video_/),
      object: 'video',
      model: 'sketch-480p',
      status: 'queued',
      progress: 0,
      created_at: expect.any(Number),
    });
    const seen: TaskBody[] = [created];
    for (let task = created; task.status !== 'completed'; ) {
      task = await retrieve(created.id);
      seen.push(task);
    }
    const progress = seen.map((task) => task.progress);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(progress.every(Number.isInteger)).toBe(true);
    expect(new Set(progress).size).toBeGreaterThan(5);
    expect(new Set(seen.map(({ status }) => status))).toContain('in_progress');
    const completed = await until(created.id, 'completed');
    expect(completed).toMatchObject({ progress: 100, created_at: created.created_at });
    expect(completed.completed_at).toBeGreaterThanOrEqual(created.created_at);
  });

  it('stays queued while another is rendered', async () => {
    const { create, until, retrieve } = await startSandbox({ maxThreads: 1 });
    const first = await create({ ...SKETCH, video_duration: 3 });
    const second = await create(SKETCH);
    await until(second.id, ...STARTED);
    expect((await retrieve(first.id)).status).toBe('completed');
  });

  it('continues after a restart, under its own id, charged once', async () => {
    const first = await startSandbox({ maxThreads: 1 });
    const { dataDir } = first;
    const running = await first.create({ ...SKETCH, video_duration: 3 });
    const waiting = await first.create(SKETCH);
    await first.until(running.id, ...STARTED);
    await first.sandbox.close();
    const second = await startSandbox({ dataDir });
    await second.until(running.id, 'completed');
    await second.until(waiting.id, 'completed');
    expect((await second.ledger()).map(({ task, kind }) => [task, kind])).toEqual([
      [running.id, 'charge'],
      [waiting.id, 'charge'],
    ]);
  });

  it('continues after kill -9', async () => {
    const dataDir = await temporaryFolder();
    const doomed = await spawnSandbox(dataDir);
    const client = sandboxClient(doomed.baseUrl);
    const created = await client.create({ ...SKETCH, video_duration: 3 });
    await client.until(created.id, ...STARTED);
    doomed.process.kill('SIGKILL');
    await once(doomed.process, 'exit');
    const { until, ledger, call } = await startSandbox({ dataDir });
    await until(created.id, 'completed');
    expect(await ledger()).toHaveLength(1);
    const clip = await call(`/v1/videos/${created.id}/content`);
    expect(Buffer.from(await clip.arrayBuffer()).toString('latin1', 4, 8)).toBe('ftyp');
  });

  it('fails and is refunded when rendering fails, without blocking the next one', async () => {
    const { create, until, ledger, dataDir } = await startSandbox({ maxThreads: 1 });
    await rm(join(dataDir, 'clips'), { recursive: true });
    const lost = await create(SKETCH);
    const next = await create({ ...SKETCH, prompt: '[fail]' });
    expect((await until(lost.id, 'failed')).error).toEqual({
      code: 'generation_failed',
      message: 'The render broke off.',
    });
    await until(next.id, 'failed');
    expect((await ledger()).filter(({ kind }) => kind === 'refund').map(({ task }) => task)).toEqual([
      lost.id,
      next.id,
    ]);
  });

  it('is not found under another id', async () => {
    const { call } = await startSandbox();
    for (const path of [
      '/v1/videos/video_x',
      '/v1/videos/video_x/content',
      '/v1/videos/..%2F..%2Fsandbox.db/content',
    ]) {
      expect(await refusalOf(await call(path))).toMatchObject({ status: 404, code: 'task_not_found', success: false });
    }
  });
});

describe('an error response', () => {
  it('has the same shape in every variant', async () => {
    const { post, baseUrl } = await startSandbox();
    const variants = [
      await post({ ...SKETCH, prompt: '' }),
      await fetch(`${baseUrl}/v1/videos`, { method: 'POST' }),
      await post({ ...SKETCH, prompt: '[no balance] a fox' }),
      await post({ ...SKETCH, model: 'none' }),
      await post({ ...SKETCH, prompt: '[moderated] a fox' }),
    ].map(refusalOf);
    const refusals = await Promise.all(variants);
    expect(refusals.map(({ status, code }) => `${status} ${code}`)).toEqual([
      '400 invalid_request',
      '401 unauthorized',
      '403 insufficient_quota',
      '404 model_not_found',
      '400 content_policy_violation',
    ]);
    for (const { status: _, ...body } of refusals) {
      expect(body).toEqual({
        error: expect.any(String),
        code: expect.any(String),
        message: expect.any(String),
        success: false,
      });
    }
  });

  it.each([
    ['no token', {}],
    ['another token', { authorization: 'Bearer sk-other' }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
    ['a token with a suffix', { authorization: `Bearer ${TOKEN}x` }],
  ])('returns 401 for %s, on every path but the help', async (_, headers) => {
    const { baseUrl } = await startSandbox();
    for (const path of ['/v1/videos/video_x', '/v1/videos/video_x/content', '/sandbox/ledger', '/else']) {
      const response = await fetch(baseUrl + path, { headers });
      expect([path, response.status, response.headers.get('www-authenticate')]).toEqual([path, 401, 'Bearer']);
    }
    expect((await fetch(baseUrl, { headers })).status).toBe(200);
  });

  it.each([
    ['broken JSON', 'application/json', '{"model":'],
    ['an empty body', 'application/json', ''],
    ['a form', 'application/x-www-form-urlencoded', 'model=swift-1'],
    ['JSON with a text content type', 'text/plain', JSON.stringify(SKETCH)],
    ['a body of two megabytes', 'application/json', JSON.stringify({ ...SKETCH, prompt: 'x'.repeat(2_000_000) })],
  ])('returns 400 for %s', async (_, contentType, body) => {
    const { call, ledger } = await startSandbox();
    const response = await call('/v1/videos', { method: 'POST', headers: { 'content-type': contentType }, body });
    expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'invalid_request', success: false });
    expect(await ledger()).toEqual([]);
  });

  it('costs nothing', async () => {
    const { post, ledger } = await startSandbox();
    await post({ ...SKETCH, prompt: '[no balance]' });
    await post({ ...SKETCH, prompt: '[moderated]' });
    await post({ ...SKETCH, prompt: '[busy]' });
    await post({ ...SKETCH, duration: 2 });
    expect(await ledger()).toEqual([]);
  });
});

describe('a prompt with a test directive', () => {
  it.each([
    ['[fail]', 'generation_failed'],
    ['[moderated later]', 'content_policy_violation'],
  ])('%s fails midway and is refunded', async (word, code) => {
    const { create, until, ledger } = await startSandbox();
    const { id } = await create({ ...SKETCH, prompt: `${word} a fox` });
    const failed = await until(id, 'failed');
    expect(failed.error).toEqual({ code, message: expect.stringMatching(/\.$/) });
    expect(failed.completed_at).toEqual(expect.any(Number));
    expect(await ledger()).toEqual([
      expect.objectContaining({ task: id, kind: 'charge', amount: '0.02' }),
      expect.objectContaining({ task: id, kind: 'refund', amount: '0.02' }),
    ]);
  });

  it('[busy] is accepted at the second try', async () => {
    const { post } = await startSandbox();
    const first = await post({ ...SKETCH, prompt: '[busy] a fox' });
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '2']);
    expect((await post({ ...SKETCH, prompt: '[busy] a fox' })).status).toBe(200);
  });

  it('[lost] is accepted without a response', async () => {
    const { post, ledger, until } = await startSandbox();
    await expect(post({ ...SKETCH, prompt: '[lost] a fox' })).rejects.toThrow();
    const [charge, ...others] = await ledger();
    expect(others).toEqual([]);
    expect(await until(charge?.task ?? '', 'completed')).toMatchObject({ progress: 100 });
  });

  it('[slow] stays queued for a minute', async () => {
    const clock = new ManualClock();
    const { create, until, retrieve } = await startSandbox({ clock });
    const { id } = await create({ ...SKETCH, prompt: '[slow] a fox' });
    clock.advance(59_999);
    expect((await retrieve(id)).status).toBe('queued');
    clock.advance(1);
    await until(id, 'completed');
  });

  it('[unknown] has an unknown status until it is finished', async () => {
    const { create, until } = await startSandbox();
    const { id } = await create({ ...SKETCH, prompt: '[unknown] a fox' });
    await until(id, 'unknown');
    expect(await until(id, 'completed')).toMatchObject({ progress: 100 });
  });

  it('[stuck] stays in progress, without blocking others', async () => {
    const { create, until, retrieve } = await startSandbox({ maxThreads: 1 });
    const { id } = await create({ ...SKETCH, prompt: '[stuck] a fox' });
    await until((await create(SKETCH)).id, 'completed');
    expect(await retrieve(id)).toMatchObject({ status: 'in_progress', progress: 42 });
  });
});

describe('the content endpoint', () => {
  it('returns nothing before the task is completed', async () => {
    const { create, call } = await startSandbox();
    const { id } = await create({ ...SKETCH, prompt: '[stuck]' });
    expect(await refusalOf(await call(`/v1/videos/${id}/content`))).toMatchObject({
      status: 409,
      code: 'task_not_completed',
    });
  });

  it('serves the whole file, ranges, and headers alone', async () => {
    const { create, until, call, dataDir } = await startSandbox();
    const { id } = await create(SKETCH);
    await until(id, 'completed');
    const path = `/v1/videos/${id}/content`;
    const whole = await call(path);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(whole.status).toBe(200);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'accept-ranges': 'bytes',
      'content-length': String(bytes.length),
      etag: expect.any(String),
    });
    const part = await call(path, { headers: { range: 'bytes=100-' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([
      206,
      `bytes 100-${bytes.length - 1}/${bytes.length}`,
    ]);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100))).toBe(true);
    const beyond = await call(path, { headers: { range: `bytes=${bytes.length}-` } });
    expect(beyond.headers.get('content-range')).toBe(`bytes */${bytes.length}`);
    expect(await refusalOf(beyond)).toMatchObject({ status: 416, code: 'range_not_satisfiable', success: false });
    const head = await call(path, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      String(bytes.length),
      '',
    ]);
    await rm(join(dataDir, 'clips', `${id}.mp4`));
    expect(await refusalOf(await call(path))).toMatchObject({ status: 410, code: 'content_gone' });
  });
});

describe('the clip', () => {
  async function render(body: object): Promise<string> {
    const { create, until, dataDir } = await startSandbox({ references: { isLoopbackAllowed: true } });
    const { id } = await create({ ...SKETCH, ...body });
    await until(id, 'completed', 'failed');
    return join(dataDir, 'clips', `${id}.mp4`);
  }

  it.each([
    ['16:9', 854, 480, 1],
    ['9:16', 480, 854, 2],
    ['3:4', 480, 640, 1],
  ])('%s is %i × %i and has the requested duration', async (ratio, width, height, seconds) => {
    const path = await render({ aspect_ratio: ratio, video_duration: seconds });
    const picture = await decodePicture(path, seconds - 0.3);
    expect([picture.width, picture.height]).toEqual([width, height]);
    expect(await countFrames(path)).toBe(seconds * 24);
  });

  it('differs between prompts and between tasks of one prompt, and moves', async () => {
    const fox = await render({ prompt: 'a red fox running through snow' });
    const city = await render({ prompt: 'neon city at night in the rain' });
    const early = await decodePicture(fox, 0);
    expect(difference(early, await decodePicture(city, 0))).toBeGreaterThan(15);
    expect(difference(early, await decodePicture(fox, 0.9))).toBeGreaterThan(1);
    const take = await render({ prompt: 'a red fox running through snow' });
    expect(difference(early, await decodePicture(take, 0))).toBeGreaterThan(5);
  });

  it('shows a reference image', async () => {
    const address = await serveImage();
    const magenta = [255, 0, 255] as const;
    const without = await decodePicture(await render({}), 0.5);
    const shown = await decodePicture(await render({ image_urls: [`${address}/fox.png`] }), 0.5);
    expect(shareOf(without, magenta)).toBe(0);
    expect(shareOf(shown, magenta)).toBeGreaterThan(0.02);
  });

  it.each(['/missing.png', ':1/nobody.png'])(
    'is rendered even if a reference image cannot be loaded: %s',
    async (path) => {
      const address = path.startsWith(':') ? `http://127.0.0.1${path}` : (await serveImage()) + path;
      expect(await countFrames(await render({ image_urls: [address] }))).toBe(24);
    },
  );
});

it('returns the common error shape for a path that cannot be decoded', async () => {
  const { call } = await startSandbox();
  expect(await refusalOf(await call('/v1/videos/%'))).toMatchObject({ status: 400, success: false });
});

describe('the folder', () => {
  it('belongs to one process at a time, and is cleared of files that a killed one left half written', async () => {
    const { dataDir, sandbox } = await startSandbox({ references: { isLoopbackAllowed: true } });
    await expect(startSandbox({ dataDir })).rejects.toMatchObject({ code: 'store_locked' });
    await sandbox.close();
    const partial = join(dataDir, 'clips', 'video_x.mp4.part');
    await writeFile(partial, 'half');
    await startSandbox({ dataDir });
    await expect(rm(partial)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('npm run sandbox', () => {
  it('prints a working curl command, and exits with 0', async () => {
    const { baseUrl, output, process } = await spawnSandbox(await temporaryFolder(), { SANDBOX_TOKENS: '' });
    const [, url = '', token = '', body = ''] =
      /^curl (\S+) -H "Authorization: Bearer (\S+)".* -d '(.*)'$/m.exec(output()) ?? [];
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({ object: 'video', status: 'queued' });
    expect(url.startsWith(baseUrl)).toBe(true);
    process.kill('SIGTERM');
    expect(await once(process, 'exit')).toEqual([0, null]);
  });

  it('lists all errors of its configuration, and repeats no token', async () => {
    const env = { HOST: 'a b', SANDBOX_PORT: '99999', SANDBOX_TOKENS: 'secret one,', LOG_LEVEL: 'loud' };
    const { code, output } = await runToEnd({ ...env, SANDBOX_DATA: await temporaryFolder() });
    expect(code).toBe(1);
    for (const name of Object.keys(env)) expect(output).toContain(`${name}: `);
    expect(output).not.toContain('secret');
  });

  it('reads .env of its folder, as the bot does, with precedence for the environment', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, '.env'), 'SANDBOX_PORT=99999\nLOG_LEVEL=loud\n');
    const { code, output } = await runToEnd({ LOG_LEVEL: 'warn', SANDBOX_DATA: folder }, folder);
    expect(code).toBe(1);
    expect(output).toContain('SANDBOX_PORT: "99999"');
    expect(output).not.toContain('LOG_LEVEL');
  });

  it('reports a port that is in use', async () => {
    const { baseUrl } = await startSandbox({ references: { isLoopbackAllowed: true } });
    const { port } = new URL(baseUrl);
    const { code, output } = await runToEnd({ SANDBOX_PORT: port, SANDBOX_DATA: await temporaryFolder() });
    expect(code).toBe(1);
    expect(output).toContain(`Port ${port} of 127.0.0.1 is in use; set SANDBOX_PORT to another one.`);
  });
});

const MAIN = new URL('../../src/sandbox/main.ts', import.meta.url).pathname;

/** @param cwd folder of its `.env`. */
function spawnMain(env: Readonly<Record<string, string>>, cwd = tmpdir()) {
  const inherited = { ...PROGRAM_ENV, SANDBOX_TOKENS: TOKEN };
  const settings = { cwd, env: { ...inherited, ...env } };
  const child = spawn(process.execPath, [MAIN], { ...settings, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  onTestFinished(() => void child.kill('SIGKILL'));
  return { process: child, output: () => output };
}

/** Starts the sandbox alone, as `npm run sandbox` does, and waits until it listens. */
async function spawnSandbox(dataDir: string, env: Readonly<Record<string, string>> = {}) {
  const started = spawnMain({ SANDBOX_PORT: '0', SANDBOX_DATA: dataDir, ...env });
  let found: RegExpExecArray | null = null;
  while (found === null) {
    await Promise.race([once(started.process.stdout, 'data'), once(started.process, 'exit')]);
    if (started.process.exitCode !== null) throw new Error(started.output());
    found = /listens at (http:\/\/\S+)[\s\S]*\ncurl .*\n/.exec(started.output());
  }
  return { ...started, baseUrl: found[1] ?? '' };
}

async function runToEnd(env: Readonly<Record<string, string>>, cwd?: string) {
  const started = spawnMain(env, cwd);
  const [code] = (await once(started.process, 'close')) as [number];
  return { code, output: started.output() };
}
