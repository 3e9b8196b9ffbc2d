import { amountOf, formatPrice, type Micros, type Price, type Refunds } from '#src/tasks/index.ts';
import { all } from './format.ts';

export function formatMicros(micros: Micros, currency: string): string {
  return formatPrice({ amount: amountOf(micros), currency });
}

/** Formats amounts in several currencies: `$1.20 and €0.40`. */
export function formatSum(amounts: readonly Price[]): string {
  return all(amounts.map(formatPrice));
}

interface UsedBudget {
  readonly currency: string;
  readonly limit: Micros;
  /** Granted beyond the limit, once each; raises what may be used, not the limit. */
  readonly extra: Micros;
  readonly used: Micros;
}

/** Completes an amount used: `of $0.50 used ($0.20 granted on top)`, `$0.00 left`. */
export function limitFacts({ currency, limit, extra, used }: UsedBudget): readonly string[] {
  const show = (micros: Micros): string => formatMicros(micros, currency);
  const left = limit + extra - used;
  const granted = extra > 0n ? ` (${show(extra)} granted on top)` : '';
  return [`of ${show(limit)} used${granted}`, left < 0n ? `over by ${show(-left)}` : `${show(left)} left`];
}

/** Names what the held part of a sum is for: failed clips as well, where their refund takes a statement. */
export function heldWords(refunds: Refunds): string {
  return refunds === 'assumed' ? 'in progress' : 'in progress or awaiting refund';
}
