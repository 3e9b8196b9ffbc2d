import { amountOf, type Micros, microsOf, type Price } from '#src/tasks/index.ts';
import type { Catalog } from '#src/videos/index.ts';
import { all, formatCount, quoted, shorten } from '../sentences/format.ts';
import type { Read } from './options.ts';

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
 * Reads an amount such as `100`, `$100`, `100 USD`, `12.50 EUR` or `0`. An amount has up to six decimals and is at most
 * 999,999,999.
 * @param currency of an amount without one.
 * @param currencies that are allowed, see {@link currenciesOf}.
 */
export function typedAmount(text: string, currency: string, currencies: readonly string[]): Read<Price> {
  const typed = text.trim();
  const { before, number, after } = TYPED.exec(typed)?.groups ?? {};
  const isAmbiguous = before !== undefined && after !== undefined;
  if (number === undefined || isAmbiguous) return { problem: notAnAmount(typed, MAX_UNITS) };
  const micros = microsOf(number);
  if (micros > MAX) return { problem: notAnAmount(typed, MAX_UNITS) };
  const named = before ?? after;
  const code = named === undefined ? currency : (SYMBOLS[named] ?? named.toUpperCase());
  if (!currencies.includes(code)) return { problem: unknownCurrency(code, currencies) };
  return { value: { amount: amountOf(micros), currency: code } };
}

/** Refuses a text that is no amount of money. @param max largest amount, in units of its currency. */
function notAnAmount(given: string, max: number): string {
  return `${quoted(given, 40)} isn’t an amount. Write a number such as 100, $100 or 12.50 EUR, with up to six decimals and at most ${formatCount(max)}; off removes it.`;
}

/** Refuses a currency that no model is billed in. */
export function unknownCurrency(given: string, currencies: readonly string[]): string {
  return `No model is billed in ${shorten(given, 40)}. The models use ${all(currencies)}.`;
}
