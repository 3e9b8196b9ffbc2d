import { formatPrice, type Price } from '../../tasks/index.ts';
import type { Discrepancy, MonthSummary, Tally } from './findings.ts';

/**
 * Returns the comparison of one month in a line: `October: 431 rows, $212.40. 428 match. 2 differ by $0.30 in total. …`.
 * @param year the current year (UTC), which the line leaves out.
 */
export function monthLine(summary: MonthSummary, year: number): string {
  const { month, rows, billed, matched, differs, unknown, missing, later, tolerated } = summary;
  const isClean = matched === rows && missing.count === 0;
  const sentences = [
    `${monthName(month, year)}: ${counted(rows, 'row')}${rows === 0 ? '' : `, ${amounts(billed)}`}.`,
    ...(isClean ? [rows === 0 ? '' : 'All match.'] : [`${number(matched)} ${matched === 1 ? 'matches' : 'match'}.`]),
    ...(tolerated === undefined || rows === 0 ? [] : [toleratedSentence(tolerated)]),
    ...(differs.count === 0 ? [] : [differing(differs)]),
    ...(unknown.count === 0 ? [] : [`${number(unknown.count)} not in our records: ${amounts(unknown.by)}.`]),
    ...(missing.count === 0 ? [] : [`${number(missing.count)} missing from the statement: ${amounts(missing.by)}.`]),
    ...(later === 0
      ? []
      : [`${counted(later, 'clip')} ended after the last row and ${later === 1 ? 'was' : 'were'} not compared.`]),
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function toleratedSentence({ count, by, of }: NonNullable<MonthSummary['tolerated']>): string {
  if (count === 0) return `No row needed the tolerance of ${of}.`;
  return `${counted(count, 'row')} only within the tolerance of ${of}, off by ${amounts(by)} in total.`;
}

function differing({ count, by }: Tally): string {
  return count === 1 ? `1 differs by ${amounts(by)}.` : `${number(count)} differ by ${amounts(by)} in total.`;
}

export function discrepancyLine({ kind, id, task, ours, theirs }: Discrepancy): string {
  const name = `${id === undefined ? 'no ID' : plain(id)}${task === undefined ? '' : ` (clip ${task.slice(0, 8)})`}`;
  const [booked, billed] = [ours === undefined ? '' : signed(ours), theirs === undefined ? '' : signed(theirs)];
  switch (kind) {
    case 'differs':
      return `differs: ${name}: ${booked} in our books, ${billed} on the statement`;
    case 'unknown':
      return `not in our records: ${name}: ${billed}`;
    case 'missing':
      return `missing from the statement: ${name}: ${booked}`;
  }
}

/** Formats a price with its sign before the currency's symbol: `−$0.30`. */
export function signed(price: Price): string {
  const { amount, currency } = price;
  return amount.startsWith('-') ? `−${formatPrice({ amount: amount.slice(1), currency })}` : formatPrice(price);
}

/** British, without a comma before “and”. */
const LIST = new Intl.ListFormat('en-GB');

function amounts(prices: readonly Price[]): string {
  return prices.length === 0 ? '0' : LIST.format(prices.map(signed));
}

function monthName(month: string, year: number): string {
  const isThisYear = month.startsWith(`${String(year).padStart(4, '0')}-`);
  const date = new Date(`${month}-01T00:00:00Z`);
  return date.toLocaleString('en', { month: 'long', timeZone: 'UTC', ...(isThisYear ? {} : { year: 'numeric' }) });
}

function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function number(count: number): string {
  return count.toLocaleString('en');
}

/** Makes a text of the statement safe for a terminal. */
export function plain(text: string): string {
  return shortened(text.replace(/\p{C}+/gu, '�'));
}

/** Longest text of a statement that a sentence repeats. */
const MAX_SHOWN = 40;

export function shortened(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`;
}
