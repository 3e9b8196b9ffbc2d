import type { Task } from '#src/tasks/task.ts';
import { type Press, parseButton } from './buttons.ts';
import type { Caller, Reply } from './command.ts';
import { cancelTask, decide } from './decisions.ts';
import { taskHere } from './finding.ts';
import { editForm, lookupForm } from './forms.ts';
import { showPage } from './list.ts';
import { retryByPress } from './retrying.ts';
import { detailsCard } from './sentences/details.ts';
import { UNKNOWN_BUTTON } from './sentences/refusals.ts';
import { type BotPorts, privately, refused } from './subcommand.ts';

type TaskPress = Exclude<Press, { readonly action: 'page' }>;

/** Does what a button is there for. */
export async function pressButton(ports: BotPorts, caller: Caller, button: string): Promise<Reply> {
  const press = parseButton(button);
  if (press === null) return refused(UNKNOWN_BUTTON);
  if (press.action === 'page') return showPage(ports, caller, press.page);
  const task = await taskHere(ports, caller, press.task);
  return task === undefined ? refused(UNKNOWN_BUTTON) : pressOn(ports, caller, task, press);
}

function pressOn(ports: BotPorts, caller: Caller, task: Task, press: TaskPress): Promise<Reply> | Reply {
  const { tasks, catalog } = ports;
  const { user } = caller;
  switch (press.action) {
    case 'retry':
      return retryByPress(ports, caller, task);
    case 'edit':
      return editForm(catalog(), task);
    case 'cancel':
      return cancelTask(ports, caller, task);
    case 'details':
      return privately(detailsCard(task, ports.ledger.of(task)));
    case 'lookup':
      return lookupForm(caller, task);
    case 'again':
      return decide(caller, task, 'again', () => tasks.resubmit(task.id, user, press.afterSends));
    case 'leave':
      return decide(caller, task, 'leave', () => tasks.leave(task.id, user));
    case 'show':
      return decide(caller, task, 'show', () => tasks.want(task.id, user));
    case 'refetch':
      return decide(caller, task, 'refetch', () => tasks.refetch(task.id, user));
  }
}
