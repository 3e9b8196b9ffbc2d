import type { LedgerEntry } from '#src/tasks/ledger.ts';
import { microsOf } from '#src/tasks/money.ts';
import type { Task } from '#src/tasks/task.ts';
import type { History, Made, Violation } from '../history.ts';

const NAME = 'cost that the books do not have';

/** Checks that the books have what the service says that a clip has cost, and the price of the catalog otherwise. */
export function checkCosts({ store, made }: History): readonly Violation[] {
  const known = new Map(made.map((one) => [one.upstreamId, one]));
  return [...store.tasks.values()].flatMap((task) => {
    const one = task.upstreamId === undefined ? undefined : known.get(task.upstreamId);
    const entry = [...store.ledger.values()].find(({ task: of, send }) => of === task.id && send === task.sends);
    if (one === undefined || entry === undefined || !hasEnd(task)) return [];
    const wrong = wrongWith(entry, one);
    return wrong === null ? [] : [{ name: NAME, what: `task ${task.id} (${task.state}, ${entry.state}): ${wrong}` }];
  });
}

/** Returns whether the end of a task at the service is recorded. */
function hasEnd({ state, lateOutcome }: Task): boolean {
  if (state === 'cancelled') return lateOutcome === 'completed' || lateOutcome === 'failed';
  return state === 'completed' || state === 'failed';
}

function wrongWith({ amount, listed }: LedgerEntry, { cost, status }: Made): string | null {
  const reported = typeof cost === 'string' && Number(cost) > 0 ? roundedUp(cost) : null;
  if (reported === null)
    return listed === undefined ? null : `${amount} instead of ${listed}; the service reports ${cost ?? 'no cost'}`;
  return microsOf(amount) === reported ? null : `${amount}; the service reports ${cost} of what is ${status}`;
}

/** Returns millionths, rounded up: the books have six decimals. */
function roundedUp(cost: string): bigint {
  const [whole = '0', decimals = ''] = cost.split('.');
  const isExact = /^0*$/.test(decimals.slice(6));
  return BigInt(whole + decimals.slice(0, 6).padEnd(6, '0')) + (isExact ? 0n : 1n);
}
