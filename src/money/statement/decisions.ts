import { chunked } from '../../chunked.ts';
import type { Clock } from '../../clock.ts';
import type { RecordWrite, Store } from '../../engine/index.ts';
import type { Logger } from '../../logger.ts';
import type { TaskRepository } from '../../pipeline/index.ts';
import { SingleFlight } from '../../single-flight.ts';
import type { Person, TaskEvent } from '../../tasks/index.ts';
import {
  type Actor,
  type AuditEntry,
  type AuditedChange,
  type AuditTrail,
  priceFacts,
  type TeamKey,
  textFact,
} from '../../teams/index.ts';
import type { Discrepancy, Match } from './findings.ts';
import {
  type Decided,
  PAGE,
  type Resolution,
  statementDecisions,
  statementIndex,
  statementPages,
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

/** Dependencies of {@link Statements}. */
interface StatementsOptions {
  readonly store: Store;
  readonly repository: Pick<TaskRepository, 'get' | 'record'>;
  readonly audit: Pick<AuditTrail, 'append' | 'commitAudited'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Sends that are booked at the same time. */
const AT_ONCE = 8;

/**
 * Imported statements, and the decisions of administrators on them. These book what a send cost, and never change its price,
 * month or state by the task's own events.
 */
export class Statements {
  readonly #options: StatementsOptions;
  readonly #running = new SingleFlight<string, void>();
  #isStopping = false;

  constructor(options: StatementsOptions) {
    this.#options = options;
  }

  /** Returns a team's statements, the last imported first, and the number of all. */
  async list(
    team: TeamKey,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly statements: readonly TeamStatement[]; readonly total: number }> {
    const { store } = this.#options;
    const index = statementIndex(team);
    const entries = await store.scan(index, { offset, limit });
    const found = await teamStatements.getMany(
      store,
      entries.map(({ member: id }) => ({ of: team, id })),
    );
    return { statements: found.filter((one) => one !== undefined), total: await store.count(index) };
  }

  get(team: TeamKey, id: string): Promise<TeamStatement | undefined> {
    return teamStatements.get(this.#options.store, { of: team, id });
  }

  async discrepancy({ pages }: TeamStatement, position: number): Promise<Discrepancy | undefined> {
    const of = { pages, kind: 'discrepancies', page: Math.floor(position / PAGE) } as const;
    const page = await statementPages.get(this.#options.store, of);
    return page?.items[position % PAGE] as Discrepancy | undefined;
  }

  /** Returns the decision on a discrepancy. @param pair also those on the other of its pair, and on both together */
  async decision({ pages }: TeamStatement, position: number, pair?: number): Promise<Decided | undefined> {
    const further =
      pair === undefined
        ? []
        : [
            { pages, position: pair },
            { pages, position: Math.min(position, pair), isApart: true },
          ];
    const found = await statementDecisions.getMany(this.#options.store, [{ pages, position }, ...further]);
    return found.find((one) => one !== undefined);
  }

  /** Returns the position of the first undecided discrepancy from `from` on, then from the start; `null`: none. */
  async nextUndecided({ pages, discrepancies }: TeamStatement, from: number): Promise<number | null> {
    const positions = Array.from({ length: discrepancies }, (_, at) => (from + at) % discrepancies);
    for (const some of chunked(positions, PAGE)) {
      const found = await statementDecisions.getMany(
        this.#options.store,
        some.map((position) => ({ pages, position })),
      );
      const place = found.indexOf(undefined);
      if (place !== -1) return some[place] ?? null;
    }
    return null;
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
    const { audit, clock } = this.#options;
    const found = await this.get(team, id);
    if (found === undefined) return false;
    await audit.commitAudited(team, actor, async () => {
      const statement = (await this.get(team, id)) ?? found;
      if (statement.booking !== undefined) return { result: undefined };
      const booking = { by: actor.person, atMs: clock.now(), pages: 0 };
      const records = [changeOf(team, statement, { booking })];
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
    const { store, logger } = this.#options;
    while (!this.#isStopping) {
      const statement = await this.get(team, id);
      const { booking } = statement ?? {};
      if (statement === undefined || booking === undefined || booking.endedAtMs !== undefined) return;
      const of = { pages: statement.pages, kind: 'matches', page: booking.pages } as const;
      const matches = ((await statementPages.get(store, of))?.items ?? []) as readonly Match[];
      for (const some of chunked(matches, AT_ONCE))
        await Promise.all(some.map((match) => this.#book(match, booking.by)));
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
    const { repository, audit } = this.#options;
    const statement = await this.get(team, id);
    const discrepancy = statement === undefined ? undefined : await this.discrepancy(statement, position);
    if (statement === undefined || discrepancy === undefined) return { kind: 'unknown' };
    const { task, send, pair } = discrepancy;
    const known = task === undefined ? undefined : await repository.get(task);
    const decision = { position, as, by: actor.person, atMs: this.#options.clock.now() };
    const about: AboutDecision = { team, id, discrepancy, decision, actor };
    try {
      if (as === 'same' || as === 'apart') {
        const bill = pair === undefined ? undefined : await this.discrepancy(statement, pair);
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
  async #prepare({ team, id, discrepancy, decision }: AboutDecision): Promise<Required<AuditedChange<void>>> {
    const statement = await this.get(team, id);
    if (statement === undefined) throw new TypeError(`deciding on statement ${id}: it is gone`);
    const decided = await this.decision(statement, decision.position, decision.pair);
    if (decided !== undefined) throw new AlreadyDecided(decided);
    const change = { records: decisionWrites(team, statement, decision) };
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
  const subject = months.map(({ month }) => textFact(month));
  return { action: 'statement_booking', subject, after: [textFact(id), textFact(String(confirmed))] };
}

function decisionEntry({ task, ours, theirs }: Discrepancy, as: Resolution): AuditEntry {
  return {
    action: 'statement_decision',
    subject: task === undefined ? [] : [{ kind: 'task', task }],
    before: [...priceFacts(ours), ...priceFacts(theirs)],
    after: [textFact(as)],
  };
}

/** Returns the writes of a decision, of which the first is committed. */
export function decisionWrites(
  team: TeamKey,
  statement: TeamStatement,
  { position, pair, ...decided }: AboutDecision['decision'],
): readonly RecordWrite[] {
  const { pages } = statement;
  const written = (at: number, isApart = false) =>
    statementDecisions.replacing({ pages, position: at, isApart }, undefined, decided);
  if (decided.as === 'apart') return [written(position, true)];
  const settled = decided.as === 'same' && pair !== undefined ? [position, pair] : [position];
  return [
    ...settled.map((each) => written(each)),
    changeOf(team, statement, { decided: statement.decided + settled.length }),
  ];
}

/** Returns the write that changes a statement. */
export function changeOf(
  team: TeamKey,
  statement: TeamStatement,
  changed: Partial<Pick<TeamStatement, 'booking' | 'decided'>>,
): RecordWrite {
  return teamStatements.replacing({ of: team, id: statement.id }, statement, { ...statement, ...changed });
}
