import { randomUUID } from 'node:crypto';
import { chunked } from '../../chunked.ts';
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
import { type AuditEntry, type AuditTrail, keyOfTeam, type TeamKey, textFact } from '../../teams/index.ts';
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

export const statementPages = collection<StatementPage, { readonly items: readonly (Match | Discrepancy)[] }>({
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

export const statementDecisions = collection<StatementPosition, Decided>({
  name: 'statement_decisions',
  key: ({ pages, position, isApart = false }) => `${isApart ? 'apart' : 'decided'}:${pages}:${position}`,
  holds: 'who decided on a discrepancy of a statement',
  personal: { forget: (decided, { person, pseudonym }) => withoutPerson(decided, person.id, pseudonym) },
});

/** Matches, and discrepancies, per page. */
export const PAGE = 500;
/** Attempts to commit an import before giving up. */
const MAX_TRIES = 20;

/**
 * Stores the findings of a statement, at once for all teams, with an entry in the audit log of each.
 * @param hash SHA-256 of the file.
 * @returns whether they are new; false: this file was imported before, or by another process at the same time.
 */
export async function importStatement(
  { store, audit, clock }: ImportDeps,
  hash: string,
  { teams }: Pick<Reconciliation, 'teams'>,
): Promise<boolean> {
  const isKnown = async () => (await statementImports.get(store, hash)) !== undefined;
  if (await isKnown()) return false;
  const attempt = randomUUID();
  const found = teams.flatMap(({ team, ...findings }, at) =>
    team === null ? [] : [{ ...findings, team, pages: `${attempt}:${at}` }],
  );
  // Pages are not visible before the commit below, which names them.
  const pages = found.flatMap(pagesOf);
  for (const { of, items } of pages) await statementPages.set(store, of, { items });
  const importedAtMs = clock.now();
  const id = hash.slice(0, ID_LENGTH);
  const prepare = async (): Promise<Attempt<boolean>> => {
    const records: RecordWrite[] = [statementImports.replacing(hash, undefined, { importedAtMs })];
    const index: NonNullable<Change['index']>[number][] = [];
    for (const { team, ...findings } of found) {
      const value = statementOf(findings, { id, importedAtMs });
      records.push(teamStatements.replacing({ of: team, id }, undefined, value));
      records.push(...(await audit.append(team, COMMAND_LINE, [importEntry(value)])));
      index.push({ index: statementIndex(team), member: id, score: importedAtMs });
    }
    return { change: { records, index }, result: true, refused: async () => ((await isKnown()) ? false : undefined) };
  };
  // Where the commit throws the pages stay: it may have been applied.
  const isNew = await commitWithRetries(store, prepare, atMost(MAX_TRIES, 'storing a statement'));
  if (!isNew) for (const { of } of pages) await statementPages.delete(store, of);
  return isNew;
}

const COMMAND_LINE = { person: null, surface: 'command_line' } as const;

interface ImportDeps {
  readonly store: Store;
  readonly audit: Pick<AuditTrail, 'append'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Length of the id of a statement: its buttons contain it. */
const ID_LENGTH = 16;

type Findings = Omit<TeamFindings, 'team'> & Pick<TeamStatement, 'pages'>;

function statementOf(
  { months, matches, discrepancies, pages }: Findings,
  about: Pick<TeamStatement, 'id' | 'importedAtMs'>,
): TeamStatement {
  const confirmed = matches.filter(({ book }) => book !== null).length;
  return { revision: 1, ...about, pages, months, confirmed, discrepancies: discrepancies.length, decided: 0 };
}

function importEntry({ id, months }: TeamStatement): AuditEntry {
  return { action: 'statement_import', subject: months.map(({ month }) => textFact(month)), after: [textFact(id)] };
}

function pagesOf({ matches, discrepancies, pages }: Findings) {
  const confirmed = matches.filter(({ book }) => book !== null);
  return [
    ...[...chunked(confirmed, PAGE)].map((items, page) => ({ of: { pages, kind: 'matches', page } as const, items })),
    ...[...chunked(discrepancies, PAGE)].map((items, page) => {
      return { of: { pages, kind: 'discrepancies', page } as const, items };
    }),
  ];
}

/** Names the index of a team's statements; members are their ids. */
export function statementIndex({ platform, team }: TeamKey): string {
  return `statements:${platform}:${team}`;
}
