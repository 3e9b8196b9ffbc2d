import {
  type ButtonAction,
  type CardView,
  type ComparisonView,
  isCardView,
  isPending,
  type MessageRef,
  type RemovedView,
  type SetMember,
  type SetView,
  type ShownTask,
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
  type SearchResult,
  type SetKind,
  type SetPlace,
  type TaskId,
  total,
  typedPrompt,
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
  type Optional,
  small,
  textCard,
} from '../../ui/card.ts';
import { unsentWords, waitsWords } from '../chain.ts';
import { CANNOT_CANCEL, failureLine, lostLines, retryLines, unconfirmedLine } from '../errors.ts';
import { capitalised, count, formatDuration, formatElapsed, formatSpan, shorten } from '../format.ts';
import { aiLabel, handoverLines } from '../handover.ts';
import { memberName, placeName, setSize } from '../ordered.ts';
import { keptLines, promptPart, removalLines } from '../removal.ts';
import { referenceWords, requestWords } from '../settings.ts';
import { approvalCard, declinedLines, requestedLines } from './approval.ts';
import { blindButtons, blindLines, comparisonButtons, comparisonLines } from './comparison.ts';
import { cutCard } from './cut.ts';
import { noticeCard } from './notice.ts';
import { reviewLines, reviewNoticeCard, signedOffCard } from './review.ts';
import {
  boardSummary,
  cutLinks,
  decisionButtons,
  memberButtons,
  memberLines,
  outdatedOf,
  shotNumbers,
  shotSelects,
} from './set-card.ts';
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
  if (isCardView(view)) return view.awayFrom === undefined ? ownCard(view) : awayCard(view, view.awayFrom);
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

function ownCard(view: CardView): Card {
  if (view.kind === 'cut') return cutCard(view);
  return view.kind === 'set' ? setCard(view) : taskCard(view);
}

/** Renders a direct message in place of one that its channel did not take. */
function awayCard(view: CardView, channel: string): Card {
  const { lines: _, blocks: __, ...below } = ownCard(view);
  const [first, ...rest] = blocksOf(ownCard(view));
  const why = ['I can’t post in ', { channel }, ' any more, so this goes to you alone.'];
  return layOut([first, why, ...rest], below);
}

/** Renders a task's message: its request in the first line, whose position never changes, then its progress. */
function taskCard(view: TaskView): Card {
  const { task, phase, blind } = view;
  const isUnproven = phase === 'done' && task.removal === undefined && task.clip?.isUnproven === true;
  return layOut(
    [
      headline(view),
      ...(blind === undefined ? phaseLines(view) : blindLines(view)),
      ...reviewLines(view),
      ...removalLines(task.removal),
      isUnproven && small('The video service didn’t say how long this file is, so it may be cut off.'),
      approvedLine(task.approval),
    ],
    {
      progress: isPending(phase) ? view.progress : null,
      buttons: taskButtons(view),
    },
  );
}

function taskButtons(view: TaskView): readonly CardButton[] {
  // A blind clip is retried for the highest price of its comparison.
  const actions = view.blind === undefined ? view.buttons : view.buttons.filter((action) => action !== 'retry');
  return [...blindButtons(view), ...elsewhereButtons(view), ...actions.map((action) => taskButton(action, view))];
}

/** Adds to the details of a task that has no message of its own what a message would say of a decision, and its buttons. */
export function withActions({ progress, buttons, ...details }: Card, view: TaskView): Card {
  const undecided = view.phase !== 'uncertain' ? [] : view.blind === undefined ? phaseLines(view) : blindLines(view);
  const actions = taskButtons({ ...view, buttons: view.buttons.filter((action) => action !== 'details') });
  return layOut([...undecided, ...blocksOf(details)], { progress, buttons: [...actions, ...buttons] });
}

/** Renders the card of a set: what was ordered in the first line, then its tasks. */
function setCard(view: SetView): Card {
  const buttons = view.buttons.map((action) => setButton(action, view));
  return layOut([setHeadline(view), ...setLines(view), approvedLine(view.first.task.approval)], {
    progress: isPending(view.phase) ? view.progress : null,
    buttons: [...furtherButtons(view), ...buttons],
    ...(isDecidedTogether(view) ? {} : { selects: shotSelects(view) }),
  });
}

function approvedLine(approval: ShownTask['approval']): Optional<Block> {
  const approver = approval?.approved?.by;
  return approver && small('Approved by ', { person: approver }, '.');
}

/** Returns whether all tasks of a set wait for an approval, or none was approved: there is one line about them. */
function isDecidedTogether({ phase }: SetView): boolean {
  return phase === 'requested' || phase === 'declined';
}

function setLines(view: SetView): readonly Line[] {
  const { phase, id, price, set, declined, first } = view;
  const request = { ...requestOf(first.task), task: id, price, cost: formatPrice(price), ordered: set, declined };
  if (phase === 'requested') return requestedLines(request);
  if (phase === 'declined') return declinedLines(request);
  if (isComparison(view)) return comparisonLines(view);
  return [...boardSummary(view), ...memberLines(view, phaseLines), ...cutLinks(view)];
}

function furtherButtons(view: SetView): readonly CardButton[] {
  if (!isComparison(view)) return [...decisionButtons(view), ...memberButtons(view)];
  return isDecidedTogether(view) ? [] : [...decisionButtons(view), ...comparisonButtons(view)];
}

/** Offers the order to another video service, where its own one stopped it. */
function elsewhereButtons({ task, elsewhere }: TaskView): readonly CardButton[] {
  if (elsewhere === undefined) return [];
  const { title, model, price } = elsewhere;
  const label = priced(`Make it with ${shorten(title, MAX_TITLE)}`, price);
  return [button({ action: 'elsewhere', task: task.id, model, price }, label, 'primary')];
}

/** Length to which a button shortens a title: Slack takes labels of 75 characters. */
const MAX_TITLE = 40;

function isComparison(view: SetView): view is SetView & { readonly comparison: ComparisonView } {
  return view.comparison !== undefined;
}

/** Shows the details of a set: its size, price, state and id, and its tasks with **Details** of their own. */
export function setDetailsCard(view: SetView, message: MessageRef | undefined): Card {
  const { members, set, id, first } = view;
  const isTogether = isDecidedTogether(view) || view.comparison?.stage === 'making';
  const rows = isTogether ? [] : isComparison(view) ? comparisonLines(view) : memberLines(view, phaseLines);
  const state = isTogether ? setLines(view) : [...boardSummary(view), ...cutLinks(view), ...rows.slice(members.length)];
  const items = members.map(({ view: { task }, shot }, index) => {
    const [name = capitalised(memberName(set.kind, shot?.at ?? index + 1)), , ...rest] = rows[index] ?? [];
    return item([name], rest, button({ action: 'details', task: task.id }, BUTTONS.details.label));
  });
  const times = facts(
    ['Requested ', { timeMs: first.task.createdAtMs }],
    ['ID ', { code: id }],
    message && [{ message, label: 'its message' }],
  );
  return layOut([heading('Details'), setHeadline(view), ...state, small(...times), ...items], {
    buttons: [setButton('show', view)],
  });
}

/** Renders the prompt, and in small print: model · 6 s · 16:9 · 720p · $0.30 · requester. */
function headline(view: TaskView): Block {
  const { task, modelTitle, blind } = view;
  const { request, origin, price, version } = task;
  const place = task.set ?? task.takeOf;
  const small = facts(
    aiLabel(view),
    modelTitle !== '' && [{ untrusted: modelTitle }],
    ...requestWords(request),
    ...referenceWords(request.media),
    place && placeInSet(place),
    version && `v${version.number}`,
    blind === undefined && formatPrice(price),
    [{ person: origin.user }],
  );
  return item([promptPart(typedPrompt(request), PROMPT_LENGTH)], small);
}

/** Renders the prompt of a set as {@link headline} does, with its size; of a storyboard: 9 shots · 54 s · $2.70 · requester. */
function setHeadline(view: SetView): Block {
  const { set, first, price, members, comparison } = view;
  const { request, origin } = first.task;
  const isBoard = set.kind === 'storyboard';
  const seconds = members.reduce((sum, { view: { task } }) => sum + task.request.seconds, 0);
  const ordered = isBoard
    ? [setSize({ ...set, of: members.length }), `${seconds} s`]
    : [...requestWords(comparison?.settings ?? request), ...referenceWords(request.media), setSize(set)];
  const title = set.kind === 'takes' && [{ untrusted: first.modelTitle }];
  const small = facts(aiLabel(view), title, ...ordered, formatPrice(price), [{ person: origin.user }]);
  return item([...(isBoard ? ['Storyboard: '] : []), promptPart(typedPrompt(request), PROMPT_LENGTH)], small);
}

/** Names the place of a task in its set: `2 of 4 takes`, `shot 4 of 9`. */
function placeInSet({ kind, at, of }: Pick<SetPlace, 'kind' | 'at' | 'of'>): string {
  return kind === 'takes' ? `${at} of ${setSize({ kind, of })}` : placeName({ kind, at, of });
}

/** Returns the lines about the state of a task. */
export function phaseLines(view: TaskView): readonly Line[] {
  switch (view.phase) {
    case 'requested':
      return requestedLines(requestOf(view.task));
    case 'declined':
      return declinedLines(requestOf(view.task));
    case 'queued':
      return waitingLines(view, 'Queued');
    case 'running':
      return waitingLines(view, 'Running');
    case 'fetching':
      return [[`Finished, fetching the clip · ${took(view)}`], ...retryLines(view.retrying, view.nowMs)];
    case 'done':
      return [
        [`Done in ${tookInWords(view)}${doubtful(view.task)}`],
        ...handoverLines(view.handover),
        ...keptLines(view),
      ];
    case 'lost':
      return lostLines(view.task.failure ?? null, atStake(view.task));
    case 'failed':
      return [failureLine(view.task.failure ?? { code: 'generation_failed', words: null }), [refundSentence(view)]];
    case 'refused':
      return [failureLine(view.task.failure ?? { code: 'bad_request', words: null }), [refusedSentence(view.task)]];
    case 'uncertain':
      return uncertainLines(view);
    case 'cancelled':
      return cancelledLines(view);
  }
}

/** Returns the request for approval of a task. */
function requestOf({ id, set, price, origin, createdAtMs, approval, declined }: ShownTask) {
  // A task of a set costs a part of what the approval is about.
  const cost = set === undefined ? formatPrice(price) : `the price of all ${setSize(set)}`;
  const request = { approval: approval ?? null, declined: declined ?? null, createdAtMs };
  return { task: id, by: origin.user, price, cost, ordered: set ?? null, ...request };
}

function waitingLines(view: TaskView, word: string): readonly Line[] {
  if (view.task.state === 'waiting') return [[waitsWords(view.task)]];
  const figures = facts(
    word,
    view.progress !== null && `${view.progress} %`,
    took(view),
    view.ahead !== undefined && (view.ahead === 0 ? 'next at the service' : `${view.ahead} ahead at the service`),
    expectation(view),
  );
  const { pace, retrying } = view;
  const retry = retryLines(retrying, view.nowMs);
  if (pace?.kind !== 'overdue') return [figures, ...retry];
  const after = formatDuration(pace.deadlineMs);
  const every = formatDuration(pace.pollEveryMs);
  const late =
    retrying === null ? `Still running after ${after}. Checking every ${every}.` : `Not done after ${after}.`;
  return [figures, [late], ...retry];
}

function expectation({ pace }: TaskView): Optional<string> {
  if (pace?.kind === 'longer') return 'longer than usual';
  // "Still running after 30 min" says it already.
  return pace?.kind === 'usual' && `usually ${formatSpan(pace.fromMs, pace.toMs)}`;
}

function uncertainLines({ task }: TaskView): readonly Line[] {
  if (task.leftBy !== undefined) {
    const bill = `The video service may have accepted it and may charge ${atStake(task)}.`;
    return [[{ person: task.leftBy }, ` left this unresolved. ${bill}`]];
  }
  if (task.failure?.code === 'task_unknown') return disownedLines(task);
  if (task.failure?.code === 'id_taken') return sharedIdLines(task);
  const { search } = task.failure ?? {};
  const unconfirmed = unconfirmedLine(atStake(task));
  const ways = waysOut('Does the service’s console show it?', 'If not,');
  if (search === undefined) return [unconfirmed, ways];
  if (search.result !== undefined) return [unconfirmed, [SEARCHED[search.result]], ways];
  const looking = 'I’m looking for it in the service’s list. If I don’t find it there, I’ll ask you what to do ';
  return [unconfirmed, [looking, { timeMs: search.untilMs }, '.']];
}

/** What the search for an unconfirmed request in the list of its service has found. */
const SEARCHED: Readonly<Record<SearchResult, string>> = {
  none: 'I didn’t find it in the service’s list.',
  alike: 'The service’s list has requests like it, and I can’t tell whether one of them is this one.',
  unread: 'I couldn’t look for it in the service’s list.',
};

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
function disownedLines(task: ShownTask): readonly Line[] {
  return [
    [
      'The video service keeps saying that it doesn’t know this task. ',
      `It may have made the clip all the same and may charge ${atStake(task)}. I won’t send it again on my own.`,
    ],
    waysOut('Details shows the ID that I asked for. Does the service’s console show another one?', 'None?'),
  ];
}

/** Explains a response with the id of another task: it is unknown which of the two the service renders. */
function sharedIdLines(task: ShownTask): readonly Line[] {
  return [
    [
      'The video service answered with an ID that another clip already has, so I can’t follow this one. ',
      `It may charge ${atStake(task)}. I won’t send it again on my own.`,
    ],
    waysOut('Does the service’s console show another ID for it?', 'If not,'),
  ];
}

function cancelledLines(view: TaskView): readonly Line[] {
  const { task } = view;
  const { cancelledBy, origin } = task;
  const by = lineOf(cancelledBy && cancelledBy.id !== origin.user.id && [' by ', { person: cancelledBy }]);
  if (task.sends === 0) return [[...unsentWords(task, by), ' You were not charged.']];
  const cancelled: Line = ['Cancelled in Dailies', ...by, '. '];
  const end = task.failure?.code === 'cancelled' ? 'cancelled it before it began' : 'couldn’t make it';
  switch (task.lateOutcome) {
    case 'completed':
      return [[...cancelled, finishedAllTheSame(task)]];
    case 'failed':
      return [[...cancelled, `The video service ${end}. `, refundSentence(view)]];
    case 'unknown':
      return [[...cancelled, `What became of it is unknown; the video service may have charged ${atStake(task)}.`]];
    default:
      return [[...cancelled, cannotCancel(task)]];
  }
}

/** Explains the effect of cancelling a task after its submission. */
export function cannotCancel(money: { readonly price: Price; readonly sends: number }): string {
  return `${CANNOT_CANCEL}: it may still finish and charge ${atStake(money)}.`;
}

function finishedAllTheSame(task: ShownTask): string {
  return `The video service finished it all the same and charges ${formatPrice(task.price)}${sentTwice(task)}.`;
}

/** Excludes the refused submission; earlier ones may have been accepted. */
function refusedSentence(task: ShownTask): string {
  return task.sends === 0
    ? 'No clip was made, and you weren’t charged.'
    : `No clip was made this time. The video service may have accepted what I sent before and may charge ${atStake(task)}. ` +
        'If its console shows that, press Enter its ID.';
}

/** Explains the refund of the failed submission; the other ones may have been accepted as well. */
function refundSentence({ refundKnown, task: { price, sends, failure } }: TaskView): string {
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
function sentTwice(task: ShownTask): string {
  return task.sends < 2 ? '' : `, or ${atStake(task)}`;
}

/** Adds the price and the maximum cost if the task was submitted more than once; otherwise the headline suffices. */
function doubtful(task: ShownTask): string {
  return task.sends < 2 ? '' : ` · ${formatPrice(task.price)}${sentTwice(task)}`;
}

/** Formats the elapsed time: `10 s`, `2:14`; seconds get a unit, since `0:10` would read as the clip's length. */
function tookInWords({ task, startedAtMs, nowMs }: TaskView): string {
  const ms = (task.endedAtMs ?? nowMs) - startedAtMs;
  return ms < 60_000 ? `${Math.max(1, Math.floor(ms / 1_000))} s` : formatElapsed(ms);
}

function took({ task, startedAtMs, nowMs }: TaskView): string {
  return formatElapsed((task.endedAtMs ?? nowMs) - startedAtMs);
}

/** Builds a button of a task; one that buys includes the price. */
export function taskButton(
  action: ButtonAction,
  { task: { id, sends, review = [] }, retryPrice }: TaskView,
): CardButton {
  const press = { task: id, price: retryPrice, afterSends: sends, after: review.length };
  return cardButton({ action, ...press }, BUTTONS[action]);
}

/** Builds a button of a set; one that buys includes the price. */
export function setButton(action: ButtonAction, view: SetView): CardButton {
  const press = { task: view.id, price: view.retryPrice, afterSends: 0, after: 0 };
  return cardButton({ action, ...press }, setButtonWords(action, view));
}

function cardButton(
  given: {
    readonly action: ButtonAction;
    readonly task: TaskId;
    readonly price: Price | null;
    readonly afterSends: number;
    readonly after: number;
  },
  { label, style }: Omit<CardButton, 'id'>,
): CardButton {
  const { action, price } = given;
  // An id holds as much of this as its action needs.
  const press = { ...given, isConfirmed: false, newest: null } as Press;
  return button(press, action === 'retry' || action === 'again' ? priced(label, price) : label, style);
}

function setButtonWords(action: ButtonAction, { set, phase, boardCut, members }: SetView): Omit<CardButton, 'id'> {
  const { label, style } = BUTTONS[action];
  if (action === 'show') return { label: SHOW_SET[set.kind], style: 'plain' };
  if (action === 'join' && boardCut?.isCurrent === true) return { label: 'Show the cut', style: 'plain' };
  if (action === 'join') return { label: joinLabel(members, boardCut !== undefined), style };
  if (action === 'cancel') return { label: 'Cancel all', style };
  if (action !== 'retry' || phase === 'declined') return { label, style };
  if (set.kind === 'storyboard') return { label: `Make ${shotNumbers(outdatedOf(members))} again`, style };
  return { label: `${set.of} more`, style };
}

/** Names the shots that are joined, and those that the cut would lack: `Join 8 shots without shot 4`. */
function joinLabel(members: readonly SetMember[], isAgain: boolean): string {
  const inCut = members.filter(({ shot }) => shot?.isSkipped === false);
  const ready = inCut.filter(({ shot }) => shot?.isReady === true).length;
  const missing = inCut.flatMap(({ shot }) => (shot === undefined || shot.isReady ? [] : [shot.at]));
  const what = isAgain ? 'again' : count(ready, 'shot');
  return `Join ${what}${missing.length === 0 ? '' : ` without ${shotNumbers(missing)}`}`;
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
};
