import { memberIds, type TaskRepository } from '../pipeline/index.ts';
import { type Declined, isContentRemoved, type Origin, type SetPlace, sumOf, type Task } from '../tasks/index.ts';

/** An order of several clips, with its tasks as they are now. */
export interface TaskSet {
  readonly place: SetPlace;
  /** In the order in which they were ordered. */
  readonly tasks: readonly [Task, ...Task[]];
  /** Where its card is: that of the first task, which has the response to the interaction. */
  readonly origin: Origin;
  /** The first task whose content is there; the first one where that of all is removed. */
  readonly shown: Task;
}

/** Reads a set; `undefined` where it has no task. @throws DailiesError `store_unavailable` */
export async function readSet(
  repository: Pick<TaskRepository, 'get'>,
  place: Pick<SetPlace, 'id' | 'of'>,
): Promise<TaskSet | undefined> {
  const found = await Promise.all(memberIds(place).map((id) => repository.get(id)));
  const [first, ...rest] = found.filter((task) => task !== undefined);
  if (first?.set === undefined) return undefined;
  const tasks = [first, ...rest] as const;
  const shown = tasks.find((task) => !isContentRemoved(task)) ?? first;
  return { place: first.set, tasks, origin: first.origin, shown };
}

/** Returns the end of a set's request for approval, from those of its tasks; `null` while it has none. */
export function declinedOf(tasks: readonly Pick<Task, 'declined'>[]): Declined | null {
  const ends = tasks.flatMap(({ declined }) => declined ?? []);
  const [first] = ends;
  if (first?.price === undefined) return first ?? null;
  const price = sumOf(ends.flatMap((end) => end.price ?? [])) ?? first.price;
  return { ...first, price };
}
