import type { LedgerState } from './ledger.ts';
import { moneyOf, type SendMoney, type SpendPart, statesOf, type TaskMoney } from './money.ts';
import { isKnownState, lastLedgerState } from './state-machine.ts';
import type { Task } from './task.ts';

/** Returns a task with each of its sends counted by the ledger; one in a state of a later version stays as it is. */
export function recount(task: Task): Task {
  if (!isKnownState(task.state)) return task;
  return { ...task, money: countedMoney(task, statesOf(task, lastLedgerState(task))) };
}

/**
 * Returns a task's money with every send counted by its state, or by the decision on it. A send in progress has no
 * decision: one from before a late response of the service is dropped.
 */
function countedMoney(task: Task, states: readonly LedgerState[]): TaskMoney {
  const money = moneyOf(task, states.length);
  const sends = money.sends.map(({ counted: _before, booked, ...send }, index): SendMoney => {
    const state = states[index] ?? 'released';
    const decision = state === 'reserved' ? undefined : booked;
    const awaitsRefund = money.awaitsRefund === true && decision === undefined;
    const counted = awaitsRefund && state === 'refunded' ? 'held' : PARTS[decision ?? state];
    return {
      ...send,
      ...(counted === undefined ? {} : { counted }),
      ...(decision === undefined ? {} : { booked: decision }),
    };
  });
  return { ...money, sends };
}

/** The part of the sums in which each state counts; the others count nothing. */
const PARTS: Readonly<Partial<Record<LedgerState, SpendPart>>> = {
  reserved: 'held',
  settled: 'settled',
  in_doubt: 'doubted',
};
