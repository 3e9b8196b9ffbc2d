/** Property of a user that requires a setting to be admitted. */
export type Exception =
  /** Member of another organisation, in a shared channel. */
  | 'external'
  /** Guest of the workspace. */
  | 'guest'
  /** User-installed app: only the user installed the bot, not the server. */
  | 'user_install';

/** Access rules of one platform. */
export interface AccessRules {
  /** Ids of the teams (workspaces, organisations, servers) that may use the bot, or `all`. */
  readonly teams: 'all' | ReadonlySet<string>;
  readonly admits: ReadonlySet<Exception>;
}

/** Facts that a platform states about the requester. */
interface AccessFacts {
  /** Ids under which the requester's team may be allowed; empty: the requester has no team. */
  readonly teams: readonly string[];
  readonly exceptions: readonly Exception[];
}

/** Reason for refusing access. `team` is the id of the team that is not allowed, `null` where there is none. */
export type AccessRefusal =
  | { readonly reason: 'team'; readonly platform: string; readonly team: string | null }
  | { readonly reason: Exception };

/** Returns the reason for refusing access, `null` where it is allowed. The only such decision, for every platform. */
export function accessRefusal(platform: string, rules: AccessRules, facts: AccessFacts): AccessRefusal | null {
  const exception = facts.exceptions.find((one) => !rules.admits.has(one));
  if (exception !== undefined) return { reason: exception };
  const { teams } = rules;
  const isAllowed = teams === 'all' ? facts.teams.length > 0 : facts.teams.some((team) => teams.has(team));
  return isAllowed ? null : { reason: 'team', platform, team: facts.teams[0] ?? null };
}
