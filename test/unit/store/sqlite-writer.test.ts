import { DatabaseSync, StatementSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SqliteWriter } from '#src/store/sqlite-writer.ts';

let database: DatabaseSync;
let writer: SqliteWriter;

beforeEach(() => {
  database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE notes (text TEXT UNIQUE)');
  writer = new SqliteWriter(database);
});

afterEach(() => {
  vi.restoreAllMocks();
  if (database.isOpen) database.close();
});

function note(text: string): Promise<string> {
  return writer.write(() => {
    database.prepare('INSERT INTO notes VALUES (?)').run(text);
    return text;
  });
}

function notes(): unknown[] {
  return database
    .prepare('SELECT text FROM notes')
    .all()
    .map((row) => row['text']);
}

it('writes all of one turn in few transactions', async () => {
  const run = vi.spyOn(StatementSync.prototype, 'run');
  await Promise.all(Array.from({ length: 1200 }, (_, at) => note(`note ${at}`)));
  const commits = run.mock.contexts.filter(
    (context) => context instanceof StatementSync && context.sourceSQL === 'COMMIT',
  );
  expect(commits).toHaveLength(3);
  expect(notes()).toHaveLength(1200);
});

it('answers each with what its own change returned', async () => {
  expect(await Promise.all([note('a'), note('b')])).toEqual(['a', 'b']);
});

it('answers nobody before the transaction is on disk', async () => {
  let wasUnderWay = true;
  const answered = note('a').then(() => {
    wasUnderWay = database.isTransaction;
  });
  expect(notes()).toEqual([]);
  await answered;
  expect(wasUnderWay).toBe(false);
});

it('tells everybody in a transaction that failed, and wrote nothing of it', async () => {
  const results = await Promise.allSettled([note('a'), note('a'), note('b')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(notes()).toEqual([]);
  expect(await note('a')).toBe('a');
});

it('says that the disk is full when it is', async () => {
  database.exec('PRAGMA max_page_count = 3');
  await expect(note('x'.repeat(50_000))).rejects.toMatchObject({ code: 'disk_full', retryable: true });
  expect(await note('small')).toBe('small');
});

it('tells those who wait when the database went away', async () => {
  const waiting = note('a');
  database.close();
  await expect(waiting).rejects.toMatchObject({ code: 'store_unavailable' });
});

it('writes what waits at once when it is told to', () => {
  void note('a');
  writer.flush();
  expect(notes()).toEqual(['a']);
});
