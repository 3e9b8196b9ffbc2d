import { optionValue } from './input/options.ts';
import { refused, type Subcommand } from './input/subcommand.ts';
import { findTask, TASK_ID } from './input/task-lookup.ts';
import { retryByCommand } from './orders/task-actions.ts';
import { unknownTask } from './sentences/refusals.ts';

/** `/video retry`: creates a new task from the same request, for any user, under their own name. */
export const retry: Subcommand = {
  declaration: {
    name: 'retry',
    description: 'Creates another take of a clip, under your name',
    example: '/video retry 7f3a9c21',
    options: [TASK_ID],
    visibility: 'public',
    buys: true,
  },
  run: async (ports, caller, given) => {
    const id = optionValue(given, 'id') ?? '';
    const task = await findTask(ports, caller, id);
    return task === undefined ? refused(unknownTask(id)) : retryByCommand(ports, caller, task);
  },
};
