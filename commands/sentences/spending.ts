import { amountLeft, formatPrice, isAbove } from '#src/tasks/price.ts';
import type { Price } from '#src/tasks/task.ts';
import type { BudgetRoom, BudgetScope, SpendingQuestion } from '../orders/spending.ts';

/** Owners of a budget, as the subject of a sentence and in the genitive. */
const OWNERS: Readonly<Record<BudgetScope, { readonly has: string; readonly whose: string }>> = {
  deployment: { has: 'All teams together have', whose: 'this bot’s' },
  team: { has: 'The team has', whose: 'the team’s' },
  channel: { has: 'This channel has', whose: 'this channel’s' },
  person: { has: 'You have', whose: 'your' },
};

/**
 * Returns the sentences of a confirmation: what the clip costs and what is left, and each soft limit that it would
 * exceed. Plain text without user input.
 */
export function spendingSentences(question: SpendingQuestion): readonly string[] {
  const { price, soft } = question;
  const first = [`This clip costs ${formatPrice(price)}.`, ...leftSentences(question), ...reason(question)];
  return [first.join(' '), ...soft.map((budget) => softSentence(budget, price.currency))];
}

/** Names what the team has left, and a scope that has less. */
function leftSentences({ price: { currency }, budgets }: SpendingQuestion): readonly string[] {
  const limited = budgets.flatMap(({ scope, period, limit, used }) =>
    limit === undefined ? [] : [{ scope, period, limit, left: { amount: amountLeft(limit, used), currency } }],
  );
  const [tightest] = limited.toSorted((one, other) => (isAbove(one.left, other.left) ? 1 : -1));
  const shown = limited.filter((one) => one.scope === 'team' || one === tightest);
  return shown.map(({ scope, period, limit, left }) => {
    const of = formatPrice({ amount: limit, currency });
    return `${OWNERS[scope].has} ${formatPrice(left)} of ${of} left for ${monthName(period)}.`;
  });
}

/** Explains a confirmation that the amounts alone do not. */
function reason({ price, above, budgets }: SpendingQuestion): readonly string[] {
  if (above === null) return [];
  if (above.currency !== price.currency)
    return [`Clips above ${formatPrice(above)} need a confirmation; so do all in another currency.`];
  return budgets.some(({ limit }) => limit !== undefined)
    ? []
    : [`Clips above ${formatPrice(above)} need a confirmation.`];
}

function softSentence({ scope, period, soft = '0', used }: BudgetRoom, currency: string): string {
  const left: Price = { amount: amountLeft(soft, used), currency };
  const limit = formatPrice({ amount: soft, currency });
  const { whose } = OWNERS[scope];
  const isUsedUp = !isAbove(left, { amount: '0', currency });
  return isUsedUp
    ? `It goes over ${whose} soft limit of ${limit} for ${monthName(period)}, which is used up.`
    : `It goes over ${whose} soft limit of ${limit} for ${monthName(period)}: ${formatPrice(left)} is left.`;
}

/** Formats `2026-11` as `November`. */
function monthName(period: string): string {
  return new Date(`${period}-01T00:00:00Z`).toLocaleString('en', { month: 'long', timeZone: 'UTC' });
}
