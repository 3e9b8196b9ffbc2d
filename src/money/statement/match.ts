import { Big } from 'big.js';
import type { Price } from '../../tasks/index.ts';
import type { MoneyState } from '../reports/spend-groups.ts';
import type { Row } from './read.ts';

/** Everything that a statement says about one task of the service. */
export interface Bill {
  /** The service's id of the task; empty for a row without one. */
  readonly id: string;
  /** Sum of the amounts billed, of at least 0. */
  readonly charged: Big;
  /** Sum of the amounts given back, of at least 0. */
  readonly refunded: Big;
  /** ISO 4217; absent where the statement names none. */
  readonly currency?: string;
  /** Time that its rows cover. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Rows and their sum by month (UTC), such as `2026-10`; in the order of the file. */
  readonly months: ReadonlyMap<string, { readonly rows: number; readonly sum: Big }>;
}

export interface BookedSend {
  readonly price: Price;
  readonly state: MoneyState;
}

/** What the books take from a statement that agrees with them; `null`: they stay open. */
type Booked = 'settled' | 'refunded' | null;

export type Comparison =
  /** Both say the same. `by`: by how much that is so within the tolerance only. */
  | { readonly kind: 'match'; readonly book: Booked; readonly by: readonly Price[] }
  /** `ours` is what our books count, `theirs` what the statement bills after refunds. */
  | { readonly kind: 'differs'; readonly ours: Price; readonly theirs: Price; readonly by: readonly Price[] };

type OpenBill = { -readonly [Key in keyof Bill]: Bill[Key] } & {
  readonly months: Map<string, { rows: number; sum: Big }>;
};

/** Adds rows up by the service's task id, one after the other. */
export class Bills {
  readonly #bills = new Map<string, OpenBill>();

  add({ line, id, amount, atMs, endMs, currency }: Row): void {
    // Rows without an id are unrelated to each other; amounts of two currencies are never added up.
    const key = id === '' ? `\n${line}` : `${id}\n${currency ?? ''}`;
    const month = new Date(atMs).toISOString().slice(0, 7);
    const known = this.#bills.get(key);
    const bill = known ?? {
      id,
      charged: ZERO,
      refunded: ZERO,
      fromMs: atMs,
      toMs: endMs,
      months: new Map(),
      ...(currency === undefined ? {} : { currency }),
    };
    if (known === undefined) this.#bills.set(key, bill);
    bill.fromMs = Math.min(bill.fromMs, atMs);
    bill.toMs = Math.max(bill.toMs, endMs);
    if (amount.gte(0)) bill.charged = bill.charged.plus(amount);
    else bill.refunded = bill.refunded.minus(amount);
    const { rows, sum } = bill.months.get(month) ?? { rows: 0, sum: ZERO };
    bill.months.set(month, { rows: rows + 1, sum: sum.plus(amount) });
  }

  all(): Iterable<Bill> {
    return this.#bills.values();
  }
}

const ZERO = new Big(0);

/**
 * Compares what a statement bills for a task with our books, exactly.
 * @param tolerance by how much the bill may be off. Default: not at all.
 */
export function compare(bill: Bill, send: BookedSend, tolerance = ZERO): Comparison {
  const { charged, refunded, currency = send.price.currency } = bill;
  const price = new Big(send.price.amount);
  const ours = isCounted(send) ? price : ZERO;
  // The charge of a refund alone was on an earlier statement.
  const before = charged.eq(0) && refunded.gt(0) ? price : ZERO;
  const theirs = charged.plus(before).minus(refunded);
  const isComparable = currency === send.price.currency;
  // A tolerance takes nothing for something, nor something for nothing.
  const isNear = (one: Big, other: Big) => one.minus(other).abs().lte(tolerance) && one.eq(0) === other.eq(0);
  const isBilled: Readonly<Record<Billed, boolean>> = {
    charged: isComparable && isNear(charged, price) && refunded.eq(0),
    given_back: isComparable && isNear(charged.plus(before), refunded),
  };
  const agreed = AGREEMENTS[send.state].find(([billed]) => isBilled[billed]);
  if (agreed !== undefined) {
    const off = isBilled.charged ? price.minus(charged) : theirs;
    return { kind: 'match', book: agreed[1], by: off.eq(0) ? [] : [absolute(off, currency)] };
  }
  const apart = [absolute(ours, send.price.currency), absolute(theirs, currency)];
  return {
    kind: 'differs',
    ours: { amount: ours.toFixed(), currency: send.price.currency },
    theirs: { amount: theirs.toFixed(), currency },
    by: isComparable ? [absolute(ours.minus(theirs), currency)] : apart.filter(({ amount }) => amount !== '0'),
  };
}

function absolute(amount: Big, currency: string): Price {
  return { amount: amount.abs().toFixed(), currency };
}

/** What a bill says of a task: charged for its price, or given back as much as was charged. */
type Billed = 'charged' | 'given_back';

/** Bills that agree with a send, by its state, the first one first. */
const AGREEMENTS: Readonly<Record<BookedSend['state'], readonly (readonly [Billed, Booked])[]>> = {
  reserved: [['charged', null]],
  settled: [['charged', 'settled']],
  in_doubt: [
    ['charged', 'settled'],
    ['given_back', 'refunded'],
  ],
  awaiting_refund: [
    ['given_back', 'refunded'],
    ['charged', null],
  ],
  refunded: [['given_back', 'refunded']],
  released: [['given_back', null]],
};

/** Returns whether a send counts as used in our books. */
export function isCounted({ state }: Pick<BookedSend, 'state'>): boolean {
  return state !== 'refunded' && state !== 'released';
}
