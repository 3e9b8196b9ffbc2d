import type { Task, TaskId } from '#src/tasks/task.ts';
import { isVisible } from '#src/tasks/visibility.ts';
import type { Caller, OptionDeclaration } from '../bot-port.ts';
import { type BotPorts, visibleTo } from './subcommand.ts';

/** The option by which a task is named. */
export const TASK_ID: OptionDeclaration = {
  name: 'id',
  description: 'The clip’s id, or its first characters',
  kind: 'text',
  required: true,
  positional: true,
  repeated: false,
  maxLength: 100,
  autocomplete: 'task',
};

/**
 * Decides whether a caller may see a task. Whatever names a task (a command, a button, a reaction, a form) asks here; one that
 * the caller may not see is answered as one that does not exist.
 */
async function maySee({ chat }: Pick<BotPorts, 'chat'>, caller: Caller, { origin }: Task): Promise<boolean> {
  const isHere = origin.team === caller.team || origin.team === caller.formerTeam;
  if (origin.platform !== caller.platform || !isHere) return false;
  return isVisible(origin, await chat.audienceOf(origin), visibleTo(caller).viewer);
}

/** The task that a caller names by its id or the beginning of it. */
export async function findTask(ports: BotPorts, caller: Caller, id: string): Promise<Task | undefined> {
  const task = await ports.tasks.find(visibleTo(caller), id.trim().toLowerCase());
  return task !== undefined && (await maySee(ports, caller, task)) ? task : undefined;
}

/** The task that a button or a form carries the id of. */
export async function taskHere(ports: BotPorts, caller: Caller, id: TaskId): Promise<Task | undefined> {
  const task = await ports.tasks.get(id);
  return task !== undefined && (await maySee(ports, caller, task)) ? task : undefined;
}

/** The ones among tasks that a caller may see, in their order. */
export async function visibleAmong(ports: BotPorts, caller: Caller, tasks: readonly Task[]): Promise<readonly Task[]> {
  const seen = await Promise.all(tasks.map((task) => maySee(ports, caller, task)));
  return tasks.filter((_, index) => seen[index]);
}
