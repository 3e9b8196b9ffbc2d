import type { RetractionCount } from '#src/chat/index.ts';
import { isEnded, lastDecision, type Task, typedPrompt } from '#src/tasks/index.ts';
import { shortId, taskButtonId } from '../../ui/buttons.ts';
import { type Block, type Card, layOut } from '../../ui/card.ts';
import { formatCount } from '../format.ts';
import { promptPart } from '../removal.ts';

export function deleteQuestion(task: Task): Card {
  const { id, request } = task;
  return layOut(
    [
      { kind: 'text', line: [{ strong: 'Delete this clip?' }] },
      { kind: 'text', line: [promptPart(typedPrompt(request), 200)] },
      ...signedOffBlocks(task),
      {
        kind: 'small',
        line: [
          'The clip, its prompt and its messages in the chat are deleted for everyone, which can’t be undone. Its price ',
          'stays in the books. What the video service holds isn’t deleted, nor are messages that I can no longer change.',
        ],
      },
    ],
    { buttons: [{ id: taskButtonId('delete', id), label: 'Delete', style: 'danger' }] },
  );
}

function signedOffBlocks(task: Task): readonly Block[] {
  const last = lastDecision(task);
  return last?.kind === 'signed_off' ? [{ kind: 'text', line: ['Signed off by ', { person: last.by }, '.'] }] : [];
}

/** Confirms a deletion. @param messages outcome in the chat; `null` while they are still to be removed */
export function deletedCard({ id }: Pick<Task, 'id'>, messages: RetractionCount | null): Card {
  return layOut([
    { kind: 'text', line: ['Deleted: ', { code: shortId(id) }, '.'] },
    ...messagesLeft(messages).map((sentence): Block => ({ kind: 'text', line: [sentence] })),
  ]);
}

function messagesLeft(messages: RetractionCount | null): readonly string[] {
  if (messages === null) return ['Its messages in the chat can’t be removed just now. I’ll keep trying.'];
  const { kept } = messages;
  if (kept === 0) return [];
  return [
    kept === 1
      ? 'One message still shows it, which I may not change. Delete it in the chat.'
      : `${formatCount(kept)} messages still show it, which I may not change. Delete them in the chat.`,
  ];
}

/** Refuses to delete a clip that has not ended, or whose outcome is not in the chat yet. */
export function notYetDeletable(task: Task): string {
  if (task.state === 'requested') return 'This clip waits for an approval. Withdraw the request first.';
  if (task.state === 'uncertain' && task.leftBy === undefined)
    return 'It’s unconfirmed whether the video service accepted this clip. Decide on it first: its message says how.';
  return isEnded(task)
    ? 'This clip is being posted. Try again in a moment.'
    : 'This clip is still in progress. Cancel it, or delete it when it has ended.';
}
