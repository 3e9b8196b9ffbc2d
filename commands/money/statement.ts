import { within } from '#src/clock.ts';
import type { StatementDecisions, StatementImports, TeamStatement } from '#src/money/index.ts';
import { titled } from '#src/videos/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
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
import type { StatementPress } from '../ui/statement-buttons.ts';

/** Imported statements, and the decisions on them. */
export interface StatementPorts {
  readonly imports: Pick<StatementImports, 'list' | 'get' | 'discrepancy' | 'nextUndecided'>;
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

/** Handles the press of a button under a statement. */
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
  const discrepancy = await ports.statements.imports.discrepancy(shown.statement, shown.position);
  if (discrepancy === undefined) return gone(caller);
  const task = discrepancy.task === undefined ? undefined : await ports.tasks.get(discrepancy.task);
  return privately(discrepancyCard({ ...shown, discrepancy, task: task && titled(ports.catalog(), task) }));
}

async function decide(
  ports: BotPorts,
  caller: Caller,
  { statement: id, offset, position, what: as }: Exclude<StatementPress, { readonly what: 'show' | 'book' | 'review' }>,
): Promise<Reply> {
  const actor = { person: caller.user, surface: 'button' } as const;
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
