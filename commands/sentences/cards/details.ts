import type { MessageRef, TaskView } from '#src/chat/index.ts';
import type { FileDescription } from '#src/media/index.ts';
import {
  type BookedState,
  comparisonOf,
  formatPrice,
  isContentRemoved,
  type LedgerEntry,
  type LedgerState,
  type Task,
  type TaskId,
  type TaskState,
  typedPrompt,
} from '#src/tasks/index.ts';
import type { MediaKind, VideoRequest } from '#src/videos/index.ts';
import { shortId } from '../../ui/buttons.ts';
import { type Block, type Card, type Line, layOut, type Part, withText } from '../../ui/card.ts';
import { UNNAMED_FILE } from '../attachments.ts';
import { failureLine, unfetchedLine } from '../errors.ts';
import { capitalised, count } from '../format.ts';
import { placeWords } from '../ordered.ts';
import { removalLines } from '../removal.ts';
import { reviewHistory } from '../review/review.ts';
import { requestWords } from '../settings.ts';
import { droppedSentence } from '../studio/chain.ts';
import { stateWord } from './history.ts';
import { linkTo, setTitle } from './set-card.ts';
import { cardOf, taskButton } from './task-card.ts';

/** Reference file as **Details** shows it. */
interface ShownMedia {
  readonly kind: MediaKind;
  /** Address sent to the service; shown only if it is not one of the bot's own. */
  readonly url: string;
  /** File attached in the chat; `null` if the user typed an address. */
  readonly file: FileDescription | null;
}

/**
 * Shows a task, or a set, as its message does, with its id and a link to that message.
 * @param id default: that of the view
 * @param set the set that the task belongs to, with its message
 */
export function statusCard(
  view: TaskView,
  message: MessageRef | undefined,
  { id = view.task, set }: { readonly id?: TaskId; readonly set?: ShownSet } = {},
): Card {
  const line: Line = [{ code: shortId(id) }, ...linkTo(message, 'its message')];
  return withSet(withText(withShow(cardOf(view), view), line), set);
}

/** Set with its message. */
interface ShownSet {
  readonly view: TaskView;
  readonly message: MessageRef | undefined;
}

/** Adds the set that a task belongs to, and **Show the board**, as its message may have been deleted. */
export function withSet(card: Card, set: ShownSet | undefined): Card {
  if (set === undefined) return card;
  const { view, message } = set;
  const line: Line = [...setTitle(view), ...linkTo(message, 'See it')];
  return { ...withText(card, line), buttons: [...card.buttons, taskButton('show', view)] };
}

/** Adds **Show the clip** to a finished task, or **Show the board**, whose message may have been deleted. */
function withShow(card: Card, view: TaskView): Card {
  if (view.members !== undefined) {
    const cut = view.boardCut?.isCurrent === true ? [taskButton('join', view)] : [];
    return { ...card, buttons: [...card.buttons, ...cut, taskButton('show', view)] };
  }
  if (view.phase !== 'done' || view.removal !== undefined || view.buttons.includes('show')) return card;
  return { ...card, buttons: [taskButton('show', view), ...card.buttons] };
}

/** Shows all details of a task. The prompt is last, so that a long one cuts nothing else off. */
export function detailsCard(task: Task, entries: readonly LedgerEntry[], media: readonly ShownMedia[]): Card {
  return layOut([
    { kind: 'heading', line: ['Details'] },
    ...[
      settingsLine(task),
      ...media.map(mediaLine),
      stateLine(task),
      ...failureLines(task),
      ...reviewHistory(task),
      ...moneyLines(task, entries),
      timesLine(task),
    ].map((line): Block => ({ kind: 'text', line })),
    { kind: 'small', line: idLine(task) },
    { kind: 'divider' },
    ...removalLines(task.removal).map((line): Block => ({ kind: 'text', line })),
    ...(isContentRemoved(task) ? [] : promptBlocks(task.request)),
  ]);
}

/** Shows the details of a clip that are the same for every model of its comparison. */
export function blindDetailsCard({ id, origin, createdAtMs, request, removal, ...task }: Task): Card {
  const place = comparisonOf(task);
  const facts: readonly Line[] = [
    [
      `${place === null ? 'Comparison' : `Comparison of ${count(place.of, 'model')}`} · ${request.seconds} s · by `,
      { person: origin.user },
    ],
    ['Models, prices and times are shown after the reveal.'],
    ['Requested ', { timeMs: createdAtMs }],
  ];
  return layOut([
    { kind: 'heading', line: ['Details'] },
    ...facts.map((line): Block => ({ kind: 'text', line })),
    { kind: 'small', line: ['ID ', { code: id }] },
    { kind: 'divider' },
    ...removalLines(removal).map((line): Block => ({ kind: 'text', line })),
    ...promptBlocks(request),
  ]);
}

/** Shows the prompt as it was typed and, with a style, as it was sent. */
function promptBlocks(request: VideoRequest): readonly Block[] {
  const { prompt, style = '' } = request;
  const typed: Block = { kind: 'text', line: [{ untrusted: typedPrompt(request) }] };
  if (request.typed === undefined) return [typed];
  return [
    typed,
    { kind: 'small', line: [`Sent with the style ${style}:`] },
    { kind: 'text', line: [{ untrusted: prompt }] },
  ];
}

function stateLine(task: Task): Line {
  const at = (task.takeOf ?? task.set)?.at;
  if (task.dropped !== undefined && at !== undefined) return [droppedSentence(task.dropped, at)];
  const word = stateWord(task);
  const sends = task.sends === 1 ? 'once' : `${task.sends} times`;
  return [`${capitalised(word)}`, task.sends === 0 ? '' : ` · sent ${sends}`];
}

function failureLines({ state, lateOutcome, failure }: Task): readonly Line[] {
  if (failure === undefined) return [];
  const wasMade = state === 'completed' || lateOutcome === 'completed';
  return [wasMade ? unfetchedLine(failure) : failureLine(failure)];
}

function settingsLine(task: Task): Line {
  const { request, origin } = task;
  const words = [...requestWords(request), ...placeWords(task)];
  return [{ untrusted: request.model }, ` · ${words.join(' · ')} · by `, { person: origin.user }];
}

/** Shows a file's name with a link to it on its platform, or a typed address as it is. */
function mediaLine({ kind, url, file }: ShownMedia): Line {
  if (file === null) return [`${kind}: `, { untrusted: url }];
  const open: readonly Part[] = file.permalink === null ? [] : [' · ', { link: file.permalink, label: 'Open' }];
  return [`${kind}: `, file.name === null ? UNNAMED_FILE : { untrusted: file.name }, ...open];
}

function idLine({ id, upstreamId, retryOf, version }: Task): Line {
  const upstream: readonly Part[] = upstreamId === undefined ? [] : [' · at the service ', { untrusted: upstreamId }];
  const original: readonly Part[] = retryOf === undefined ? [] : [' · repeats ', { code: retryOf }];
  const number = version === undefined ? [] : [` · v${version.number}`];
  return ['ID ', { code: id }, ...number, ...upstream, ...original];
}

function timesLine({ createdAtMs, acceptedAtMs, endedAtMs }: Task): Line {
  const accepted: readonly Part[] =
    acceptedAtMs === undefined ? [] : [' · accepted by the service ', { timeMs: acceptedAtMs }];
  const ended: readonly Part[] = endedAtMs === undefined ? [] : [' · ended ', { timeMs: endedAtMs }];
  return ['Requested ', { timeMs: createdAtMs }, ...accepted, ...ended];
}

function moneyLines({ price, state }: Task, entries: readonly LedgerEntry[]): readonly Line[] {
  if (entries.length === 0) return [[`${formatPrice(price)}, ${UNSENT_WORDS[state] ?? 'not sent yet'}`]];
  return entries.map((entry) => {
    const which = entries.length === 1 ? '' : `send ${entry.send}: `;
    return [`${which}${formatPrice(entry)}, ${sendWords(entry)}`];
  });
}

/** Descriptions of the price of a task that was never bought, by state. */
const UNSENT_WORDS: Partial<Readonly<Record<TaskState, string>>> = {
  requested: 'not charged unless it is approved',
  declined: 'not charged',
};

/** Describes what became of a send's price: by the decision on it, else by the task's own events. */
function sendWords({ state, booked, counted }: LedgerEntry): string {
  if (booked !== undefined) return BOOKED_WORDS[booked];
  // Where refunds take a statement, a failed send stays held until then.
  if (state === 'refunded' && counted === 'held') return 'failed, counted until a statement shows the refund';
  return LEDGER_WORDS[state];
}

/** Descriptions of a decision, by a person or by a statement. */
const BOOKED_WORDS: Readonly<Record<BookedState, string>> = {
  settled: 'billed',
  refunded: 'refunded',
  released: 'not charged',
};

const LEDGER_WORDS: Readonly<Record<LedgerState, string>> = {
  reserved: 'in progress',
  settled: 'billed',
  refunded: 'failed, refunded under the service’s rules',
  released: 'not charged',
  in_doubt: 'unconfirmed, may be billed',
};
