import { Big } from 'big.js';
import type { Model } from '../videos/index.ts';
import type { Price } from './task.ts';

/** Returns the price of a clip: the model's price, per call or times `seconds`. Decimal arithmetic, no rounding. */
export function priceOf(model: Model, seconds: number): Price {
  const amount = model.billing === 'per_call' ? new Big(model.price) : new Big(model.price).times(seconds);
  return { amount: amount.toFixed(), currency: model.currency };
}

/** Returns a number of times a price. */
export function timesPrice({ amount, currency }: Price, times: number): Price {
  return { amount: new Big(amount).times(times).toFixed(), currency };
}

/** Adds amounts up by currency, in the order of first appearance. */
export function total(prices: Iterable<Price>): readonly Price[] {
  const sums = new Map<string, Big>();
  for (const { amount, currency } of prices) sums.set(currency, (sums.get(currency) ?? new Big(0)).plus(amount));
  return [...sums].map(([currency, sum]) => ({ amount: sum.toFixed(), currency }));
}

/** Returns the sum of prices of one currency; `undefined` for several currencies, since amounts are never converted. */
export function sumOf(prices: readonly Price[]): Price | undefined {
  const [only] = prices;
  const [sum, ...others] = total(prices);
  if (others.length > 0) return undefined;
  return prices.length === 1 ? only : sum;
}

/** Returns whether a price is higher than another one in the same currency. */
export function isAbove({ amount }: Price, { amount: other }: Price): boolean {
  return new Big(amount).gt(other);
}

/** Returns whether two prices are the same amount of the same currency. */
export function isSamePrice(one: Price, other: Price): boolean {
  return one.currency === other.currency && new Big(one.amount).eq(other.amount);
}

/** Returns the part of a limit that is left, negative once more than it is used. */
export function amountLeft(limit: string, used: string): string {
  return new Big(limit).minus(used).toFixed();
}

/** Formats a price: `$0.30`, `€1.20`, `12 JPY`. After a symbol at least two decimals, more if the amount has them. */
export function formatPrice({ amount, currency }: Price): string {
  const value = new Big(amount);
  const decimals = Math.max(2, amount.split('.')[1]?.length ?? 0);
  const symbol = ({ USD: '$', EUR: '€', GBP: '£' } as Readonly<Record<string, string>>)[currency];
  return symbol === undefined ? `${value.toFixed()} ${currency}` : `${symbol}${value.toFixed(decimals)}`;
}
