import { Big } from 'big.js';
import type { LedgerState, Price } from '../../tasks/index.ts';
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
  readonly state: LedgerState;
  /** It failed and counts as used until a statement shows the refund (`REFUNDS=by_statement`). */
  readonly awaitsRefund: boolean;
}

export type Comparison =
  /**
   * Both say the same. `book`: what the statement confirms; `null` where the books stay open. `off`: by how much that is
   * so within the tolerance only.
   */
  | { readonly kind: 'match'; readonly book: 'settled' | 'refunded' | null; readonly off?: Price }
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
  const price = new Big(send.price.amount);
  const ours = countedOf(send) ? price : ZERO;
  const { charged, refunded } = bill;
  // The charge of a refund alone was on an earlier statement.
  const before = charged.eq(0) && refunded.gt(0) ? price : ZERO;
  const theirs = charged.plus(before).minus(refunded);
  const currency = bill.currency ?? send.price.currency;
  if (currency === send.price.currency) {
    // A tolerance takes nothing for something, nor something for nothing.
    const isNear = (one: Big, other: Big) => one.minus(other).abs().lte(tolerance) && one.eq(0) === other.eq(0);
    const isCharged = isNear(charged, price) && refunded.eq(0);
    const book = bookingOf(send, isCharged, isNear(charged.plus(before), refunded));
    const off = (isCharged ? price.minus(charged) : theirs).abs();
    if (book !== undefined)
      return { kind: 'match', book, ...(off.eq(0) ? {} : { off: { amount: off.toFixed(), currency } }) };
    const differ = ours.minus(theirs).abs();
    return differing(send, { ours, theirs, currency, by: [{ amount: differ.toFixed(), currency }] });
  }
  const by = [
    { amount: ours.toFixed(), currency: send.price.currency },
    { amount: theirs.abs().toFixed(), currency },
  ].filter(({ amount }) => amount !== '0');
  return differing(send, { ours, theirs, currency, by });
}

/** Returns what a match confirms; undefined where bill and books do not match. */
function bookingOf(
  send: BookedSend,
  isCharged: boolean,
  isGivenBack: boolean,
): 'settled' | 'refunded' | null | undefined {
  if (send.awaitsRefund) return isGivenBack ? 'refunded' : isCharged ? null : undefined;
  switch (send.state) {
    case 'settled':
      return isCharged ? 'settled' : undefined;
    case 'in_doubt':
      return isCharged ? 'settled' : isGivenBack ? 'refunded' : undefined;
    case 'refunded':
      return isGivenBack ? 'refunded' : undefined;
    case 'reserved':
      return isCharged ? null : undefined;
    case 'released':
      return isGivenBack ? null : undefined;
  }
}

function differing(
  send: BookedSend,
  {
    ours,
    theirs,
    currency,
    by,
  }: { readonly ours: Big; readonly theirs: Big; readonly currency: string; readonly by: readonly Price[] },
): Comparison {
  return {
    kind: 'differs',
    ours: { amount: ours.toFixed(), currency: send.price.currency },
    theirs: { amount: theirs.toFixed(), currency },
    by,
  };
}

/** Returns whether a send counts as used in our books. */
export function countedOf({ state, awaitsRefund }: Pick<BookedSend, 'state' | 'awaitsRefund'>): boolean {
  return awaitsRefund || state === 'settled' || state === 'in_doubt' || state === 'reserved';
}
