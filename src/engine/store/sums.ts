import { type BudgetAmounts, SUM_PARTS, type SumParts } from './store.ts';

/** Parts of a sum without writes. */
export const ZERO_SUM: SumParts = { held: 0n, settled: 0n, doubted: 0n, extra: 0n };

/** Adds up two sums, part by part. */
export function addParts(one: SumParts, other: SumParts): SumParts {
  return {
    held: one.held + other.held,
    settled: one.settled + other.settled,
    doubted: one.doubted + other.doubted,
    extra: one.extra + other.extra,
  };
}

/** Returns the amount that a hard limit has to cover: what is used, less what an approver granted beyond the limit. */
export function usedBeyondExtra({ held, settled, doubted, extra }: SumParts): bigint {
  return held + settled + doubted - extra;
}

/** Returns the parts among the fields of a stored sum; a missing part is 0. @param fieldOf returns the stored integer. */
export function partsFrom(fieldOf: (part: keyof SumParts) => bigint | string | undefined): SumParts {
  const [held = 0n, settled = 0n, doubted = 0n, extra = 0n] = SUM_PARTS.map((part) => BigInt(fieldOf(part) ?? 0));
  return { held, settled, doubted, extra };
}

/**
 * Returns whether a sum keeps within its budget.
 *
 * @param used the sum after the change, by {@link usedBeyondExtra}.
 * @param budgets the records of {@link SumLimit.budgets}, in that order; `undefined` for a missing one.
 */
export function isWithinBudget(used: bigint, budgets: readonly unknown[], currency: string): boolean {
  for (const budget of budgets) {
    if (budget === undefined) continue;
    const hard = hardAmountsOf(budget);
    // A budget that cannot be read must not let anything pass.
    if (hard === null) return false;
    if (Object.keys(hard).length === 0) continue;
    const amount = Object.hasOwn(hard, currency) ? hard[currency] : undefined;
    return typeof amount === 'string' && /^\d{1,16}$/.test(amount) && used <= BigInt(amount);
  }
  return true;
}

function hardAmountsOf(budget: unknown): BudgetAmounts['hard'] | null {
  const hard = isObject(budget) ? budget['hard'] : null;
  return isObject(hard) ? (hard as BudgetAmounts['hard']) : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
