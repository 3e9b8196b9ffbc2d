import type { Clock } from '../../clock.ts';
import type { Store } from '../../engine/index.ts';
import type { Logger } from '../../logger.ts';
import type { TaskRepository } from '../../pipeline/index.ts';
import { SingleFlight } from '../../single-flight.ts';
import type { Person, TaskEvent } from '../../tasks/index.ts';
import { type Actor, type AuditEntry, type AuditedChange, AuditTrail, type TeamKey } from '../../teams/index.ts';
import type { Discrepancy, Match } from './findings.ts';
import {
  type Decided,
  PAGE,
  type Resolution,
  StatementImports,
  type TeamStatement,
  teamStatements,
} from './imports.ts';

type BookedState = Extract<TaskEvent, { kind: 'book' }>['as'];

type DecisionOutcome =
  | { readonly kind: 'decided' }
  /** Someone decided before. */
  | { readonly kind: 'known'; readonly decided: Decided }
  /** The clip is in progress, or its state does not allow that decision. */
  | { readonly kind: 'not_now' }
  /** There is no such statement or discrepancy. */
  | { readonly kind: 'unknown' };

/** Dependencies of {@link StatementDecisions}. */
interface DecisionsOptions {
  readonly store: Store;
  readonly imports: StatementImports;
  readonly repository: Pick<TaskRepository, 'get' | 'record'>;
  readonly audit: AuditTrail;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Sends that are booked at the same time. */
const AT_ONCE = 8;

/**
 * Decisions of administrators on an imported statement. They book what a send cost, and never change its price, month or
 * state by the task's own events.
 */
export class StatementDecisions {
  readonly #options: DecisionsOptions;
  readonly #running = new SingleFlight<string, void>();
  #isStopping = false;

  constructor(options: DecisionsOptions) {
    this.#options = options;
  }

  isBooking({ pages }: TeamStatement): boolean {
    return this.#running.get(pages) !== undefined;
  }

  /**
   * Books all matches of a statement, or the rest of them after an interruption. Resolves once all are booked, or
   * `stop` was called.
   * @returns false where there is no such statement.
   */
  async bookMatches(team: TeamKey, id: string, actor: Actor & { readonly person: Person }): Promise<boolean> {
    const { imports, audit, clock } = this.#options;
    const found = await imports.get(team, id);
    if (found === undefined) return false;
    await audit.commitAudited(team, actor, async () => {
      const statement = (await imports.get(team, id)) ?? found;
      if (statement.booking !== undefined) return { change: { records: [] }, entries: [], result: undefined };
      const booking = { by: actor.person, atMs: clock.now(), pages: 0 };
      const records = [imports.changeOf(team, statement, { booking })];
      return { change: { records }, entries: [bookingEntry(statement)], result: undefined };
    });
    await this.#running.run(found.pages, () => this.#bookPages(team, id));
    return true;
  }

  /** Waits for the page in progress; the rest is booked by the next press. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running.settled();
  }

  async #bookPages(team: TeamKey, id: string): Promise<void> {
    const { imports, logger } = this.#options;
    while (!this.#isStopping) {
      const statement = await imports.get(team, id);
      const { booking } = statement ?? {};
      if (statement === undefined || booking === undefined || booking.endedAtMs !== undefined) return;
      const matches = await imports.matches(statement, booking.pages);
      for (let at = 0; at < matches.length; at += AT_ONCE) {
        await Promise.all(matches.slice(at, at + AT_ONCE).map((match) => this.#book(match, booking.by)));
      }
      if (await this.#advance(team, id, booking.pages + 1)) {
        logger.info({ event: 'statement_booked', statement: id, sends: statement.confirmed }, 'booked a statement');
      }
    }
  }

  /** Books a match, unless a person or another statement decided on that send meanwhile. */
  async #book({ task: id, send, book }: Match, by: Person): Promise<void> {
    const { repository } = this.#options;
    const task = await repository.get(id);
    const isDecided = task?.money?.sends[send - 1]?.booked !== undefined;
    if (task === undefined || book === null || isDecided) return;
    await repository.record(id, { kind: 'book', send, as: book, by }, task);
  }

  /** Stores the progress of a booking. @returns whether it ended with these pages. */
  async #advance(team: TeamKey, id: string, pages: number): Promise<boolean> {
    const { store, clock } = this.#options;
    return teamStatements.change<boolean>(store, { of: team, id }, (statement) => {
      if (statement?.booking === undefined || statement.booking.endedAtMs !== undefined) return { result: false };
      const isLast = pages * PAGE >= statement.confirmed;
      const progress = { ...statement.booking, pages: Math.max(statement.booking.pages, pages) };
      const booking = isLast ? { ...progress, endedAtMs: clock.now() } : progress;
      return { value: { ...statement, booking }, result: isLast };
    });
  }

  /** Decides on one discrepancy; the first decision counts. Booked, decided and logged in one commit. */
  async decide(
    team: TeamKey,
    { id, position, as }: { readonly id: string; readonly position: number; readonly as: Resolution },
    actor: Actor & { readonly person: Person },
  ): Promise<DecisionOutcome> {
    const { imports, repository, audit } = this.#options;
    const statement = await imports.get(team, id);
    const discrepancy = statement === undefined ? undefined : await imports.discrepancy(statement, position);
    if (statement === undefined || discrepancy === undefined) return { kind: 'unknown' };
    const { task, send, pair } = discrepancy;
    const known = task === undefined ? undefined : await repository.get(task);
    const decision = { position, as, by: actor.person, atMs: this.#options.clock.now() };
    const about: AboutDecision = { team, id, discrepancy, decision, actor };
    try {
      if (as === 'same' || as === 'apart') {
        const bill = pair === undefined ? undefined : await imports.discrepancy(statement, pair);
        if (pair === undefined || bill?.kind !== 'unknown') return { kind: 'unknown' };
        if (as === 'same' && known?.upstreamId !== bill.id) return { kind: 'not_now' };
        const both = { ...bill, ...discrepancy };
        return await this.#commit({ ...about, discrepancy: both, decision: { ...decision, pair } });
      }
      const bookAs = known === undefined || send === undefined ? null : bookingOf(as, known.money?.sends[send - 1]);
      if (bookAs === null || known === undefined || send === undefined) return await this.#commit(about);
      const event = { kind: 'book', send, as: bookAs, by: actor.person } as const;
      const recorded = await repository.record(known.id, event, undefined, async () => {
        const { change, entries } = await this.#prepare(about);
        return { records: [...change.records, ...(await audit.append(team, actor, entries))] };
      });
      if (recorded?.done === true) return { kind: 'decided' };
      const isBooked = recorded?.task.money?.sends[send - 1]?.booked === bookAs;
      return isBooked ? await this.#commit(about) : { kind: 'not_now' };
    } catch (thrown) {
      if (thrown instanceof AlreadyDecided) return { kind: 'known', decided: thrown.decided };
      throw thrown;
    }
  }

  async #commit(about: AboutDecision): Promise<DecisionOutcome> {
    await this.#options.audit.commitAudited(about.team, about.actor, () => this.#prepare(about));
    return { kind: 'decided' };
  }

  /** Returns a decision and its entry in the log. @throws AlreadyDecided */
  async #prepare({ team, id, discrepancy, decision }: AboutDecision): Promise<AuditedChange<void>> {
    const { imports } = this.#options;
    const statement = await imports.get(team, id);
    if (statement === undefined) throw new TypeError(`deciding on statement ${id}: it is gone`);
    const decided = await imports.decision(statement, decision.position, decision.pair);
    if (decided !== undefined) throw new AlreadyDecided(decided);
    const change = { records: imports.decisionWrites(team, statement, decision) };
    return { change, entries: [decisionEntry(discrepancy, decision.as)], result: undefined };
  }
}

interface AboutDecision {
  readonly team: TeamKey;
  readonly id: string;
  readonly discrepancy: Discrepancy;
  readonly decision: Omit<Decided, 'revision'> & { readonly position: number; readonly pair?: number };
  readonly actor: Actor;
}

class AlreadyDecided extends Error {
  override readonly name = 'AlreadyDecided';
  readonly decided: Decided;

  constructor(decided: Decided) {
    super('someone decided this before');
    this.decided = decided;
  }
}

/** Returns what a decision books; `null`: nothing changes. */
function bookingOf(
  as: Exclude<Resolution, 'same' | 'apart'>,
  send: { readonly counted?: string } | undefined,
): BookedState | null {
  if (as === 'ours') return null;
  if (as === 'billed') return 'settled';
  // A submission that may never have existed has nothing to refund.
  return send?.counted === 'doubted' ? 'released' : 'refunded';
}

function bookingEntry({ id, months, confirmed }: TeamStatement): AuditEntry {
  const subject = months.map(({ month }) => ({ kind: 'text', text: month }) as const);
  const after = [{ kind: 'text', text: id } as const, { kind: 'text', text: String(confirmed) } as const];
  return { action: 'statement_booking', subject, before: [], after };
}

function decisionEntry({ task, ours, theirs }: Discrepancy, as: Resolution): AuditEntry {
  const price = (some: Discrepancy['ours']) => (some === undefined ? [] : [{ kind: 'price', price: some } as const]);
  return {
    action: 'statement_decision',
    subject: task === undefined ? [] : [{ kind: 'task', task }],
    before: [...price(ours), ...price(theirs)],
    after: [{ kind: 'text', text: as }],
  };
}

/** Imported statements of the video service, and the decisions on them. */
export interface Statements {
  readonly imports: StatementImports;
  readonly decisions: StatementDecisions;
}

/** Creates the statements of a bot. */
export function createStatements(options: Omit<DecisionsOptions, 'imports' | 'audit'>): Statements {
  const { store, clock } = options;
  const audit = new AuditTrail(store, clock);
  const imports = new StatementImports(store, audit, clock);
  return { imports, decisions: new StatementDecisions({ ...options, imports, audit }) };
}
