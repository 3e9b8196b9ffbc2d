import type { MessageRef } from '#src/chat/index.ts';
import type { Decision } from '#src/pipeline/index.ts';
import { isBlind, type Task, typedPrompt } from '#src/tasks/index.ts';
import { shortId } from '../ui/buttons.ts';
import { type Card, type Line, type Part, textCard } from '../ui/card.ts';
import { decidedLine } from './approvals/answers.ts';
import { withdrawnLine } from './approvals/requests.ts';
import { stateWord } from './cards/history.ts';
import { cannotCancel } from './cards/task-card.ts';
import { promptPart } from './removal.ts';

/** Decision that a user can take on a task by a button. */
export type DecisionKind = 'cancel' | 'withdraw' | 'again' | 'leave' | 'identify' | 'show' | 'refetch';

/** Shows the outcome of a decision to the user who took it. */
export function decisionCard(kind: DecisionKind, decision: Decision, nowMs: number): Card {
  const { done, task } = decision;
  return textCard(done ? doneLine(kind, task) : tooLateLine(kind, task, nowMs));
}

function doneLine(kind: DecisionKind, task: Task): Line {
  switch (kind) {
    case 'withdraw':
      return withdrawnLine(task);
    case 'cancel':
      if (task.state === 'declined') return withdrawnLine(task);
      if (isBlind(task)) return ['Cancelled. The video service may still finish what was sent, and charge for it.'];
      return [task.sends === 0 ? 'Cancelled. You were not charged.' : `Cancelled in Dailies. ${cannotCancel(task)}`];
    case 'again':
      return ['Sending it again. If the service accepted it the first time as well, it charges for both.'];
    case 'leave':
      return ['Left unresolved. If the service accepted it, you’ll find it in its console.'];
    case 'identify':
      return ['Thanks. I’ll track it from here.'];
    case 'show':
      return ['The clip is on its way to its message, or to a new one if that was deleted.'];
    case 'refetch':
      return ['Fetching it again. Its message shows the progress.'];
  }
}

function tooLateLine(kind: DecisionKind, task: Task, nowMs: number): Line {
  if (kind === 'show' || kind === 'refetch')
    return ['There is nothing to fetch right now. Its message shows the current state.'];
  // How far one of its clips is would tell how fast its model is.
  if (kind === 'cancel') return [isBlind(task) ? 'There is nothing to cancel.' : tooLateToCancel(task)];
  if (kind === 'withdraw') return decidedLine(task, nowMs);
  return ['Someone already decided this. Its message shows the current state.'];
}

function tooLateToCancel({ state }: Task): string {
  switch (state) {
    case 'uncertain':
      return 'It’s unconfirmed whether the service accepted this one, so I can’t stop it. Its message says what you can do.';
    case 'sending':
    case 'cancelled':
      return 'Already cancelled.';
    case 'completed':
      return 'Too late to cancel: the clip is finished.';
    case 'requested':
    case 'waiting':
    case 'claimed':
    case 'polling':
    case 'failed':
    case 'rejected':
    case 'declined':
      return 'There is nothing to cancel: it has already ended.';
  }
}

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
