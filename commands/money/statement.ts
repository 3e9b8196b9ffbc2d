import { within } from '#src/clock.ts';
import type { Discrepancy, StatementDecisions, StatementImports, TeamStatement } from '#src/money/index.ts';
import { isBlind, isContentRemoved, type Task, typedPrompt } from '#src/tasks/index.ts';
import { titled, type UpstreamId } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import { visibleAmong } from '../input/task-lookup.ts';
import { administratorsOnly } from '../sentences/access.ts';
import { nameOf } from '../sentences/cards/help.ts';
import {
  decidedBefore,
  decidedLine,
  discrepancyCard,
  NO_STATEMENT,
  NOT_DECIDABLE_NOW,
  statementCard,
  statementGone,
} from '../sentences/cards/statement.ts';
import { refusalOfId } from '../sentences/refusals.ts';
import type { StatementPress } from '../ui/buttons.ts';

export interface StatementPorts {
  readonly imports: Pick<StatementImports, 'list' | 'get' | 'discrepancy' | 'decision' | 'nextUndecided'>;
  readonly decisions: Pick<StatementDecisions, 'isBooking' | 'bookMatches' | 'decide'>;
}

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
};

export async function pressStatement(ports: BotPorts, caller: Caller, press: StatementPress): Promise<Reply> {
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
  return refused(statementGone(nameOf(statement.declaration, fields)));
}

async function show({ statements, clock }: BotPorts, caller: Caller, wanted: number): Promise<Reply> {
  const { imports, decisions } = statements;
  const { statements: found, total } = await imports.list(teamOf(caller), { offset: wanted, limit: 1 });
  const [shown] = found;
  if (shown === undefined) return total === 0 ? privately(NO_STATEMENT) : gone(caller);
  const year = new Date(clock.now()).getUTCFullYear();
  const isBooking = decisions.isBooking(shown);
  return privately(statementCard({ statement: shown, offset: wanted, total, isBooking, year }));
}

async function book(
  ports: BotPorts,
  caller: Caller,
  { statement: id, offset }: Extract<StatementPress, { readonly what: 'book' }>,
): Promise<Reply> {
  const { statements, clock } = ports;
  const actor = { person: caller.user, surface: 'button' } as const;
  const booked = statements.decisions.bookMatches(teamOf(caller), id, actor);
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
  const { imports } = ports.statements;
  const found = await imports.get(teamOf(caller), id);
  if (found === undefined) return gone(caller);
  const next = await imports.nextUndecided(found, position);
  if (next === null) return show(ports, caller, offset);
  return showDiscrepancy(ports, caller, { statement: found, offset, position: next, outcome });
}

async function showDiscrepancy(
  ports: BotPorts,
  caller: Caller,
  shown: Omit<Review, 'statement'> & { readonly statement: TeamStatement },
): Promise<Reply> {
  const { statement: of, position } = shown;
  const { imports } = ports.statements;
  const discrepancy = await imports.discrepancy(of, position);
  if (discrepancy === undefined) return gone(caller);
  const { kind, pair } = discrepancy;
  // The question about a pair is asked on the clip.
  if (kind === 'unknown' && pair !== undefined && (await imports.decision(of, position, pair)) === undefined) {
    return showDiscrepancy(ports, caller, { ...shown, position: pair });
  }
  const asked = await questionOn(ports, of, position);
  const task = discrepancy.task === undefined ? undefined : await ports.tasks.get(discrepancy.task);
  const question = asked && { bill: asked.bill, prompt: promptFor(caller, asked.task) };
  return privately(discrepancyCard({ ...shown, discrepancy, question, task: task && titled(ports.catalog(), task) }));
}

/** Returns an unconfirmed clip and the bill that may be its own, as long as that is to be asked. */
async function questionOn(
  { statements: { imports }, tasks }: BotPorts,
  of: TeamStatement,
  position: number,
): Promise<{ readonly task: Task; readonly bill: Discrepancy; readonly id: UpstreamId } | null> {
  const missing = await imports.discrepancy(of, position);
  if (missing?.task === undefined || missing.pair === undefined) return null;
  const [task, bill] = [await tasks.get(missing.task), await imports.discrepancy(of, missing.pair)];
  const decided = await imports.decision(of, position, missing.pair);
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

/** Enters the id of a bill for its clip; an administrator decides on statements, whoever's clip it is. */
async function enterId(ports: BotPorts, caller: Caller, statement: string, position: number): Promise<Reply | null> {
  const found = await ports.statements.imports.get(teamOf(caller), statement);
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
  const decided = await ports.statements.decisions.decide(teamOf(caller), { id, position, as }, actor);
  const next = (outcome: string) => review(ports, caller, { statement: id, offset, position, outcome });
  switch (decided.kind) {
    case 'decided':
      return next(decidedLine(as));
    case 'known':
      return next(decidedBefore(decided.decided));
    case 'not_now':
      return refused(NOT_DECIDABLE_NOW);
    case 'unknown':
      return gone(caller);
  }
}
