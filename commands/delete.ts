import type { RetractionCount } from '#src/chat/index.ts';
import { isBlind, isContentRemoved, isEnded, type Task } from '#src/tasks/index.ts';
import type { Caller, Reply } from './bot-port.ts';
import { optionValue } from './input/options.ts';
import { type BotPorts, privately, refused, type Subcommand } from './input/subcommand.ts';
import { findTask, TASK_ID } from './input/task-lookup.ts';
import { deletedCard, deleteQuestion, notYetDeletable } from './sentences/cards/delete.ts';
import { NOT_SHOWN_YET } from './sentences/comparisons/words.ts';
import { mayNot, unknownTask } from './sentences/refusals.ts';
import { removedSentence } from './sentences/removal.ts';
import { mayDecide } from './ui/buttons.ts';

/** `/video delete`: removes a clip and its prompt, after a question. */
export const deleteClip: Subcommand = {
  declaration: {
    name: 'delete',
    description: 'Deletes a clip and its prompt; its price stays in the books',
    example: '/video delete 7f3a9c21',
    options: [TASK_ID],
    visibility: 'private',
  },
  run: async (ports, caller, given) => {
    const id = optionValue(given, 'id') ?? '';
    const task = await findTask(ports, caller, id);
    if (task === undefined) return refused(unknownTask(id));
    return refusalOf(caller, task) ?? privately(deleteQuestion(task));
  },
};

/** Deletes a clip whose deletion was confirmed. The reply takes the place of the question. */
export async function confirmDelete(ports: BotPorts, caller: Caller, task: Task): Promise<Reply> {
  const refusal = refusalOf(caller, task);
  // A process may have died in the middle of it.
  if (isContentRemoved(task)) await ports.remover.complete([task.id]);
  if (refusal !== null) return refusal;
  let messages: RetractionCount | null = null;
  const retracted = (count: RetractionCount): void => {
    messages = count;
  };
  const isDeleted = await ports.remover.remove(task, { reason: 'deleted', by: caller.user, retracted });
  return isDeleted ? privately(deletedCard(task, messages)) : refused(notYetDeletable(task));
}

/** Returns the reason for which the caller may not delete a clip, or not yet; `null` if there is none. */
function refusalOf(caller: Caller, task: Task): Reply | null {
  if (!mayDecide(caller, task.origin) && !caller.mayAdminister) return refused(mayNot(task.origin.user, null));
  // The messages of an expired clip are still in the chat.
  if (isContentRemoved(task) && task.removal?.reason !== 'expired') return refused(removedSentence(task));
  if (isEnded(task) && task.presented) return null;
  return refused(isBlind(task) ? NOT_SHOWN_YET : notYetDeletable(task));
}
