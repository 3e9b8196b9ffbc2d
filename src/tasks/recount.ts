import { countedMoney, statesOf } from './money.ts';
import { lastLedgerState } from './state-machine.ts';
import type { Task } from './task.ts';

/** Returns a task with each of its sends counted by the ledger. A record of an earlier version gets its money then. */
export function recount(task: Task): Task {
  return { ...task, money: countedMoney(task, statesOf(task, lastLedgerState(task))) };
}

/** Returns whether a task counts what its ledger says. */
export function isCounted(task: Task): boolean {
  return JSON.stringify(task.money) === JSON.stringify(recount(task).money);
}
