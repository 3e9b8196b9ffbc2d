import type { LedgerEntry, LedgerState } from '#src/tasks/ledger.ts';
import { formatPrice, total } from '#src/tasks/price.ts';
import type { Person } from '#src/tasks/task.ts';
import { type Block, type Card, type CardButton, type Line, layOut, type Part } from '../../ui/card.ts';
import { all, count, formatMonth } from '../format.ts';

/** Content of a page of `/video usage`. */
export interface UsageShown {
  /** Month, such as `2026-11` (UTC). */
  readonly month: string;
  /** Person whose spend is shown; `null` for everyone. */
  readonly who: Person | null;
  readonly entries: readonly LedgerEntry[];
  /** Number of people, and of models, on the previous pages. */
  readonly offset: number;
  /** Largest number of people, and of models, per page. */
  readonly length: number;
  readonly buttons: readonly CardButton[];
}

/** Shows a month's spend, of a team by person or of one person, and by model; highest amount first. */
export function usageCard({ month, who, entries, offset, length, buttons }: UsageShown): Card {
  const whose: Part = who === null ? 'everyone' : { person: who };
  const heading: Block = { kind: 'heading', line: [`${formatMonth(month)} · `, whose] };
  if (entries.length === 0) return layOut([heading, { kind: 'text', line: ['Nothing was requested.'] }]);
  const page = (block: Groups): readonly Block[] => {
    const rows = block.rows.slice(offset, offset + length);
    const [name = ''] = block.columns;
    const heading: Block = { kind: 'text', line: [{ strong: `By ${name.toLowerCase()}` }] };
    return rows.length === 0 ? [] : [heading, { kind: 'table', columns: block.columns, rows }];
  };
  const totals = offset > 0 ? [] : totalLines(entries).map((line): Block => ({ kind: 'text', line }));
  const people = who === null ? page(byPerson(entries)) : [];
  return layOut([heading, ...totals, ...people, ...page(byModel(entries))], { buttons });
}

/** Returns the number of rows of the longer of the two tables. */
export function usageLength({ who, entries }: Pick<UsageShown, 'who' | 'entries'>): number {
  return Math.max(who === null ? byPerson(entries).rows.length : 0, byModel(entries).rows.length);
}

const TOTALS: readonly (readonly [LedgerState, (sum: string, clips: string) => Line])[] = [
  ['settled', (sum, clips) => [{ strong: sum }, ` billed · ${clips}`]],
  ['reserved', (sum, clips) => [{ strong: sum }, ` in progress · ${clips}`]],
  ['in_doubt', (sum, clips) => [{ strong: sum }, ` unconfirmed, may be billed · ${clips}`]],
  ['refunded', (sum, clips) => [`Failed, refunded under the service’s rules: ${clips} (${sum})`]],
  ['released', (sum, clips) => [`Not charged: ${clips} (would have been ${sum})`]],
];

function totalLines(entries: readonly LedgerEntry[]): readonly Line[] {
  return TOTALS.flatMap(([state, words]) => {
    const some = inState(entries, state);
    return some.length === 0 ? [] : [words(sumOf(some), count(some.length, 'clip'))];
  });
}

/** Table before pagination. */
interface Groups {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Line[])[];
}

function byPerson(entries: readonly LedgerEntry[]): Groups {
  return grouped(
    'Person',
    entries,
    ({ user }) => user,
    ({ user, userName }) => ({ person: { id: user, name: userName } }),
  );
}

function byModel(entries: readonly LedgerEntry[]): Groups {
  return grouped(
    'Model',
    entries,
    ({ model }) => model,
    ({ model }) => ({ untrusted: model }),
  );
}

function grouped(
  name: string,
  entries: readonly LedgerEntry[],
  keyOf: (entry: LedgerEntry) => string,
  nameOf: (entry: LedgerEntry) => Part,
): Groups {
  const groups = [...Map.groupBy(entries, keyOf).values()].sort(byAmount);
  const rows = groups.flatMap((group): (readonly Line[])[] => {
    const [first] = group;
    return first === undefined ? [] : [[[nameOf(first)], ...figures(group)]];
  });
  return { columns: [name, 'Billed', 'Clips', 'Not billed yet'], rows };
}

function figures(group: readonly LedgerEntry[]): readonly Line[] {
  const billed = inState(group, 'settled');
  const open = (
    [
      ['reserved', 'in progress'],
      ['in_doubt', 'unconfirmed'],
    ] as const
  ).flatMap(([state, word]) => {
    const some = inState(group, state);
    return some.length === 0 ? [] : [`${sumOf(some)} ${word}`];
  });
  const nothing = group.slice(0, 1).map(({ currency }) => formatPrice({ amount: '0', currency }));
  return [
    billed.length === 0 ? nothing : [sumOf(billed)],
    [count(billed.length, 'clip')],
    open.length === 0 ? [] : [open.join(', ')],
  ];
}

/** Sorts by the billed, then by the open amount; compares amounts in different currencies by their numbers only. */
function byAmount(one: readonly LedgerEntry[], other: readonly LedgerEntry[]): number {
  return amountIn(other, ['settled']) - amountIn(one, ['settled']) || amountIn(other, OPEN) - amountIn(one, OPEN);
}

const OPEN: readonly LedgerState[] = ['reserved', 'in_doubt'];

function amountIn(entries: readonly LedgerEntry[], states: readonly LedgerState[]): number {
  const some = entries.filter(({ state }) => states.includes(state));
  return total(some).reduce((sum, { amount }) => sum + Number(amount), 0);
}

function inState(entries: readonly LedgerEntry[], wanted: LedgerState): readonly LedgerEntry[] {
  return entries.filter(({ state }) => state === wanted);
}

/** Sums entries by currency: `$1.20 and €0.40`. */
function sumOf(entries: readonly LedgerEntry[]): string {
  return all(total(entries).map(formatPrice));
}
