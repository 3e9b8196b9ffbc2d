import {
  type ButtonAction,
  type ComparisonView,
  isPending,
  type MessageRef,
  type RemovedView,
  type SetMember,
  type SignedOffNotice,
  type TaskView,
  type TeamNotice,
  type View,
} from '#src/chat/index.ts';
import {
  formatPrice,
  type Person,
  type Price,
  type RemovalReason,
  type SetKind,
  type SetPlace,
  total,
} from '#src/tasks/index.ts';
import { button, type Press } from '../../ui/buttons.ts';
import {
  type Block,
  blocksOf,
  type Card,
  type CardButton,
  facts,
  heading,
  item,
  type Line,
  layOut,
  lineOf,
  small,
  textCard,
} from '../../ui/card.ts';
import { unsentWords, waitsWords } from '../chain.ts';
import { CANNOT_CANCEL, failureLine, lostLines, retryLines, unconfirmedLine } from '../errors.ts';
import { capitalised, count, formatDuration, formatElapsed, formatSpan, shorten } from '../format.ts';
import { aiLabel, handoverLines } from '../handover.ts';
import { memberName, memberWords, setSize } from '../ordered.ts';
import { keptLines, promptPart, removalLines } from '../removal.ts';
import { referenceWords, requestWords } from '../settings.ts';
import { approvalCard, declinedLines, requestedLines } from './approval.ts';
import { blindButtons, blindLines, comparisonButtons, comparisonLines } from './comparison.ts';
import { cutCard } from './cut.ts';
import { noticeCard } from './notice.ts';
import { reviewLines, reviewNoticeCard, signedOffCard } from './review.ts';
import { boardSummary, cutLinks, memberButtons, memberLines, outdatedOf, shotNumbers } from './set-card.ts';
import { teamNoticeCard } from './team-notice.ts';

/** Largest length of the prompt in a headline, in UTF-16 units; **Details** shows all of it. */
const PROMPT_LENGTH = 200;

/**
 * Renders a view as a card.
 * @param mention person that a completion notice pings. Default: the requester; none in a subscribed channel.
 */
export function cardOf(
  view: AnyView,
  mention: Person | null = view.kind === 'end' && !view.subscribed ? view.by : null,
): Card {
  if (view.kind === 'task') return taskCard(view);
  if (view.kind === 'approval') return approvalCard(view);
  if (view.kind === 'removed') return textCard([REMOVED[view.reason]]);
  if (view.kind === 'review') return reviewNoticeCard(view, mention);
  if (view.kind === 'signed_off') return signedOffCard(view);
  return view.kind === 'end' ? noticeCard(view, mention) : teamNoticeCard(view);
}

/** Text in place of a removed clip, its prompt and its notices. */
const REMOVED = {
  expired: 'Removed: the time for which clips are kept is over.',
  deleted: 'This clip was deleted.',
  forgotten: 'Removed at the requester’s request.',
} as const satisfies Readonly<Record<RemovalReason, string>>;

type AnyView = View | SignedOffNotice | TeamNotice | RemovedView;

/** Renders a task's message: its request in the first line, whose position never changes, then its progress. */
function taskCard(view: TaskView): Card {
  if (view.awayFrom !== undefined) return awayCard(view, view.awayFrom);
  if (view.cut !== undefined) return cutCard(view, view.cut);
  // A blind clip is retried for the highest price of its comparison.
  const actions = view.blind === undefined ? view.buttons : view.buttons.filter((action) => action !== 'retry');
  const buttons = actions.map((action) => taskButton(action, view));
  const approver = view.approval?.approved?.by;
  return layOut(
    [
      headline(view),
      ...ownLines(view),
      view.isUnproven && small('The video service didn’t say how long this file is, so it may be cut off.'),
      approver && small('Approved by ', { person: approver }, '.'),
    ],
    {
      progress: isPending(view.phase) ? view.progress : null,
      buttons: [...furtherButtons(view), ...buttons],
    },
  );
}

/** Renders a direct message in place of one that its channel did not take. */
function awayCard({ awayFrom: _away, ...view }: TaskView, channel: string): Card {
  const { progress, buttons, ...contents } = taskCard(view);
  const [first, ...rest] = blocksOf(contents);
  const why = ['I can’t post in ', { channel }, ' any more, so this goes to you alone.'];
  return layOut([first, why, ...rest], { progress, buttons });
}

/** Returns whether all tasks of a set wait for an approval, or none was approved: there is one line about them. */
function isDecidedTogether({ phase }: TaskView): boolean {
  return phase === 'requested' || phase === 'declined';
}

function ownLines(view: TaskView): readonly Line[] {
  const isSet = view.members !== undefined;
  if (isSet && isDecidedTogether(view)) return phaseLines(view);
  if (isComparison(view)) return comparisonLines(view);
  if (isSet) return [...boardSummary(view), ...memberLines(view, phaseLines), ...cutLinks(view)];
  const lines = view.blind === undefined ? phaseLines(view) : blindLines(view);
  return [...lines, ...reviewLines(view), ...removalLines(view.removal)];
}

function furtherButtons(view: TaskView): readonly CardButton[] {
  if (isComparison(view)) return isDecidedTogether(view) ? [] : comparisonButtons(view);
  return view.members === undefined ? [...blindButtons(view), ...elsewhereButtons(view)] : memberButtons(view);
}

/** Offers the order to another video service, where its own one stopped it. */
function elsewhereButtons({ task, elsewhere }: TaskView): readonly CardButton[] {
  if (elsewhere === undefined) return [];
  const { title, model, price } = elsewhere;
  const label = priced(`Make it with ${shorten(title, MAX_TITLE)}`, price);
  return [button({ action: 'elsewhere', task, model, price }, label, 'primary')];
}

/** Length to which a button shortens a title: Slack takes labels of 75 characters. */
const MAX_TITLE = 40;

function isComparison(view: TaskView): view is TaskView & { readonly comparison: ComparisonView } {
  return view.comparison !== undefined;
}

/** Shows the details of a set: its size, price, state and id, and its tasks with **Details** of their own. */
export function setDetailsCard(view: TaskView, message: MessageRef | undefined): Card {
  const { members = [], createdAtMs, set, task } = view;
  const isTogether = isDecidedTogether(view) || view.comparison?.stage === 'making';
  const rows = isTogether ? [] : isComparison(view) ? comparisonLines(view) : memberLines(view, phaseLines);
  const state = isTogether ? ownLines(view) : [...boardSummary(view), ...cutLinks(view), ...rows.slice(members.length)];
  const items = members.map(({ view: one, shot }, index) => {
    const [name = capitalised(memberName(set?.kind ?? 'takes', shot?.at ?? index + 1)), , ...rest] = rows[index] ?? [];
    return item([name], rest, button({ action: 'details', task: one.task }, BUTTONS.details.label));
  });
  const times = facts(
    ['Requested ', { timeMs: createdAtMs }],
    ['ID ', { code: task }],
    message && [{ message, label: 'its message' }],
  );
  return layOut([heading('Details'), headline(view), ...state, small(...times), ...items], {
    buttons: [taskButton('show', view)],
  });
}

/** Renders the prompt, and in small print: model · 6 s · 16:9 · 720p · $0.30 · requester. */
function headline(view: TaskView): Block {
  const { members } = view;
  const set = view.set ?? view.takeOf;
  if (members !== undefined && set?.kind === 'storyboard') return boardHeadline(view, set);
  const small = facts(
    aiLabel(view),
    view.modelTitle !== '' && [{ untrusted: view.modelTitle }],
    ...requestWords(view.settings),
    ...referenceWords(view.references ?? {}),
    set && (members === undefined ? placeInSet(set) : setSize(set)),
    view.version !== undefined && members === undefined && `v${view.version}`,
    view.blind === undefined && formatPrice(view.price),
    [{ person: view.by }],
  );
  return item([promptPart(view.prompt, PROMPT_LENGTH)], small);
}

/** Names the place of a task in its set: `2 of 4 takes`, `shot 4 of 9`. */
function placeInSet({ kind, at, of }: Pick<SetPlace, 'kind' | 'at' | 'of'>): string {
  if (kind === 'comparison') return `${memberName(kind, at)} of ${of}`;
  return kind === 'storyboard' ? `${memberWords(kind).one} ${at} of ${of}` : `${at} of ${setSize({ kind, of })}`;
}

/** Renders the first prompt of a storyboard, and in small print: 9 shots · 54 s · $2.70 · requester. */
function boardHeadline({ prompt, price, by, isLabelled, members = [] }: TaskView, set: SetPlace): Block {
  const seconds = members.reduce((sum, { view }) => sum + view.settings.seconds, 0);
  const small = facts(aiLabel({ isLabelled }), setSize(set), `${seconds} s`, formatPrice(price), [{ person: by }]);
  return item(['Storyboard: ', promptPart(prompt, PROMPT_LENGTH)], small);
}

function phaseLines(view: TaskView): readonly Line[] {
  switch (view.phase) {
    case 'requested':
      return requestedLines(view);
    case 'declined':
      return declinedLines(view);
    case 'queued':
      return waitingLines(view, 'Queued');
    case 'running':
      return waitingLines(view, 'Running');
    case 'fetching':
      return [[`Finished, fetching the clip · ${took(view)}`], ...retryLines(view.retrying, view.nowMs)];
    case 'done':
      return [[`Done in ${tookInWords(view)}${doubtful(view)}`], ...handoverLines(view.handover), ...keptLines(view)];
    case 'lost':
      return lostLines(view.failure, atStake(view));
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
  if (view.state === 'waiting') return [[waitsWords(view)]];
  const figures = facts(
    word,
    view.progress !== null && `${view.progress} %`,
    took(view),
    view.ahead !== undefined && (view.ahead === 0 ? 'next at the service' : `${view.ahead} ahead at the service`),
    expectation(view),
  );
  const { overdue, retrying } = view;
  const retry = retryLines(retrying, view.nowMs);
  if (overdue === null) return [figures, ...retry];
  const after = formatDuration(overdue.deadlineMs);
  const every = formatDuration(overdue.pollEveryMs);
  const late =
    retrying === null ? `Still running after ${after}. Checking every ${every}.` : `Not done after ${after}.`;
  return [figures, [late], ...retry];
}

function expectation({ overdue, longerThanUsual, usual }: TaskView): string | null {
  // "Still running after 30 min" says it already.
  if (overdue !== null) return null;
  if (longerThanUsual) return 'longer than usual';
  return usual && `usually ${formatSpan(usual.fromMs, usual.toMs)}`;
}

function uncertainLines(view: TaskView): readonly Line[] {
  if (view.leftBy !== null) {
    const bill = `The video service may have accepted it and may charge ${atStake(view)}.`;
    return [[{ person: view.leftBy }, ` left this unresolved. ${bill}`]];
  }
  if (view.failure?.code === 'task_unknown') return disownedLines(view);
  if (view.failure?.code === 'id_taken') return sharedIdLines(view);
  return [unconfirmedLine(atStake(view)), waysOut('Does the service’s console show it?', 'If not,')];
}

/** Lists the remedies for an unconfirmed request, as answers to a question about the service's console. */
function waysOut(question: string, without: string): Line {
  const ways = [
    { strong: 'Enter its ID' },
    `. ${without} `,
    { strong: 'Send again' },
    '. Not sure? ',
    { strong: 'Dismiss' },
  ];
  return [`${question} `, ...ways, '.'];
}

/** Explains a task whose id is unknown to the service: it was dropped there, or a user entered the wrong id. */
function disownedLines(view: TaskView): readonly Line[] {
  return [
    [
      'The video service keeps saying that it doesn’t know this task. ',
      `It may have made the clip all the same and may charge ${atStake(view)}. I won’t send it again on my own.`,
    ],
    waysOut('Details shows the ID that I asked for. Does the service’s console show another one?', 'None?'),
  ];
}

/** Explains a response with the id of another task: it is unknown which of the two the service renders. */
function sharedIdLines(view: TaskView): readonly Line[] {
  return [
    [
      'The video service answered with an ID that another clip already has, so I can’t follow this one. ',
      `It may charge ${atStake(view)}. I won’t send it again on my own.`,
    ],
    waysOut('Does the service’s console show another ID for it?', 'If not,'),
  ];
}

function cancelledLines(view: TaskView): readonly Line[] {
  const { cancelledBy } = view;
  const by = lineOf(cancelledBy !== null && cancelledBy.id !== view.by.id && [' by ', { person: cancelledBy }]);
  if (view.sends === 0) return [[...unsentWords(view, by), ' You were not charged.']];
  const cancelled: Line = ['Cancelled in Dailies', ...by, '. '];
  const end = view.failure?.code === 'cancelled' ? 'cancelled it before it began' : 'couldn’t make it';
  switch (view.lateOutcome) {
    case 'completed':
      return [[...cancelled, finishedAllTheSame(view)]];
    case 'failed':
      return [[...cancelled, `The video service ${end}. `, refundSentence(view)]];
    case 'unknown':
      return [[...cancelled, `What became of it is unknown; the video service may have charged ${atStake(view)}.`]];
    case null:
      return [[...cancelled, cannotCancel(view)]];
  }
}

/** Explains the effect of cancelling a task after its submission. */
export function cannotCancel(money: { readonly price: Price; readonly sends: number }): string {
  return `${CANNOT_CANCEL}: it may still finish and charge ${atStake(money)}.`;
}

function finishedAllTheSame(view: TaskView): string {
  return `The video service finished it all the same and charges ${formatPrice(view.price)}${sentTwice(view)}.`;
}

/** Excludes the refused submission; earlier ones may have been accepted. */
function refusedSentence(view: TaskView): string {
  return view.sends === 0
    ? 'No clip was made, and you weren’t charged.'
    : `No clip was made this time. The video service may have accepted what I sent before and may charge ${atStake(view)}. ` +
        'If its console shows that, press Enter its ID.';
}

/** Explains the refund of the failed submission; the other ones may have been accepted as well. */
function refundSentence({ refundKnown, price, sends, failure }: TaskView): string {
  const refund =
    failure?.code === 'cancelled'
      ? `${formatPrice(price)} was not charged.`
      : failure?.isBilled
        ? `The video service bills it all the same, so ${formatPrice(price)} counts as used.`
        : failure?.isBilled === false
          ? 'Not charged: the video service doesn’t charge for what its rules stop.'
          : refundKnown
            ? 'Not charged: the video service refunds failed tasks.'
            : `The video service refunds failed tasks under its own rules. Its console shows whether the ${formatPrice(price)} came back.`;
  if (sends < 2) return refund;
  return `${refund} But it was sent ${sends} times: the video service may still charge ${upTo(price, sends - 1)} for the rest.`;
}

/** Formats the amount that may be billed: the price for each submission that may have been accepted. */
function atStake({ price, sends }: { readonly price: Price; readonly sends: number }): string {
  return sends < 2 ? formatPrice(price) : `${upTo(price, sends)} (sent ${sends} times)`;
}

/** Formats the maximum cost of a number of submissions. */
function upTo(price: Price, sends: number): string {
  if (sends < 2) return formatPrice(price);
  const [sum = price] = total(Array.from({ length: sends }, () => price));
  return `up to ${formatPrice(sum)}`;
}

/** Adds the maximum cost after a resubmission of an uncertain task: the service may have rendered both. */
function sentTwice(view: TaskView): string {
  return view.sends < 2 ? '' : `, or ${atStake(view)}`;
}

/** Adds the price and the maximum cost if the task was submitted more than once; otherwise the headline suffices. */
function doubtful(view: TaskView): string {
  return view.sends < 2 ? '' : ` · ${formatPrice(view.price)}${sentTwice(view)}`;
}

/** Formats the elapsed time: `10 s`, `2:14`; seconds get a unit, since `0:10` would read as the clip's length. */
function tookInWords({ startedAtMs, endedAtMs, nowMs }: TaskView): string {
  const ms = (endedAtMs ?? nowMs) - startedAtMs;
  return ms < 60_000 ? `${Math.max(1, Math.floor(ms / 1_000))} s` : formatElapsed(ms);
}

function took({ startedAtMs, endedAtMs, nowMs }: TaskView): string {
  return formatElapsed((endedAtMs ?? nowMs) - startedAtMs);
}

/** Builds a button of a task; one that buys includes the price. */
export function taskButton(action: ButtonAction, view: TaskView): CardButton {
  const { label, style } = view.members === undefined ? BUTTONS[action] : setButton(action, view);
  const { task, retryPrice: price, sends: afterSends, review = [] } = view;
  // An id holds as much of this as its action needs.
  const press = { action, task, price, afterSends, isConfirmed: false, after: review.length, newest: null } as Press;
  const isPriced = action === 'retry' || action === 'again';
  return button(press, isPriced ? priced(label, price) : label, style);
}

function setButton(action: ButtonAction, { set, phase, boardCut, members = [] }: TaskView): Omit<CardButton, 'id'> {
  const { label, style } = BUTTONS[action];
  if (action === 'show') return { label: SHOW_SET[set?.kind ?? 'takes'], style: 'plain' };
  if (action === 'join' && boardCut?.isCurrent === true) return { label: 'Show the cut', style: 'plain' };
  if (action === 'join') return { label: joinLabel(members), style };
  if (action === 'cancel') return { label: 'Cancel all', style };
  if (action !== 'retry' || set === undefined || phase === 'declined') return { label, style };
  if (set.kind === 'storyboard') return { label: `Make ${shotNumbers(outdatedOf(members))} again`, style };
  return { label: `${set.of} more`, style };
}

/** Names the shots that are joined, and those that the cut would lack: `Join 8 shots without shot 4`. */
function joinLabel(members: readonly SetMember[]): string {
  const inCut = members.filter(({ shot }) => shot?.isSkipped === false);
  const ready = inCut.filter(({ shot }) => shot?.isReady === true).length;
  const missing = inCut.flatMap(({ shot }) => (shot === undefined || shot.isReady ? [] : [shot.at]));
  return `Join ${count(ready, 'shot')}${missing.length === 0 ? '' : ` without ${shotNumbers(missing)}`}`;
}

const SHOW_SET: Readonly<Record<SetKind, string>> = {
  takes: 'Show the takes',
  comparison: 'Show the comparison',
  storyboard: 'Show the board',
};

function priced(label: string, price: Price | null): string {
  return price === null ? label : `${label} · ${formatPrice(price)}`;
}

const BUTTONS: Readonly<Record<ButtonAction, Omit<CardButton, 'id'>>> = {
  retry: { label: 'Retry', style: 'plain' },
  edit: { label: 'Edit & retry', style: 'plain' },
  cancel: { label: 'Cancel', style: 'plain' },
  details: { label: 'Details', style: 'plain' },
  withdraw: { label: 'Withdraw', style: 'plain' },
  lookup: { label: 'Enter its ID', style: 'primary' },
  again: { label: 'Send again', style: 'danger' },
  leave: { label: 'Dismiss', style: 'plain' },
  show: { label: 'Show the clip', style: 'primary' },
  refetch: { label: 'Fetch it again', style: 'primary' },
  sign_off: { label: 'Sign off', style: 'primary' },
  changes: { label: 'Request changes', style: 'plain' },
  delete: { label: 'Delete', style: 'danger' },
  join: { label: 'Join', style: 'primary' },
  board: { label: 'Edit board', style: 'plain' },
};
