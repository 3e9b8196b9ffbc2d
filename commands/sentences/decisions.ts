import type { MessageRef } from '#src/chat/index.ts';
import { type Task, typedPrompt } from '#src/tasks/index.ts';
import { shortId } from '../ui/buttons.ts';
import { type Card, type Part, textCard } from '../ui/card.ts';
import { stateWord } from './cards/history.ts';
import { promptPart } from './removal.ts';

/** Answers a second press of **Retry** with the task that the first one created. */
export function retriedAlready(original: Task, retry: Task, message: MessageRef | undefined): Card {
  const jump: readonly Part[] = message === undefined ? [] : [' ', { message, label: 'See it here' }, '.'];
  return textCard([
    `${already(retry)}: `,
    promptPart(typedPrompt(retry.request), 80),
    ' (',
    { code: shortId(retry.id) },
    ').',
    ...jump,
    ' For another take: ',
    { code: `/video retry ${shortId(original.id)}` },
  ]);
}

function already(retry: Task): string {
  if (retry.state === 'completed') return 'Already retried';
  if (retry.state === 'uncertain') return 'Already sent again, still unconfirmed';
  const word = stateWord(retry);
  return word === 'queued' || word === 'in progress' ? 'Already on its way' : `Already retried, and ${word}`;
}
