import { isOnCard, type MessageRef, type SetView, setCardId } from '#src/chat/index.ts';
import { type FileDescription, type FileMarks, MARK_NAMES } from '#src/media/index.ts';
import {
  asOf,
  type BookedState,
  comparisonOf,
  formatPrice,
  isBlind,
  isContentRemoved,
  type LedgerEntry,
  type LedgerState,
  ledgerOf,
  type Task,
  type TaskState,
  typedPrompt,
} from '#src/tasks/index.ts';
import { MEDIA_KINDS, type MediaKind, titled, type VideoRequest } from '#src/videos/index.ts';
import type { Reply } from '../bot-port.ts';
import { type BotPorts, privately } from '../input/subcommand.ts';
import { UNNAMED_FILE } from '../sentences/attachments.ts';
import { decisionLine } from '../sentences/cards/review.ts';
import { setTitle } from '../sentences/cards/set-card.ts';
import { setButton, withActions } from '../sentences/cards/task-card.ts';
import { droppedSentence, lastFrameOf } from '../sentences/chain.ts';
import { failureLine, unfetchedLine } from '../sentences/errors.ts';
import { capitalised, count } from '../sentences/format.ts';
import { placeWords } from '../sentences/ordered.ts';
import { removalLines } from '../sentences/removal.ts';
import { requestWords } from '../sentences/settings.ts';
import { stateWord } from '../sentences/state-words.ts';
import { type Block, type Card, facts, heading, type Line, layOut, type Picture, small, withText } from '../ui/card.ts';
import { improveButton } from './offer-cards.ts';
import { isUndecided } from './task-actions.ts';

export async function showDetails(ports: BotPorts, task: Task): Promise<Reply> {
  const { fileBehind, marksOf, pictures, clock, enhancer, chat, catalog } = ports;
  const withOwnActions = async (card: Card): Promise<Card> =>
    isOnCard(task) ? withActions(card, await chat.view(task)) : card;
  if (isBlind(task)) return privately(await withOwnActions(blindDetailsCard(task)));
  const { media: given, chain } = task.request;
  const place = task.takeOf ?? task.set;
  const fileOf = async (url: string) =>
    url === chain?.frame && place !== undefined
      ? { name: lastFrameOf(place.at - 1), permalink: null }
      : fileBehind(url);
  const media = MEDIA_KINDS.flatMap((kind) => given[kind].map(async (url) => ({ kind, url, file: await fileOf(url) })));
  const [shown, marks] = await Promise.all([Promise.all(media), marksOf(task)]);
  const files = { media: shown, marks, strip: pictures.forPoster(task, true) };
  const card = detailsCard(titled(catalog(), asOf(task, clock.now())), ledgerOf(task), files);
  const isImprovable = enhancer !== null && !isContentRemoved(task) && !isUndecided(task);
  const details = isImprovable ? { ...card, buttons: [improveButton(task.id)] } : card;
  if (place?.kind !== 'storyboard') return privately(await withOwnActions(details));
  const [view, message] = await Promise.all([chat.setView(place), chat.messageOf(setCardId(place.id))]);
  return privately(withSet(details, { view, message }));
}

/** Reference file as **Details** shows it. */
interface ShownMedia {
  readonly kind: MediaKind;
  /** Address sent to the service; shown only if it is not one of the bot's own. */
  readonly url: string;
  /** File attached in the chat; `null` if the user typed an address. */
  readonly file: FileDescription | null;
}

/** What **Details** shows of files. */
interface ShownFiles {
  readonly media: readonly ShownMedia[];
  /** Marks of AI in the clip; `null` where they cannot be read. */
  readonly marks: FileMarks | null;
  /** Frames of the clip; `null` where none may be shown. */
  readonly strip: Pick<Picture, 'id' | 'url'> | null;
}

/** Shows all details of a task. The prompt is last, so that a long one cuts nothing else off. */
export function detailsCard(task: Task, entries: readonly LedgerEntry[], { media, marks, strip }: ShownFiles): Card {
  return layOut([
    heading('Details'),
    strip && { kind: 'picture', picture: { ...strip, alt: `Frames of “${typedPrompt(task.request)}”` } },
    settingsLine(task),
    ...media.map(mediaLine),
    stateLine(task),
    reasonLine(task),
    ...(task.review ?? []).map((decision) => [...decisionLine(decision), ' ', { timeMs: decision.atMs }]),
    ...moneyLines(task, entries),
    marks && marksLine(marks),
    timesLine(task),
    small(...idLine(task)),
    { kind: 'divider' },
    ...removalLines(task.removal),
    ...(isContentRemoved(task) ? [] : promptBlocks(task.request)),
  ]);
}

/** Shows the prompt as it was typed and, with a style, as it was sent. */
function promptBlocks(request: VideoRequest): readonly (Block | Line)[] {
  const { prompt, style = '' } = request;
  const typed: Line = [{ untrusted: typedPrompt(request) }];
  if (request.typed === undefined) return [typed];
  return [typed, small(`Sent with the style ${style}:`), [{ untrusted: prompt }]];
}

function stateLine(task: Task): Line {
  const at = (task.takeOf ?? task.set)?.at;
  if (task.dropped !== undefined && at !== undefined) return [droppedSentence(task.dropped, at)];
  const word = stateWord(task);
  const sends = task.sends === 1 ? 'once' : `${task.sends} times`;
  return facts(capitalised(word), task.sends > 0 && `sent ${sends}`);
}

function reasonLine({ state, lateOutcome, failure }: Task): Line | null {
  if (failure === undefined) return null;
  const wasMade = state === 'completed' || lateOutcome === 'completed';
  return wasMade ? unfetchedLine(failure) : failureLine(failure);
}

function settingsLine(task: Task): Line {
  const { request, origin } = task;
  const model = [{ untrusted: request.model }];
  return facts(model, ...requestWords(request), ...placeWords(task), ['by ', { person: origin.user }]);
}

/** Shows a file's name with a link to it on its platform, or a typed address as it is. */
function mediaLine({ kind, url, file }: ShownMedia): Line {
  if (file === null) return [`${kind}: `, { untrusted: url }];
  const name = file.name === null ? UNNAMED_FILE : { untrusted: file.name };
  return facts([`${kind}: `, name], file.permalink !== null && [{ link: file.permalink, label: 'Open' }]);
}

/** Names the marks in a clip's file by which programs recognise that it is made with AI. */
function marksLine({ kinds }: FileMarks): Line {
  const names = kinds.filter((kind) => kind !== 'credentials').map((kind) => MARK_NAMES[kind]);
  if (names.length > 0) return [`Marked as made with AI: ${names.join(', ')}`];
  if (kinds.length > 0) return [`Carries ${MARK_NAMES.credentials}, in which I found no mention of AI`];
  return ['Its file carries no mark of AI that I know of. Invisible watermarks can’t be read here.'];
}

function idLine({ id, upstreamId, retryOf, version, request: { service = 'the service' } }: Task): Line {
  return facts(
    ['ID ', { code: id }],
    version && `v${version.number}`,
    upstreamId !== undefined && [`at ${service} `, { untrusted: upstreamId }],
    retryOf !== undefined && ['repeats ', { code: retryOf }],
  );
}

/** How the id of a task became known. */
const ACCEPTED_WORDS = {
  answered: 'accepted by the service ',
  listed: 'its answer was lost, and I found it in the service’s list ',
  entered: 'its ID was entered by a person ',
} as const;

function timesLine({ createdAtMs, accepted, endedAtMs }: Task): Line {
  return facts(
    ['Requested ', { timeMs: createdAtMs }],
    accepted !== undefined && [ACCEPTED_WORDS[accepted.how ?? 'answered'], { timeMs: accepted.atMs }],
    endedAtMs !== undefined && ['ended ', { timeMs: endedAtMs }],
  );
}

/** Descriptions of the price of a task that was never bought, by state. */
const UNSENT_WORDS: Partial<Readonly<Record<TaskState, string>>> = {
  requested: 'not charged unless it is approved',
  declined: 'not charged',
};

function moneyLines({ price, state }: Task, entries: readonly LedgerEntry[]): readonly Line[] {
  if (entries.length === 0) return [[`${formatPrice(price)}, ${UNSENT_WORDS[state] ?? 'not sent yet'}`]];
  return entries.map((entry) => {
    const which = entries.length === 1 ? '' : `send ${entry.send}: `;
    const { listed, currency } = entry;
    const other =
      listed === undefined ? '' : ` by the service, ${formatPrice({ amount: listed, currency })} by the catalog`;
    return [`${which}${formatPrice(entry)}, ${sendWords(entry)}${other}`];
  });
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

/** Describes what became of a send's price: by the decision on it, else by the task's own events. */
function sendWords({ state, booked, counted }: LedgerEntry): string {
  if (booked !== undefined) return BOOKED_WORDS[booked];
  // Where refunds take a statement, a failed send stays held until then.
  if (state === 'refunded' && counted === 'held') return 'failed, counted until a statement shows the refund';
  return LEDGER_WORDS[state];
}

/** Shows the details of a clip that are the same for every model of its comparison. */
function blindDetailsCard({ id, origin, createdAtMs, request, removal, ...task }: Task): Card {
  const place = comparisonOf(task);
  const kind = place === null ? 'Comparison' : `Comparison of ${count(place.of, 'model')}`;
  return layOut([
    heading('Details'),
    facts(kind, `${request.seconds} s`, ['by ', { person: origin.user }]),
    ['Models, prices and times are shown after the reveal.'],
    ['Requested ', { timeMs: createdAtMs }],
    small('ID ', { code: id }),
    { kind: 'divider' },
    ...removalLines(removal),
    ...promptBlocks(request),
  ]);
}

/** Adds the set that a task belongs to, and **Show the board**, as its message may have been deleted. */
export function withSet(card: Card, set: ShownSet | undefined): Card {
  if (set === undefined) return card;
  const { view, message } = set;
  const line = facts(setTitle(view), message && [{ message, label: 'See it' }]);
  return { ...withText(card, line), buttons: [...card.buttons, setButton('show', view)] };
}

/** Set with its message. */
export interface ShownSet {
  readonly view: SetView;
  readonly message: MessageRef | undefined;
}
