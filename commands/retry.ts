import { isBlind, isContentRemoved } from '#src/tasks/index.ts';
import { checkRetry } from '#src/videos/index.ts';
import { optionValue } from './input/options.ts';
import { refused, type Subcommand } from './input/subcommand.ts';
import { findTask, TASK_ID } from './input/task-lookup.ts';
import { askBeforeShowing } from './orders/offers.ts';
import { placedReply, placeOrder } from './orders/place-order.ts';
import { isUndecided } from './orders/task-actions.ts';
import { BLIND_UNTIL_REVEAL } from './sentences/cards/comparison.ts';
import { UNDECIDED, unknownTask } from './sentences/refusals.ts';
import { PROMPT_REMOVED } from './sentences/removal.ts';

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
    if (task === undefined) return refused(unknownTask(id));
    if (isUndecided(task)) return refused(UNDECIDED);
    if (isContentRemoved(task)) return refused(PROMPT_REMOVED);
    if (isBlind(task)) return refused(BLIND_UNTIL_REVEAL);
    const question = await askBeforeShowing(ports, caller, task);
    if (question !== null) return question;
    const checked = checkRetry(ports.catalog(), task.request);
    return placedReply(await placeOrder(ports, caller, checked, { retryOf: task.id }));
  },
};
