import type { Task } from '#src/tasks/task.ts';
import type { Caller, Reply } from './command.ts';
import { findTask, TASK_ID } from './finding.ts';
import { optionValue } from './options.ts';
import { openCard } from './sentences/history.ts';
import { unknownTask } from './sentences/refusals.ts';
import { statusCard } from './sentences/status.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from './subcommand.ts';

/** So many open tasks of one person are shown. */
const MOST_OPEN = 10;

/** `/video status`: one task, or the caller's open ones. */
export const status: Subcommand = {
  declaration: {
    name: 'status',
    description: 'Shows how a clip stands, or yours that are still open',
    example: '/video status 7f3a9c21',
    options: [{ ...TASK_ID, required: false, defaultWords: 'yours that are open' }],
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
  const [view, message] = await Promise.all([chat.view(task), chat.messageOf(task.id)]);
  return privately(statusCard(view, message));
}

async function openOnes({ tasks, chat }: BotPorts, caller: Caller): Promise<Reply> {
  const open = await tasks.open({ ...teamOf(caller), user: caller.user.id }, MOST_OPEN);
  const listed = open.map(async (task) => ({ task, message: await chat.messageOf(task.id) }));
  return privately(openCard(await Promise.all(listed)));
}
