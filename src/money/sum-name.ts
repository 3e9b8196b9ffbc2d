/** Scope, month and currency that a sum of spend is for. */
export interface SumName {
  readonly sum: string;
  readonly kind: 'deployment' | 'team' | 'channel' | 'person';
  /** Empty for the deployment. */
  readonly platform: string;
  readonly team: string;
  /** Id of the channel or the person; empty for other scopes. */
  readonly id: string;
  /** Name of the scope, as in the namespace `budgets`. */
  readonly scope: string;
  readonly period: string;
  readonly currency: string;
}

const NAME = /^((deployment)|(team):([^:]+):([^:]+)|(channel|person):([^:]+):([^:]+):(.+)):(\d{4}-\d{2}):([A-Z]{3})$/s;

/** Parses the name of a sum, such as `team:slack:T1:2026-11:USD`; `null` for any other. */
export function parseSumName(sum: string): SumName | null {
  const found = NAME.exec(sum);
  if (found === null) return null;
  const [, scope = '', , , teamPlatform, team, part, partPlatform, partTeam, id = '', period = '', currency = ''] =
    found;
  const common = { sum, scope, period, currency, id };
  if (teamPlatform !== undefined && team !== undefined)
    return { ...common, kind: 'team', platform: teamPlatform, team };
  if (partPlatform === undefined || partTeam === undefined)
    return { ...common, kind: 'deployment', platform: '', team: '' };
  return { ...common, kind: part === 'channel' ? 'channel' : 'person', platform: partPlatform, team: partTeam };
}
