import type { LedgerEntry, LedgerState } from '../../tasks/index.ts';

export type SpendKind = 'settled' | 'held' | 'awaiting_refund' | 'doubted' | 'refunded' | 'released';

const KINDS: Readonly<Record<LedgerState, SpendKind>> = {
  settled: 'settled',
  reserved: 'held',
  in_doubt: 'doubted',
  refunded: 'refunded',
  released: 'released',
};

/** Returns the kind of a send's amount: the part of the sums that holds it, else a decision, else the task's state. */
export function kindOf({ counted, booked, state }: Pick<LedgerEntry, 'counted' | 'booked' | 'state'>): SpendKind {
  if (counted === 'held' && state === 'refunded') return 'awaiting_refund';
  return counted ?? KINDS[booked ?? state];
}
