import type { ButtonAction, TaskView } from '#src/chat/view.ts';
import { formatPrice, total } from '#src/money/price.ts';
import type { Price } from '#src/tasks/task.ts';
import { taskButtonId } from '../buttons.ts';
import type { Card, CardButton, Line } from '../card.ts';
import { failureLine, unfetchedLine } from './errors.ts';
import { formatDuration, formatElapsed, formatSpan, shorten } from './format.ts';
import { handoverLines } from './handover.ts';

/** A headline shows about this many characters of the prompt; the whole stands under Details. */
const PROMPT_LENGTH = 200;

/** What a task's message says: the order in its first line, which never moves, then how it goes. */
export function taskCard(view: TaskView): Card {
  const isMoving = view.phase === 'queued' || view.phase === 'running' || view.phase === 'fetching';
  return {
    lines: [headline(view), ...phaseLines(view)],
    progress: isMoving ? view.progress : null,
    buttons: view.buttons.map((action) => taskButton(action, view)),
  };
}

/** Prompt · model · 6 s · 16:9 · 720p · $0.30 · by whom. */
function headline(view: TaskView): Line {
  const { seconds, aspectRatio, resolution, price } = view;
  const settings = [`${seconds} s`, aspectRatio, resolution, formatPrice(price)].filter((setting) => setting !== null);
  return [
    { untrusted: shorten(view.prompt, PROMPT_LENGTH) },
    ' · ',
    { untrusted: view.modelTitle },
    ` · ${settings.join(' · ')} · `,
    { person: view.by },
  ];
}

function phaseLines(view: TaskView): readonly Line[] {
  switch (view.phase) {
    case 'queued':
      return waitingLines(view, 'Queued');
    case 'running':
      return waitingLines(view, 'Running');
    case 'fetching':
      return [[`Finished; fetching the clip · ${took(view)}`]];
    case 'done':
      return [[`${took(view)} · ${formatPrice(view.price)}${sentTwice(view)}`], ...handoverLines(view.handover)];
    case 'lost':
      return lostLines(view);
    case 'failed':
      return [failureLine(view.failure ?? { code: 'generation_failed', words: null }), [refundSentence(view)]];
    case 'refused':
      return [failureLine(view.failure ?? { code: 'bad_request', words: null }), [refusedSentence(view)]];
    case 'uncertain':
      return uncertainLines(view);
    case 'cancelled':
      return cancelledLines(view);
  }
}

function waitingLines(view: TaskView, word: string): readonly Line[] {
  const percentage = view.progress === null ? [] : [`${view.progress} %`];
  const figures = [word, ...percentage, took(view), ...expectation(view)];
  const { overdue } = view;
  if (overdue === null) return [[figures.join(' · ')]];
  const after = formatDuration(overdue.deadlineMs);
  const every = formatDuration(overdue.pollEveryMs);
  return [[figures.join(' · ')], [`Still running after ${after}. I keep looking, every ${every}.`]];
}

function expectation({ overdue, longerThanUsual, usual }: TaskView): readonly string[] {
  // "Still running after 30 min" says it already.
  if (overdue !== null) return [];
  if (longerThanUsual) return ['longer than usual'];
  return usual === null ? [] : [`usually ${formatSpan(usual.fromMs, usual.toMs)}`];
}

function lostLines(view: TaskView): readonly Line[] {
  const lines: Line[] = [['The service finished this clip, but I could not fetch it.']];
  if (view.failure !== null) lines.push(unfetchedLine(view.failure));
  return [...lines, [`It may bill ${atStake(view)} all the same.`]];
}

function uncertainLines(view: TaskView): readonly Line[] {
  if (view.leftBy !== null) {
    const bill = `The service may have taken it and may bill ${atStake(view)}.`;
    return [['Left as it is by ', { person: view.leftBy }, `. ${bill}`]];
  }
  if (view.failure?.code === 'task_unknown') return disownedLines(view);
  return [
    [
      `The service did not answer when I sent this. It may have taken it and may bill ${atStake(view)}. `,
      'I will not send it again by myself.',
    ],
    ['If the service’s console shows it, Look it up and enter its id. ', 'If it does not, Send again. Or Leave it.'],
  ];
}

/** It was followed under an id that the service does not know: dropped, or given wrongly by a person. */
function disownedLines(view: TaskView): readonly Line[] {
  return [
    [
      'However often I ask, the service says that it does not know this task. ',
      `It may have made the clip all the same and may bill ${atStake(view)}. I will not send it again by myself.`,
    ],
    [
      'Details has the id that I asked for. If the service’s console shows another one, Look it up and enter that. ',
      'If it shows none, Send again. Or Leave it.',
    ],
  ];
}

function cancelledLines(view: TaskView): readonly Line[] {
  const by: Line =
    view.cancelledBy === null || view.cancelledBy.id === view.by.id ? [] : [' By ', { person: view.cancelledBy }, '.'];
  if (view.sends === 0) return [['Cancelled. Nothing was spent.', ...by]];
  switch (view.lateOutcome) {
    case 'completed':
      return [['Stopped following.', ...by, ` ${finishedAllTheSame(view)}`]];
    case 'failed':
      return [['Stopped following.', ...by, ' The service could not make it. ', refundSentence(view)]];
    case 'unknown':
      return [['Stopped following.', ...by, ` What became of it is not known; it may have billed ${atStake(view)}.`]];
    case null:
      return [['Stopped following.', ...by, ` ${cannotCancel(view)}`]];
  }
}

/** What cancelling after sending comes to. */
export function cannotCancel(money: { readonly price: Price; readonly sends: number }): string {
  return `The service has no cancel: it may still finish and bill ${atStake(money)}.`;
}

function finishedAllTheSame(view: TaskView): string {
  return `The service finished it all the same and bills ${formatPrice(view.price)}${sentTwice(view)}.`;
}

/** The send that was refused does not count; those before it may have been taken. */
function refusedSentence(view: TaskView): string {
  return view.sends === 0
    ? 'Nothing was made and nothing was spent.'
    : `Nothing was made this time. The service may have taken what I sent before, and may bill ${atStake(view)}. ` +
        'If its console shows that, Look it up.';
}

/** What failed was one send; the others may have been taken as well. */
function refundSentence({ refundKnown, price, sends }: TaskView): string {
  const refund = refundKnown
    ? 'Not charged: the service refunds failed tasks.'
    : `The service refunds failed tasks under its own rules; its console shows whether the ${formatPrice(price)} came back.`;
  if (sends < 2) return refund;
  return `${refund} But it was sent ${sends} times: the service may still bill ${upTo(price, sends - 1)} for the rest.`;
}

/** What may be billed: the price, for each time it may have been taken. */
function atStake({ price, sends }: { readonly price: Price; readonly sends: number }): string {
  return sends < 2 ? formatPrice(price) : `${upTo(price, sends)} (sent ${sends} times)`;
}

/** The most that so many sends come to. */
function upTo(price: Price, sends: number): string {
  if (sends < 2) return formatPrice(price);
  const [sum = price] = total(Array.from({ length: sends }, () => price));
  return `up to ${formatPrice(sum)}`;
}

/** A person had an uncertain task sent again: both may have been made. */
function sentTwice(view: TaskView): string {
  return view.sends < 2 ? '' : `, or ${atStake(view)}`;
}

function took({ createdAtMs, endedAtMs, nowMs }: TaskView): string {
  return formatElapsed((endedAtMs ?? nowMs) - createdAtMs);
}

function taskButton(action: ButtonAction, { task, sends }: TaskView): CardButton {
  return { id: taskButtonId(action, task, sends), ...BUTTONS[action] };
}

const BUTTONS: Readonly<Record<ButtonAction, Omit<CardButton, 'id'>>> = {
  retry: { label: 'Retry', style: 'primary' },
  edit: { label: 'Edit & retry', style: 'plain' },
  cancel: { label: 'Cancel', style: 'plain' },
  details: { label: 'Details', style: 'plain' },
  lookup: { label: 'Look it up', style: 'primary' },
  again: { label: 'Send again', style: 'danger' },
  leave: { label: 'Leave it', style: 'plain' },
  show: { label: 'Show the clip', style: 'primary' },
  refetch: { label: 'Fetch it again', style: 'primary' },
};
