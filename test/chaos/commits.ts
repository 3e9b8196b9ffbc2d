import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deserialize } from '#src/engine/store/envelope.ts';
import { type BudgetAmounts, SUM_PARTS, type SumPart, type SumParts } from '#src/engine/store/store.ts';
import { addParts, partsFrom, ZERO_SUM } from '#src/engine/store/sums.ts';
import type { Task } from '#src/tasks/task.ts';
import type { TeamApprover } from '#src/teams/approvers.ts';
import type { ChainedEntry } from '#src/teams/audit/audit-entry.ts';

/** Write of a commit that concerns money, or who may spend it. */
export type MoneyWrite =
  | { readonly of: 'task'; readonly key: string; readonly value: Task | null }
  | { readonly of: 'budget'; readonly key: string; readonly value: BudgetAmounts | null }
  | { readonly of: 'approvers'; readonly key: string; readonly value: ApproversValue | null }
  | { readonly of: 'audit'; readonly key: string; readonly value: ChainedEntry }
  /** `parts` are those after the commit. */
  | { readonly of: 'sum'; readonly key: string; readonly parts: SumParts };

/** Approvers of a team, as stored. */
export interface ApproversValue {
  readonly approvers: readonly Pick<TeamApprover, 'kind' | 'id' | 'untilMs'>[];
}

/** Writes of one commit, in their order. Commits that write no sum may be merged with the next one. */
export type MoneyCommit = readonly MoneyWrite[];

const NAMESPACES: Readonly<Record<string, Exclude<MoneyWrite['of'], 'sum'>>> = {
  tasks: 'task',
  budgets: 'budget',
  approvers: 'approvers',
  audit: 'audit',
};

/**
 * Reads the commits of a Redis in the folder `directory` from its append-only file, which Redis must not rewrite: it
 * holds everything that was written, in order, each script as a transaction. Writes lost in a crash are not in it.
 * @see {@link https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/}
 */
export async function readRedisCommits(directory: string): Promise<readonly MoneyCommit[]> {
  const folder = join(directory, 'appendonlydir');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.incr.aof')).toSorted();
  if (files.length > 1) throw new Error(`${folder}: the append-only file was rewritten`);
  const aof = await readFile(join(folder, files[0] ?? ''));
  const commits: MoneyCommit[] = [];
  const sums = new Map<string, SumParts>();
  let transaction: MoneyWrite[] | null = null;
  for (const [command = '', ...words] of commandsIn(aof)) {
    if (command === 'MULTI') transaction = [];
    const writes = writesOf(command.toUpperCase(), words, sums);
    if (transaction !== null) transaction.push(...writes);
    else if (writes.length > 0) commits.push(writes);
    if (command !== 'EXEC' || transaction === null) continue;
    if (transaction.length > 0) commits.push(withSumsOnce(transaction));
    transaction = null;
  }
  return commits;
}

/** Yields the complete commands of an append-only file; of those that concern no money, only the name and the key. */
function* commandsIn(aof: Buffer): Generator<readonly string[]> {
  let at = 0;
  const line = (): string => {
    const end = aof.indexOf('\r\n', at);
    const text = aof.toString('latin1', at, end < 0 ? aof.length : end);
    at = end < 0 ? aof.length : end + 2;
    return text;
  };
  while (at < aof.length) {
    const count = Number(line().slice(1));
    const words: string[] = [];
    for (let word = 0; word < count && at < aof.length; word += 1) {
      const bytes = Number(line().slice(1));
      if (word < 2 || isOfMoney(words[1] ?? '')) words.push(aof.toString('utf8', at, at + bytes));
      at += bytes + 2;
    }
    yield words;
  }
}

/** Keeps the last write of each sum: Redis changes its parts one after the other. */
function withSumsOnce(writes: MoneyCommit): MoneyCommit {
  return writes.filter(
    ({ of, key }, at) => of !== 'sum' || !writes.slice(at + 1).some((later) => later.of === 'sum' && later.key === key),
  );
}

function isOfMoney(key: string): boolean {
  return /^dailies:(?:sum:|tasks::|budgets::|approvers::|audit::entry:)/.test(key);
}

function writesOf(command: string, words: readonly string[], sums: Map<string, SumParts>): readonly MoneyWrite[] {
  const [redisKey = '', second = '', third = ''] = words;
  if (!isOfMoney(redisKey)) return [];
  const sum = /^dailies:sum:(.+)$/s.exec(redisKey)?.[1];
  if (sum !== undefined) {
    if (command !== 'HINCRBY') throw new Error(`a sum was changed by ${command}`);
    const parts = addParts(sums.get(sum) ?? ZERO_SUM, { ...ZERO_SUM, [second as SumPart]: BigInt(third) });
    sums.set(sum, parts);
    return [{ of: 'sum', key: sum, parts }];
  }
  const isDeleted = command === 'DEL' || command === 'UNLINK';
  const [, namespace = '', key = ''] = /^dailies:(\w+)::(.+)$/s.exec(redisKey) ?? [];
  return command === 'SET' || isDeleted ? [recordOf(namespace, key, isDeleted ? null : second)] : [];
}

function recordOf(namespace: string, key: string, text: string | null): MoneyWrite {
  const value = text === null ? null : deserialize(text).value;
  return { of: NAMESPACES[namespace], key, value } as MoneyWrite;
}

/** Makes a database log its own commits in a table, for {@link readSqliteCommits}. Its tables have to exist. */
export function watchSqlite(path: string): void {
  const ofRecord = (row: 'NEW' | 'OLD', value: string) =>
    `WHEN ${row}.namespace IN ('tasks', 'budgets', 'approvers')
     OR ${row}.namespace = 'audit' AND ${row}.key LIKE 'entry:%' BEGIN INSERT INTO chaos_log (name, key, value)
     VALUES (${row}.namespace, ${row}.key, ${value}); END`;
  const ofSum = `BEGIN INSERT INTO chaos_log (name, key, value)
     VALUES ('sum', NEW.name, ${SUM_PARTS.map((part) => `NEW.${part}`).join(` || ' ' || `)}); END`;
  const database = new DatabaseSync(path, { timeout: 5_000 });
  try {
    database.exec(`
      CREATE TABLE IF NOT EXISTS chaos_log (seq INTEGER PRIMARY KEY, name TEXT, key TEXT, value TEXT);
      CREATE TRIGGER IF NOT EXISTS chaos_record AFTER INSERT ON records ${ofRecord('NEW', 'NEW.value')};
      CREATE TRIGGER IF NOT EXISTS chaos_update AFTER UPDATE ON records ${ofRecord('NEW', 'NEW.value')};
      CREATE TRIGGER IF NOT EXISTS chaos_delete AFTER DELETE ON records ${ofRecord('OLD', 'NULL')};
      CREATE TRIGGER IF NOT EXISTS chaos_sum AFTER INSERT ON sums ${ofSum};
      CREATE TRIGGER IF NOT EXISTS chaos_addition AFTER UPDATE ON sums ${ofSum};
    `);
  } finally {
    database.close();
  }
}

/** Reads the commits of a database since {@link watchSqlite}. A commit writes its records first, then its sums. */
export function readSqliteCommits(path: string): readonly MoneyCommit[] {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    const commits: MoneyWrite[][] = [];
    for (const row of database.prepare('SELECT name, key, value FROM chaos_log ORDER BY seq').all()) {
      const [name, key, value] = [String(row['name']), String(row['key']), row['value']];
      const isSum = name === 'sum';
      const last = commits.at(-1);
      const write: MoneyWrite = isSum
        ? { of: 'sum', key, parts: partsIn(String(value)) }
        : recordOf(name, key, typeof value === 'string' ? value : null);
      if (last === undefined || (!isSum && last.at(-1)?.of === 'sum')) commits.push([write]);
      else last.push(write);
    }
    return commits;
  } finally {
    database.close();
  }
}

function partsIn(text: string): SumParts {
  const values = text.split(' ');
  return partsFrom((part) => values[SUM_PARTS.indexOf(part)]);
}
