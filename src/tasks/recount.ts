import { countedMoney, statesOf } from './money.ts';
import { isKnownState, lastLedgerState } from './state-machine.ts';
import type { Task } from './task.ts';

/**
 * Returns a task with each of its sends counted by the ledger. A record of an earlier version gets its money then; one in
 * a state of a later version keeps what that version counts.
 */
export function recount(task: Task): Task {
  if (!isKnownState(task.state)) return task;
  return { ...task, money: countedMoney(task, statesOf(task, lastLedgerState(task))) };
}

/** Returns whether a task counts what its ledger says. */
export function isCounted(task: Task): boolean {
  return JSON.stringify(task.money) === JSON.stringify(recount(task).money);
}
