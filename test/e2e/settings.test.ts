import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PROGRAM_ENV } from '../fakes/program-env.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { makeDir, runToEnd, startDailies } from './dailies.ts';

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;

beforeEach(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
});

afterEach(async () => {
  await upstream.close();
  await dir.remove();
});

test('reports all invalid settings at once, without repeating a secret, before anything connects', async () => {
  const env = {
    VIDEO_API_BASE_URL: 'http://videos.example',
    VIDEO_API_TOKEN: 'sk-secret-123456',
    PORT: '70000',
    POLL_MIN_MS: 'soon',
    PLAYGROUND: 'maybe',
    STORE_URL: 'mysql://user:hidden@host/db',
    LINK_SECRET: 'short',
    PUBLIC_URL: 'bot.example',
  };
  const { code, output } = await runToEnd({ dir: dir.path, env });
  expect(code).toBe(1);
  for (const name of [
    'VIDEO_API_BASE_URL',
    'PORT',
    'POLL_MIN_MS',
    'PLAYGROUND',
    'STORE_URL',
    'LINK_SECRET',
    'PUBLIC_URL',
  ]) {
    expect(output).toContain(`${name}:`);
  }
  expect(output).toContain('70000');
  expect(output).not.toMatch(/sk-secret|hidden|short"/);
});

test('the playground does not listen beyond loopback without an access token', async () => {
  const { code, output } = await runToEnd({ dir: dir.path, env: { HOST: '0.0.0.0' } });
  expect(code).toBe(1);
  expect(output).toContain('PLAYGROUND_TOKEN');
});

test('refuses an invalid catalog with the position, and uses a valid one', async () => {
  await mkdir(dir.path, { recursive: true });
  const path = join(dir.path, 'catalog.json');
  const none = { min: 0, max: 0 };
  const model = {
    name: 'solo',
    title: 'Solo',
    billing: 'per_call',
    price: '1.20',
    currency: 'USD',
    seconds: [5],
    aspectRatios: [],
    resolutions: [],
    media: { image: none, audio: none, video: none },
    promptMaxLength: 100,
  };
  await writeFile(path, JSON.stringify({ models: [{ ...model, price: 'cheap', colour: 'red' }] }));
  const env = { MODEL_CATALOG: path };
  const wrong = await runToEnd({ dir: dir.path, upstream, env });
  expect(wrong.code).toBe(1);
  expect(wrong.output).toContain('models[0].price');
  expect(wrong.output).toContain('colour');
  await writeFile(path, JSON.stringify({ models: [model] }));
  const dailies = await startDailies({ dir: dir.path, upstream, env });
  await dailies.interact('/video create a fox');
  await upstream.arrived(1);
  expect(await dailies.stop()).toBe(0);
  expect(JSON.parse(upstream.requests[0]?.body ?? '')).toEqual({
    model: 'solo',
    prompt: 'a fox',
    duration: 1,
    video_duration: 5,
  });
});

test('rejects a second process on the same store, and names its holder', async () => {
  const first = await startDailies({ dir: dir.path, upstream });
  const second = await runToEnd({ dir: dir.path, upstream });
  expect(second.code).toBe(1);
  expect(second.output).toMatch(/another|already/i);
  await first.kill();
});

test('reports a port that is in use', async () => {
  const port = new URL(upstream.baseUrl).port;
  const { code, output } = await runToEnd({ dir: dir.path, upstream, env: { PORT: port } });
  expect(code).toBe(1);
  expect(output).toContain('EADDRINUSE');
  expect(output).toContain('set PORT to another one');
});

test('serves health, readiness and metrics', async () => {
  const dailies = await startDailies({ dir: dir.path, upstream });
  const get = async (path: string) => {
    const response = await fetch(dailies.url + path);
    return { status: response.status, text: await response.text() };
  };
  expect((await get('/healthz')).status).toBe(200);
  expect((await get('/readyz')).status).toBe(200);
  const clips = join(dir.path, 'data', 'clips');
  await rename(clips, `${clips}-moved`);
  await writeFile(clips, '');
  const unready = await get('/readyz');
  expect(unready).toMatchObject({ status: 503, text: expect.stringContaining('"clips":"writing to') });
  await rm(clips);
  await rename(`${clips}-moved`, clips);
  expect((await get('/readyz')).status).toBe(200);
  const { text } = await get('/metrics');
  for (const name of [
    'creates_total',
    'uncertain_total',
    'polls_total',
    'queue_lag_seconds',
    'deliveries_total',
    'delivery_lag_seconds',
    'open_tasks',
  ]) {
    expect(text).toContain(`dailies_${name}`);
  }
  expect(await dailies.stop()).toBe(0);
});

test('lists an invalid catalog and an invalid ffmpeg with all other errors, and opens no store', async () => {
  const path = join(dir.path, 'catalog.json');
  await writeFile(path, '{"models": []}');
  const env = { MODEL_CATALOG: path, FFMPEG_PATH: '/nowhere/ffmpeg', PORT: 'x' };
  const { code, output } = await runToEnd({ dir: dir.path, upstream, env });
  expect(code).toBe(1);
  for (const said of ['MODEL_CATALOG: models', 'FFMPEG_PATH: "/nowhere/ffmpeg"', 'PORT: "x"'])
    expect(output).toContain(said);
  expect(existsSync(join(dir.path, 'data'))).toBe(false);
});

test('names the file that an invalid value may come from, and reports an unreadable file', async () => {
  const file = join(dir.path, '.env');
  const without = await runToEnd({ dir: dir.path, upstream, env: { LOG_LEVEL: 'loud' } });
  expect(without.output).toContain('configuration (read from the environment):\n  LOG_LEVEL: "loud"');
  await writeFile(file, 'POLL_MIN_MS=soon\nPLAYGROUND=maybe\n');
  const { code, output } = await runToEnd({ dir: dir.path, upstream, env: { POLL_MIN_MS: '10' } });
  expect(code).toBe(1);
  expect(output).toContain(`configuration (read from the environment and ${file}):\n  PLAYGROUND: "maybe"`);
  expect(output).not.toContain('POLL_MIN_MS');
  await rm(file);
  await mkdir(file);
  const unreadable = await runToEnd({ dir: dir.path, upstream });
  expect(unreadable.code).toBe(1);
  expect(unreadable.output).toMatch(/configuration \(.*\):\n {2}\.env: it cannot be read as a file/);
});

test.each(['src/sandbox/main.ts', 'adapters/discord/registration/cli.ts'])(
  '%s reports that its .env is not a readable file',
  async (program) => {
    await mkdir(join(dir.path, '.env'));
    const { status, stderr } = spawnSync(process.execPath, [new URL(`../../${program}`, import.meta.url).pathname], {
      cwd: dir.path,
      env: { ...PROGRAM_ENV, SANDBOX_PORT: '0' },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toContain('.env: it cannot be read as a file');
    expect(stderr).not.toContain('    at ');
  },
);
