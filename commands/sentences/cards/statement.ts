import {
  type Decided,
  type Discrepancy,
  monthLine,
  type Resolution,
  signed,
  type TeamStatement,
} from '#src/money/index.ts';
import { isBlind, type Price, type Task } from '#src/tasks/index.ts';
import { shortId, statementButtonId } from '../../ui/buttons.ts';
import { type Block, type Card, type CardButton, type Line, layOut } from '../../ui/card.ts';
import { count, formatCount, shorten } from '../format.ts';
import { promptPart } from '../removal.ts';

/** Command of the operator that imports a statement. */
const RECONCILE = 'npm run reconcile -- --statement FILE.csv --map id=…,amount=…,at=…';

/** Shown where no statement was imported. */
export const NO_STATEMENT: Card = layOut([
  { kind: 'heading', line: ['No statement yet'] },
  {
    kind: 'text',
    line: [
      'The video service’s statement is compared with our books once the operator runs ',
      { code: RECONCILE },
      '.',
    ],
  },
]);

/** Refuses a press under a statement that is no longer kept. @param command such as `/video statement` */
export function statementGone(command: string): string {
  return `This statement is gone. ${command} shows the others.`;
}

interface StatementShown {
  readonly statement: TeamStatement;
  /** Number of statements imported after it, and of all. */
  readonly offset: number;
  readonly total: number;
  /** True while this process books its matches. */
  readonly isBooking: boolean;
  /** Current year (UTC). */
  readonly year: number;
}

/** Shows an imported statement: a line per month, what is booked and what is left to decide. */
export function statementCard(shown: StatementShown): Card {
  const { statement, year } = shown;
  const months = statement.months.map((month): Block => ({ kind: 'text', line: [monthLine(month, year)] }));
  return layOut(
    [
      { kind: 'heading', line: ['The video service’s statement'] },
      ...months,
      { kind: 'text', line: bookingLine(shown) },
      ...(statement.discrepancies === 0 ? [] : [{ kind: 'text' as const, line: [undecidedLine(statement)] }]),
      { kind: 'small', line: ['Imported ', { timeMs: statement.importedAtMs }] },
    ],
    { buttons: statementButtons(shown) },
  );
}

function bookingLine({ statement: { confirmed, booking }, isBooking }: StatementShown): Line {
  if (confirmed === 0) return ['No clip matches, so there is nothing to book.'];
  const clips = count(confirmed, 'matching clip');
  if (booking === undefined) return [`${clips} ${confirmed === 1 ? 'is' : 'are'} not booked yet.`];
  if (booking.endedAtMs !== undefined) return [`${clips} booked by `, { person: booking.by }, '.'];
  return isBooking ? [`Booking ${clips}…`] : [`Booking ${clips} was interrupted.`];
}

function undecidedLine({ discrepancies, decided }: TeamStatement): string {
  if (decided >= discrepancies) return `All ${count(discrepancies, 'discrepancy', 'discrepancies')} decided.`;
  const left = count(discrepancies - decided, 'discrepancy', 'discrepancies');
  return decided === 0 ? `${left} to decide.` : `${left} to decide, ${formatCount(decided)} decided.`;
}

function statementButtons({ statement, offset, total, isBooking }: StatementShown): readonly CardButton[] {
  const { id, confirmed, booking, discrepancies, decided } = statement;
  const left = discrepancies - decided;
  const isBookable = confirmed > 0 && booking?.endedAtMs === undefined && !isBooking;
  const again = booking === undefined ? `Book ${count(confirmed, 'match', 'matches')}` : 'Book the rest';
  const show = (to: number, label: string): CardButton => plain(statementButtonId({ what: 'show', offset: to }), label);
  return [
    ...(isBookable ? [primary(statementButtonId({ what: 'book', statement: id, offset }), again)] : []),
    ...(left > 0
      ? [
          plain(
            statementButtonId({ what: 'review', statement: id, offset, position: 0 }),
            `Decide ${count(left, 'discrepancy', 'discrepancies')}`,
          ),
        ]
      : []),
    ...(isBooking ? [show(offset, 'Refresh')] : []),
    ...(offset + 1 < total ? [show(offset + 1, 'Older')] : []),
    ...(offset > 0 ? [show(offset - 1, 'Newer')] : []),
  ];
}

interface DiscrepancyShown {
  readonly statement: TeamStatement;
  readonly offset: number;
  readonly position: number;
  readonly discrepancy: Discrepancy;
  /** The clip, if it still exists. */
  readonly task: Task | undefined;
  /** The bill that may be its own, where that is to be asked, and the clip's prompt; `null`: not for the caller. */
  readonly question: { readonly bill: Discrepancy; readonly prompt: string | null } | null;
  /** Outcome of the last decision. */
  readonly outcome: string | null;
}

export function discrepancyCard(shown: DiscrepancyShown): Card {
  const { statement, offset, position, discrepancy, task, question, outcome } = shown;
  const at = { statement: statement.id, offset };
  const decide = (as: Resolution, label: string): CardButton =>
    plain(statementButtonId({ what: as, ...at, position }), label);
  const { ours, kind } = discrepancy;
  const single =
    kind === 'unknown'
      ? [decide('ours', 'Set aside')]
      : [
          decide('ours', ours === undefined ? 'Keep ours' : `Keep ours · ${signed(ours)}`),
          decide('billed', 'It was billed'),
          decide('not_billed', 'It was not billed'),
        ];
  const yes = primary(statementButtonId({ what: 'same', ...at, position }), 'Yes: enter the ID and fetch the clip');
  const decisions = question === null ? single : [yes, decide('apart', 'No')];
  const next = (position + 1) % statement.discrepancies;
  const left = statement.discrepancies - statement.decided;
  const skip = left > 1 ? [plain(statementButtonId({ what: 'review', ...at, position: next }), 'Skip')] : [];
  return layOut(
    [
      ...(outcome === null ? [] : [{ kind: 'small' as const, line: [outcome] }]),
      {
        kind: 'heading',
        line: [`Discrepancy ${formatCount(position + 1)} of ${formatCount(statement.discrepancies)}`],
      },
      ...[discrepancy, ...(question === null ? [] : [question.bill])].map(
        (one): Block => ({ kind: 'text', line: [discrepancySentence(one)] }),
      ),
      ...(question === null ? [] : [{ kind: 'text' as const, line: questionLine(question.prompt, task) }]),
      { kind: 'small', line: clipLine({ ...question?.bill, ...discrepancy }, task) },
    ],
    { buttons: [...decisions, ...skip, plain(statementButtonId({ what: 'show', offset }), 'Back')] },
  );
}

function questionLine(prompt: string | null, task: Task | undefined): Line {
  return [
    'Is this the unconfirmed clip',
    ...(prompt === null ? [] : [' “', promptPart(prompt, 80), '”']),
    ...(task === undefined ? [] : [' by ', { person: task.origin.user }]),
    '?',
  ];
}

function discrepancySentence({ kind, ours, theirs }: Discrepancy): string {
  switch (kind) {
    case 'differs':
      return `Our books count ${amount(ours)}; the statement bills ${amount(theirs)}.`;
    case 'missing':
      return `Our books count ${amount(ours)}; the statement doesn’t list this clip.`;
    case 'unknown':
      return `The statement bills ${amount(theirs)} for something that isn’t in our records.`;
  }
}

function amount(price: Price | undefined): string {
  return price === undefined ? 'nothing' : signed(price);
}

function clipLine({ id, task: taskId, month }: Discrepancy, task: Task | undefined): Line {
  // Its amount and its model together with its id would reveal a comparison.
  const isHidden = task !== undefined && isBlind(task);
  const clip: Line = taskId === undefined || isHidden ? [] : ['Clip ', { code: shortId(taskId) }, ' · '];
  const of: Line =
    task === undefined ? [] : [{ person: task.origin.user }, ' · ', { untrusted: task.request.model }, ' · '];
  const service: Line = id === undefined ? [] : ['ID at the service ', { untrusted: shorten(id, 60) }, ' · '];
  return [...clip, ...of, ...service, month];
}

const DECISIONS: Readonly<Record<Resolution, string>> = {
  ours: 'our books stay as they are',
  billed: 'it was billed',
  not_billed: 'it was not billed',
  same: 'both are the same clip, and its ID is entered',
  apart: 'they are not the same clip',
};

/** Describes a logged decision; one of another version as it is. */
export function decisionWords(as: string): string {
  return Object.hasOwn(DECISIONS, as) ? DECISIONS[as as Resolution] : as;
}

/** Reports the decision that the caller has made. */
export function decidedLine(as: Resolution): string {
  return `Decided: ${DECISIONS[as]}.`;
}

/** Reports a decision that someone else made before. */
export function decidedBefore({ as, by }: Decided): string {
  return `${by.name} decided this already: ${DECISIONS[as]}.`;
}

export const NOT_DECIDABLE_NOW = 'This clip is in progress, or its state doesn’t allow that. Decide once it has ended.';

function plain(id: string, label: string): CardButton {
  return { id, label, style: 'plain' };
}

function primary(id: string, label: string): CardButton {
  return { id, label, style: 'primary' };
}
