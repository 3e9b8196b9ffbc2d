import { amountLeft, formatPrice, isAbove, type Price } from '#src/tasks/index.ts';
import { monthName } from '../sentences/dates.ts';
import { capitalised } from '../sentences/format.ts';
import { clipsCost, type Ordered, ordersAbove } from '../sentences/ordered.ts';
import type { BudgetRoom, BudgetScope, SpendingQuestion } from './spending.ts';

/** Requester and channel of the order, as the reader of a sentence sees them. */
interface Orderer {
  /** True if the reader is the requester. */
  readonly isCaller: boolean;
  /** True if the reader is in the channel. */
  readonly isHere: boolean;
}

/** Owner of a budget, as the subject of a sentence and in the genitive. */
interface Owner {
  readonly has: string;
  readonly whose: string;
}

/** Owners of budgets that are neither the reader nor where the reader is. */
const ELSEWHERE: Readonly<Partial<Record<BudgetScope, Owner>>> = {
  channel: { has: 'Its channel has', whose: 'its channel’s' },
  person: { has: 'Its requester has', whose: 'its requester’s' },
};

const OWNERS: Readonly<Record<BudgetScope, Owner>> = {
  deployment: { has: 'All teams together have', whose: 'this bot’s' },
  team: { has: 'The team has', whose: 'the team’s' },
  channel: { has: 'This channel has', whose: 'this channel’s' },
  person: { has: 'You have', whose: 'your' },
};

/**
 * Returns the sentences of a confirmation: what the clip costs and what is left, and each soft limit that it would
 * exceed. Plain text without user input.
 */
export function spendingSentences(
  question: SpendingQuestion,
  orderer: Orderer = { isCaller: true, isHere: true },
): readonly string[] {
  const { price, ordered, soft } = question;
  const ownerOf = (scope: BudgetScope): Owner => {
    const isReaders = scope === 'person' ? orderer.isCaller : orderer.isHere;
    return (isReaders ? undefined : ELSEWHERE[scope]) ?? OWNERS[scope];
  };
  const first = [
    `${capitalised(clipsCost(ordered, price))}.`,
    ...leftSentences(question, ownerOf),
    ...reason(question),
  ];
  return [first.join(' '), ...soft.map((budget) => softSentence(budget, question, ownerOf(budget.scope)))];
}

/** Names what the team has left, and a scope that has less. */
function leftSentences(
  { price: { currency }, budgets }: SpendingQuestion,
  ownerOf: (scope: BudgetScope) => Owner,
): readonly string[] {
  const limited = budgets.flatMap(({ scope, period, limit, granted = '0', used }) =>
    limit === undefined ? [] : [{ scope, period, limit, granted, left: { amount: amountLeft(limit, used), currency } }],
  );
  const [tightest] = limited.toSorted((one, other) => (isAbove(one.left, other.left) ? 1 : -1));
  const shown = limited.filter((one) => one.scope === 'team' || one === tightest);
  return shown.map(({ scope, period, limit, granted, left }) => {
    const of = formatPrice({ amount: amountLeft(limit, granted), currency });
    const onTop = granted === '0' ? '' : ` (${formatPrice({ amount: granted, currency })} granted on top)`;
    return `${ownerOf(scope).has} ${formatPrice(left)} of ${of} left for ${monthName(period)}${onTop}.`;
  });
}

/** Explains a confirmation that the amounts alone do not. */
function reason({ price, ordered, above, budgets }: SpendingQuestion): readonly string[] {
  if (above === null) return [];
  const orders = capitalised(ordersAbove(ordered, above));
  if (above.currency !== price.currency) return [`${orders} need a confirmation; so do all in another currency.`];
  return budgets.some(({ limit }) => limit !== undefined) ? [] : [`${orders} need a confirmation.`];
}

function softSentence(
  { period, soft = '0', used }: BudgetRoom,
  { price: { currency }, ordered }: { readonly price: Price; readonly ordered: Ordered },
  { whose }: Owner,
): string {
  const goes = ordered === null ? 'It goes' : 'They go';
  const left: Price = { amount: amountLeft(soft, used), currency };
  const limit = formatPrice({ amount: soft, currency });
  const isUsedUp = !isAbove(left, { amount: '0', currency });
  return isUsedUp
    ? `${goes} over ${whose} soft limit of ${limit} for ${monthName(period)}, which is used up.`
    : `${goes} over ${whose} soft limit of ${limit} for ${monthName(period)}: ${formatPrice(left)} is left.`;
}
