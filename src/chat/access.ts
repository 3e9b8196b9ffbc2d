/** Something about a person that is admitted only where a setting says so. */
export type Exception =
  /** Of another organisation, in a shared channel. */
  | 'external'
  /** A guest of the workspace. */
  | 'guest'
  /** Brought the bot along: nobody but the person installed it there. */
  | 'user_install';

/** Who may use the bot on one platform. */
export interface AccessRules {
  /** Ids of the teams (workspaces, organisations, servers) that may use the bot, or `all`. */
  readonly teams: 'all' | ReadonlySet<string>;
  readonly admits: ReadonlySet<Exception>;
}

/** What a platform says about someone who does something. */
export interface AccessFacts {
  /** Ids under which their team may be allowed; empty: they belong to none of them. */
  readonly teams: readonly string[];
  readonly exceptions: readonly Exception[];
}

/** Why someone may not use the bot. `team` names the team that is not allowed, `null` where there is none. */
export type AccessRefusal =
  | { readonly reason: 'team'; readonly platform: string; readonly team: string | null }
  | { readonly reason: Exception };

/** Returns why someone may not use the bot, `null` where they may. The only such decision, for every platform. */
export function accessRefusal(platform: string, rules: AccessRules, facts: AccessFacts): AccessRefusal | null {
  const exception = facts.exceptions.find((one) => !rules.admits.has(one));
  if (exception !== undefined) return { reason: exception };
  const { teams } = rules;
  const isAllowed = teams === 'all' ? facts.teams.length > 0 : facts.teams.some((team) => teams.has(team));
  return isAllowed ? null : { reason: 'team', platform, team: facts.teams[0] ?? null };
}
