import type { RetractionCount } from '#src/chat/index.ts';
import { isBlind, isContentRemoved, isEnded, lastDecision, type Task, typedPrompt } from '#src/tasks/index.ts';
import type { Caller, Reply } from './bot-port.ts';
import { optionValue } from './input/options.ts';
import { type BotPorts, privately, refused, type Subcommand } from './input/subcommand.ts';
import { findTask, TASK_ID } from './input/task-lookup.ts';
import { NOT_SHOWN_YET } from './sentences/cards/comparison.ts';
import { decisionLine } from './sentences/cards/review.ts';
import { formatCount } from './sentences/format.ts';
import { mayNot, unknownTask } from './sentences/refusals.ts';
import { promptPart, removedSentence } from './sentences/removal.ts';
import { button, mayDecide, shortId } from './ui/buttons.ts';
import { type Card, type Line, layOut, small } from './ui/card.ts';

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
  if (!isDeleted) return refused(notYetDeletable(task));
  return privately(layOut([['Deleted: ', { code: shortId(task.id) }, '.'], messagesLeft(messages)]));
}

/** Returns the reason for which the caller may not delete a clip, or not yet; `null` if there is none. */
function refusalOf(caller: Caller, task: Task): Reply | null {
  if (!mayDecide(caller, task.origin) && !caller.mayAdminister) return refused(mayNot(task.origin.user, null));
  // The messages of an expired clip are still in the chat.
  if (isContentRemoved(task) && task.removal?.reason !== 'expired') return refused(removedSentence(task));
  if (isEnded(task) && task.presented) return null;
  return refused(isBlind(task) ? NOT_SHOWN_YET : notYetDeletable(task));
}

function deleteQuestion(task: Task): Card {
  const { id, request } = task;
  const last = lastDecision(task);
  return layOut(
    [
      [{ strong: 'Delete this clip?' }],
      [promptPart(typedPrompt(request), 200)],
      last?.kind === 'signed_off' && decisionLine(last),
      small(
        'The clip, its prompt and its messages in the chat are deleted for everyone, which can’t be undone. Its price ',
        'stays in the books. What the video service holds isn’t deleted, nor are messages that I can no longer change.',
      ),
    ],
    { buttons: [button({ action: 'delete', task: id }, 'Delete', 'danger')] },
  );
}

/** @param messages outcome in the chat; `null` while they are still to be removed */
function messagesLeft(messages: RetractionCount | null): Line | null {
  if (messages === null) return ['Its messages in the chat can’t be removed just now. I’ll keep trying.'];
  const { kept } = messages;
  if (kept === 0) return null;
  return [
    kept === 1
      ? 'One message still shows it, which I may not change. Delete it in the chat.'
      : `${formatCount(kept)} messages still show it, which I may not change. Delete them in the chat.`,
  ];
}

function notYetDeletable(task: Task): string {
  if (task.state === 'requested') return 'This clip waits for an approval. Withdraw the request first.';
  if (task.state === 'uncertain' && task.leftBy === undefined)
    return 'It’s unconfirmed whether the video service accepted this clip. Decide on it first: its message says how.';
  return isEnded(task)
    ? 'This clip is being posted. Try again in a moment.'
    : 'This clip is still in progress. Cancel it, or delete it when it has ended.';
}
