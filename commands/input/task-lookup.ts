import { comparisonOf, isBlind } from '#src/tasks/comparisons/blind.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { isVisible } from '#src/tasks/visibility.ts';
import type { Caller, OptionDeclaration } from '../bot-port.ts';
import { type BotPorts, visibleTo } from './subcommand.ts';

/** Option that identifies a task. */
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
async function maySee({ chat }: Pick<BotPorts, 'chat'>, caller: Caller, { origin }: Task): Promise<boolean> {
  const isHere = origin.team === caller.team || origin.team === caller.formerTeam;
  if (origin.platform !== caller.platform || !isHere) return false;
  return isVisible(origin, await chat.audienceOf(origin), visibleTo(caller).viewer);
}

/** Finds a task by its id or a prefix of it, if the caller may see it. */
export async function findTask(ports: BotPorts, caller: Caller, id: string): Promise<Task | undefined> {
  const task = await ports.tasks.find(visibleTo(caller), id.trim().toLowerCase());
  return task !== undefined && (await maySee(ports, caller, task)) ? task : undefined;
}

/** Returns the task of a button or form id, if the caller may see it. */
export async function taskHere(ports: BotPorts, caller: Caller, id: TaskId): Promise<Task | undefined> {
  const task = await ports.tasks.get(id);
  return task !== undefined && (await maySee(ports, caller, task)) ? task : undefined;
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
export async function visibleAmong(ports: BotPorts, caller: Caller, tasks: readonly Task[]): Promise<readonly Task[]> {
  const seen = await Promise.all(tasks.map((task) => maySee(ports, caller, task)));
  return tasks.filter((_, index) => seen[index]);
}
