import { Big } from 'big.js';
import type { SumLimit, SumPart, SumWrite } from '../engine/index.ts';
import type { Cost } from '../videos/index.ts';
import type { LedgerState } from './ledger.ts';
import type { Origin, Price, Task } from './task.ts';

/** Part of the sums of spend that holds the price of a send. */
export type SpendPart = 'held' | 'settled' | 'doubted';

/** State in the ledger that a person or a statement decided. */
export type BookedState = Extract<LedgerState, 'settled' | 'refunded' | 'released'>;

/** A purchase: the month that it counts in, fixed with its price when a person makes it. */
export interface Purchase extends Price {
  /** Month such as `2026-11`, in the team's time zone. */
  readonly period: string;
  /** Time of the purchase, in milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** Set where an approver granted what its limits lack. */
  readonly granted?: Grant;
}

/** Amounts beyond the limits of a purchase, by scope: decimal strings. They raise the limits as long as it counts. */
export type Grant = Readonly<Partial<Record<SpendScope, string>>>;

/** Money of one send of a task: of a POST that may have left, or that is to follow. */
export interface SendMoney extends Purchase {
  /** Its price by the catalog, where the service has billed another amount. Absent: `amount` is that. */
  readonly listed?: string;
  /** Part of the sums that holds its amount now; absent: none. */
  readonly counted?: SpendPart;
  /** Decision of a person or a statement, which takes precedence over the state by the task's events. */
  readonly booked?: BookedState;
}

/** Time at which a failed task counts as refunded: at once, or once a statement or a person says so. */
export type Refunds = 'assumed' | 'by_statement';

export interface TaskMoney {
  /** One entry per send, in their order. */
  readonly sends: readonly SendMoney[];
  /** Set where failed tasks are refunded only once a statement shows it: until then they stay held. */
  readonly awaitsRefund?: true;
}

/** Scope that spend is added up for. */
export type SpendScope = 'deployment' | 'team' | 'channel' | 'person';

/**
 * Returns the money of a task with at least `count` sends. A send that the record lacks gets the month and the
 * price of the one before; the first one those of the task, in UTC.
 */
export function moneyOf({ money, price, createdAtMs }: Task, count = 1): TaskMoney {
  const known = money?.sends ?? [];
  const last: Purchase = known.at(-1) ?? {
    period: new Date(createdAtMs).toISOString().slice(0, 7),
    amount: price.amount,
    currency: price.currency,
    atMs: createdAtMs,
  };
  const { period, amount, currency, atMs } = last;
  const missing = Array.from({ length: count - known.length }, () => ({ period, amount, currency, atMs }));
  return { ...money, sends: [...known, ...missing] };
}

/**
 * Returns the states in the ledger of a task's sends. A send that was followed by another one stays in doubt forever:
 * it may have been billed as well. A send after the last one never left.
 * @param last state of the last send; `null` where nothing was bought: then there are none.
 */
export function statesOf(task: Task, last: LedgerState | null): readonly LedgerState[] {
  if (last === null) return [];
  // A submission that never left is the one after the last that was sent.
  const hasLeft =
    last !== 'released' && !(last === 'reserved' && (task.state === 'claimed' || task.state === 'waiting'));
  const lastSend = hasLeft ? task.sends : task.sends + 1;
  const count = Math.max(lastSend, task.money?.sends.length ?? 0);
  return Array.from({ length: count }, (_, index) => {
    if (index + 1 === lastSend) return last;
    return index + 1 < lastSend ? 'in_doubt' : 'released';
  });
}

/**
 * Returns a task's money with a further send, in the place of one that never left.
 * @returns `null` where that one was booked: a decision must not get lost.
 */
export function withPurchase(task: Task, purchase: Purchase): TaskMoney | null {
  const money = moneyOf(task, task.sends);
  if (money.sends.slice(task.sends).some(({ booked }) => booked !== undefined)) return null;
  return { ...money, sends: [...money.sends.slice(0, task.sends), purchase] };
}

/** Amounts beyond this are an error of the service: sums take no more at once. */
const MAX_COST = 1_000_000_000;

/**
 * Returns a task whose last send costs what the service reports, rounded up to millionths. What is no amount above zero, or
 * in another currency than the price, changes nothing: the catalog's price counts.
 */
export function withCost(task: Task, cost: Cost | undefined): Task {
  const at = task.sends - 1;
  const money = moneyOf(task, task.sends);
  const send = money.sends[at];
  if (cost === undefined || send === undefined || cost.currency !== send.currency || !isAmount(cost.amount))
    return task;
  const amount = new Big(cost.amount).round(DECIMALS, Big.roundUp).toFixed();
  if (new Big(amount).eq(send.amount)) return task;
  const { amount: ordered, listed = ordered, ...rest } = send;
  return { ...task, money: { ...money, sends: money.sends.with(at, { ...rest, amount, listed }) } };
}

function isAmount(text: string): boolean {
  const value = Number(text);
  return value > 0 && value <= MAX_COST;
}

/** Decisions that make sense on a send, by its state by the task's events. */
const BOOKABLE: Readonly<Record<LedgerState, readonly BookedState[]>> = {
  reserved: [],
  settled: ['settled', 'refunded'],
  refunded: ['settled', 'refunded'],
  released: ['settled', 'released'],
  in_doubt: ['settled', 'refunded', 'released'],
};

/**
 * Returns a task's money with a decision on a send.
 * @param send number of the send, from 1.
 * @param states states of the sends by the task's events.
 * @returns `null` where the decision makes no sense, or is booked already.
 */
export function withBooking(
  task: Task,
  { send, as }: { readonly send: number; readonly as: BookedState },
  states: readonly LedgerState[],
): TaskMoney | null {
  const money = moneyOf(task, states.length);
  const state = states[send - 1];
  const known = money.sends[send - 1];
  if (state === undefined || known === undefined || known.booked === as || !BOOKABLE[state].includes(as)) return null;
  return { ...money, sends: money.sends.with(send - 1, { ...known, booked: as }) };
}

/** Place and person of an order, by which its spend is added up. */
export type SpendOrigin = Pick<Origin, 'platform' | 'team' | 'channel' | 'parentChannel' | 'user'>;

/** Returns the channel that an order counts towards: a thread's is the one that it belongs to. */
export function spendChannel({ channel, parentChannel }: Pick<SpendOrigin, 'channel' | 'parentChannel'>): string {
  return parentChannel ?? channel;
}

/** Names the sums of a purchase's month and currency, by scope: the name of the scope's budget, then these two. */
export function sumsOf(
  origin: SpendOrigin,
  { period, currency }: Pick<Purchase, 'period' | 'currency'>,
): Readonly<Record<SpendScope, string>> {
  const { deployment, team, channel, person } = budgetsOf(origin);
  const named = (budget: string): string => `${budget}:${period}:${currency}`;
  return { deployment: named(deployment), team: named(team), channel: named(channel), person: named(person) };
}

/** Returns what to add to the sums when a task goes from `before` (null: it is new) to `after`. */
export function sumWritesOf(before: Task | null, after: Task): readonly SumWrite[] {
  const sums = new Map<string, Partial<Record<SumPart, Micros>>>();
  for (const [task, times] of [[before, -1n] as const, [after, 1n] as const]) {
    for (const { sum, part, micros } of task === null ? [] : countedOf(task)) {
      const parts = sums.get(sum) ?? {};
      parts[part] = (parts[part] ?? 0n) + times * micros;
      sums.set(sum, parts);
    }
  }
  return [...sums].flatMap(([sum, parts]) => {
    const changed = Object.entries(parts).filter(([, micros]) => micros !== 0n);
    return changed.length === 0 ? [] : [{ sum, add: Object.fromEntries(changed) }];
  });
}

interface CountedAmount {
  readonly sum: string;
  readonly part: SumPart;
  readonly micros: Micros;
}

/** Returns what a task counts, by its record: each amount once per scope, and what was granted for it. */
export function countedOf({ money, origin }: Pick<Task, 'money' | 'origin'>): readonly CountedAmount[] {
  return (money?.sends ?? []).flatMap((send) => {
    const { counted: part, amount, granted = {} } = send;
    if (part === undefined) return [];
    const sums = sumsOf(origin, send);
    const extra = (Object.keys(granted) as SpendScope[]).map(
      (scope) => ({ sum: sums[scope], part: 'extra', micros: microsOf(granted[scope] ?? '0') }) as const,
    );
    return [...Object.values(sums).map((sum) => ({ sum, part, micros: microsOf(amount) })), ...extra];
  });
}

/** Names the budget of each scope; the default of people without a budget of their own is {@link everyoneBudget}. */
export function budgetsOf(origin: SpendOrigin): Readonly<Record<SpendScope, string>> {
  const { platform, team, user } = origin;
  return {
    deployment: 'deployment',
    team: `team:${platform}:${team}`,
    channel: `channel:${platform}:${team}:${spendChannel(origin)}`,
    person: `person:${platform}:${team}:${user.id}`,
  };
}

/** Names the budget of each person of a team without one of their own. */
export function everyoneBudget({ platform, team }: Pick<Origin, 'platform' | 'team'>): string {
  return `everyone:${platform}:${team}`;
}

/** Limit of one scope on the spend of a month. */
export interface BudgetLimit extends SumLimit {
  readonly scope: SpendScope;
}

/** Returns the limits that a purchase has to keep within: one per scope; none where it costs nothing. */
export function limitsOn(origin: Origin, purchase: Purchase): readonly BudgetLimit[] {
  if (microsOf(purchase.amount) === 0n) return [];
  const sums = sumsOf(origin, purchase);
  const budgets = budgetsOf(origin);
  return (Object.keys(sums) as SpendScope[]).map((scope) => ({
    scope,
    sum: sums[scope],
    budgets: scope === 'person' ? [budgets.person, everyoneBudget(origin)] : [budgets[scope]],
    currency: purchase.currency,
  }));
}

/** Amount of money in millionths of a currency unit: an exact integer. */
export type Micros = bigint;

const DECIMALS = 6;
const UNIT: Micros = 10n ** BigInt(DECIMALS);
const AMOUNT = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * Parses a decimal string such as `0.30`, exactly.
 * @throws RangeError for anything else, an exponent and a seventh decimal that is not zero included.
 */
export function microsOf(amount: string): Micros {
  const [, sign, units, decimals = ''] = AMOUNT.exec(amount) ?? [];
  const fraction = decimals.replace(/0+$/, '');
  if (units === undefined || fraction.length > DECIMALS) {
    throw new RangeError(`parsing the amount “${amount}”: not a decimal number with at most ${DECIMALS} decimals`);
  }
  const micros = BigInt(units) * UNIT + BigInt(fraction.padEnd(DECIMALS, '0'));
  return sign === '-' ? -micros : micros;
}

/** Returns the shortest decimal string of an amount: `0.3`, `12`, `-0.000001`. */
export function amountOf(micros: Micros): string {
  if (micros < 0n) return `-${amountOf(-micros)}`;
  const fraction = (micros % UNIT).toString().padStart(DECIMALS, '0').replace(/0+$/, '');
  return `${micros / UNIT}${fraction === '' ? '' : `.${fraction}`}`;
}
