import {
  BUDGETS,
  type BudgetAmounts,
  isWithinBudget,
  type Store,
  type SumParts,
  usedBeyondExtra,
  ZERO_SUM,
} from '../engine/index.ts';
import { DailiesError } from '../errors.ts';
import { amountOf, type BudgetLimit, type Micros, microsOf, type Purchase, type SpendScope } from '../tasks/index.ts';

/** A limit on spend that a purchase would exceed; amounts are decimal strings. */
export interface OverBudget {
  readonly scope: SpendScope;
  /** Key of the budget that applies: `everyone:slack:T1` is the default of people without a budget of their own. */
  readonly budget: string;
  /** Month, such as `2026-11`. */
  readonly period: string;
  readonly currency: string;
  readonly limit: string;
  /** Billed, in progress and unconfirmed. */
  readonly used: string;
  /** Part of `used` in progress. */
  readonly held: string;
  /** Part of `used` that is unconfirmed. */
  readonly doubted: string;
  /** What is left; negative where the limit was lowered below what is used. */
  readonly room: string;
  readonly price: string;
  /** The scope has limits, and none in this currency. */
  readonly missingCurrency?: true;
}

/**
 * Returns the limits that a purchase would exceed, that with the least room first; none where it would exceed none (any
 * more). A limit without an amount in the purchase's currency has the least.
 * @throws `record_damaged` where a budget cannot be read, which refuses every purchase.
 */
export async function exceededLimits(
  store: Pick<Store, 'keyv' | 'sums'>,
  limits: readonly BudgetLimit[],
  purchase: Purchase,
): Promise<readonly OverBudget[]> {
  if (limits.length === 0) return [];
  const keys = limits.flatMap(({ budgets }) => budgets);
  const [sums, records] = await Promise.all([
    store.sums(limits.map(({ sum }) => sum)),
    store.keyv(BUDGETS).getMany<BudgetAmounts>([...keys]),
  ]);
  const recordOf = new Map(keys.map((key, index) => [key, records[index]]));
  const exceeded = limits.flatMap((limit, index) => {
    const found = { sum: sums[index] ?? ZERO_SUM, budgets: limit.budgets.map((key) => recordOf.get(key)) };
    const over = exceededBy(purchase, limit, found);
    return over === null ? [] : [over];
  });
  return exceeded.toSorted(byRoom);
}

/** Returns the limit as exceeded by a purchase; `null` where it is within the limit. */
function exceededBy(
  { period, currency, amount }: Purchase,
  { scope, budgets: keys }: BudgetLimit,
  { sum, budgets }: { readonly sum: SumParts; readonly budgets: readonly (BudgetAmounts | undefined)[] },
): OverBudget | null {
  const price = microsOf(amount);
  const spent = usedBeyondExtra(sum);
  if (isWithinBudget(spent + price, budgets, currency)) return null;
  const applies = budgets.findIndex((budget) => budget !== undefined && Object.keys(budget.hard ?? {}).length > 0);
  const budget = keys[applies];
  const hard = budgets[applies]?.hard[currency] ?? '0';
  if (budget === undefined || !/^\d+$/.test(hard)) {
    const doing = `reading the budgets of a ${scope}: a record is damaged`;
    throw new DailiesError(doing, { code: 'record_damaged', retryable: false });
  }
  const { held, doubted, extra } = sum;
  const limit = BigInt(hard);
  const amounts = { limit, used: spent + extra, held, doubted, room: limit - spent, price };
  const isMissing = budgets[applies]?.hard[currency] === undefined;
  const missing = isMissing ? { missingCurrency: true as const } : {};
  return { scope, budget, period, currency, ...inDecimals(amounts), ...missing };
}

/** Sorts limits by their room, those without an amount in the currency first. */
function byRoom(one: OverBudget, other: OverBudget): number {
  const isFirst = one.missingCurrency === true;
  if (isFirst !== (other.missingCurrency === true)) return isFirst ? -1 : 1;
  const [room, otherRoom] = [microsOf(one.room), microsOf(other.room)];
  return room < otherRoom ? -1 : Number(room > otherRoom);
}

function inDecimals<Name extends string>(amounts: Readonly<Record<Name, Micros>>): Readonly<Record<Name, string>> {
  const entries = Object.entries<Micros>(amounts).map(([name, micros]) => [name, amountOf(micros)]);
  return Object.fromEntries(entries) as Record<Name, string>;
}
