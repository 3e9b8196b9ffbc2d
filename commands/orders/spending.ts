import { amountLeft, isAbove, type Price } from '#src/tasks/index.ts';
import type { PauseInEffect, TeamSettings } from '#src/teams/index.ts';
import type { Caller } from '../bot-port.ts';
import type { Ordered } from '../sentences/ordered.ts';

/** Scope of a budget. */
export type BudgetScope = 'deployment' | 'team' | 'channel' | 'person';

/** Budget that an order counts towards; amounts are decimal strings in the currency of the order. */
export interface BudgetRoom {
  readonly scope: BudgetScope;
  /** Month of the send, such as `2026-11`. */
  readonly period: string;
  /** Hard limit, what an approver granted beyond it included. Absent: none. */
  readonly limit?: string;
  /** Part of `limit` that an approver granted. Absent: none. */
  readonly granted?: string;
  /** Soft limit, which never refuses. Absent: none. */
  readonly soft?: string;
  /** Settled, held and in doubt. */
  readonly used: string;
}

/** Rules of a team for an order, as they are before it is placed. The claim checks the hard limits again. */
export interface SpendingRules {
  /** Orders above it need a confirmation. Absent: none does. */
  readonly confirmAbove?: Price | undefined;
  /** Orders above it need an approval. Absent: none does. */
  readonly approveAbove?: Price | undefined;
  /** The pause of the team's spending, which refuses every order. Absent: none. */
  readonly paused?: PauseInEffect | undefined;
  readonly budgets: readonly BudgetRoom[];
}

type Spender = Pick<Caller, 'platform' | 'team' | 'channel' | 'parentChannel' | 'user'>;

/** Reads the rules that apply to an order in a currency, by the settings of its team. Rejects with `store_unavailable`. */
export type ReadSpendingRules = (
  spender: Spender,
  currency: string,
  settings: Pick<TeamSettings, 'timeZone' | 'confirmAbove' | 'approveAbove' | 'pause'>,
) => Promise<SpendingRules>;

export const NO_SPENDING_RULES: SpendingRules = { budgets: [] };

/** Facts that a confirmation names. */
export interface SpendingQuestion {
  readonly price: Price;
  readonly ordered: Ordered;
  /** Threshold that the price exceeds, or whose currency differs from that of the price; `null`: soft limits only. */
  readonly above: Price | null;
  /** Soft limits that the order would exceed. */
  readonly soft: readonly BudgetRoom[];
  readonly budgets: readonly BudgetRoom[];
}

/** Outcome of {@link decideSpending}. */
type SpendingDecision =
  | { readonly kind: 'buy' }
  | { readonly kind: 'paused'; readonly pause: PauseInEffect }
  | { readonly kind: 'confirm'; readonly question: SpendingQuestion }
  /** `above`: the threshold that the price exceeds. */
  | { readonly kind: 'request_approval'; readonly above: Price };

/**
 * Decides whether a priced order is bought, refused by a pause, needs its requester's confirmation, or needs an
 * approval. Asks at most one question: nothing while spending is paused, an approval includes the confirmation, and an
 * order over a hard limit is passed on to the claim, which refuses it. A threshold in another currency than the price
 * counts as exceeded, since amounts are never converted; free clips are bought.
 * @param isConfirmed the requester pressed a button with this price on a card that asked.
 * @param ordered what the price is for. Default: one clip.
 */
export function decideSpending(
  price: Price,
  rules: SpendingRules,
  isConfirmed: boolean,
  ordered: Ordered = null,
): SpendingDecision {
  const { confirmAbove, approveAbove, paused, budgets } = rules;
  if (paused !== undefined) return { kind: 'paused', pause: paused };
  if (isFree(price)) return { kind: 'buy' };
  if (approveAbove !== undefined && exceeds(price, approveAbove))
    return { kind: 'request_approval', above: approveAbove };
  if (isConfirmed || isOverHardLimit(price, rules)) return { kind: 'buy' };
  const above = confirmAbove !== undefined && exceeds(price, confirmAbove) ? confirmAbove : null;
  const soft = budgets.filter(({ soft: limit, used }) => limit !== undefined && !fits(price, limit, used));
  if (above === null && soft.length === 0) return { kind: 'buy' };
  return { kind: 'confirm', question: { price, ordered, above, soft, budgets } };
}

/** Returns whether an order would exceed a hard limit, so that the claim refuses it; a free one never does. */
export function isOverHardLimit(price: Price, { budgets }: Pick<SpendingRules, 'budgets'>): boolean {
  return !isFree(price) && budgets.some(({ limit, used }) => limit !== undefined && !fits(price, limit, used));
}

function isFree(price: Price): boolean {
  return !isAbove(price, { ...price, amount: '0' });
}

function exceeds(price: Price, threshold: Price): boolean {
  return price.currency !== threshold.currency || isAbove(price, threshold);
}

function fits(price: Price, limit: string, used: string): boolean {
  return !isAbove(price, { amount: amountLeft(limit, used), currency: price.currency });
}
