import { z } from 'zod';
import type { AccessRules, Exception } from '../chat/access.ts';

const TEAM = /^(?:slack:[TE][A-Z0-9]+|discord:\d{5,20})$/;
const TEAMS = 'teams such as slack:T0123ABC,discord:123456789012345678, or * for all';

/** Schema of `ALLOW_TEAMS`, which keeps its text. */
export const teamList = z.string().refine((text) => {
  const teams = splitTeams(text);
  return teams.length > 0 && (text.trim() === '*' || teams.every((team) => TEAM.test(team)));
}, TEAMS);

/** Users allowed to use the bot, as configured. */
export interface AccessConfig {
  /** `ALLOW_TEAMS`: `all`, or the teams as `platform:id`; `null`: each platform's default. */
  readonly teams: 'all' | readonly string[] | null;
  /** Kinds of users admitted besides members: `SLACK_EXTERNAL`, `SLACK_GUESTS`, `DISCORD_USER_INSTALL`. */
  readonly admits: readonly Exception[];
}

/** The variables that {@link accessOf} reads. */
export interface AccessEnvironment {
  readonly ALLOW_TEAMS?: string | undefined;
  readonly SLACK_GUESTS: 'on' | 'off';
  readonly SLACK_EXTERNAL: 'on' | 'off';
  readonly DISCORD_USER_INSTALL: 'on' | 'off';
}

/** Reads the users allowed to use the bot from their variables. */
export function accessOf(env: AccessEnvironment): AccessConfig {
  const { ALLOW_TEAMS: teams } = env;
  const switches = { external: env.SLACK_EXTERNAL, guest: env.SLACK_GUESTS, user_install: env.DISCORD_USER_INSTALL };
  return {
    teams: teams === undefined ? null : teams.trim() === '*' ? 'all' : splitTeams(teams),
    admits: (Object.keys(switches) as Exception[]).filter((name) => switches[name] === 'on'),
  };
}

/** Returns the rules of one platform. @param standard teams to use if `ALLOW_TEAMS` is not set. */
export function rulesOf(
  platform: string,
  { teams, admits }: AccessConfig,
  standard: AccessRules['teams'],
): AccessRules {
  const prefix = `${platform}:`;
  const own = (all: readonly string[]): ReadonlySet<string> =>
    new Set(all.filter((team) => team.startsWith(prefix)).map((team) => team.slice(prefix.length)));
  return { teams: teams === null ? standard : teams === 'all' ? 'all' : own(teams), admits: new Set(admits) };
}

function splitTeams(text: string): readonly string[] {
  return text
    .split(',')
    .map((team) => team.trim())
    .filter((team) => team !== '');
}
