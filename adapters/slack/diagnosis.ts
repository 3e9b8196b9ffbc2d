import type { CheckDeps } from '#commands/adapter.ts';
import { CHECK_TIMEOUT_MS, type Check, type Diagnosis, ok, warning, wrong } from '#src/doctor/index.ts';
import type { DailiesError } from '#src/errors.ts';
import { rulesOf } from '#src/teams/index.ts';
import type { SlackSettings } from './config.ts';
import { withTokenHint } from './installation/authentication.ts';
import { TokenHealth } from './installation/token-health.ts';
import { PLATFORM } from './interactions/listeners.ts';
import { createClient } from './web-api/client.ts';
import { slackCodeOf, translate } from './web-api/errors.ts';

const BOT_TOKEN = 'Slack token';
const SCOPES = 'Slack scopes';
const SOCKET_MODE = 'Slack Socket Mode';
const REQUEST_URL = 'Slack request URL';
const TIMEOUT_MS = CHECK_TIMEOUT_MS - 1_000;
const REINSTALL =
  'https://api.slack.com/apps › your app › App Manifest: paste the one of npm run commands, save; then Install App › Reinstall.';

/** Returns the checks of Slack. They only read: a URL for a Socket Mode connection is requested, and not used. */
export function slackChecks(settings: SlackSettings, deps: CheckDeps): readonly Check[] {
  const { botToken, appToken } = settings;
  const admins = deps.config.admins.filter(({ platform }) => platform === PLATFORM).map(({ user }) => user);
  return [
    { subject: BOT_TOKEN, run: () => checkBotToken(settings, deps) },
    appToken === undefined
      ? { subject: REQUEST_URL, run: () => checkRequestUrl(deps) }
      : { subject: SOCKET_MODE, run: () => checkSocketMode(appToken, settings, deps) },
    ...(botToken === undefined || admins.length === 0
      ? []
      : [{ subject: 'ADMINS', run: () => checkAdmins(botToken, admins, settings, deps) }]),
  ];
}

async function checkBotToken(settings: SlackSettings, deps: CheckDeps): Promise<readonly Diagnosis[]> {
  const { botToken } = settings;
  if (botToken === undefined) {
    return [
      ok(BOT_TOKEN, 'workspaces install the app at /slack/install; their tokens are in the store, and not looked at'),
    ];
  }
  const health = new TokenHealth();
  try {
    const response = await clientOf(botToken, settings, deps).auth.test();
    const { team = '', team_id: id = '', enterprise_id: enterprise = '', user = '' } = response;
    health.accepted(id, response);
    const { teams } = rulesOf(PLATFORM, deps.config.access, 'all');
    const isAllowed = teams === 'all' || teams.has(id) || teams.has(enterprise);
    return [
      ok(BOT_TOKEN, `accepted as @${user} in ${team} (${id})`),
      ...(isAllowed
        ? []
        : [
            wrong('ALLOW_TEAMS', `it does not name ${team}, so nobody there may use the bot`, `Add slack:${id} to it.`),
          ]),
      ...scopesOf(health, id, response.response_metadata?.scopes),
    ];
  } catch (thrown) {
    return [refusal(BOT_TOKEN, withTokenHint(translate(thrown, 'testing the bot token'), 'SLACK_BOT_TOKEN'))];
  }
}

function scopesOf(health: TokenHealth, id: string, scopes: readonly string[] | undefined): readonly Diagnosis[] {
  if (scopes === undefined) return [warning(SCOPES, 'Slack does not say which the token has', 'Run this again later.')];
  const [missing, optional] = [health.missing(id), health.missingOptional(id)];
  return [
    ...(missing.length === 0
      ? []
      : [wrong(SCOPES, `the token lacks ${missing.join(', ')}: nothing can be ordered`, REINSTALL)]),
    ...(optional.length === 0
      ? []
      : [
          warning(
            SCOPES,
            `the token lacks ${optional.join(', ')}, which some features need (adapters/slack/readme.md)`,
            REINSTALL,
          ),
        ]),
    ...(missing.length + optional.length === 0 ? [ok(SCOPES, 'all that the manifest asks for')] : []),
  ];
}

/** @see https://docs.slack.dev/reference/methods/apps.connections.open */
async function checkSocketMode(
  appToken: string,
  settings: SlackSettings,
  deps: CheckDeps,
): Promise<readonly Diagnosis[]> {
  try {
    await clientOf(appToken, settings, deps).apps.connections.open();
    return [ok(SOCKET_MODE, 'on; the app-level token is accepted')];
  } catch (thrown) {
    const error = translate(thrown, 'asking for a Socket Mode connection');
    const code = slackCodeOf(error);
    if (code === 'missing_scope' || code === 'no_permission') {
      const where = 'https://api.slack.com/apps › your app › Basic Information › App-Level Tokens';
      return [wrong(SOCKET_MODE, 'SLACK_APP_TOKEN lacks connections:write', `${where}: generate one with that scope.`)];
    }
    return [refusal(SOCKET_MODE, withTokenHint(error, 'SLACK_APP_TOKEN'))];
  }
}

/** Sends an unsigned request to our own address, which a bot in HTTP mode rejects. */
async function checkRequestUrl({ config, fetch }: CheckDeps): Promise<readonly Diagnosis[]> {
  const publicUrl = config.links?.publicUrl;
  const correct = 'https://api.slack.com/apps › your app › Event Subscriptions › Request URL › Retry';
  if (publicUrl === undefined) {
    return [
      warning(
        REQUEST_URL,
        'HTTP mode, but PUBLIC_URL is not set, so it cannot be checked',
        `Set PUBLIC_URL, or see there: ${correct}.`,
      ),
    ];
  }
  const url = `${publicUrl}/slack/events`;
  const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
  const answer = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    () => null,
  );
  switch (answer?.status) {
    case 401:
      return [
        ok(
          REQUEST_URL,
          `${url} reaches a bot that rejects unsigned requests; that Slack uses it is seen there: ${correct}`,
        ),
      ];
    case 503:
      return [
        warning(
          REQUEST_URL,
          `${url} reaches a bot that is not connected to Slack yet`,
          'Wait a moment, then run this again.',
        ),
      ];
    case undefined:
      return [
        warning(
          REQUEST_URL,
          `${url} does not answer this machine`,
          'Start the bot, then run this again; see PUBLIC_URL as well.',
        ),
      ];
    default:
      return [
        wrong(
          REQUEST_URL,
          `${url} answers HTTP ${answer?.status}, not as a bot in HTTP mode does`,
          'Let the proxy pass /slack/ on to the bot, and restart it with SLACK_SIGNING_SECRET.',
        ),
      ];
  }
}

async function checkAdmins(
  token: string,
  admins: readonly string[],
  settings: SlackSettings,
  deps: CheckDeps,
): Promise<readonly Diagnosis[]> {
  const client = clientOf(token, settings, deps);
  const all = await Promise.all(
    admins.map(async (user): Promise<readonly Diagnosis[]> => {
      try {
        const { user: found } = await client.users.info({ user });
        return found?.deleted === true ? [unknownAdmin(user, 'was deactivated')] : [];
      } catch (thrown) {
        const error = translate(thrown, 'looking up a person');
        const code = slackCodeOf(error);
        if (code === 'user_not_found' || code === 'user_not_visible')
          return [unknownAdmin(user, 'is not in this workspace')];
        // A dead token or a missing scope has its own line.
        return code === 'missing_scope' || error.code === 'unauthorised' ? [] : [refusal('ADMINS', error)];
      }
    }),
  );
  return all.flat();
}

function unknownAdmin(user: string, why: string): Diagnosis {
  return warning('ADMINS', `slack:${user} ${why}`, 'Correct the id: the person’s profile › ⋮ › Copy member ID.');
}

function refusal(subject: string, { code, message }: DailiesError): Diagnosis {
  if (code === 'unauthorised') return wrong(subject, 'Slack does not accept it', message);
  return wrong(subject, message, 'Check the network, a proxy on the way and https://slack-status.com.');
}

function clientOf(token: string, { apiUrl }: SlackSettings, { logger }: CheckDeps) {
  return createClient(token, { apiUrl, logger, timeoutMs: TIMEOUT_MS });
}
