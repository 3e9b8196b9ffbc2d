import { Big } from 'big.js';
import { chunked } from '../../chunked.ts';
import { CommandError } from '../../command.ts';
import { pagesOf, type Store } from '../../engine/index.ts';
import { ledgerEntries, type UpstreamIds } from '../../pipeline/index.ts';
import {
  isEnded,
  type LedgerEntry,
  ledgerOf,
  readTasks,
  spendScopeOf,
  type Task,
  type TaskId,
} from '../../tasks/index.ts';
import { keyOfTeam, type TeamKey } from '../../teams/index.ts';
import type { UpstreamId } from '../../videos/index.ts';
import { moneyStateOf } from '../reports/spend-groups.ts';
import { type Discrepancy, type Match, type MonthSummary, type Outcome, Summary } from './findings.ts';
import { type Bill, Bills, type BookedSend, type Comparison, compare, isCounted } from './match.ts';
import type { Row, Statement, StatementFile } from './read.ts';

/** Findings about the tasks of one team, or about no task of any. */
export interface TeamFindings {
  /** `null`: the bills that belong to no task, where the store has several teams or none. */
  readonly team: TeamKey | null;
  readonly matches: readonly Match[];
  readonly discrepancies: readonly Discrepancy[];
  readonly months: readonly MonthSummary[];
}

export interface Reconciliation {
  /** All teams together. */
  readonly months: readonly MonthSummary[];
  readonly teams: readonly TeamFindings[];
}

interface Books {
  readonly store: Store;
  readonly upstreamIds: Pick<UpstreamIds, 'holders'>;
}

/** Bills looked up at once. */
const PAGE = 500;

/**
 * Compares every row of a statement with the books, and the books of the time it covers with the statement. Reads only.
 * @throws CommandError when a row cannot be read, or its currency is unknown.
 */
export async function reconcileStatement(books: Books, statement: Statement): Promise<Reconciliation> {
  const bills = new Bills();
  const covered = { fromMs: Number.POSITIVE_INFINITY, toMs: Number.NEGATIVE_INFINITY };
  for (const row of statement.rows) {
    bills.add(row);
    extend(covered, row);
  }
  if (covered.toMs < covered.fromMs) throw new CommandError(`${statement.path} has no rows.`);
  const comparison = new ComparisonRun(books, statement);
  for (const page of chunked(bills.all(), PAGE)) await comparison.addBills(page);
  await comparison.addMissing(covered);
  return comparison.result();
}

/** Time that a statement covers, in milliseconds since the epoch. */
interface Covered {
  fromMs: number;
  toMs: number;
}

function extend(covered: Covered, { atMs, endMs }: Row): void {
  const at = new Date(atMs);
  covered.fromMs = Math.min(covered.fromMs, Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1));
  covered.toMs = Math.max(covered.toMs, endMs);
}

/** Missing send of which it is unconfirmed whether the service has it. */
interface Unconfirmed {
  readonly send: BookedSend;
  readonly atMs: number;
  readonly position: number;
  /** False for one whose clip has an id, or was sent again: no bill can be its own any more. */
  readonly lacksId: boolean;
}

/** Time between an order and a bill that may be its own. */
const NEAR_MS = 10 * 60_000;

class ComparisonRun {
  readonly #books: Books;
  readonly #file: StatementFile;
  readonly #all: Summary;
  readonly #teams = new Map<string, OpenFindings>();
  readonly #unknown: Bill[] = [];
  readonly #unconfirmed: Unconfirmed[] = [];
  readonly #found = new Set<string>();
  readonly #currencies = new Set<string>();

  constructor(books: Books, file: StatementFile) {
    this.#books = books;
    this.#file = file;
    this.#all = new Summary(file.tolerance);
  }

  async addBills(bills: readonly Bill[]): Promise<void> {
    const { upstreamIds } = this.#books;
    const known = bills.filter(({ id }) => id !== '');
    const { service } = this.#file;
    const holders = await upstreamIds.holders(
      known.map(({ id }) => id as UpstreamId),
      service === undefined ? {} : { service },
    );
    const tasks = await this.#tasks(holders.filter((task) => task !== undefined));
    const taskOf = new Map(known.map((bill, at) => [bill, tasks.get(holders[at] ?? ('' as TaskId))]));
    for (const bill of bills) {
      const task = taskOf.get(bill);
      const entry = task && entryOf(task, task.sends);
      if (entry === undefined) this.#unknown.push(bill);
      else this.#addBill(bill, entry);
    }
  }

  #addBill(bill: Bill, entry: LedgerEntry): void {
    const { task, send } = entry;
    this.#found.add(keyOf(entry));
    this.#currencies.add(entry.currency);
    const currency = bill.currency ?? this.#file.currency ?? entry.currency;
    const month = lastMonthOf(bill);
    const findings = this.#findingsOf(entry);
    const comparison = this.#compare(bill, bookedSendOf(entry));
    this.#count(findings, { ...comparison, month, bill: { ...bill, currency } });
    if (comparison.kind === 'match') findings.matches.push({ task, send, book: comparison.book });
    else findings.discrepancies.push({ ...comparison, month, id: bill.id, task, send });
  }

  /** Adds the sends that our books count in the time covered, and that the statement does not bill. */
  async addMissing(covered: Covered): Promise<void> {
    const { store } = this.#books;
    // The month of a send is that of its team's time zone: up to a day apart.
    const [first, last] = [monthOf(covered.fromMs - DAY_MS), monthOf(covered.toMs + DAY_MS)];
    for (const index of await store.contents.indexes()) {
      const scope = spendScopeOf(index);
      if (scope === null || scope.month < first || scope.month > last) continue;
      for await (const page of pagesOf(store, index)) {
        const keys = page.map(({ member }) => member).filter((key) => !this.#found.has(key));
        const entries = await ledgerEntries(store, keys);
        const tasks = await this.#tasks(entries.map(({ task }) => task));
        for (const { task: id, send } of entries) {
          const task = tasks.get(id);
          const entry = task && entryOf(task, send);
          const isTheirs = task?.request.service === this.#file.service;
          if (isTheirs && task !== undefined && entry !== undefined) this.#addUnbilled(task, entry, covered);
        }
      }
    }
  }

  #addUnbilled(task: Task, entry: LedgerEntry, covered: Covered): void {
    const { send, amount, currency, period: month } = entry;
    const due = dueBy(task, entry, covered);
    if (due === null) return;
    const findings = this.#findingsOf(entry);
    if (due === 'later') {
      if (month === monthOf(covered.toMs)) this.#count(findings, { kind: due, month, by: [] });
      return;
    }
    const ours = { amount, currency };
    const upstream = task.upstreamId === undefined || send !== task.sends ? {} : { id: task.upstreamId };
    if (entry.state === 'in_doubt') {
      const lacksId = task.state === 'uncertain' && task.upstreamId === undefined && send === task.sends;
      const position = findings.discrepancies.length;
      this.#unconfirmed.push({ send: bookedSendOf(entry), atMs: entry.createdAtMs, position, lacksId });
    }
    const missing = { kind: 'missing', month, ...upstream, task: task.id, send, ours, by: [ours] } as const;
    this.#count(findings, missing);
    findings.discrepancies.push(missing);
  }

  /** @throws CommandError when the currency of a bill that belongs to no task is unknown. */
  result(): Reconciliation {
    if (this.#unknown.length > 0) this.#addUnknown();
    const teams = [...this.#teams.values()].map(({ summary, ...findings }) => ({
      ...findings,
      months: summary.months(),
    }));
    return { months: this.#all.months(), teams };
  }

  #addUnknown(): void {
    const [only, another] = [...this.#teams.values()];
    const findings = only !== undefined && another === undefined ? only : this.#findingsOf(null);
    const first = findings.discrepancies.length;
    for (const bill of this.#unknown) {
      const currency = bill.currency ?? this.#currency();
      // Gross, so that a charge and a refund of one size do not look like nothing.
      const by = [{ amount: bill.charged.plus(bill.refunded).toFixed(), currency }];
      const theirs = { amount: bill.charged.minus(bill.refunded).toFixed(), currency };
      const upstream = bill.id === '' ? {} : { id: bill.id };
      const unknown = { kind: 'unknown', month: lastMonthOf(bill), ...upstream, theirs, by } as const;
      this.#count(findings, { ...unknown, bill: { ...bill, currency } });
      findings.discrepancies.push(unknown);
    }
    if (findings.team !== null) this.#pair(findings.discrepancies, first);
  }

  #count(findings: OpenFindings, outcome: Outcome): void {
    for (const summary of [this.#all, findings.summary]) summary.add(outcome);
  }

  async #tasks(ids: readonly TaskId[]): Promise<ReadonlyMap<TaskId, Task>> {
    return new Map((await readTasks(this.#books.store, [...new Set(ids)])).map((task) => [task.id, task]));
  }

  /** Brings unconfirmed clips and unknown bills together where each fits one other alone; `first`: position of the bills. */
  #pair(discrepancies: Discrepancy[], first: number): void {
    const fitting = this.#unconfirmed.flatMap((clip) =>
      this.#unknown.flatMap((bill, at) => (this.#fits(bill, clip) ? [{ clip, at: first + at }] : [])),
    );
    const [byClip, byBill] = [Map.groupBy(fitting, ({ clip }) => clip), Map.groupBy(fitting, ({ at }) => at)];
    for (const { clip, at } of fitting) {
      const isOnly = byClip.get(clip)?.length === 1 && byBill.get(at)?.length === 1;
      const [missing, unknown] = [discrepancies[clip.position], discrepancies[at]];
      if (!isOnly || !clip.lacksId || missing === undefined || unknown === undefined) continue;
      discrepancies[clip.position] = { ...missing, pair: at };
      discrepancies[at] = { ...unknown, pair: clip.position };
    }
  }

  #fits(bill: Bill, { send, atMs }: Unconfirmed): boolean {
    if (bill.id === '' || atMs < bill.fromMs - NEAR_MS || atMs > bill.toMs + NEAR_MS) return false;
    const compared = this.#compare(bill, send);
    return compared.kind === 'match' && compared.book === 'settled';
  }

  #compare(bill: Bill, send: BookedSend): Comparison {
    const { currency = send.price.currency, tolerance = 0 } = this.#file;
    return compare({ currency, ...bill }, send, new Big(tolerance));
  }

  #currency(): string {
    const [only, another] = this.#currencies;
    const currency = this.#file.currency ?? (another === undefined ? only : undefined);
    if (currency !== undefined) return currency;
    throw new CommandError(
      'The statement has no column for the currency; name one (--map …,currency=COLUMN), or add --currency USD.',
    );
  }

  #findingsOf(of: TeamKey | null): OpenFindings {
    const team = of && { platform: of.platform, team: of.team };
    const key = team === null ? '' : keyOfTeam(team);
    const known = this.#teams.get(key);
    if (known !== undefined) return known;
    const findings = { team, matches: [], discrepancies: [], summary: new Summary(this.#file.tolerance) };
    this.#teams.set(key, findings);
    return findings;
  }
}

interface OpenFindings {
  readonly team: TeamKey | null;
  readonly matches: Match[];
  readonly discrepancies: Discrepancy[];
  readonly summary: Summary;
}

function keyOf({ task, send }: Pick<LedgerEntry, 'task' | 'send'>): string {
  return `${task}#${send}`;
}

function entryOf(task: Task, send: number): LedgerEntry | undefined {
  return ledgerOf(task).find((entry) => entry.send === send);
}

function bookedSendOf(entry: LedgerEntry): BookedSend {
  const { amount, currency } = entry;
  return { price: { amount, currency }, state: moneyStateOf(entry) };
}

/**
 * Returns whether a statement of that time should bill a send: `now`, or `later`, since what ended after its last row may be
 * on the next one; `null`: neither.
 */
function dueBy(task: Task, entry: LedgerEntry, { fromMs, toMs }: Covered): 'now' | 'later' | null {
  if (!isCounted(bookedSendOf(entry)) || new Big(entry.amount).eq(0)) return null;
  const isOver = entry.state === 'in_doubt' || isEnded(task) || entry.state === 'settled';
  const endMs = entry.state === 'in_doubt' ? entry.createdAtMs : (task.endedAtMs ?? entry.createdAtMs);
  if (!isOver || entry.createdAtMs < fromMs) return null;
  return endMs <= toMs ? 'now' : 'later';
}

function lastMonthOf({ months }: Bill): string {
  return [...months.keys()].toSorted().at(-1) ?? '';
}

const DAY_MS = 86_400_000;

function monthOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 7);
}
