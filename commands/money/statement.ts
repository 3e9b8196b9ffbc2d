import { within } from '#src/clock.ts';
import { type Discrepancy, monthLine, type Resolution, signed, type TeamStatement } from '#src/money/index.ts';
import { isBlind, isContentRemoved, type Price, type Task, typedPrompt } from '#src/tasks/index.ts';
import { titled, type UpstreamId } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import { visibleAmong } from '../input/task-lookup.ts';
import { administratorsOnly } from '../sentences/access.ts';
import { nameOf } from '../sentences/command-name.ts';
import { count, formatCount, shorten } from '../sentences/format.ts';
import { refusalOfId } from '../sentences/refusals.ts';
import { promptPart } from '../sentences/removal.ts';
import { button, type StatementPress, shortId } from '../ui/buttons.ts';
import { type Card, type CardButton, facts, heading, type Line, layOut, lineOf, present, small } from '../ui/card.ts';

/** Time that a press waits for a booking, which goes on afterwards. */
const BOOKING_SHOWN_MS = 1_500;

/** `/video statement`: the comparison of the video service's statement with the books. */
export const statement: Subcommand = {
  declaration: {
    name: 'statement',
    description: 'Compares our books with what the video service billed',
    example: '/video statement',
    options: [],
    visibility: 'private',
    isAdministrative: true,
  },
  run: (ports, caller) => show(ports, caller, 0),
  presses: { statement: pressStatement },
};

async function pressStatement(ports: BotPorts, caller: Caller, press: StatementPress): Promise<Reply> {
  // The right is checked at each press: the card may be older than a change of it.
  if (!caller.mayAdminister) return refused(administratorsOnly(caller.platform));
  switch (press.what) {
    case 'show':
      return show(ports, caller, press.offset);
    case 'book':
      return book(ports, caller, press);
    case 'review':
      return review(ports, caller, { ...press, outcome: null });
    default:
      return decide(ports, caller, press);
  }
}

function gone({ fields }: Caller): Reply {
  return refused(`This statement is gone. ${nameOf(statement.declaration, fields)} shows the others.`);
}

/** Command of the operator that imports a statement. */
const RECONCILE = 'npm run reconcile -- --statement FILE.csv --map id=…,amount=…,at=…';

/** Shown where no statement was imported. */
const NO_STATEMENT: Card = layOut([
  heading('No statement yet'),
  ['The video service’s statement is compared with our books once the operator runs ', { code: RECONCILE }, '.'],
]);

/** Shows an imported statement: a line per month, what is booked and what is left to decide. */
async function show({ statements, clock }: BotPorts, caller: Caller, wanted: number): Promise<Reply> {
  const { statements: found, total } = await statements.list(teamOf(caller), { offset: wanted, limit: 1 });
  const [shown] = found;
  if (shown === undefined) return total === 0 ? privately(NO_STATEMENT) : gone(caller);
  const year = new Date(clock.now()).getUTCFullYear();
  const isBooking = statements.isBooking(shown);
  const card = layOut(
    [
      heading('The video service’s statement'),
      ...shown.months.map((month) => [monthLine(month, year)]),
      bookingLine(shown, isBooking),
      shown.discrepancies > 0 && [undecidedLine(shown)],
      small('Imported ', { timeMs: shown.importedAtMs }),
    ],
    { buttons: statementButtons(shown, isBooking, { offset: wanted, total }) },
  );
  return privately(card);
}

/** @param isBooking whether this process books its matches */
function bookingLine({ confirmed, booking }: TeamStatement, isBooking: boolean): Line {
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

/** Offers what is to be done, and the other statements: `offset` were imported after it, of `total`. */
function statementButtons(
  { id, confirmed, booking, discrepancies, decided }: TeamStatement,
  isBooking: boolean,
  { offset, total }: { readonly offset: number; readonly total: number },
): readonly CardButton[] {
  const left = discrepancies - decided;
  const isBookable = confirmed > 0 && booking?.endedAtMs === undefined && !isBooking;
  const again = booking === undefined ? `Book ${count(confirmed, 'match', 'matches')}` : 'Book the rest';
  const of = { action: 'statement', statement: id, offset } as const;
  const show = (to: number, label: string) => button({ action: 'statement', what: 'show', offset: to }, label);
  return present([
    isBookable && button({ ...of, what: 'book' }, again, 'primary'),
    left > 0 && button({ ...of, what: 'review', position: 0 }, `Decide ${count(left, 'discrepancy', 'discrepancies')}`),
    isBooking && show(offset, 'Refresh'),
    offset + 1 < total && show(offset + 1, 'Older'),
    offset > 0 && show(offset - 1, 'Newer'),
  ]);
}

async function book(
  ports: BotPorts,
  caller: Caller,
  { statement: id, offset }: Extract<StatementPress, { readonly what: 'book' }>,
): Promise<Reply> {
  const { statements, clock } = ports;
  const actor = { person: caller.user, surface: 'button' } as const;
  const booked = statements.bookMatches(teamOf(caller), id, actor);
  if (!(await within(clock, BOOKING_SHOWN_MS, booked, true))) return gone(caller);
  return show(ports, caller, offset);
}

/** Statement, and the discrepancy from which to look for an undecided one. */
interface Review {
  readonly statement: string;
  readonly offset: number;
  readonly position: number;
  /** Outcome of the decision before. */
  readonly outcome: string | null;
}

async function review(
  ports: BotPorts,
  caller: Caller,
  { statement: id, offset, position, outcome }: Review,
): Promise<Reply> {
  const { statements } = ports;
  const found = await statements.get(teamOf(caller), id);
  if (found === undefined) return gone(caller);
  const next = await statements.nextUndecided(found, position);
  if (next === null) return show(ports, caller, offset);
  return showDiscrepancy(ports, caller, { statement: found, offset, position: next, outcome });
}

/** @param shown the statement, and a discrepancy of it */
async function showDiscrepancy(
  ports: BotPorts,
  caller: Caller,
  shown: Omit<Review, 'statement'> & { readonly statement: TeamStatement },
): Promise<Reply> {
  const { statement: of, position, outcome } = shown;
  const { statements } = ports;
  const discrepancy = await statements.discrepancy(of, position);
  if (discrepancy === undefined) return gone(caller);
  const { kind, pair } = discrepancy;
  // The question about a pair is asked on the clip.
  if (kind === 'unknown' && pair !== undefined && (await statements.decision(of, position, pair)) === undefined) {
    return showDiscrepancy(ports, caller, { ...shown, position: pair });
  }
  const asked = await questionOn(ports, of, position);
  const found = discrepancy.task === undefined ? undefined : await ports.tasks.get(discrepancy.task);
  const task = found && titled(ports.catalog(), found);
  const card = layOut(
    [
      outcome !== null && small(outcome),
      heading(`Discrepancy ${formatCount(position + 1)} of ${formatCount(of.discrepancies)}`),
      [discrepancySentence(discrepancy)],
      asked && [discrepancySentence(asked.bill)],
      asked && questionLine(promptFor(caller, asked.task), task),
      small(...clipLine({ ...asked?.bill, ...discrepancy }, task)),
    ],
    { buttons: decisionButtons(shown, discrepancy, asked !== null) },
  );
  return privately(card);
}

/** @param isPair whether a bill may be that of the clip, which is asked first */
function decisionButtons(
  {
    statement,
    offset,
    position,
  }: { readonly statement: TeamStatement; readonly offset: number; readonly position: number },
  { ours, kind }: Discrepancy,
  isPair: boolean,
): readonly CardButton[] {
  const at = { action: 'statement', statement: statement.id, offset, position } as const;
  const decide = (as: Resolution, label: string) => button({ ...at, what: as }, label);
  const yes = button({ ...at, what: 'same' }, 'Yes: enter the ID and fetch the clip', 'primary');
  const single =
    kind === 'unknown'
      ? [decide('ours', 'Set aside')]
      : [
          decide('ours', ours === undefined ? 'Keep ours' : `Keep ours · ${signed(ours)}`),
          decide('billed', 'It was billed'),
          decide('not_billed', 'It was not billed'),
        ];
  const next = (position + 1) % statement.discrepancies;
  return present([
    ...(isPair ? [yes, decide('apart', 'No')] : single),
    statement.discrepancies - statement.decided > 1 && button({ ...at, what: 'review', position: next }, 'Skip'),
    button({ action: 'statement', what: 'show', offset }, 'Back'),
  ]);
}

function questionLine(prompt: string | null, task: Task | undefined): Line {
  return lineOf(
    'Is this the unconfirmed clip',
    prompt !== null && [' “', promptPart(prompt, 80), '”'],
    task && [' by ', { person: task.origin.user }],
    '?',
  );
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

function clipLine({ id, task: taskId, month }: Discrepancy, task: Task | undefined): Line {
  // Its amount and its model together with its id would reveal a comparison.
  const isHidden = task !== undefined && isBlind(task);
  return facts(
    taskId && !isHidden && ['Clip ', { code: shortId(taskId) }],
    task && [{ person: task.origin.user }],
    task && [{ untrusted: task.request.model }],
    id !== undefined && ['ID at the service ', { untrusted: shorten(id, 60) }],
    month,
  );
}

function amount(price: Price | undefined): string {
  return price === undefined ? 'nothing' : signed(price);
}

/** Returns an unconfirmed clip and the bill that may be its own, as long as that is to be asked. */
async function questionOn(
  { statements, tasks }: BotPorts,
  of: TeamStatement,
  position: number,
): Promise<{ readonly task: Task; readonly bill: Discrepancy; readonly id: UpstreamId } | null> {
  const missing = await statements.discrepancy(of, position);
  if (missing?.task === undefined || missing.pair === undefined) return null;
  const [task, bill] = [await tasks.get(missing.task), await statements.discrepancy(of, missing.pair)];
  const decided = await statements.decision(of, position, missing.pair);
  if (task === undefined || bill?.id === undefined || decided !== undefined || task.sends !== missing.send) return null;
  const id = bill.id as UpstreamId;
  const isOpen = task.upstreamId === id || (task.state === 'uncertain' && task.upstreamId === undefined);
  return isOpen ? { task, bill, id } : null;
}

/** Returns the prompt of a clip for those who may see it; `null` also where it would reveal a comparison. */
function promptFor(caller: Caller, task: Task): string | null {
  const isShown = visibleAmong(caller, [task]).length > 0 && !isBlind(task) && !isContentRemoved(task);
  return isShown ? typedPrompt(task.request) : null;
}

/** Enters the id of a bill for its clip; statements are the administrators', for the clips of all requesters. */
async function enterId(ports: BotPorts, caller: Caller, statement: string, position: number): Promise<Reply | null> {
  const found = await ports.statements.get(teamOf(caller), statement);
  const question = found === undefined ? null : await questionOn(ports, found, position);
  if (question === null) return null;
  const { task, id } = question;
  try {
    await ports.tasks.identify(task.id, caller.user, id, 'button');
    return null;
  } catch (thrown) {
    const sentence = refusalOfId(thrown, id);
    if (sentence === null) throw thrown;
    return refused(sentence);
  }
}

async function decide(
  ports: BotPorts,
  caller: Caller,
  { statement: id, offset, position, what: as }: Exclude<StatementPress, { readonly what: 'show' | 'book' | 'review' }>,
): Promise<Reply> {
  const actor = { person: caller.user, surface: 'button' } as const;
  const refusal = as === 'same' ? await enterId(ports, caller, id, position) : null;
  if (refusal !== null) return refusal;
  const decided = await ports.statements.decide(teamOf(caller), { id, position, as }, actor);
  const next = (outcome: string) => review(ports, caller, { statement: id, offset, position, outcome });
  switch (decided.kind) {
    case 'decided':
      return next(`Decided: ${RESOLUTION_WORDS[as]}.`);
    case 'known': {
      const { by, as: earlier } = decided.decided;
      return next(`${by.name} decided this already: ${RESOLUTION_WORDS[earlier]}.`);
    }
    case 'not_now':
      return refused('This clip is in progress, or its state doesn’t allow that. Decide once it has ended.');
    case 'unknown':
      return gone(caller);
  }
}

/** Decisions on a discrepancy of a statement, in words. */
export const RESOLUTION_WORDS: Readonly<Record<Resolution, string>> = {
  ours: 'our books stay as they are',
  billed: 'it was billed',
  not_billed: 'it was not billed',
  same: 'both are the same clip, and its ID is entered',
  apart: 'they are not the same clip',
};
