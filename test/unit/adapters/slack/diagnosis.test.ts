import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { slackConfig } from '#adapters/slack/config.ts';
import { slackChecks } from '#adapters/slack/diagnosis.ts';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { systemClock } from '#src/clock.ts';
import { readConfig } from '#src/config/config.ts';
import { type Diagnosis, runChecks } from '#src/doctor/diagnosis.ts';
import { type FakeSlack, startSlack } from '#test/fakes/slack/index.ts';

type Env = Readonly<Record<string, string>>;

async function start(): Promise<FakeSlack> {
  const slack = await startSlack({ manifest: slackManifest(null) });
  onTestFinished(async () => {
    await slack.close();
    const read = ['auth.test', 'apps.connections.open', 'users.info'];
    expect(slack.calls.map(({ method }) => method).filter((method) => !read.includes(method))).toEqual([]);
    expect(slack.socket.opened).toBe(0);
  });
  return slack;
}

const socketMode = (slack: FakeSlack): Env => ({
  SLACK_BOT_TOKEN: slack.botToken,
  SLACK_APP_TOKEN: slack.appToken,
  SLACK_API_URL: slack.apiUrl,
});

function check(env: Env, fetcher: typeof fetch = fetch): Promise<readonly Diagnosis[]> {
  const config = readConfig(env, PLATFORM_CONFIGS);
  const deps = { config, clock: systemClock, logger: pino({ level: 'silent' }), fetch: fetcher };
  return runChecks(slackChecks(slackConfig.settings(env), deps), systemClock, 60_000);
}

const troubles = (found: readonly Diagnosis[]) =>
  found.filter(({ level }) => level !== 'ok').map(({ level, subject }) => `${level} ${subject}`);

it('finds everything in order, and only reads', async () => {
  const slack = await start();
  const found = await check({
    ...socketMode(slack),
    ADMINS: `slack:${slack.users.alice}`,
    ALLOW_TEAMS: `slack:${slack.team.id}`,
  });
  expect(troubles(found)).toEqual([]);
  expect(found.map(({ subject }) => subject)).toEqual(['Slack token', 'Slack scopes', 'Slack Socket Mode']);
});

it('reports a refused bot token with Slack’s reason and the page of another one', async () => {
  const slack = await start();
  const env = socketMode(slack);
  slack.revokeToken();
  const found = await check(env);
  expect(troubles(found)).toEqual(['wrong Slack token']);
  expect(found[0]?.fix).toContain('(token_revoked)');
  expect(found[0]?.fix).toContain('OAuth & Permissions');
});

it('distinguishes required scopes from optional ones', async () => {
  const slack = await start();
  slack.removeScopes(['users:read', 'im:write']);
  const optional = await check(socketMode(slack));
  expect(troubles(optional)).toEqual(['warning Slack scopes']);
  expect(optional[1]?.found).toContain('im:write, users:read');
  slack.removeScopes(['assistant:write']);
  const withoutPane = await check(socketMode(slack));
  expect(withoutPane[1]?.found).toContain('without it, suggestions and status in the assistant pane are off');
  slack.removeScopes(['files:write']);
  expect(troubles(await check(socketMode(slack)))).toEqual(['wrong Slack scopes', 'warning Slack scopes']);
});

it('reports an app-level token that Slack refuses or that lacks its scope', async () => {
  const slack = await start();
  const unknown = await check({ ...socketMode(slack), SLACK_APP_TOKEN: 'xapp-of-another-app' });
  expect(troubles(unknown)).toEqual(['wrong Slack Socket Mode']);
  expect(unknown.at(-1)?.fix).toContain('Basic Information');
  slack.fail('apps.connections.open', 'missing_scope');
  expect((await check(socketMode(slack))).at(-1)).toMatchObject({
    level: 'wrong',
    found: expect.stringContaining('connections:write'),
  });
});

it('reports a workspace that ALLOW_TEAMS does not name, and administrators who are not in it', async () => {
  const slack = await start();
  const { carol } = slack.users;
  slack.deactivate(carol);
  const found = await check({
    ...socketMode(slack),
    ALLOW_TEAMS: 'slack:T0000',
    ADMINS: `slack:U0NOBODY,slack:${carol}`,
  });
  expect(troubles(found)).toEqual(['wrong ALLOW_TEAMS', 'warning ADMINS', 'warning ADMINS']);
});

it.each([
  [401, 'ok'],
  [404, 'wrong'],
  [503, 'warning'],
  [null, 'warning'],
])('says what the answer %j to an unsigned request means in HTTP mode', async (status, level) => {
  const slack = await start();
  const { botToken: SLACK_BOT_TOKEN, apiUrl: SLACK_API_URL } = slack;
  const env = { SLACK_BOT_TOKEN, SLACK_API_URL, SLACK_SIGNING_SECRET: 'secret' };
  const links = { PUBLIC_URL: 'https://dailies.example', LINK_SECRET: 'a secret of this test' };
  const fetcher = vi.fn<typeof fetch>(async () => {
    if (status === null) throw new TypeError('fetch failed');
    return new Response('', { status });
  });
  const found = (await check({ ...env, ...links }, fetcher)).at(-1);
  expect(found).toMatchObject({ subject: 'Slack request URL', level });
  expect(fetcher).toHaveBeenCalledExactlyOnceWith(
    'https://dailies.example/slack/events',
    expect.objectContaining({ method: 'POST' }),
  );
});
