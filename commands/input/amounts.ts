import { amountOf, type Micros, microsOf, type Price } from '#src/tasks/index.ts';
import type { Catalog } from '#src/videos/index.ts';
import { notAnAmount, unknownCurrency } from '../sentences/amounts.ts';

type TypedAmount =
  | { readonly kind: 'amount'; readonly price: Price }
  /** The limit or threshold is to be removed. */
  | { readonly kind: 'off' }
  /** Not an amount; `sentence` says what one looks like, without the option's name. */
  | { readonly kind: 'refused'; readonly sentence: string };

/** Largest amount that may be typed, in units of its currency. */
const MAX_UNITS = 999_999_999;
const MAX: Micros = microsOf(String(MAX_UNITS));

const SYMBOLS: Readonly<Record<string, string>> = { $: 'USD', '€': 'EUR', '£': 'GBP' };
/** A decimal number, with a currency's symbol or code before or after it. */
const TYPED = /^(?<before>[a-z]{3}|[$€£])?\s*(?<number>\d{1,9}(?:\.\d{1,6})?)\s*(?<after>[a-z]{3}|[$€£])?$/iu;

/** Returns the currencies that models are billed in, that of the default model first. */
export function currenciesOf({ models, defaultModel }: Catalog): readonly string[] {
  return [...new Set([defaultModel.currency, ...models.map(({ currency }) => currency)])];
}

/**
 * Reads an amount such as `100`, `$100`, `100 USD`, `12.50 EUR` or `0`, or `off`. An amount has up to six decimals and is
 * at most 999,999,999.
 * @param currency of an amount without one.
 * @param currencies that are allowed, see {@link currenciesOf}.
 */
export function typedAmount(text: string, currency: string, currencies: readonly string[]): TypedAmount {
  const typed = text.trim();
  if (typed.toLowerCase() === 'off') return { kind: 'off' };
  const { before, number, after } = TYPED.exec(typed)?.groups ?? {};
  const isAmbiguous = before !== undefined && after !== undefined;
  if (number === undefined || isAmbiguous) return { kind: 'refused', sentence: notAnAmount(typed, MAX_UNITS) };
  const micros = microsOf(number);
  if (micros > MAX) return { kind: 'refused', sentence: notAnAmount(typed, MAX_UNITS) };
  const named = before ?? after;
  const code = named === undefined ? currency : (SYMBOLS[named] ?? named.toUpperCase());
  if (!currencies.includes(code)) return { kind: 'refused', sentence: unknownCurrency(code, currencies) };
  return { kind: 'amount', price: { amount: amountOf(micros), currency: code } };
}
