import { comparisonOf, isBlind } from '#src/tasks/comparisons/blind.ts';
import type { Task } from '#src/tasks/task.ts';
import type { Caller, Reply } from './bot-port.ts';
import { optionValue } from './input/options.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from './input/subcommand.ts';
import { findTask, oncePerBlind, TASK_ID, visibleAmong } from './input/task-lookup.ts';
import { listedOf } from './list.ts';
import { openCard } from './sentences/cards/history.ts';
import { statusCard } from './sentences/cards/task-card.ts';
import { unknownTask } from './sentences/refusals.ts';

/** Largest number of open tasks shown. */
const MAX_OPEN = 10;

/** `/video status`: one task, or the caller's open ones. */
export const status: Subcommand = {
  declaration: {
    name: 'status',
    description: 'Shows one clip, or all of yours in progress',
    example: '/video status 7f3a9c21',
    options: [{ ...TASK_ID, required: false, defaultWords: 'your clips in progress' }],
    visibility: 'private',
  },
  run: async (ports, caller, given) => {
    const id = optionValue(given, 'id');
    if (id === undefined) return openOnes(ports, caller);
    const task = await findTask(ports, caller, id);
    return task === undefined ? refused(unknownTask(id)) : oneOf(ports, task);
  },
};

async function oneOf({ chat }: BotPorts, task: Task): Promise<Reply> {
  const comparison = isBlind(task) ? comparisonOf(task) : null;
  // One of its clips alone would tell how far its model is.
  if (comparison !== null) {
    const [card, message] = await Promise.all([chat.setView(comparison), chat.messageOf(comparison.id)]);
    return privately(statusCard({ ...card, task: task.id }, message));
  }
  const [view, message] = await Promise.all([chat.view(task), chat.messageOf(task.id)]);
  return privately(statusCard(view, message));
}

async function openOnes(ports: BotPorts, caller: Caller): Promise<Reply> {
  const open = await ports.tasks.open({ ...teamOf(caller), user: caller.user.id }, 2 * MAX_OPEN);
  // Cancelled tasks are polled until they end as well, but they are not in progress for the user.
  const awaited = open.filter(({ state, cancelledBy }) => state !== 'cancelled' && cancelledBy === undefined);
  const seen = oncePerBlind(await visibleAmong(ports, caller, awaited));
  return privately(openCard(await listedOf(ports, seen.slice(0, MAX_OPEN))));
}
