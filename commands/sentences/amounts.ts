import { all, formatCount, shorten } from './format.ts';

// Plain text that includes user input: adapters escape all of it.

/** Refuses a text that is no amount of money. @param max largest amount, in units of its currency. */
export function notAnAmount(given: string, max: number): string {
  return `“${shorten(given, 40)}” isn’t an amount. Write a number such as 100, $100 or 12.50 EUR, with up to six decimals and at most ${formatCount(max)}; off removes it.`;
}

/** Refuses a currency that no model is billed in. */
export function unknownCurrency(given: string, currencies: readonly string[]): string {
  return `No model is billed in ${shorten(given, 40)}. The models use ${all(currencies)}.`;
}
