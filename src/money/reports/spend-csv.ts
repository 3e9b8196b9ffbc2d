import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Options, stringify } from 'csv-stringify';
import { chunked } from '../../chunked.ts';
import type { Store } from '../../engine/index.ts';
import { isoOf } from '../../period.ts';
import { ledgerPages } from '../../pipeline/index.ts';
import {
  amountOf,
  isBlind,
  type LedgerEntry,
  type LedgerScope,
  microsOf,
  readTasks,
  type Task,
} from '../../tasks/index.ts';
import { type MoneyState, moneyStateOf } from './spend-groups.ts';

/** A send, as a row of the CSV. */
interface Send {
  readonly entry: LedgerEntry;
  /** Undefined where its record is lost. */
  readonly task: Task | undefined;
  readonly month: string;
}

/** Values of `x_State`. */
const STATES: Readonly<Record<MoneyState, string>> = {
  settled: 'billed',
  reserved: 'in progress',
  awaiting_refund: 'awaiting refund',
  in_doubt: 'unconfirmed',
  refunded: 'refunded',
  released: 'not charged',
};
const UNCHARGED: readonly MoneyState[] = ['refunded', 'released'];

/** Columns of the CSV. @see https://focus.finops.org/focus-columns/ (those with `x_` are our own) */
const COLUMNS: Readonly<Record<string, (send: Send) => string>> = {
  ChargePeriodStart: ({ entry }) => new Date(entry.createdAtMs).toISOString(),
  BillingPeriod: ({ month }) => month,
  BilledCost: ({ entry }) => (UNCHARGED.includes(moneyStateOf(entry)) ? '0' : amountOf(microsOf(entry.amount))),
  BillingCurrency: ({ entry }) => entry.currency,
  ResourceId: ({ entry, task }) => (task?.sends === entry.send ? (task.upstreamId ?? '') : ''),
  SkuId: ({ entry }) => entry.model,
  ConsumedQuantity: ({ task }) => String(task?.request.seconds ?? ''),
  ConsumedUnit: ({ task }) => (task?.request.seconds === undefined ? '' : 'Seconds'),
  x_State: ({ entry }) => STATES[moneyStateOf(entry)],
  x_Task: ({ entry }) => entry.task,
  x_Send: ({ entry }) => String(entry.send),
  x_Person: ({ entry }) => entry.userName,
  // The channel of a private task is known to its members alone.
  x_Channel: ({ entry, task }) => (task?.origin.audience === 'team' ? entry.channel : ''),
  x_Platform: ({ entry }) => entry.platform,
  x_EndedAt: ({ task }) => isoOf(task?.endedAtMs) ?? '',
  ListCost: ({ entry }) => amountOf(microsOf(entry.listed ?? entry.amount)),
};

/** Columns that lead to a clip in the chat: empty for one whose comparison is not revealed. */
const LEADING: ReadonlySet<string> = new Set(['ResourceId', 'x_Task', 'x_EndedAt']);

export interface CsvQuery extends LedgerScope {
  /** Month, `YYYY-MM`. */
  readonly month: string;
  /** Only sends ordered in this channel. Default: all. */
  readonly channel?: string | undefined;
}

/** Number of task records in memory at once. */
const TASKS_PER_READ = 200;

/** A spreadsheet runs a text that begins with one of `= + - @` as a formula: such a text gets an apostrophe. */
const OPTIONS: Options = {
  header: true,
  columns: Object.keys(COLUMNS),
  bom: true,
  record_delimiter: 'windows',
  escape_formulas: true,
};

/**
 * Writes a month's sends as CSV, one row each, oldest first, page by page; those of blind comparisons last. Amounts are never negative; what was refunded
 * or not charged counts 0.
 * @throws `store_unavailable`
 */
export function writeSpendCsv(store: Store, query: CsvQuery, path: string): Promise<void> {
  return pipeline(Readable.from(rowsOf(store, query)), stringify(OPTIONS), createWriteStream(path));
}

async function* rowsOf(store: Store, { month, channel, ...scope }: CsvQuery): AsyncGenerator<readonly string[]> {
  const hidden: Send[] = [];
  for await (const entries of ledgerPages(store, scope, month)) {
    const wanted = channel === undefined ? entries : entries.filter((entry) => entry.channel === channel);
    for (const some of chunked(wanted, TASKS_PER_READ)) {
      const found = await readTasks(store, [...new Set(some.map(({ task }) => task))]);
      const byId = new Map(found.map((task) => [task.id, task]));
      for (const entry of some) {
        const send = { entry, task: byId.get(entry.task), month };
        if (send.task !== undefined && isBlind(send.task)) hidden.push(send);
        else yield Object.values(COLUMNS).map((cell) => cell(send));
      }
    }
  }
  // In the order of the models: that of the tasks is that of their labels.
  for (const send of hidden.sort((one, other) => (one.entry.model < other.entry.model ? -1 : 1)))
    yield Object.entries(COLUMNS).map(([name, cell]) => (LEADING.has(name) ? '' : cell(send)));
}
