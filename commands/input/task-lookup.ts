import { comparisonOf, isBlind, isVisible, type SetPlace, type Task, type TaskId } from '#src/tasks/index.ts';
import type { Caller, OptionDeclaration } from '../bot-port.ts';
import { type BotPorts, visibleTo } from './subcommand.ts';

export const TASK_ID: OptionDeclaration = {
  name: 'id',
  description: 'The clip’s id, or 4 or more of its first characters',
  kind: 'text',
  required: true,
  positional: true,
  maxLength: 100,
  autocomplete: 'task',
};

/**
 * Returns true if the caller may see a task. Every lookup of a task (by command, button, reaction or form) checks this;
 * a task that the caller may not see is treated as one that does not exist.
 */
function maySee(caller: Caller, { origin }: Task): boolean {
  if (origin.platform !== caller.platform || origin.team !== caller.team) return false;
  return isVisible(origin, visibleTo(caller).viewer);
}

/** Finds a task by its id or a prefix of it, if the caller may see it. */
export async function findTask(ports: BotPorts, caller: Caller, id: string): Promise<Task | undefined> {
  const task = await ports.tasks.find(visibleTo(caller), id.trim().toLowerCase());
  return task !== undefined && maySee(caller, task) ? task : undefined;
}

/** Returns the task of a button or form id, if the caller may see it. */
export async function taskHere(ports: BotPorts, caller: Caller, id: TaskId): Promise<Task | undefined> {
  const task = await ports.tasks.get(id);
  return task !== undefined && maySee(caller, task) ? task : undefined;
}

/** Set of a task: that of a blind clip's comparison, of a shot's or another take's storyboard. */
export function placeOf(task: Task): SetPlace | undefined {
  return comparisonOf(task) ?? task.set ?? task.takeOf;
}

/** Leaves one of the tasks of each storyboard, in whose place its board is listed. */
export function oncePerBoard(tasks: readonly Task[]): readonly Task[] {
  const boards = new Set<TaskId>();
  return tasks.filter((task) => {
    const place = placeOf(task);
    if (place?.kind !== 'storyboard') return true;
    return !boards.has(place.id) && boards.add(place.id);
  });
}

/**
 * Leaves one of the tasks of each blind comparison, with the id of its set, where a list of open tasks, or their states, would
 * tell which one was finished first.
 */
export function oncePerBlind(tasks: readonly Task[]): readonly Task[] {
  const shown = new Set<TaskId>();
  return tasks.flatMap((task) => {
    const place = isBlind(task) ? comparisonOf(task) : null;
    if (place === null) return [task];
    if (shown.has(place.id)) return [];
    shown.add(place.id);
    return [{ ...task, id: place.id }];
  });
}

/** Filters tasks to those that the caller may see, in the same order. */
export function visibleAmong(caller: Caller, tasks: readonly Task[]): readonly Task[] {
  return tasks.filter((task) => maySee(caller, task));
}
