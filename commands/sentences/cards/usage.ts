import type { Pace, Spend, SpendGroup, SpendKey, SpendState, StateTotal } from '#src/money/index.ts';
import { amountLeft, amountOf, formatPrice, isAbove, type Micros, type Person, type Price } from '#src/tasks/index.ts';
import { type Block, type Card, type CardButton, type Line, layOut, type Part } from '../../ui/card.ts';
import { all, count, formatMonth } from '../format.ts';
import { limitFacts } from '../money/limit-facts.ts';
import { formatDay, monthName, zoneName } from '../money/months.ts';

/** Spend of the shown scope in one currency, by its sums, with its limit and pace. */
export interface UsedOfLimit {
  readonly spend: Spend;
  /** Hard limit; absent where there is none in this currency. */
  readonly limit?: Micros;
  /** `null` for another month than the current one. */
  readonly pace: Pace | null;
}

export interface UsageTable {
  readonly by: SpendKey;
  readonly rows: readonly { readonly name: Part; readonly group: SpendGroup }[];
}

/** Content of a page of `/video usage`. */
interface UsageShown {
  /** Month, such as `2026-11`, in the team's time zone. */
  readonly month: string;
  readonly timeZone: string;
  /** Person whose spend is shown; `null` for everyone. */
  readonly who: Person | null;
  /** Empty where nothing was spent and no limit is set. */
  readonly used: readonly UsedOfLimit[];
  /** Totals of the ledger, by state; empty on later pages. */
  readonly totals: ReadonlyMap<SpendState, StateTotal>;
  readonly tables: readonly UsageTable[];
  /** Whether nothing was requested in the month. */
  readonly isEmpty: boolean;
  readonly buttons: readonly CardButton[];
}

/** Shows a month's spend: used, limit and pace by the sums, and a page of tables by person, model or channel. */
export function usageCard(shown: UsageShown): Card {
  const { month, timeZone, who, used, totals, tables, isEmpty, buttons } = shown;
  const whose: Part = who === null ? 'everyone' : { person: who };
  const zone = timeZone === 'UTC' ? '' : ` (${zoneName(timeZone)})`;
  const heading: Block = { kind: 'heading', line: [`${formatMonth(month)}${zone} · `, whose] };
  const text = (line: Line): Block => ({ kind: 'text', line });
  const limits = used.flatMap((one) => usedLines(one, { month, timeZone })).map(text);
  if (isEmpty) return layOut([heading, ...limits, text(['Nothing was requested.'])]);
  const sums = used.map(({ spend }) => spend);
  return layOut([heading, ...limits, ...totalLines(totals, sums).map(text), ...tables.flatMap(tableBlocks)], {
    buttons,
  });
}

/** Explains the amount used, the limit with what is left of it, and the pace. */
function usedLines(
  { spend, limit, pace }: UsedOfLimit,
  { month, timeZone }: Pick<UsageShown, 'month' | 'timeZone'>,
): readonly Line[] {
  const { held, settled, doubted, extra, currency } = spend;
  const show = (micros: Micros): string => formatPrice({ amount: amountOf(micros), currency });
  const used = held + settled + doubted;
  const ofLimit = limit === undefined ? ' used' : ` ${limitFacts({ limit, extra, used }, show).join(' · ')}`;
  const first: Line = [{ strong: show(used) }, ofLimit];
  if (pace === null) return [first];
  const byEnd = formatPrice({ amount: amountOf(roundedUp(pace.byEnd)), currency });
  const end =
    pace.runsOutAtMs === undefined
      ? `about ${byEnd} by the end of ${monthName(month)}.`
      : `it runs out on ${formatDay(pace.runsOutAtMs, timeZone)} (about ${byEnd} by the end of ${monthName(month)}).`;
  return [first, [`At this rate ${end}`]];
}

/** Rounds up to hundredths of a unit: an estimate with six decimals would look exact. */
function roundedUp(micros: Micros): Micros {
  const step = 10_000n;
  return ((micros + step - 1n) / step) * step;
}

const TOTALS: readonly (readonly [SpendState, (sum: string, clips: string) => Line])[] = [
  ['settled', (sum, clips) => [{ strong: sum }, ` billed · ${clips}`]],
  ['reserved', (sum, clips) => [{ strong: sum }, ` in progress · ${clips}`]],
  ['awaiting_refund', (sum, clips) => [{ strong: sum }, ` awaiting refund · ${clips}`]],
  ['in_doubt', (sum, clips) => [{ strong: sum }, ` unconfirmed, may be billed · ${clips}`]],
  ['blind', (_sum, clips) => [`In comparisons that are not revealed: ${clips}`]],
  ['refunded', (sum, clips) => [`Failed, refunded under the service’s rules: ${clips} (${sum})`]],
  ['released', (sum, clips) => [`Not charged: ${clips} (would have been ${sum})`]],
];

/** Part of the sums that holds the amounts of a state; `held` also holds those that await a refund. */
const PARTS = { settled: 'settled', reserved: 'held', in_doubt: 'doubted' } as const;

/** Lists the totals by state: amounts by the sums where these have them and no blind clips, numbers of clips by the ledger. */
function totalLines(totals: UsageShown['totals'], sums: readonly Spend[]): readonly Line[] {
  return TOTALS.flatMap(([state, words]) => {
    const total = totals.get(state);
    if (total === undefined) return [];
    const summed = isSummed(state) && !totals.has('blind') ? summedAmounts(state, totals, sums) : [];
    return [words(sumOf(summed.length === 0 ? total.amounts : summed), count(total.clips, 'clip'))];
  });
}

function isSummed(state: SpendState): state is keyof typeof PARTS {
  return Object.hasOwn(PARTS, state);
}

function summedAmounts(
  state: keyof typeof PARTS,
  totals: UsageShown['totals'],
  sums: readonly Spend[],
): readonly Price[] {
  const awaited = state === 'reserved' ? (totals.get('awaiting_refund')?.amounts ?? []) : [];
  return sums
    .map(({ currency, [PARTS[state]]: micros }): Price => {
      const other = awaited.find((one) => one.currency === currency)?.amount ?? '0';
      return { amount: amountLeft(amountOf(micros), other), currency };
    })
    .filter((price) => isAbove(price, { ...price, amount: '0' }));
}

const COLUMNS: Readonly<Record<SpendKey, string>> = { person: 'Person', model: 'Model', channel: 'Channel' };

function tableBlocks({ by, rows }: UsageTable): readonly Block[] {
  if (rows.length === 0) return [];
  const columns = [COLUMNS[by], 'Billed', 'Clips', 'Not billed yet'];
  const heading: Block = { kind: 'text', line: [{ strong: `By ${by}` }] };
  const cells = rows.map(({ name, group }): readonly Line[] => [[name], ...figures(group)]);
  return [heading, { kind: 'table', columns, rows: cells }];
}

function figures({ totals }: SpendGroup): readonly Line[] {
  const billed = totals.get('settled');
  const open = (
    [
      ['reserved', 'in progress'],
      ['awaiting_refund', 'awaiting refund'],
      ['in_doubt', 'unconfirmed'],
    ] as const
  ).flatMap(([state, word]) => {
    const total = totals.get(state);
    return total === undefined ? [] : [`${sumOf(total.amounts)} ${word}`];
  });
  const currency = [...totals.values()][0]?.amounts[0]?.currency ?? 'USD';
  return [
    [billed === undefined ? formatPrice({ amount: '0', currency }) : sumOf(billed.amounts)],
    [count(billed?.clips ?? 0, 'clip')],
    open.length === 0 ? [] : [open.join(', ')],
  ];
}

/** Formats amounts in several currencies: `$1.20 and €0.40`. */
function sumOf(amounts: StateTotal['amounts']): string {
  return all(amounts.map(formatPrice));
}
