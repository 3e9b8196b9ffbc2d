import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import type { Random } from './random.ts';

/** Share of the orders in the playground that ask for several takes. */
const SETS_SHARE = 0.25;
const MAX_TAKES = 4;

/** Draws the number of takes of an order. */
export function drawTakes(random: Random): number {
  return random.chance(SETS_SHARE) ? random.between(2, MAX_TAKES) : 1;
}

/** Returns the ids of the tasks of an order. @param key its idempotency key */
export function tasksOf(key: string, takes: number): readonly TaskId[] {
  return memberIds({ id: taskIdOf(key), of: takes });
}

/** Returns the id of a set's card, by which its buttons name it. */
export function cardOf(set: string): string {
  return `set-${set}`;
}

/** Returns the sets of tasks, each by its tasks, in their order. */
export function setsIn(tasks: Iterable<Task>): readonly (readonly Task[])[] {
  const members = [...tasks].filter(({ set }) => set !== undefined);
  const sets = Map.groupBy(members, ({ set }) => set?.id);
  return [...sets.values()].map((set) => set.toSorted((one, other) => (one.set?.at ?? 0) - (other.set?.at ?? 0)));
}
