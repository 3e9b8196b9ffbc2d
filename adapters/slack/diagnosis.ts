import type { CheckDeps } from '#commands/adapter.ts';
import { CHECK_TIMEOUT_MS, type Check, type Finding, type Findings, ok, warning, wrong } from '#src/doctor/index.ts';
import type { DailiesError } from '#src/errors.ts';
import { rulesOf } from '#src/teams/index.ts';
import type { SlackSettings } from './config.ts';
import { withTokenHint } from './installation/authentication.ts';
import { botScopes } from './installation/manifest.ts';
import { TokenHealth } from './installation/token-health.ts';
import { PLATFORM } from './interactions/listeners.ts';
import { createClient } from './web-api/client.ts';
import { slackCodeOf, translate } from './web-api/errors.ts';

const TIMEOUT_MS = CHECK_TIMEOUT_MS - 1_000;
const REINSTALL =
  'https://api.slack.com/apps › your app › App Manifest: paste the one of npm run commands, save; then Install App › Reinstall.';

/** Returns the checks of Slack. They only read: a URL for a Socket Mode connection is requested, and not used. */
export function slackChecks(settings: SlackSettings, deps: CheckDeps): readonly Check[] {
  const { appToken } = settings;
  return [
    { subject: 'Slack token', run: () => checkBotToken(settings, deps) },
    appToken === undefined
      ? { subject: 'Slack request URL', run: () => checkRequestUrl(deps) }
      : { subject: 'Slack Socket Mode', run: () => checkSocketMode(appToken, settings, deps) },
    { subject: 'ADMINS', run: () => checkAdmins(settings, deps) },
  ];
}

async function checkBotToken(settings: SlackSettings, deps: CheckDeps): Promise<Findings> {
  const { botToken } = settings;
  if (botToken === undefined)
    return ok('workspaces install the app at /slack/install; their tokens are in the store, and not looked at');
  const health = new TokenHealth(botScopes(deps.config.links?.publicUrl));
  try {
    const response = await clientOf(botToken, settings, deps).auth.test();
    const { team = '', team_id: id = '', enterprise_id: enterprise = '', user = '' } = response;
    health.accepted(id, response);
    const { teams } = rulesOf(PLATFORM, deps.config.access, 'all');
    const isAllowed = teams === 'all' || teams.has(id) || teams.has(enterprise);
    return [
      ok(`accepted as @${user} in ${team} (${id})`),
      isAllowed
        ? null
        : wrong(`it does not name ${team}, so nobody there may use the bot`, `Add slack:${id} to it.`, 'ALLOW_TEAMS'),
      ...scopesOf(health, id, response.response_metadata?.scopes),
    ];
  } catch (thrown) {
    return refusal(withTokenHint(translate(thrown, 'testing the bot token'), 'SLACK_BOT_TOKEN'));
  }
}

/** Features that are off as a whole without a scope. */
const FEATURES: readonly (readonly [scope: string, feature: string])[] = [
  ['assistant:write', 'suggestions and status in the assistant pane'],
  ['links:read', 'previews of links'],
  ['links:write', 'previews of links'],
];

function scopesOf(health: TokenHealth, id: string, scopes: readonly string[] | undefined): readonly (Finding | null)[] {
  const subject = 'Slack scopes';
  if (scopes === undefined)
    return [warning('Slack does not say which the token has', 'Run this again later.', subject)];
  const [missing, optional] = [health.missing(id).join(', '), health.missingOptional(id).join(', ')];
  const lacking = FEATURES.filter(([scope]) => health.missingOptional(id).includes(scope));
  const off = [...new Set(lacking.map(([, feature]) => feature))];
  const without = off.length === 0 ? '' : `; without it, ${off.join(' and ')} are off`;
  const features = `the token lacks ${optional}, which some features need (adapters/slack/readme.md)${without}`;
  return [
    missing === '' ? null : wrong(`the token lacks ${missing}: nothing can be ordered`, REINSTALL, subject),
    optional === '' ? null : warning(features, REINSTALL, subject),
    missing === '' && optional === '' ? ok('all that the manifest asks for', subject) : null,
  ];
}

/** @see https://docs.slack.dev/reference/methods/apps.connections.open */
async function checkSocketMode(appToken: string, settings: SlackSettings, deps: CheckDeps): Promise<Findings> {
  try {
    await clientOf(appToken, settings, deps).apps.connections.open();
    return ok('on; the app-level token is accepted');
  } catch (thrown) {
    const error = translate(thrown, 'asking for a Socket Mode connection');
    const code = slackCodeOf(error);
    if (code === 'missing_scope' || code === 'no_permission') {
      const where = 'https://api.slack.com/apps › your app › Basic Information › App-Level Tokens';
      return wrong('SLACK_APP_TOKEN lacks connections:write', `${where}: generate one with that scope.`);
    }
    return refusal(withTokenHint(error, 'SLACK_APP_TOKEN'));
  }
}

/** Sends an unsigned request to our own address, which a bot in HTTP mode rejects. */
async function checkRequestUrl({ config, fetch }: CheckDeps): Promise<Findings> {
  const publicUrl = config.links?.publicUrl;
  const correct = 'https://api.slack.com/apps › your app › Event Subscriptions › Request URL › Retry';
  if (publicUrl === undefined) {
    return warning(
      'HTTP mode, but PUBLIC_URL is not set, so it cannot be checked',
      `Set PUBLIC_URL, or see there: ${correct}.`,
    );
  }
  const url = `${publicUrl}/slack/events`;
  const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
  const answer = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    () => null,
  );
  switch (answer?.status) {
    case 401:
      return ok(`${url} reaches a bot that rejects unsigned requests; that Slack uses it is seen there: ${correct}`);
    case 503:
      return warning(`${url} reaches a bot that is not connected to Slack yet`, 'Wait a moment, then run this again.');
    case undefined:
      return warning(
        `${url} does not answer this machine`,
        'Start the bot, then run this again; see PUBLIC_URL as well.',
      );
    default:
      return wrong(
        `${url} answers HTTP ${answer?.status}, not as a bot in HTTP mode does`,
        'Let the proxy pass /slack/ on to the bot, and restart it with SLACK_SIGNING_SECRET.',
      );
  }
}

async function checkAdmins(settings: SlackSettings, deps: CheckDeps): Promise<Findings> {
  if (settings.botToken === undefined) return null;
  const client = clientOf(settings.botToken, settings, deps);
  const admins = deps.config.admins.filter(({ platform }) => platform === PLATFORM);
  return Promise.all(
    admins.map(async ({ user }) => {
      try {
        const { user: found } = await client.users.info({ user });
        return found?.deleted === true ? unknownAdmin(user, 'was deactivated') : null;
      } catch (thrown) {
        const error = translate(thrown, 'looking up a person');
        const code = slackCodeOf(error);
        if (code === 'user_not_found' || code === 'user_not_visible')
          return unknownAdmin(user, 'is not in this workspace');
        // A dead token or a missing scope has its own line.
        return code === 'missing_scope' || error.code === 'unauthorised' ? null : refusal(error);
      }
    }),
  );
}

function unknownAdmin(user: string, why: string): Finding {
  return warning(`slack:${user} ${why}`, 'Correct the id: the person’s profile › ⋮ › Copy member ID.');
}

function refusal({ code, message }: DailiesError): Finding {
  if (code === 'unauthorised') return wrong('Slack does not accept it', message);
  return wrong(message, 'Check the network, a proxy on the way and https://slack-status.com.');
}

function clientOf(token: string, { apiUrl }: SlackSettings, { logger }: CheckDeps) {
  return createClient(token, { apiUrl, logger, timeoutMs: TIMEOUT_MS });
}
