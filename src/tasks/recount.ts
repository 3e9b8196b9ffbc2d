import { countedMoney, statesOf } from './money.ts';
import { isKnownState, lastLedgerState } from './state-machine.ts';
import type { Task } from './task.ts';

/** Returns a task with each of its sends counted by the ledger; one in a state of a later version stays as it is. */
export function recount(task: Task): Task {
  if (!isKnownState(task.state)) return task;
  return { ...task, money: countedMoney(task, statesOf(task, lastLedgerState(task))) };
}
