import type { Task, TaskId } from '#src/tasks/task.ts';
import type { Caller, OptionDeclaration } from './command.ts';
import { type BotPorts, teamOf } from './subcommand.ts';

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

/** A task of the caller's team by its id or the beginning of it; another team's is as unknown as one that never was. */
export function findTask({ tasks }: BotPorts, caller: Caller, id: string): Promise<Task | undefined> {
  return tasks.find(teamOf(caller), id.trim().toLowerCase());
}

/** The task that a button or a form carries the id of, where it is one of the caller's team. */
export async function taskHere({ tasks }: BotPorts, caller: Caller, id: TaskId): Promise<Task | undefined> {
  const task = await tasks.get(id);
  return task?.origin.platform === caller.platform && task.origin.team === caller.team ? task : undefined;
}
