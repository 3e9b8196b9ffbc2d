import { optionValue } from './input/options.ts';
import { refused, type Subcommand } from './input/subcommand.ts';
import { findTask, TASK_ID } from './input/task-lookup.ts';
import { cancelTask } from './orders/task-actions.ts';
import { unknownTask } from './sentences/refusals.ts';

/** `/video cancel`: cancels a task. */
export const cancel: Subcommand = {
  declaration: {
    name: 'cancel',
    description: 'Cancels a clip; once it is rendering, you may still be charged',
    example: '/video cancel 7f3a9c21',
    options: [{ ...TASK_ID, autocomplete: 'open_task' }],
    visibility: 'private',
  },
  run: async (ports, caller, given) => {
    const id = optionValue(given, 'id') ?? '';
    const task = await findTask(ports, caller, id);
    return task === undefined ? refused(unknownTask(id)) : cancelTask(ports, caller, task);
  },
};
