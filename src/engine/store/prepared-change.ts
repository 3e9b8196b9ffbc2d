import { DailiesError } from '../../errors.ts';
import { serialize } from './envelope.ts';
import { type Change, MAX_AMOUNT, type RecordWrite, type SumLimit, type SumParts } from './store.ts';
import { addParts, usedBeyondExtra, ZERO_SUM } from './sums.ts';

/** A record to write, or only to compare, with its value serialized. */
export interface PreparedRecord extends Omit<RecordWrite, 'value'> {
  /** The value in Keyv's envelope; `null` deletes. `undefined`: the record is only compared. */
  readonly envelope: string | null | undefined;
}

/** A {@link SumLimit} with the effect of its change. */
export interface LimitCheck extends SumLimit {
  /** Amount that the change itself adds to what the limit has to cover, by {@link usedBeyondExtra}. */
  readonly adds: bigint;
}

/** A {@link Change} as data that a backend applies. */
export interface PreparedChange extends Required<Pick<Change, 'index' | 'bounds'>> {
  readonly records: readonly PreparedRecord[];
  /** Amounts to add, by the name of their sum. */
  readonly sums: ReadonlyMap<string, SumParts>;
  readonly within: readonly LimitCheck[];
}

/**
 * Prepares a change for any backend.
 * @throws `internal` when a score of an index entry is not a finite number, or an amount to add to a sum is not a whole
 * number of at most {@link MAX_AMOUNT}; sums are 64-bit integers, which thousands of the largest amounts do not overflow.
 */
export function prepared(change: Change): PreparedChange {
  const { records, index = [], bounds = [], within = [] } = change;
  assertWritable(change);
  const sums = additionsOf(change);
  return {
    records: records.map(({ value, ...record }) => ({ ...record, envelope: value && serialize({ value }) })),
    index,
    bounds,
    sums,
    within: within.map((limit) => ({ ...limit, adds: usedBeyondExtra(sums.get(limit.sum) ?? ZERO_SUM) })),
  };
}

function assertWritable({ index = [], sums = [] }: Change): void {
  for (const { index: name, member, score } of index) {
    if (score === null || Number.isFinite(score)) continue;
    throw unwritable(`setting ${member} in index ${name}: the score ${score} is not a finite number`);
  }
  for (const { sum, add } of sums) {
    for (const [part, amount] of Object.entries<unknown>(add)) {
      if (typeof amount === 'bigint' && amount <= MAX_AMOUNT && amount >= -MAX_AMOUNT) continue;
      throw unwritable(`adding to ${part} of ${sum}: ${String(amount)} is not a whole number up to ${MAX_AMOUNT}`);
    }
  }
}

function unwritable(message: string): DailiesError {
  return new DailiesError(message, { code: 'internal', retryable: false });
}

/** Returns the amounts that a change adds, one entry per sum to which it adds something. */
function additionsOf({ sums = [] }: Change): ReadonlyMap<string, SumParts> {
  const additions = new Map<string, SumParts>();
  for (const { sum, add } of sums)
    additions.set(sum, addParts(additions.get(sum) ?? ZERO_SUM, { ...ZERO_SUM, ...add }));
  for (const [sum, { held, settled, doubted, extra }] of additions) {
    // One store would keep a sum of zeros, another would not.
    if (held === 0n && settled === 0n && doubted === 0n && extra === 0n) additions.delete(sum);
  }
  return additions;
}
