import { readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { Diagnosis } from '#src/doctor/diagnosis.ts';
import { startDiscord } from '#test/fakes/discord/index.ts';
import { startEnhancer } from '#test/fakes/enhancer.ts';
import { serveRedis } from '#test/fakes/redis-house.ts';
import { startSlack } from '#test/fakes/slack/index.ts';
import { startVideoService } from '#test/fakes/video-service.ts';
import { makeDir, runCommand, startDailies } from './dailies.ts';

const FFMPEG_PATH = createRequire(import.meta.url).resolve('@ffmpeg-installer/linux-x64/ffmpeg');
/** Of another program, if of any: the doctor must not find the bot of another test. */
const NO_BOT = { PORT: '0' };

let dir: Awaited<ReturnType<typeof makeDir>>;
beforeEach(async () => {
  dir = await makeDir();
});
afterEach(() => dir.remove());

function doctor(env: Readonly<Record<string, string>> = {}, args: readonly string[] = []) {
  return runCommand('doctor.ts', { dir: dir.path, env: { ...NO_BOT, ...env }, args });
}

/** Returns the troubles in the printed report, each with the remedy below it. */
const troublesIn = (said: string): readonly string[] => said.match(/^[!✗] .+$/gm) ?? [];

it('finds nothing wrong with nothing configured, and leaves nothing behind', async () => {
  const { code, said } = await doctor({ FFMPEG_PATH });
  expect(troublesIn(said)).toEqual([]);
  expect(said).toMatch(/fine, 0 to look at, 0 wrong\.\n$/);
  expect(said).toContain('the embedded sandbox renders clips by itself');
  expect(code).toBe(0);
  expect(await readdir(dir.path)).toEqual([]);
});

it('lists all invalid variables at once, and names what was meant', async () => {
  const env = { PORT: '70000', STORE_URL: 'mysql://root:hunter2-hunter2@db', DISCORD_BOT_TOKEN: 'hunter2-hunter2' };
  const { code, said } = await doctor({ ...env, BUDGET_PER_MONTH: 'much' });
  expect(code).toBe(1);
  for (const name of ['PORT', 'STORE_URL', 'BUDGET_PER_MONTH']) expect(said).toContain(`✗ Configuration: ${name}: `);
  expect(said).toMatch(/! DISCORD_BOT_TOKEN: .+\n {2}→ Did you mean DISCORD_TOKEN\?/);
  expect(said).not.toContain('hunter2');
});

it('reports everything that is wrong, with a remedy for each and without a token', async () => {
  const [discord, slack, service, enhancer] = await Promise.all([
    startDiscord(),
    startSlack(),
    startVideoService(),
    startEnhancer(),
  ]);
  onTestFinished(async () => {
    await Promise.all([discord, slack, service, enhancer].map((one) => one.close()));
  });
  const redis = await serveRedis('--appendfsync', 'everysec', '--requirepass', 'hunter2-of-redis');
  await writeFile(join(dir.path, 'ffmpeg'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  slack.removeScopes(['files:write']);
  const env = {
    DISCORD_TOKEN: 'hunter2-of-discord',
    DISCORD_API_URL: discord.apiUrl,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: 'xapp-hunter2-of-slack',
    SLACK_API_URL: slack.apiUrl,
    VIDEO_API_BASE_URL: service.baseUrl,
    VIDEO_API_TOKEN: 'hunter2-of-the-service',
    STORE_URL: redis.url.replace('://', '://:hunter2-of-redis@'),
    PUBLIC_URL: 'https://dailies.invalid',
    LINK_SECRET: 'hunter2-of-the-links',
    FFMPEG_PATH: join(dir.path, 'ffmpeg'),
    ADMINS: 'playground:ada',
    ENHANCER_URL: enhancer.url,
    ENHANCER_TOKEN: 'hunter2-of-the-enhancer',
  };
  const { code, said } = await doctor(env);
  expect(code).toBe(1);
  expect(troublesIn(said).map((line) => line.split(':')[0])).toEqual([
    '! Model catalog',
    '✗ Video service',
    '✗ Enhancer',
    '✗ Discord token',
    '✗ Slack scopes',
    '! Slack scopes',
    '✗ Slack Socket Mode',
    '! ADMINS',
    '✗ Redis',
    '✗ ffmpeg',
    '✗ PUBLIC_URL',
  ]);
  expect(said.match(/^ {2}→ .+$/gm)).toHaveLength(troublesIn(said).length);
  for (const secret of ['hunter2', slack.botToken]) expect(said).not.toContain(secret);
  expect(service).toMatchObject({ posts: 0, creates: 0 });
  expect(slack.calls.map(({ method }) => method).sort()).toEqual(['apps.connections.open', 'auth.test']);
});

it('runs beside a bot on SQLite, as JSON too, and disturbs nothing', async () => {
  const bot = await startDailies({ dir: dir.path, env: { FFMPEG_PATH } });
  onTestFinished(() => bot.kill());
  const before = await readdir(dir.path, { recursive: true });
  const { code, said } = await doctor({ PORT: new URL(bot.url).port, FFMPEG_PATH }, ['--json']);
  const found = JSON.parse(said) as readonly Diagnosis[];
  const textOf = (subject: string) => found.find((one) => one.subject === subject)?.found;
  expect(found.filter(({ level }) => level !== 'ok')).toEqual([]);
  expect(code).toBe(0);
  expect(textOf('Store')).toMatch(/a running bot uses it \(pid \d+\)/);
  expect(textOf('Bot')).toMatch(/^one runs at .+, and is ready$/);
  expect(await readdir(dir.path, { recursive: true })).toEqual(before);
  const { message = '' } = (await bot.interact('/video create a red fox running through snow')).body;
  await bot.reaches(message, 'completed');
  expect(await bot.stop()).toBe(0);
});

it('explains its options', async () => {
  const { code, said } = await doctor({}, ['--fix']);
  expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining('Usage: npm run doctor') });
});
