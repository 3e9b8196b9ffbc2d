import { z } from 'zod';
import type { Exception } from '#src/chat/index.ts';
import type { Given, PlatformConfig, TokenMistake } from '#src/config/index.ts';
import { onOff, optional, serviceUrl, text } from '#src/variables.ts';

export interface SlackSettings {
  readonly botToken?: string;
  readonly appToken?: string;
  readonly signingSecret?: string;
  readonly apiUrl?: string;
  readonly installation?: { readonly clientId: string; readonly clientSecret: string; readonly stateSecret: string };
}

/** @see https://docs.slack.dev/authentication/tokens for the prefixes */
const APP_TOKEN: TokenMistake = {
  prefix: /^xapp-/,
  advice: 'begins with xapp-: that is the app-level token, which belongs in SLACK_APP_TOKEN; swap the two',
};
const BOT_TOKEN: TokenMistake = {
  prefix: /^xoxb-/,
  advice: 'begins with xoxb-: that is the bot token, which belongs in SLACK_BOT_TOKEN; swap the two',
};
const USER_TOKEN: TokenMistake = {
  prefix: /^xox[ep](?!\.xoxb)/,
  advice: 'is not a bot token; take the Bot User OAuth Token (xoxb-…) from the app’s page OAuth & Permissions',
};

export const slackConfig: PlatformConfig<SlackSettings> = {
  name: 'slack',
  title: 'Slack',
  variables: z.object({
    SLACK_BOT_TOKEN: text.optional().meta({ description: 'turns Slack on (single workspace)', unset: 'off' }),
    SLACK_APP_TOKEN: text.optional().meta({ description: 'Socket Mode', unset: 'HTTP mode' }),
    SLACK_SIGNING_SECRET: text
      .optional()
      .meta({ description: 'HTTP mode: requests at `POST /slack/events`', unset: 'required in HTTP mode' }),
    SLACK_CLIENT_ID: text
      .optional()
      .meta({ description: 'installation by several workspaces', unset: 'single workspace' }),
    SLACK_CLIENT_SECRET: text.optional().meta({ description: 'its secret', unset: 'required with `SLACK_CLIENT_ID`' }),
    SLACK_STATE_SECRET: text
      .optional()
      .meta({ description: 'key that signs the state of an installation', unset: 'required with `SLACK_CLIENT_ID`' }),
    SLACK_API_URL: serviceUrl.optional().meta({ description: 'Web API base', unset: 'Slack’s own' }),
    SLACK_GUESTS: onOff.describe('`on`: guests may order'),
    SLACK_EXTERNAL: onOff.describe('`on`: people of other organisations (Slack Connect) may order'),
  }),
  teamId: /^[TE][A-Z0-9]+$/,
  teamExample: 'slack:T0123ABC',
  userId: /^[UW][A-Z0-9]+$/,
  userExample: 'slack:U0123ABC',
  tokens: {
    SLACK_BOT_TOKEN: [APP_TOKEN, USER_TOKEN],
    SLACK_APP_TOKEN: [BOT_TOKEN],
    SLACK_SIGNING_SECRET: [APP_TOKEN, BOT_TOKEN],
    SLACK_CLIENT_SECRET: [APP_TOKEN, BOT_TOKEN],
  },
  isOn,
  contradictions,
  admits: (given) => {
    const switches = { external: given['SLACK_EXTERNAL'], guest: given['SLACK_GUESTS'] };
    return Object.entries(switches).flatMap(([name, value]) => (value === 'on' ? [name as Exception] : []));
  },
  settings,
};

function isOn(given: Given): boolean {
  return given['SLACK_BOT_TOKEN'] !== undefined || given['SLACK_CLIENT_ID'] !== undefined;
}

function contradictions(given: Given): readonly string[] {
  const has = (name: string): boolean => given[name] !== undefined;
  const problems: string[] = [];
  if (isOn(given) && !has('SLACK_APP_TOKEN') && !has('SLACK_SIGNING_SECRET')) {
    problems.push('SLACK_APP_TOKEN: not set; Slack needs it for Socket Mode, or SLACK_SIGNING_SECRET for HTTP mode');
  }
  if (has('SLACK_CLIENT_ID')) {
    for (const name of ['SLACK_CLIENT_SECRET', 'SLACK_STATE_SECRET']) {
      if (!has(name)) problems.push(`${name}: not set; SLACK_CLIENT_ID needs it for installations`);
    }
    if (!has('ALLOW_TEAMS')) {
      const why =
        'SLACK_CLIENT_ID lets workspaces install the app, so it takes those that may (slack:T…, or * for all)';
      problems.push(`ALLOW_TEAMS: not set; ${why}`);
    }
  }
  return problems;
}

function settings(given: Given): SlackSettings {
  const { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret, SLACK_STATE_SECRET: stateSecret } = given;
  const hasInstallation = clientId !== undefined && clientSecret !== undefined && stateSecret !== undefined;
  return {
    ...optional('botToken', given['SLACK_BOT_TOKEN']),
    ...optional('appToken', given['SLACK_APP_TOKEN']),
    ...optional('signingSecret', given['SLACK_SIGNING_SECRET']),
    ...optional('apiUrl', given['SLACK_API_URL']),
    ...(hasInstallation ? { installation: { clientId, clientSecret, stateSecret } } : {}),
  };
}
