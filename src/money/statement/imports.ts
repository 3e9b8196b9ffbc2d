import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import {
  type Attempt,
  atMost,
  type Change,
  collection,
  commitWithRetries,
  type RecordWrite,
  type Store,
  type Versioned,
} from '../../engine/index.ts';
import { type Person, withoutPerson } from '../../tasks/index.ts';
import { type AuditEntry, type AuditTrail, keyOfTeam, type TeamKey } from '../../teams/index.ts';
import type { Discrepancy, Match, MonthSummary } from './findings.ts';
import type { Reconciliation, TeamFindings } from './reconciliation.ts';

/** Imported statement, as far as it concerns one team. */
export interface TeamStatement extends Versioned {
  /** First 16 digits of the SHA-256 of the file. */
  readonly id: string;
  readonly importedAtMs: number;
  readonly months: readonly MonthSummary[];
  /** Number of sends that match and that the statement confirms. */
  readonly confirmed: number;
  readonly discrepancies: number;
  readonly decided: number;
  /** Booking of the matches. Absent: it was not requested. */
  readonly booking?: Booking;
  /** Prefix of the keys of its pages. */
  readonly pages: string;
}

interface Booking {
  readonly by: Person;
  readonly atMs: number;
  readonly pages: number;
  /** Absent: in progress, or interrupted. */
  readonly endedAtMs?: number;
}

/**
 * A person's decision on a discrepancy: ours stays, it was billed, it was not billed; on a pair of them: both are the same
 * clip, or they are apart and left to a decision on each.
 */
export type Resolution = 'ours' | 'billed' | 'not_billed' | 'same' | 'apart';

/** Decision on one discrepancy. */
export interface Decided extends Versioned {
  readonly as: Resolution;
  readonly by: Person;
  readonly atMs: number;
}

/** By the hash of the file. */
const statementImports = collection<string, Versioned & { readonly importedAtMs: number }>({
  name: 'statement_imports',
  holds: 'which statements of the video service were imported',
  personal: 'nobody',
});

interface StatementOfTeam {
  readonly of: TeamKey;
  readonly id: string;
}

export const teamStatements = collection<StatementOfTeam, TeamStatement>({
  name: 'statements',
  key: ({ of, id }) => `${keyOfTeam(of)}:${id}`,
  holds: 'imported statements by team: amounts; who booked their matches',
  personal: {
    forget: (statement, of, key) =>
      key.startsWith(`${keyOfTeam(of)}:`) ? withoutPerson(statement, of.person.id, of.pseudonym) : statement,
  },
});

interface StatementPage {
  /** As in {@link TeamStatement.pages}. */
  readonly pages: string;
  readonly kind: 'matches' | 'discrepancies';
  readonly page: number;
}

const statementPages = collection<StatementPage, { readonly items: readonly (Match | Discrepancy)[] }>({
  name: 'statement_pages',
  key: ({ pages, kind, page }) => `${kind}:${pages}:${page}`,
  holds: 'the findings of imported statements: tasks, amounts',
  personal: 'nobody',
});

interface StatementPosition {
  readonly pages: string;
  /** Position of a discrepancy; with `apart`, that of the missing clip, which comes before its bill. */
  readonly position: number;
  readonly isApart?: boolean;
}

const statementDecisions = collection<StatementPosition, Decided>({
  name: 'statement_decisions',
  key: ({ pages, position, isApart = false }) => `${isApart ? 'apart' : 'decided'}:${pages}:${position}`,
  holds: 'who decided on a discrepancy of a statement',
  personal: { forget: (decided, { person, pseudonym }) => withoutPerson(decided, person.id, pseudonym) },
});

/** Matches, and discrepancies, per page. */
export const PAGE = 500;
/** Attempts to commit an import before giving up. */
const MAX_TRIES = 20;

/** Stored statements: one import per file, and its findings by team. */
export class StatementImports {
  readonly #store: Store;
  readonly #audit: AuditTrail;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(store: Store, audit: AuditTrail, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#audit = audit;
    this.#clock = clock;
  }

  /**
   * Stores the findings of a statement, at once for all teams, with an entry in the audit log of each.
   * @param hash SHA-256 of the file.
   * @returns whether they are new; false: this file was imported before, or by another process at the same time.
   */
  async add(hash: string, { teams }: Reconciliation): Promise<boolean> {
    if ((await statementImports.get(this.#store, hash)) !== undefined) return false;
    const attempt = randomUUID();
    const found = teams.filter(({ team }) => team !== null);
    // Pages are not visible before the commit below, which names them.
    const pages = found.flatMap((findings, at) => pagesOf(findings, `${attempt}:${at}`));
    for (const { of, items } of pages) await statementPages.set(this.#store, of, { items });
    // Where the commit throws they stay: it may have been applied.
    const isNew = await this.#commit(hash, found, attempt);
    if (!isNew) for (const { of } of pages) await statementPages.delete(this.#store, of);
    return isNew;
  }

  async #commit(hash: string, found: readonly TeamFindings[], attempt: string): Promise<boolean> {
    const importedAtMs = this.#clock.now();
    const actor = { person: null, surface: 'command_line' } as const;
    const prepare = async (): Promise<Attempt<boolean>> => {
      const records: RecordWrite[] = [statementImports.replacing(hash, undefined, { importedAtMs })];
      const index: NonNullable<Change['index']>[number][] = [];
      for (const [at, findings] of found.entries()) {
        const { team } = findings;
        if (team === null) continue;
        const id = hash.slice(0, ID_LENGTH);
        const value = statementOf(findings, { id, importedAtMs, pages: `${attempt}:${at}` });
        records.push(teamStatements.replacing({ of: team, id }, undefined, value));
        records.push(...(await this.#audit.append(team, actor, [importEntry(value)])));
        index.push({ index: indexOf(team), member: id, score: importedAtMs });
      }
      const isKnown = async () => (await statementImports.get(this.#store, hash)) !== undefined;
      return { change: { records, index }, result: true, refused: async () => ((await isKnown()) ? false : undefined) };
    };
    return commitWithRetries(this.#store, prepare, atMost(MAX_TRIES, 'storing a statement'));
  }

  /** Returns a team's statements, the last imported first, and the number of all. */
  async list(
    team: TeamKey,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly statements: readonly TeamStatement[]; readonly total: number }> {
    const entries = await this.#store.scan(indexOf(team), { offset, limit });
    const found = await Promise.all(entries.map(({ member }) => this.get(team, member)));
    return { statements: found.filter((one) => one !== undefined), total: await this.#store.count(indexOf(team)) };
  }

  get(team: TeamKey, id: string): Promise<TeamStatement | undefined> {
    return teamStatements.get(this.#store, { of: team, id });
  }

  /** Returns a page of the matches that the statement confirms; empty after the last one. */
  async matches({ pages }: TeamStatement, page: number): Promise<readonly Match[]> {
    return ((await statementPages.get(this.#store, { pages, kind: 'matches', page }))?.items ?? []) as readonly Match[];
  }

  async discrepancy({ pages }: TeamStatement, position: number): Promise<Discrepancy | undefined> {
    const of = { pages, kind: 'discrepancies', page: Math.floor(position / PAGE) } as const;
    return (await statementPages.get(this.#store, of))?.items[position % PAGE] as Discrepancy | undefined;
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
    const found = await statementDecisions.getMany(this.#store, [{ pages, position }, ...further]);
    return found.find((one) => one !== undefined);
  }

  /** Returns the position of the first undecided discrepancy from `from` on, then from the start; `null`: none. */
  async nextUndecided({ pages, discrepancies }: TeamStatement, from: number): Promise<number | null> {
    const positions = Array.from({ length: discrepancies }, (_, at) => (from + at) % discrepancies);
    for (let at = 0; at < positions.length; at += PAGE) {
      const some = positions.slice(at, at + PAGE);
      const found = await statementDecisions.getMany(
        this.#store,
        some.map((position) => ({ pages, position })),
      );
      const place = found.indexOf(undefined);
      if (place !== -1) return some[place] ?? null;
    }
    return null;
  }

  /** Returns the writes of a decision, of which the first is committed. */
  decisionWrites(
    team: TeamKey,
    statement: TeamStatement,
    { position, pair, ...decided }: Omit<Decided, 'revision'> & { readonly position: number; readonly pair?: number },
  ): readonly RecordWrite[] {
    const { pages } = statement;
    const written = (at: number, isApart = false) =>
      statementDecisions.replacing({ pages, position: at, isApart }, undefined, decided);
    if (decided.as === 'apart') return [written(position, true)];
    const settled = decided.as === 'same' && pair !== undefined ? [position, pair] : [position];
    return [
      ...settled.map((each) => written(each)),
      this.changeOf(team, statement, { decided: statement.decided + settled.length }),
    ];
  }

  changeOf(
    team: TeamKey,
    statement: TeamStatement,
    changed: Partial<Pick<TeamStatement, 'booking' | 'decided'>>,
  ): RecordWrite {
    return teamStatements.replacing({ of: team, id: statement.id }, statement, { ...statement, ...changed });
  }
}

/** Length of the id of a statement: its buttons contain it. */
const ID_LENGTH = 16;

function statementOf(
  { months, matches, discrepancies }: TeamFindings,
  about: Pick<TeamStatement, 'id' | 'importedAtMs' | 'pages'>,
): TeamStatement {
  const confirmed = matches.filter(({ book }) => book !== null).length;
  return { revision: 1, ...about, months, confirmed, discrepancies: discrepancies.length, decided: 0 };
}

function importEntry({ id, months }: TeamStatement): AuditEntry {
  const subject = months.map(({ month }) => ({ kind: 'text', text: month }) as const);
  return { action: 'statement_import', subject, before: [], after: [{ kind: 'text', text: id }] };
}

function pagesOf({ matches, discrepancies }: TeamFindings, pages: string) {
  const confirmed = matches.filter(({ book }) => book !== null);
  return [
    ...chunks(confirmed).map((items, page) => ({ of: { pages, kind: 'matches', page } as const, items })),
    ...chunks(discrepancies).map((items, page) => ({ of: { pages, kind: 'discrepancies', page } as const, items })),
  ];
}

function chunks<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / PAGE) }, (_, at) => items.slice(at * PAGE, (at + 1) * PAGE));
}

function indexOf({ platform, team }: TeamKey): string {
  return `statements:${platform}:${team}`;
}
