import { z } from 'zod';
import { type Micros, microsOf } from '../tasks/index.ts';
import { splitList } from '../teams/index.ts';

/** Amount of at most nine digits and six decimals, with its currency (ISO 4217) after it. */
const AMOUNT = /^(?<amount>\d{1,9}(?:\.\d{1,6})?)\s*(?<currency>[A-Z]{3})$/;

/** Variable that takes amounts, one for each currency; keeps its text. */
export const budgetList = z.string().refine((text) => {
  const amounts = splitList(text).map((one) => AMOUNT.exec(one)?.groups?.['currency']);
  const isAll = amounts.length > 0 && amounts.every((currency) => currency !== undefined);
  return isAll && new Set(amounts).size === amounts.length;
}, 'an amount for each currency, such as 500 USD or 500 USD, 200 EUR');

/** Reads `BUDGET_PER_MONTH`, by currency. @param text its value; undefined if it is not set */
export function budgetsIn(text = ''): Readonly<Record<string, Micros>> {
  const amounts = splitList(text).flatMap((one): readonly (readonly [string, Micros])[] => {
    const { amount, currency } = AMOUNT.exec(one)?.groups ?? {};
    return amount === undefined || currency === undefined ? [] : [[currency, microsOf(amount)]];
  });
  return Object.fromEntries(amounts);
}
