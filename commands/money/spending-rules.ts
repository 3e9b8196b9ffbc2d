import type { Clock } from '#src/clock.ts';
import { type BudgetRepository, type CarriedSpend, usedOf } from '#src/money/index.ts';
import { periodOf } from '#src/period.ts';
import { amountOf } from '#src/tasks/index.ts';
import { pauseAt } from '#src/teams/index.ts';
import type { ReadSpendingRules } from '../orders/spending.ts';

interface RuleSources {
  readonly budgets: Pick<BudgetRepository, 'limits'>;
  readonly carried: Pick<CarriedSpend, 'restore'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Creates the reader of the thresholds, pause and budgets that apply to an order. */
export function createSpendingRules({ budgets, carried, clock }: RuleSources): ReadSpendingRules {
  return async (spender, currency, settings) => {
    const { timeZone, confirmAbove, approveAbove } = settings;
    const nowMs = clock.now();
    const period = periodOf(nowMs, timeZone);
    await carried.restore(spender);
    const all = await budgets.limits(spender, { period, currency });
    // The figures of all teams together are the operator's: the claim compares them, and no confirmation names them.
    const limits = all.filter(({ scope }) => scope !== 'deployment');
    return {
      confirmAbove,
      approveAbove,
      paused: pauseAt(settings, nowMs) ?? undefined,
      budgets: limits.map(({ scope, hard, soft, currencies, spend }) => ({
        scope,
        period,
        // Limits in other currencies alone leave no room: the claim refuses the order, so nothing is asked before.
        ...(hard === undefined
          ? currencies.length === 0
            ? {}
            : { limit: '0' }
          : { limit: amountOf(hard + spend.extra) }),
        ...(hard === undefined || spend.extra <= 0n ? {} : { granted: amountOf(spend.extra) }),
        ...(soft === undefined ? {} : { soft: amountOf(soft) }),
        used: amountOf(usedOf(spend)),
      })),
    };
  };
}
