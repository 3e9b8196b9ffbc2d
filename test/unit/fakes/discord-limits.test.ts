import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FakeDiscord, startDiscord } from '#test/fakes/discord/index.ts';
import { RawBot } from './raw-bot.ts';

const SEND = 'POST /channels/:channel/messages';
const QUIET = { content: 'x', allowed_mentions: { parse: [] } };

let discord: FakeDiscord;
let bot: RawBot;

beforeEach(async () => {
  discord = await startDiscord({
    limits: { send: { limit: 2, windowMs: 60_000 }, global: { limit: 4, windowMs: 60_000 } },
  });
  bot = new RawBot(discord);
});
afterEach(() => discord.close());

const send = (channel = discord.channels.general) => bot.call(`POST /channels/${channel}/messages`, QUIET);
const count = (): number => discord.messages(discord.channels.general).length;

it('reports each bucket in headers, and counts a violation of a reported limit', async () => {
  expect((await send()).headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' });
  expect((await send()).headers).toMatchObject({ 'x-ratelimit-remaining': '0' });
  // Ensures that the next request arrives later than the headers were sent.
  const sentAtMs = Date.now();
  await expect.poll(() => Date.now()).toBeGreaterThan(sentAtMs + 1);
  const { status, json, headers } = await send();
  expect({ status, global: json['global'] }).toEqual({ status: 429, global: false });
  expect(Number(headers['retry-after'])).toBeCloseTo(Number(json['retry_after']), 1);
  expect(discord.violations).toHaveLength(1);
  expect((await send(discord.channels.clips)).status).toBe(200);
});

it('counts no violation of a limit that the bot could not know', async () => {
  const releases = [discord.hold(SEND), discord.hold(SEND), discord.hold(SEND)];
  const sent = [send(), send(), send()];
  // Answered after all three arrived: the limit had not been reported to any of them.
  await expect.poll(() => discord.held).toBe(3);
  for (const release of releases) release();
  const statuses = await Promise.all(sent);
  expect(statuses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 200, 429]);
  expect(discord.rateLimited).toBe(1);
  expect(discord.violations).toEqual([]);
});

it('counts every request of the bot, but not those by an interaction token', async () => {
  for (let asked = 0; asked < 4; asked += 1) await bot.call('GET /users/@me');
  expect((await bot.call('GET /users/@me')).headers).toMatchObject({
    'x-ratelimit-global': 'true',
    'x-ratelimit-scope': 'global',
  });
  expect((await bot.call('GET /webhooks/1/2/messages/@original')).status).toBe(404);
});

it('applies an injected limit, and reports a bot that does not wait', async () => {
  discord.rateLimit(SEND, { retryAfterMs: 60_000, scope: 'shared' });
  expect(await send()).toMatchObject({ status: 429, headers: { 'x-ratelimit-scope': 'shared' } });
  expect(discord.violations).toEqual([]);
  // Another channel has its own limit.
  expect((await send(discord.channels.clips)).status).toBe(200);
  expect(discord.violations).toEqual([]);
  await send();
  expect(discord.violations[0]).toContain('Retry-After');
});

it('drops a response after the request was executed', async () => {
  discord.dropNextAnswer(SEND);
  await expect(send()).rejects.toThrow();
  expect(count()).toBe(1);
  expect((await send()).status).toBe(200);
});

it('fails before or after the request is executed', async () => {
  discord.fail(SEND, 500);
  expect((await send()).status).toBe(500);
  expect(count()).toBe(0);
  discord.fail(SEND, 503, { acts: true });
  expect((await send()).status).toBe(503);
  expect(count()).toBe(1);
});

it('holds a request until it is released', async () => {
  const release = discord.hold(SEND);
  const sent = send();
  await bot.call('GET /users/@me');
  expect(count()).toBe(0);
  release();
  expect((await sent).status).toBe(200);
});

it.each([
  ['no User-Agent of a bot', 'GET /users/@me', { 'user-agent': 'curl' }],
  ['the token in a URL', 'GET /users/fake.discord.token', {}],
  ['an unknown endpoint', 'GET /nowhere', {}],
  ['a body that is no JSON', SEND.replace(':channel', '1'), { 'content-type': 'text/plain' }],
])('counts %s as a violation', async (_what, call, headers) => {
  await bot.call(call, call.startsWith('POST') ? QUIET : undefined, { headers });
  expect(discord.violations).toHaveLength(1);
});

it('keeps the hash of a large file and not the file', async () => {
  const size = 33 * 1024 * 1024;
  const large = await startDiscord({ maxFileBytes: size });
  const files = { 'fox.mp4': 'x'.repeat(size) };
  const { json } = await new RawBot(large).call(`POST /channels/${large.channels.general}/messages`, QUIET, { files });
  const [file] = large.message(json.id).attachments;
  expect(file).toMatchObject({ bytes: size, contentType: 'video/mp4' });
  expect((await fetch(file?.url ?? '')).status).toBe(410);
  await large.close();
});
