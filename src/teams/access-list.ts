import type { AccessRules, Exception } from '../chat/index.ts';
import type { PlatformConfig } from '../config/index.ts';
import { readBy } from '../variables.ts';

/** Returns the schema of `ALLOW_TEAMS`. */
export function teamListOf(platforms: readonly Pick<PlatformConfig, 'name' | 'teamId' | 'teamExample'>[]) {
  const isTeam = (team: string): boolean =>
    platforms.some(({ name, teamId }) => team.startsWith(`${name}:`) && teamId.test(team.slice(name.length + 1)));
  const examples = platforms.map(({ teamExample }) => teamExample).join(',');
  return readBy<'all' | readonly string[]>((text) => {
    const teams = splitList(text);
    if (text.trim() === '*') return 'all';
    return teams.length > 0 && teams.every(isTeam) ? teams : null;
  }, `teams such as ${examples}, or * for all`);
}

/** Users allowed to use the bot, as configured. */
export interface AccessConfig {
  /** `ALLOW_TEAMS`: `all`, or the teams as `platform:id`; `null`: each platform's default. */
  readonly teams: 'all' | readonly string[] | null;
  /** Kinds of users admitted besides members. */
  readonly admits: readonly Exception[];
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

/** Splits a list at its commas; ignores blanks and empty entries. */
export function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
