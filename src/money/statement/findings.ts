import { Big } from 'big.js';
import { type Price, type TaskId, total } from '../../tasks/index.ts';

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
  readonly differs: Tally;
  readonly unknown: Tally;
  readonly missing: Tally;
  /** Matching rows that are off by some of the tolerance `of`. Absent: there was none. */
  readonly tolerated?: Tally & { readonly of: string };
  /** Sends of the last month that ended after the last row, and were not compared. */
  readonly later: number;
}

type TallyKind = Discrepancy['kind'] | 'tolerated';

interface MonthTotals {
  rows: number;
  matched: number;
  later: number;
  readonly billed: Map<string, Big>;
  readonly tallies: Record<TallyKind, { count: number; by: readonly Price[] }>;
}

/** Adds the comparison of a statement with the books up by month. */
export class Summary {
  readonly #months = new Map<string, MonthTotals>();
  readonly #tolerance: string | undefined;

  constructor(tolerance: string | undefined) {
    this.#tolerance = tolerance;
  }

  addRows(month: string, rows: number, { amount, currency }: Price): void {
    const totals = this.#in(month);
    totals.rows += rows;
    totals.billed.set(currency, (totals.billed.get(currency) ?? new Big(0)).plus(amount));
  }

  addMatch(month: string, rows: number): void {
    this.#in(month).matched += rows;
  }

  addLater(month: string): void {
    this.#in(month).later += 1;
  }

  /** @param count number of rows; of sends where none is in the statement */
  addTo(kind: TallyKind, { month, by }: Pick<Discrepancy, 'month' | 'by'>, count: number): void {
    const tally = this.#in(month).tallies[kind];
    tally.count += count;
    tally.by = total([...tally.by, ...by]);
  }

  months(): readonly MonthSummary[] {
    return [...this.#months]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(
        ([
          month,
          {
            rows,
            matched,
            later,
            billed,
            tallies: { tolerated, ...tallies },
          },
        ]) => ({
          month,
          rows,
          billed: [...billed].map(([currency, amount]) => ({ amount: amount.toFixed(), currency })),
          matched,
          later,
          ...tallies,
          ...(this.#tolerance === undefined ? {} : { tolerated: { ...tolerated, of: this.#tolerance } }),
        }),
      );
  }

  #in(month: string): MonthTotals {
    const known = this.#months.get(month);
    if (known !== undefined) return known;
    const none = () => ({ count: 0, by: [] });
    const tallies = { differs: none(), unknown: none(), missing: none(), tolerated: none() };
    const totals = { rows: 0, matched: 0, later: 0, billed: new Map(), tallies };
    this.#months.set(month, totals);
    return totals;
  }
}
