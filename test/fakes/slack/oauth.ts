import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { checked } from './form.ts';
import type { Call, Method } from './methods.ts';
import type { Json, Team } from './records.ts';
import { Refusal } from './refusal.ts';
import { id, type World } from './world.ts';

/** OAuth client credentials of the app. */
export const CLIENT = { id: '1234567890.0987654321', secret: 'fake-client-secret' } as const;

const exchanging = z.looseObject({
  code: z.string().min(1),
  redirect_uri: z.string().optional(),
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
});

/**
 * Approves the app in a workspace, at the authorization URL to which the app sent the user.
 * @param asked `https://slack.com/oauth/v2/authorize?…` as the app built it
 * @returns the redirect for the user's browser: `redirect_uri?code=…&state=…`
 * @see docs.slack.dev/authentication/installing-with-oauth "Asking for scopes"
 */
export function authorize(world: World, asked: string, teamId: string): string {
  const { pathname, searchParams } = new URL(asked);
  const wrong: string[] = [];
  if (!pathname.endsWith('/oauth/v2/authorize')) wrong.push(`authorization at ${pathname}`);
  if (searchParams.get('client_id') !== CLIENT.id) wrong.push('another client_id');
  // "Use the state parameter to avoid forgery attacks".
  if ((searchParams.get('state') ?? '') === '') wrong.push('no state');
  const scopes = (searchParams.get('scope') ?? '').split(',').filter((one) => one !== '');
  if (scopes.length === 0) wrong.push('no scope');
  const beyond = scopes.filter((one) => !world.manifest.scopes.includes(one));
  if (beyond.length > 0) wrong.push(`scopes that the manifest lacks: ${beyond.join(', ')}`);
  const redirectUri = searchParams.get('redirect_uri') ?? '';
  if (redirectUri === '') wrong.push('no redirect_uri');
  for (const one of wrong) world.violate(`oauth/v2/authorize: ${one}`);
  const code = randomBytes(16).toString('hex');
  world.codes.set(code, { teamId, redirectUri, scopes });
  const target = new URL(redirectUri);
  target.searchParams.set('code', code);
  target.searchParams.set('state', searchParams.get('state') ?? '');
  return target.href;
}

/**
 * Serves the authorization page to a browser: approves at once, in the workspace `team` or in the most recently created
 * one.
 */
export function showAuthorization(world: World, asked: URL, response: ServerResponse): void {
  const teamId = asked.searchParams.get('team') ?? [...world.teams.keys()].at(-1) ?? '';
  if (!URL.canParse(asked.searchParams.get('redirect_uri') ?? '')) response.writeHead(400).end('bad_redirect_uri');
  else response.writeHead(302, { location: authorize(world, asked.href, teamId) }).end();
}

/**
 * Invalidates the token of a workspace.
 * @param error "account_inactive: … the app has been removed when using a bot token" (reference/methods/auth.test), or
 * token_revoked
 */
export function endToken(team: Team, error: 'token_revoked' | 'account_inactive'): void {
  if (team.botToken !== null) team.ended.set(team.botToken, error);
  team.botToken = null;
}

/** Makes the most recently invalidated token valid again. */
export function restoreToken(team: Team): void {
  const [token] = [...team.ended.keys()].slice(-1);
  if (token === undefined || team.botToken !== null) return;
  team.ended.delete(token);
  team.botToken = token;
}

/**
 * Methods that exchange a code for a token and revoke a token. @see docs.slack.dev/reference/methods/oauth.v2.access
 */
export const oauthMethods = {
  'oauth.v2.access': {
    by: 'none',
    scopes: [],
    tier: 4,
    handle(call): Json {
      const { world, args } = call;
      const form = checked(exchanging, args, { what: 'oauth.v2.access' });
      demandClient(call, form.client_id, form.client_secret);
      const code = world.codes.get(form.code);
      // @see docs.slack.dev/reference/methods/oauth.v2.access: invalid_code, bad_redirect_uri; a code works once
      if (code === undefined) throw new Refusal('invalid_code');
      world.codes.delete(form.code);
      if ((form.redirect_uri ?? '') !== code.redirectUri) throw new Refusal('bad_redirect_uri');
      const team = world.team(code.teamId);
      team.botToken ??= `xoxb-${randomBytes(12).toString('hex')}`;
      team.scopes = new Set(code.scopes);
      const installer = world.users.values().find((one) => one.teamId === team.id && !one.isBot);
      return {
        access_token: team.botToken,
        token_type: 'bot',
        scope: code.scopes.join(','),
        bot_user_id: team.botUserId,
        app_id: world.appId,
        team: { id: team.id, name: team.name },
        enterprise: null,
        authed_user: { id: installer?.id ?? id('U') },
        is_enterprise_install: false,
      };
    },
  },
  'auth.revoke': {
    by: 'bot',
    scopes: [],
    tier: 3,
    handle({ team }) {
      endToken(team, 'token_revoked');
      return { revoked: true };
    },
  },
} as const satisfies Record<string, Method>;

function demandClient({ basic }: Call, clientId = '', secret = ''): void {
  const isRight = basic === `${CLIENT.id}:${CLIENT.secret}` || (clientId === CLIENT.id && secret === CLIENT.secret);
  if (!isRight) throw new Refusal('bad_client_secret', { violation: 'oauth.v2.access with wrong client credentials' });
}
