import { createClient } from '@keyv/redis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { slackManifest } from '#adapters/slack/manifest.ts';
import { type FakeDiscord, fileOf, startDiscord } from '#test/fakes/discord/index.ts';
import { Onlooker } from '#test/fakes/discord-program.ts';
import { type Hidden, leaks } from '#test/fakes/hidden.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { type FakeSlack, startSlack } from '#test/fakes/slack/index.ts';
import { type Call, type FakeVideoService, startVideoService } from '#test/fakes/video-service.ts';
import { makeDir, type RunningDailies, runToEnd, startDailies } from './dailies.ts';

/** Distinctive, and different once they are encoded. */
const OWN = {
  VIDEO_API_TOKEN: 'sk-hidden/video+token~7f3a9c21==',
  DISCORD_TOKEN: 'hidden-discord.token-7f3a.value_9c21',
  SLACK_CLIENT_SECRET: 'hidden/slack+client?secret-7f3a9c21',
  SLACK_STATE_SECRET: 'hidden/slack+state?secret-7f3a9c21',
  LINK_SECRET: 'hidden/link+secret?of-7f3a9c21',
  PLAYGROUND_TOKEN: 'hidden/playground+token?7f3a9c21',
  BOARD_TOKEN: 'hidden/board+token?7f3a9c21',
  REDIS_PASSWORD: 'hidden/redis+password?7f3a9c21',
} as const;
const SIGNATURE = 'hidden%2Fsignature%2Bof-a-clip-7f3a9c21';
const WITHIN = { timeout: 30_000, interval: 25 };

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let slack: FakeSlack;
let discord: FakeDiscord;
let redis: RedisServer;
let dailies: RunningDailies | null;

beforeEach(async () => {
  upstream = await startVideoService({ token: OWN.VIDEO_API_TOKEN });
  dir = await makeDir();
  slack = await startSlack({ manifest: slackManifest(null) });
  discord = await startDiscord({ token: OWN.DISCORD_TOKEN });
  redis = await RedisServer.start('--requirepass', OWN.REDIS_PASSWORD);
  dailies = null;
});

afterEach(async () => {
  await dailies?.kill();
  await Promise.all([slack.close(), discord.close(), upstream.close(), redis.remove()]);
  await dir.remove();
});

const storeUrl = (password: string = OWN.REDIS_PASSWORD): string =>
  `redis://default:${encodeURIComponent(password)}@127.0.0.1:${redis.port}`;

const environment = () => ({
  ...Object.fromEntries(Object.entries(OWN).filter(([name]) => name !== 'REDIS_PASSWORD')),
  VIDEO_API_BASE_URL: upstream.baseUrl,
  STORE_URL: storeUrl(),
  DISCORD_API_URL: discord.apiUrl,
  SLACK_BOT_TOKEN: slack.botToken,
  SLACK_APP_TOKEN: slack.appToken,
  SLACK_SIGNING_SECRET: slack.signingSecret,
  SLACK_CLIENT_ID: 'client-id',
  SLACK_API_URL: slack.apiUrl,
  PUBLIC_URL: 'https://dailies.example',
  PLAYGROUND: 'on',
  LOG_LEVEL: 'trace',
  CREATE_TIMEOUT_MS: '1500',
  REQUEST_TIMEOUT_MS: '1500',
});

/** What the program was given, and what came to it while it ran. */
function hidden(): readonly Hidden[] {
  const { botToken, appToken, signingSecret } = slack;
  const named = { ...OWN, 'bot token of Slack': botToken, 'app token of Slack': appToken, signingSecret, SIGNATURE };
  const sent = JSON.stringify(upstream.requests.map(({ body }) => body));
  const came = {
    "an interaction's token": discord.interactions.map(({ token }) => token),
    'a response_url': valuesIn(JSON.stringify(slack.envelopes), /"response_url":"https?:\/\/[^/]+\/([^"]+)"/g),
    'the verification token': valuesIn(JSON.stringify(slack.envelopes), /"token":"([^"]+)"/g),
    "a signature of Discord's": valuesIn(JSON.stringify(discord.interactions), /[?&]hm=([0-9a-f]{16,})/g),
    'a signature of ours': valuesIn(sent, /signature=([\w-]{20,})/g),
  };
  return [
    ...Object.entries(named).map(([name, text]) => ({ name, text })),
    ...Object.entries(came).flatMap(([name, texts]) => texts.map((text) => ({ name, text }))),
  ];
}

const valuesIn = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].flatMap(([, value]) => (value === undefined ? [] : [value]));

/** Everything that goes wrong with the video service, one call after the other; each echoes what it was given. */
function failInTurns(right: (call: Call) => void): (call: Call) => void {
  const echo = ({ request }: Call): string => String(request.headers.authorization);
  const ways: ((call: Call) => void)[] = [
    (call) => call.json(401, { error: { message: `bad ${echo(call)}`, code: 'invalid_api_key' }, success: false }),
    (call) => call.json(500, { error: { message: `broken for ${echo(call)}`, code: 'internal' } }),
    (call) => call.response.socket?.resetAndDestroy(),
    (call) => call.response.writeHead(200).end(`<html>${echo(call)}`),
    (call) => call.response.socket?.end(`HTTP/1.1 200 OK\r\n${echo(call)}\r\n\r\n`),
    (call) => call.json(502, { error: { message: `at ?key=${encodeURIComponent(echo(call))}` } }),
    (call) => call.json(503, { error: { message: `as ${Buffer.from(echo(call)).toString('base64')}` } }),
    (call) => call.json(400, { message: `the header authorization: ${echo(call)} is not right`, success: false }),
    (call) => call.json(429, { error: 'rate_limit_exceeded', message: echo(call) }, { 'retry-after': '0' }),
    () => undefined,
  ];
  return (call) => (ways.shift() ?? right)(call);
}

/** A clip lies at a signed address, which fails in some ways first. */
function signedClips(): void {
  const { file, content } = upstream.handlers;
  const place = `${upstream.baseUrl}/clips/1.mp4?X-Signature=${SIGNATURE}`;
  upstream.handlers.content = (call) =>
    call.task?.status === 'completed' ? call.json(200, { video_url: place }) : content(call);
  upstream.handlers.file = failInTurns(file);
}

/** Whatever goes wrong on both platforms, next. */
function failOnPlatforms(): void {
  for (const status of [401, 403, 500]) {
    discord.fail('POST /interactions/:interaction/:token/callback', status);
    discord.fail('PATCH /webhooks/:application/:token/messages/:message', status);
    discord.fail('PATCH /channels/:channel/messages/:message', status);
  }
  discord.dropNextAnswer('PATCH /webhooks/:application/:token/messages/:message');
  slack.fail('chat.update', 'invalid_auth');
  slack.failHttp('chat.update', 503);
  slack.dropNextAnswer('chat.update');
  slack.fail('chat.postMessage', 'token_expired');
  slack.failHttp('chat.postMessage', 500);
  slack.dropNextAnswer('chat.postMessage');
  slack.fail('users.info', 'invalid_auth');
  slack.failHttp('response_url', 500);
}

test('nothing that is secret is printed, shown or answered, whatever goes wrong', async () => {
  const right = { ...upstream.handlers };
  upstream.handlers.create = failInTurns(right.create);
  upstream.handlers.retrieve = failInTurns(right.retrieve);
  signedClips();
  dailies = await startDailies({ dir: dir.path, env: environment() });
  const { output } = dailies;
  // The page's own address says where its token goes.
  const url = new URL(dailies.url).origin;
  const look = new Onlooker(discord);
  const answers: string[] = [];
  const call = async (path: string, token?: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(`${url}${path}`, { redirect: 'manual', headers, ...init });
    answers.push(JSON.stringify([...response.headers]), await response.clone().text());
    return response;
  };
  const order = (text: string) => {
    const body = { id: `i${answers.length}`, user: 'ana', channel: 'general', text };
    return call('/playground/interactions', OWN.PLAYGROUND_TOKEN, { method: 'POST', body: JSON.stringify(body) });
  };

  // Each kind of failure of the video service, on each platform, with files of people's own among what is sent.
  const png = fileOf('fox.png', 'image/png', Buffer.from('89504e470d0a1a0a', 'hex'));
  for (let at = 0; at < 5; at += 1) {
    await order(`/video create a fox ${at}`);
    slack.people.slash(`/video create a fox ${at}`);
    await look.create({ prompt: `a fox ${at}`, image: png });
    failOnPlatforms();
  }
  await expect.poll(() => upstream.creates, WITHIN).toBeGreaterThan(2);
  await expect.poll(() => upstream.requests.some(({ path }) => path.startsWith('/clips/')), WITHIN).toBe(true);

  // Connections that break, and a store that is away.
  discord.breakGateway();
  slack.breakSocket();
  await redis.kill();
  await order('/video create a fox without a store');
  slack.people.slash('/video create a fox without a store');
  await call('/readyz');
  await call('/metrics');
  await call('/playground/messages?channel=general', OWN.PLAYGROUND_TOKEN);
  await redis.restart();
  await expect.poll(() => call('/readyz').then(({ status }) => status), WITHIN).toBe(200);
  await changePasswords(async () => {
    await expect.poll(() => call('/readyz').then(({ status }) => status), WITHIN).toBe(503);
    await order('/video create a fox behind a wrong password');
  });
  await expect.poll(() => call('/readyz').then(({ status }) => status), WITHIN).toBe(200);

  // Doors, with the right key and with wrong ones.
  for (const token of [OWN.PLAYGROUND_TOKEN, OWN.PLAYGROUND_TOKEN.slice(0, -1)]) {
    await call(`/?token=${encodeURIComponent(token)}`);
    await call('/playground/commands', token);
  }
  for (const password of [OWN.BOARD_TOKEN, 'wrong']) {
    const basic = Buffer.from(`anybody:${password}`).toString('base64');
    await call('/board', undefined, { headers: { authorization: `Basic ${basic}` } });
  }
  await call('/media/relay-1?expires=9999999999&signature=wrong');
  await call('/slack/install');
  await call('/slack/oauth_redirect?code=1&state=2');
  await call('/metrics');

  await expect
    .poll(() => upstream.requests.filter(({ path }) => path.startsWith('/clips/')).length, WITHIN)
    .toBeGreaterThan(5);
  expect(await dailies.stop()).toBe(0);
  const shown = JSON.stringify([...slack.calls, ...discord.requests.map(({ body }) => body), await chats()]);
  expect(hidden().length).toBeGreaterThan(20);
  expect(leaks(output(), hidden())).toEqual([]);
  expect(leaks(answers.join('\n'), hidden())).toEqual([]);
  expect(
    leaks(
      shown,
      hidden().filter(({ name }) => !name.includes('of ours') && !name.includes('token of Slack')),
    ),
  ).toEqual([]);
});

/** Redis takes another password than the one that was configured, and throws everybody out. */
async function changePasswords(meanwhile: () => Promise<void>): Promise<void> {
  const admin = createClient({ url: storeUrl() });
  await admin.connect();
  await admin.sendCommand(['CONFIG', 'SET', 'requirepass', 'another one']);
  for (const type of ['normal', 'pubsub']) await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes']);
  await meanwhile();
  await admin.sendCommand(['CONFIG', 'SET', 'requirepass', OWN.REDIS_PASSWORD]);
  admin.destroy();
}

const chats = async (): Promise<unknown> => [
  Object.values(slack.channels).flatMap((channel) => slack.messages(channel)),
  Object.values(discord.channels).flatMap((channel) => discord.messages(channel)),
];

test.each([
  ['a token that Discord does not know', () => ({ DISCORD_TOKEN: `${OWN.DISCORD_TOKEN}-wrong` })],
  ['a token that Slack does not know', () => ({ SLACK_BOT_TOKEN: 'xoxb-hidden-slack-token-7f3a9c21' })],
  ['an app token that Slack does not know', () => ({ SLACK_APP_TOKEN: 'xapp-hidden-slack-token-7f3a9c21' })],
  ['a password that Redis does not take', () => ({ STORE_URL: storeUrl('hidden/other+password?7f3a9c21') })],
  ['a Redis that is not there', () => ({ STORE_URL: 'redis://u:hidden-redis-password-7f3a9c21@127.0.0.1:9' })],
  ['a password that is no address', () => ({ STORE_URL: 'redis://u:hidden#redis/password-7f3a9c21@127.0.0.1' })],
  ['a token with a blank in it', () => ({ VIDEO_API_TOKEN: 'hidden video token-7f3a9c21' })],
  [
    'a configuration that is wrong altogether',
    () => ({
      VIDEO_API_BASE_URL: 'http://someone:hidden-password-7f3a9c21@videos.example',
      DISCORD_API_URL: 'http://someone:hidden-password-7f3a9c21@discord.example',
      SLACK_API_URL: 'ftp://someone:hidden-password-7f3a9c21@slack.example',
      PUBLIC_URL: 'ftp://someone:hidden-password-7f3a9c21@dailies.example',
      STORE_URL: 'mysql://someone:hidden-password-7f3a9c21@store.example',
      LINK_SECRET: '7f3a9c21-short',
      PLAYGROUND_TOKEN: '7f3a9c21-brief',
      BOARD_TOKEN: '7f3a9c21-small',
    }),
  ],
])('a start with %s prints none of it', async (_what, changes) => {
  const env: Record<string, string> = { ...environment(), ...changes() };
  const { code, output } = await runToEnd({ dir: dir.path, env });
  expect(code).toBe(1);
  expect(output).not.toContain('7f3a9c21');
  const given = Object.entries(env).filter(([name]) => /TOKEN|SECRET|STORE_URL/.test(name));
  expect(
    leaks(
      output,
      given.map(([name, text]) => ({ name, text })),
    ),
  ).toEqual([]);
});
