import type { BudgetAlert, NoticeScope } from '../../chat/index.ts';
import {
  type Attempt,
  type BudgetAmounts,
  type Change,
  collection,
  commitWithRetries,
  merged,
  type SumParts,
  type Versioned,
} from '../../engine/index.ts';
import { endOfPeriod, periodOf, startOfPeriod } from '../../period.ts';
import { amountOf, isPseudonym, type Micros } from '../../tasks/index.ts';
import { budgets, usedOf } from '../budgets.ts';
import type { AlertDeps, NoticeOrder } from '../notices.ts';
import { paceOf } from '../pace.ts';
import { parseSumName, type SumName } from '../sum-name.ts';

/** State of a limit in a month: the highest threshold that was passed. */
interface ArmedRecord extends Versioned {
  /** Millionths, in decimal digits. */
  readonly limit: string;
  readonly percent: number;
}

/** By the names of the sums. */
export const armedAlerts = collection<string, ArmedRecord>({
  name: 'armed_alerts',
  holds: 'the thresholds of budgets that were passed; of a person’s budget under their id',
  personal: {
    forget: (record, { platform, team, person }, sum) => {
      const name = parseSumName(sum);
      const isTheirs = name?.kind === 'person' && name.id === person.id;
      return isTheirs && name.platform === platform && name.team === team ? null : record;
    },
  },
});

const THRESHOLDS = [100, 80, 50] as const;
const MAX_TRIES = 5;
const DAY_MS = 24 * 3_600_000;

/** A sum with its limit. */
interface Watched {
  readonly name: SumName;
  readonly parts: SumParts;
  readonly limit: Micros;
}

/**
 * Alerts at 50, 80 and 100 % of each hard limit, each once per scope, month and limit. The state of a limit is committed
 * with the alert, so that no replica repeats or loses one; a changed limit is armed above the present use.
 * @param sums names of the sums to check; those of other months are ignored.
 * @throws `store_unavailable`
 */
export async function alertOfBudgets(deps: AlertDeps, sums: readonly string[]): Promise<void> {
  const { store, clock } = deps;
  // No time zone is a day away from UTC; `checkOne` compares with the month in the team's.
  const nowMs = clock.now();
  const months = new Set([nowMs - DAY_MS, nowMs + DAY_MS].map((atMs) => periodOf(atMs, 'UTC')));
  const parsed = [...new Set(sums)].map(parseSumName).filter((name) => name !== null);
  const names = parsed.filter(({ kind, id, period }) => months.has(period) && !(kind === 'person' && isPseudonym(id)));
  if (names.length === 0) return;
  const keys = [...new Set(names.flatMap(budgetsFor))];
  const records = await store.keyv(budgets.name).getMany<BudgetAmounts>(keys);
  const found = new Map(records.flatMap((budget, at) => (budget === undefined ? [] : [[keys[at] ?? '', budget]])));
  const limited = names.flatMap((name) => {
    const limit = limitOf(name, found);
    return limit === null || limit === 0n ? [] : [{ name, limit }];
  });
  if (limited.length === 0) return;
  const parts = await store.sums(limited.map(({ name }) => name.sum));
  for (const [at, { name, limit }] of limited.entries()) {
    const sum = parts[at];
    if (sum !== undefined) await checkOne(deps, { name, limit, parts: sum });
  }
}

async function checkOne(deps: AlertDeps, watched: Watched): Promise<void> {
  const { store, clock, settings } = deps;
  const { name, limit, parts } = watched;
  const { timeZone, alerts } = await settings(name);
  if (name.period !== periodOf(clock.now(), timeZone)) return;
  let revision: number | undefined;
  const attempt = async (number: number): Promise<Attempt<undefined>> => {
    const before = await armedAlerts.get(store, name.sum);
    const isChanged = before !== undefined && before.limit !== String(limit);
    const percent = percentOf(usedOf(parts), limit);
    const after = Math.max(percent, isChanged ? 0 : (before?.percent ?? 0));
    if (before !== undefined && !isChanged && after === before.percent) return { result: undefined };
    const record = armedAlerts.replacing(name.sum, before, { limit: String(limit), percent: after });
    // Refused although the state did not change: an alert of this threshold and limit was claimed before.
    const isRepeated = number > 1 && revision === before?.revision;
    revision = before?.revision;
    const isDue = alerts && !isChanged && !isRepeated && percent > (before?.percent ?? 0);
    const claims = isDue ? claimsOf(deps, watched, percent, timeZone) : [];
    return { change: merged([{ records: [record] }, ...claims]), result: undefined };
  };
  await commitWithRetries(store, attempt, { tries: MAX_TRIES, giveUp: () => undefined });
}

function claimsOf(deps: AlertDeps, watched: Watched, percent: number, timeZone: string): readonly Change[] {
  const { name, limit } = watched;
  const threshold = THRESHOLDS.find((one) => one === percent);
  if (threshold === undefined) return [];
  const { clock, refunds, notices } = deps;
  const notice = { ...alertOf(watched, threshold, { nowMs: clock.now(), timeZone }), refunds };
  const key = ['alert', name.sum, String(limit), String(threshold)];
  return recipientsOf(name, deps).map(({ of, to }) => notices.claim({ key: [...key, of.platform], of, to, notice }));
}

function recipientsOf(
  { kind, platform, team, id }: SumName,
  { operatorsOn }: AlertDeps,
): readonly Pick<NoticeOrder, 'of' | 'to'>[] {
  const of = { platform, team };
  switch (kind) {
    case 'deployment':
      return operatorsOn.map((on) => ({ of: { platform: on, team: '' }, to: { kind: 'team' } }));
    case 'team':
      return [{ of, to: { kind: 'team' } }];
    case 'channel':
      return [{ of, to: { kind: 'channel', channel: id } }];
    case 'person':
      return [{ of, to: { kind: 'person', person: { id, name: id } } }];
  }
}

/** Returns the keys of the budgets that may limit a sum; the first one with a hard amount applies. */
function budgetsFor({ kind, scope, platform, team }: SumName): readonly string[] {
  return kind === 'person' ? [scope, `everyone:${platform}:${team}`] : [scope];
}

function limitOf(name: SumName, budgets: ReadonlyMap<string, BudgetAmounts>): Micros | null {
  const applying = budgetsFor(name)
    .map((key) => budgets.get(key)?.hard ?? {})
    .find((hard) => Object.keys(hard).length > 0);
  const amount = applying?.[name.currency];
  return amount === undefined ? null : BigInt(amount);
}

/** Returns the highest threshold that is passed; 0 for none. */
function percentOf(used: Micros, limit: Micros): number {
  return THRESHOLDS.find((percent) => used * 100n >= limit * BigInt(percent)) ?? 0;
}

function alertOf(
  { name, limit, parts }: Watched,
  percent: BudgetAlert['percent'],
  { nowMs, timeZone }: { readonly nowMs: number; readonly timeZone: string },
): Omit<BudgetAlert, 'refunds'> {
  const { period, currency } = name;
  const used = usedOf(parts);
  const times = { nowMs, startMs: startOfPeriod(period, timeZone), endMs: endOfPeriod(period, timeZone) };
  return {
    kind: 'budget_alert',
    scope: scopeOf(name),
    period,
    currency,
    percent,
    limit: amountOf(limit),
    used: amountOf(used),
    held: amountOf(parts.held),
    doubted: amountOf(parts.doubted),
    runsOutAtMs: paceOf({ used, limit, ...times })?.runsOutAtMs ?? null,
    timeZone,
  };
}

function scopeOf({ kind, id }: SumName): NoticeScope {
  if (kind === 'channel') return { kind, channel: id };
  return kind === 'person' ? { kind, person: { id, name: id } } : { kind };
}
