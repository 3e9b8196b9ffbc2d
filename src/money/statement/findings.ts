import { type Price, type TaskId, total } from '../../tasks/index.ts';
import type { Bill } from './match.ts';

/** Send on which books and statement agree. */
export interface Match {
  readonly task: TaskId;
  readonly send: number;
  /** What the statement confirms; `null` where the books stay as they are. */
  readonly book: 'settled' | 'refunded' | null;
}

/** Disagreement between books and statement, for a person to resolve. */
export interface Discrepancy {
  /** `unknown`: a bill for no task of ours; `missing`: a send of ours that the statement does not bill. */
  readonly kind: 'differs' | 'unknown' | 'missing';
  /** Such as `2026-10`: of the bill's last row, or of the send in our books. */
  readonly month: string;
  /** The service's task id; absent where none is known. */
  readonly id?: string;
  /** Absent for a bill that belongs to no task. */
  readonly task?: TaskId;
  readonly send?: number;
  /** What our books count; absent for an unknown bill. */
  readonly ours?: Price;
  /** What the statement bills, refunds deducted; absent for a missing send. */
  readonly theirs?: Price;
  /** The disagreement as amounts of at least 0: never added up with their signs, so that two errors cannot cancel out. */
  readonly by: readonly Price[];
  /**
   * Position of the discrepancy that may be its other half: of a missing clip that is unconfirmed and has no id, the one
   * unknown bill of its price and time, and the reverse.
   */
  readonly pair?: number;
}

/** Number and amounts of one kind of discrepancy. */
export interface Tally {
  readonly count: number;
  readonly by: readonly Price[];
}

export interface MonthSummary {
  /** Such as `2026-10`. */
  readonly month: string;
  /** Rows of the statement, and their sum by currency, refunds deducted. */
  readonly rows: number;
  readonly billed: readonly Price[];
  /** Rows that agree with our books. */
  readonly matched: number;
  /** Rows; of `missing`, sends. */
  readonly differs: Tally;
  readonly unknown: Tally;
  readonly missing: Tally;
  /** Matching rows that are off by some of the tolerance `of`. Absent: there was none. */
  readonly tolerated?: Tally & { readonly of: string };
  /** Sends of the last month that ended after the last row, and were not compared. */
  readonly later: number;
}

/** What the comparison says of a bill, of a send without one, or of both. */
export interface Outcome extends Pick<Discrepancy, 'month' | 'by'> {
  /** `later`: the send may be on the next statement. `by` of a match is what the tolerance let pass. */
  readonly kind: Discrepancy['kind'] | 'match' | 'later';
  readonly bill?: Pick<Bill, 'months'> & { readonly currency: string };
}

type Totals = { -readonly [Key in keyof MonthSummary]: MonthSummary[Key] };

/** Adds the outcomes of a comparison up by month. */
export class Summary {
  readonly #months = new Map<string, Totals>();
  readonly #tolerance: string | undefined;

  constructor(tolerance: string | undefined) {
    this.#tolerance = tolerance;
  }

  add({ kind, month, bill, by }: Outcome): void {
    let count = bill === undefined ? 1 : 0;
    for (const [each, { rows, sum }] of bill?.months ?? []) {
      const totals = this.#in(each);
      totals.rows += rows;
      totals.billed = total([...totals.billed, { amount: sum.toFixed(), currency: bill?.currency ?? '' }]);
      if (kind === 'match') totals.matched += rows;
      count += rows;
    }
    const totals = this.#in(month);
    const added = (tally: Tally): Tally => ({ count: tally.count + count, by: total([...tally.by, ...by]) });
    if (kind === 'later') totals.later += 1;
    else if (kind !== 'match') totals[kind] = added(totals[kind]);
    else if (totals.tolerated !== undefined && by.length > 0)
      totals.tolerated = { ...totals.tolerated, ...added(totals.tolerated) };
  }

  months(): readonly MonthSummary[] {
    return [...this.#months.values()].toSorted((one, other) => one.month.localeCompare(other.month));
  }

  #in(month: string): Totals {
    const none = { count: 0, by: [] };
    const totals = this.#months.get(month) ?? {
      month,
      rows: 0,
      billed: [],
      matched: 0,
      later: 0,
      differs: none,
      unknown: none,
      missing: none,
      ...(this.#tolerance === undefined ? {} : { tolerated: { ...none, of: this.#tolerance } }),
    };
    this.#months.set(month, totals);
    return totals;
  }
}
