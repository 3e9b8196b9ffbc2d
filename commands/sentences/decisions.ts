import type { MessageRef } from '#src/chat/platform.ts';
import type { Decision } from '#src/tasks/service.ts';
import type { Task } from '#src/tasks/task.ts';
import { shortId } from '../buttons.ts';
import type { Card, Line, Part } from '../card.ts';
import { shorten } from './format.ts';
import { stateWord } from './history.ts';
import { cannotCancel } from './task-card.ts';

/** What a person may decide on a task by a button. */
export type DecisionKind = 'cancel' | 'again' | 'leave' | 'identify' | 'show' | 'refetch';

/** What a decision came to, for the one who took it. */
export function decisionCard(kind: DecisionKind, decision: Decision): Card {
  return oneLine(decision.done ? doneLine(kind, decision.task) : tooLateLine(kind, decision.task));
}

function doneLine(kind: DecisionKind, task: Task): Line {
  switch (kind) {
    case 'cancel':
      return [task.sends === 0 ? 'Cancelled. Nothing was spent.' : `Stopped following. ${cannotCancel(task)}`];
    case 'again':
      return ['Sending it again. If the service took it the first time as well, it bills both.'];
    case 'leave':
      return ['Left as it is. Should the service have taken it, its console shows it.'];
    case 'identify':
      return ['Thank you. I follow it from here.'];
    case 'show':
      return ['On its way: the clip comes to its message.'];
    case 'refetch':
      return ['Fetching it once more; its message shows how it goes.'];
  }
}

function tooLateLine(kind: DecisionKind, task: Task): Line {
  if (kind === 'show' || kind === 'refetch')
    return ['There is nothing to fetch for this one now; its message shows how it stands.'];
  if (kind === 'cancel') return [tooLateToCancel(task)];
  return ['This is decided already; its message shows how it stands.'];
}

function tooLateToCancel({ state }: Task): string {
  if (state === 'uncertain') {
    return 'Nobody knows whether the service took this one, so I cannot stop it. Its message says what can be done.';
  }
  if (state === 'cancelled' || state === 'sending') return 'It is cancelled already.';
  return state === 'completed'
    ? 'Too late to cancel: the clip is finished.'
    : 'There is nothing to cancel: it has ended.';
}

/** For a second press of Retry: the one task that came of the first. */
export function retriedAlready(original: Task, retry: Task, message: MessageRef | undefined): Card {
  const jump: readonly Part[] = message === undefined ? [] : [' ', { message, label: 'See it here' }, '.'];
  return oneLine([
    `${already(retry)}: `,
    { untrusted: shorten(retry.request.prompt, 80) },
    ' (',
    { code: shortId(retry.id) },
    ').',
    ...jump,
    ' For one more: ',
    { code: `/video retry ${shortId(original.id)}` },
  ]);
}

function already(retry: Task): string {
  if (retry.state === 'completed') return 'Already made again';
  if (retry.state === 'uncertain') return 'Already sent again, and nobody knows whether the service took it';
  const word = stateWord(retry);
  return word === 'queued' || word === 'running' ? 'Already on its way' : `Already tried again, and ${word}`;
}

function oneLine(line: Line): Card {
  return { lines: [line], progress: null, buttons: [] };
}
