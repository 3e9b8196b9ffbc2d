import {
  type BudgetScope,
  type Pace,
  paceOf,
  type Spend,
  type SpendGroup,
  SpendGroups,
  type SpendKey,
  type SpendState,
  usedOf,
} from '#src/money/index.ts';
import { endOfPeriod, startOfPeriod } from '#src/period.ts';
import { amountLeft, amountOf, isAbove, type Micros, type Person, type Price, spendChannel } from '#src/tasks/index.ts';
import { titleOf } from '#src/videos/index.ts';
import type { Caller, OptionDeclaration, Reply } from './bot-port.ts';
import { currenciesOf } from './input/amounts.ts';
import { isSet, optionValue } from './input/options.ts';
import { anyoneNamed, personWithId } from './input/people.ts';
import { sendFile } from './input/send-file.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from './input/subcommand.ts';
import { periodNow } from './money/month.ts';
import { formatMicros, formatSum, limitFacts } from './sentences/amounts.ts';
import { formatDay, formatMonth, monthName, zoneName } from './sentences/dates.ts';
import { count, quoted } from './sentences/format.ts';
import { unknownPerson } from './sentences/refusals.ts';
import { type PageOf, pageButtons } from './ui/buttons.ts';
import { type Block, type Columns, heading, type Line, layOut, type Part, present, table } from './ui/card.ts';

const GROUPINGS: readonly SpendKey[] = ['person', 'model', 'channel'];

const TYPED = /(?:^|\s)csv$/i;

/** Splits `ada csv`, as typed without a flag, into the person and the wish for a file. */
function withoutCsv(named: string): { readonly named: string; readonly isCsv: boolean } {
  const rest = named.replace(TYPED, '').trim();
  return { named: rest === '' ? 'everyone' : rest, isCsv: TYPED.test(named) };
}

/** Sends the CSV of a month to the caller. */
function sendUsageCsv(
  ports: BotPorts,
  caller: Caller,
  { month, who }: { readonly month: string; readonly who: Person | null },
): Promise<Reply> {
  // Guests and members of other organisations see the current channel only.
  const place = caller.isExternal === true ? { channel: caller.channel } : {};
  return sendFile(ports, caller, {
    key: 'export',
    notice: { kind: 'export', period: month, who, ...place },
    sent: `I sent you the CSV for ${formatMonth(month)}. Only you can see it.`,
    follows: `I’m putting the CSV for ${formatMonth(month)} together. I’ll send it to you alone.`,
  });
}

const options: readonly OptionDeclaration[] = [
  {
    name: 'who',
    description: 'Whose spending',
    kind: 'person',
    positional: true,
    defaultWords: 'everyone',
  },
  {
    name: 'month',
    description: 'Year and month, such as 2026-11',
    kind: 'text',
    autocomplete: 'month',
    defaultWords: 'this month',
  },
  {
    name: 'by',
    description: 'Rows of the table',
    kind: 'text',
    choices: GROUPINGS.map((value) => ({ value, label: `By ${value}` })),
    defaultWords: 'person and model',
  },
  { name: 'csv', description: 'Sends you the rows as a file instead', kind: 'flag' },
];

/** `/video usage`: the spend of a month, with its limit and pace. */
export const usage: Subcommand = {
  declaration: {
    name: 'usage',
    description: 'Shows a month’s spend and what is left of the budget',
    example: '/video usage me --month 2026-11',
    options,
    visibility: 'private',
  },
  run: async (ports, caller, given) => {
    const { period } = await periodNow(ports, caller);
    const month = optionValue(given, 'month') ?? period;
    const { named, isCsv } = withoutCsv(optionValue(given, 'who') ?? 'everyone');
    const typed = optionValue(given, 'by')?.toLowerCase();
    const by = GROUPINGS.find((one) => one === typed) ?? null;
    const who = await anyoneNamed(ports, caller, named);
    const isMonth = /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month);
    const wrong = present([
      who === null && unknownPerson(named),
      !isMonth && `month: ${quoted(month)} isn’t a month. Write year and month, such as ${period}.`,
    ]);
    if (who === null || wrong.length > 0) return refused(...wrong);
    const person = who === 'everyone' ? null : who;
    if (isCsv || isSet(given, 'csv')) return sendUsageCsv(ports, caller, { month, who: person });
    return showUsage(ports, caller, { month, by, offset: 0 }, person);
  },
  presses: {
    'page:usage': async (ports, caller, page) => {
      const who = page.user === null ? null : await personWithId(ports, caller, page.user);
      return showUsage(ports, caller, page, who);
    },
  },
};

const DAY_MS = 86_400_000;
/** Number of days with orders from which a month’s spend is projected. */
const PACE_DAYS = 3;
/** Largest number of rows per table and page. */
const PAGE_LENGTH = 15;

/**
 * Shows a month's spend to the caller only: used, limit and pace by the sums, and a page of tables by person, model or
 * channel.
 */
async function showUsage(
  ports: BotPorts,
  caller: Caller,
  { month, by, offset }: Pick<PageOf<'usage'>, 'month' | 'by' | 'offset'>,
  who: Person | null,
): Promise<Reply> {
  const groups = new SpendGroups();
  const days = new Set<number>();
  for await (const entries of ports.ledger({ ...teamOf(caller), user: who?.id }, month)) {
    // Guests and members of other organisations see the current channel only.
    for (const entry of entries)
      if (caller.isExternal !== true || entry.channel === spendChannel(caller)) {
        groups.add(entry);
        days.add(Math.floor(entry.createdAtMs / DAY_MS));
      }
  }
  const keys: readonly SpendKey[] = by !== null ? [by] : who === null ? ['person', 'model'] : ['model'];
  const { timeZone } = await periodNow(ports, caller);
  const [used, tables] = await Promise.all([
    offset > 0 ? [] : usedOfLimits(ports, caller, { month, who, hasPace: days.size >= PACE_DAYS }),
    Promise.all(keys.map((key) => tableBlocks(ports, caller, groups, { key, offset }))),
  ]);
  const isEmpty = groups.totals.size === 0;
  const hasMore = keys.some((key) => groups.sizeOf(key) > offset + PAGE_LENGTH);
  const page = { what: 'usage', offset, month, by, user: who?.id ?? null } as const;
  const zone = timeZone === 'UTC' ? '' : ` (${zoneName(timeZone)})`;
  const sums = used.map(({ spend }) => spend);
  const card = layOut(
    [
      heading(`${formatMonth(month)}${zone} · `, who === null ? 'everyone' : { person: who }),
      ...used.flatMap((one) => usedLines(one, { month, timeZone })),
      isEmpty && ['Nothing was requested.'],
      ...(offset > 0 ? [] : totalLines(groups.totals, sums)),
      ...tables.flat(),
    ],
    { buttons: isEmpty ? [] : pageButtons({ page, length: PAGE_LENGTH, hasMore }) },
  );
  return privately(card);
}

/** Returns what is used of each currency's limit, by the sums; nothing for a currency with neither. */
export async function usedOfLimits(
  ports: BotPorts,
  caller: Caller,
  { month, who, hasPace }: { readonly month: string; readonly who: Person | null; readonly hasPace: boolean },
): Promise<readonly UsedOfLimit[]> {
  const { period, timeZone } = await periodNow(ports, caller);
  // No sum is kept for one person in one channel, which is all that a guest may see of another one.
  if (caller.isExternal === true && who !== null && who.id !== caller.user.id) return [];
  const team = teamOf(caller);
  const scope: BudgetScope =
    who !== null
      ? { kind: 'person', ...team, person: who }
      : caller.isExternal === true
        ? { kind: 'channel', ...team, channel: spendChannel(caller) }
        : { kind: 'team', ...team };
  const budget = await ports.budgets.limiting(scope);
  const currencies = [...new Set([...currenciesOf(ports.catalog()), ...Object.keys(budget?.hard ?? {})])];
  const [spends = []] = await ports.budgets.spend([scope], month, currencies);
  const times = { startMs: startOfPeriod(month, timeZone), endMs: endOfPeriod(month, timeZone) };
  return spends.flatMap((spend): readonly UsedOfLimit[] => {
    const used = usedOf(spend);
    // A limit is that of today: what applied in an earlier month is not kept.
    const hard = month === period ? budget?.hard[spend.currency] : undefined;
    if (used === 0n && hard === undefined) return [];
    const limit = hard === undefined ? {} : { limit: hard };
    const effective = hard === undefined ? {} : { limit: hard + spend.extra };
    const pace =
      hasPace && month === period ? paceOf({ used, ...effective, nowMs: ports.clock.now(), ...times }) : null;
    return [{ spend, ...limit, pace }];
  });
}

/** Returns the table of a page with its title; nothing without a row. */
async function tableBlocks(
  ports: BotPorts,
  caller: Caller,
  groups: SpendGroups,
  { key, offset }: { readonly key: SpendKey; readonly offset: number },
): Promise<readonly (Block | Line)[]> {
  const page = groups.page(key, { offset, length: PAGE_LENGTH });
  const rows = await Promise.all(page.map(async (group) => ({ group, name: await nameOf(ports, caller, key, group) })));
  if (rows.length === 0) return [];
  const columns: Columns<(typeof rows)[number]> = [
    [COLUMNS[key], ({ name }) => [name]],
    ['Billed', ({ group }) => billedAmount(group)],
    ['Clips', ({ group }) => count(group.totals.get('settled')?.clips ?? 0, 'clip')],
    ['Not billed yet', ({ group }) => openAmounts(group)],
  ];
  return [[{ strong: `By ${key}` }], table(columns, rows)];
}

/** Names a group. The name of a private channel stays in that channel. */
async function nameOf(ports: BotPorts, caller: Caller, key: SpendKey, { id, name }: SpendGroup): Promise<Part> {
  if (key === 'person') return { person: { id, name } };
  if (key === 'model') return { untrusted: titleOf(ports.catalog(), name) };
  if (id === spendChannel(caller)) return { channel: id };
  const audience = await ports.chat.audienceAt(caller.platform, { team: caller.team, channel: id, address: {} });
  return audience === 'team' ? { channel: id } : 'a private channel';
}

/** Spend of the shown scope in one currency, by its sums, with its limit and pace. */
export interface UsedOfLimit {
  readonly spend: Spend;
  /** Hard limit; absent where there is none in this currency. */
  readonly limit?: Micros;
  /** `null` for another month than the current one. */
  readonly pace: Pace | null;
}

/** Explains the amount used, the limit with what is left of it, and the pace. */
function usedLines(
  { spend, limit, pace }: UsedOfLimit,
  { month, timeZone }: { readonly month: string; readonly timeZone: string },
): readonly Line[] {
  const { extra, currency } = spend;
  const show = (micros: Micros): string => formatMicros(micros, currency);
  const used = usedOf(spend);
  const ofLimit = limit === undefined ? ' used' : ` ${limitFacts({ currency, limit, extra, used }).join(' · ')}`;
  const first: Line = [{ strong: show(used) }, ofLimit];
  if (pace === null) return [first];
  const byEnd = show(roundedUp(pace.byEnd));
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
function totalLines(totals: SpendGroups['totals'], sums: readonly Spend[]): readonly Line[] {
  return TOTALS.flatMap(([state, words]) => {
    const total = totals.get(state);
    if (total === undefined) return [];
    const summed = isSummed(state) && !totals.has('blind') ? summedAmounts(state, totals, sums) : [];
    return [words(formatSum(summed.length === 0 ? total.amounts : summed), count(total.clips, 'clip'))];
  });
}

function isSummed(state: SpendState): state is keyof typeof PARTS {
  return Object.hasOwn(PARTS, state);
}

function summedAmounts(
  state: keyof typeof PARTS,
  totals: SpendGroups['totals'],
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

function billedAmount({ totals }: SpendGroup): string {
  const billed = totals.get('settled');
  const currency = [...totals.values()][0]?.amounts[0]?.currency ?? 'USD';
  return billed === undefined ? formatMicros(0n, currency) : formatSum(billed.amounts);
}

const OPEN = [
  ['reserved', 'in progress'],
  ['awaiting_refund', 'awaiting refund'],
  ['in_doubt', 'unconfirmed'],
] as const;

function openAmounts({ totals }: SpendGroup): string {
  const open = OPEN.flatMap(([state, word]) => {
    const total = totals.get(state);
    return total === undefined ? [] : [`${formatSum(total.amounts)} ${word}`];
  });
  return open.join(', ');
}
