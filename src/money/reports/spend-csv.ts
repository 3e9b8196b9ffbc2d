import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Options, stringify } from 'csv-stringify';
import type { Store } from '../../engine/index.ts';
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

/** Columns of the CSV. @see https://focus.finops.org/focus-columns/ (those with `x_` are our own) */
const COLUMNS = [
  'ChargePeriodStart',
  'BillingPeriod',
  'BilledCost',
  'BillingCurrency',
  'ResourceId',
  'SkuId',
  'ConsumedQuantity',
  'ConsumedUnit',
  'x_State',
  'x_Task',
  'x_Send',
  'x_Person',
  'x_Channel',
  'x_Platform',
  'x_EndedAt',
  'ListCost',
] as const;

type Row = Readonly<Record<(typeof COLUMNS)[number], string>>;

export interface CsvQuery extends LedgerScope {
  /** Month, `YYYY-MM`. */
  readonly month: string;
  /** Only sends ordered in this channel. Default: all. */
  readonly channel?: string | undefined;
}

/** Number of task records in memory at once. */
const TASKS_PER_READ = 200;

/** Values of `x_State`. */
const STATES: Readonly<Record<MoneyState, string>> = {
  settled: 'billed',
  reserved: 'in progress',
  awaiting_refund: 'awaiting refund',
  in_doubt: 'unconfirmed',
  refunded: 'refunded',
  released: 'not charged',
};

/** A spreadsheet runs a text that begins with one of `= + - @` as a formula: such a text gets an apostrophe. */
const OPTIONS: Options = {
  header: true,
  columns: [...COLUMNS],
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

async function* rowsOf(store: Store, { month, channel, ...scope }: CsvQuery): AsyncGenerator<Row> {
  const hidden: Row[] = [];
  for await (const entries of ledgerPages(store, scope, month)) {
    const wanted = channel === undefined ? entries : entries.filter((entry) => entry.channel === channel);
    for (let from = 0; from < wanted.length; from += TASKS_PER_READ) {
      const some = wanted.slice(from, from + TASKS_PER_READ);
      const found = await readTasks(store, [...new Set(some.map(({ task }) => task))]);
      const byId = new Map(found.map((task) => [task.id, task]));
      for (const entry of some) {
        const task = byId.get(entry.task);
        const row = rowOf(entry, task, month);
        if (task !== undefined && isBlind(task)) hidden.push(withoutTask(row));
        else yield row;
      }
    }
  }
  // In the order of the models: that of the tasks is that of their labels.
  yield* hidden.sort((one, other) => (one.SkuId < other.SkuId ? -1 : 1));
}

/** Returns the row of a clip whose comparison is not revealed, without what leads from it to the clip in the chat. */
function withoutTask(row: Row): Row {
  return { ...row, ResourceId: '', x_Task: '', x_EndedAt: '' };
}

/** Returns the row of a send. @param task undefined where its record is lost. */
function rowOf(entry: LedgerEntry, task: Task | undefined, month: string): Row {
  const state = moneyStateOf(entry);
  const isCharged = state !== 'refunded' && state !== 'released';
  const isLast = task?.sends === entry.send;
  const seconds = task?.request.seconds;
  const endedAtMs = task?.endedAtMs;
  return {
    ChargePeriodStart: new Date(entry.createdAtMs).toISOString(),
    BillingPeriod: month,
    BilledCost: isCharged ? amountOf(microsOf(entry.amount)) : '0',
    BillingCurrency: entry.currency,
    ResourceId: isLast ? (task.upstreamId ?? '') : '',
    SkuId: entry.model,
    ConsumedQuantity: seconds === undefined ? '' : String(seconds),
    ConsumedUnit: seconds === undefined ? '' : 'Seconds',
    x_State: STATES[state],
    x_Task: entry.task,
    x_Send: String(entry.send),
    x_Person: entry.userName,
    // The channel of a private task is known to its members alone.
    x_Channel: task?.origin.audience === 'team' ? entry.channel : '',
    x_Platform: entry.platform,
    x_EndedAt: endedAtMs === undefined ? '' : new Date(endedAtMs).toISOString(),
    ListCost: amountOf(microsOf(entry.listed ?? entry.amount)),
  };
}
