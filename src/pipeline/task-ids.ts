import { hash } from 'node:crypto';
import type { SetPlace, TaskId } from '../tasks/index.ts';

/** Returns the id of the task for an order's key: 80 bits of its hash, in lower case letters and digits. */
export function taskIdOf(key: string): TaskId {
  const digits = BigInt(`0x${hash('sha256', key, 'hex').slice(0, 20)}`).toString(32);
  return digits.padStart(16, '0') as TaskId;
}

/** Returns the id of a set's task by its number, from 1. The first one has the id of the set. */
export function memberIdOf(set: TaskId, at: number): TaskId {
  return at === 1 ? set : taskIdOf(`set:${set}:${at}`);
}

/** Returns the ids of a set's tasks, in their order. */
export function memberIds({ id, of }: Pick<SetPlace, 'id' | 'of'>): readonly TaskId[] {
  return Array.from({ length: of }, (_, index) => memberIdOf(id, index + 1));
}

/** Returns the idempotency key of a task's retry by button or reaction, by its number from 1. */
export function retryKey(task: TaskId, number: number): string {
  return number === 1 ? `retry:${task}` : `retry:${task}:${number}`;
}
