import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { prepareTables } from '#src/engine/store/sqlite/file.ts';
import { SqliteReads } from '#src/engine/store/sqlite/reads.ts';
import { type SqliteRecordWrite, type SqliteWrite, SqliteWrites } from '#src/engine/store/sqlite/writes.ts';

const NOW_MS = 1_000_000;
const SQLITE_FULL = 13;
let database: DatabaseSync;
let writes: SqliteWrites;

beforeEach(() => {
  database = new DatabaseSync(':memory:');
  prepareTables(database, NOW_MS);
  writes = new SqliteWrites(database);
});

afterEach(() => database.close());

function write(...batch: readonly SqliteWrite[]): readonly boolean[] {
  return writes.write({ writes: batch, nowMs: NOW_MS });
}

function put(key: string, more: Partial<SqliteRecordWrite> = {}): SqliteWrite {
  const record: SqliteRecordWrite = { namespace: 'tasks', key, expected: 'absent', envelope: '{}', ...more };
  return { kind: 'change', records: [record], index: [{ index: 'open', member: key, score: 1 }] };
}

function keys(): readonly string[] {
  const records = database.prepare('SELECT key FROM records').all();
  const members = new SqliteReads(database).scan('open', { order: 'oldest' });
  expect(members.map(({ member }) => member)).toEqual(records.map((row) => row['key']));
  return members.map(({ member }) => member);
}

it('checks each write against the earlier writes of its batch', () => {
  const gone = { kind: 'delete', namespace: 'cards', key: 'a' } as const;
  const card = put('b', { namespace: 'cards', expected: 'any' });
  expect(write(put('a'), put('a'), gone, card, { ...gone, key: 'b' }, { ...gone, key: 'b' })).toEqual([
    true,
    false,
    false,
    true,
    true,
    false,
  ]);
});

it('compares a sum with its budget as the earlier writes of the batch, and other batches, left it', () => {
  const budget = (amount: string): SqliteWrite =>
    put('team', {
      namespace: 'budgets',
      expected: 'any',
      envelope: JSON.stringify({ value: { revision: 1, hard: { USD: amount } } }),
    });
  const limit = { sum: 'spend', budgets: ['team'], currency: 'USD', adds: 5n };
  const buy: SqliteWrite = { kind: 'change', records: [], index: [], within: [limit] };
  const gone = { kind: 'delete', namespace: 'budgets', key: 'team' } as const;
  const clear = { kind: 'clear', namespace: 'budgets' } as const;
  expect(write(buy, budget('4'), buy, budget('5'), buy)).toEqual([true, true, false, true, true]);
  expect(write(budget('4'), buy, gone, buy)).toEqual([true, false, true, true]);
  expect(write(budget('4'), buy, clear, buy, budget('4'), buy)).toEqual([true, false, true, true, true, false]);
  expect(write(buy)).toEqual([false]);
  database.exec(`DELETE FROM records`);
  expect(write(buy)).toEqual([true]);
});

it('clears one namespace', () => {
  expect(write(put('a'), put('a', { namespace: 'cards' }), { kind: 'clear', namespace: 'cards' })).toEqual([
    true,
    true,
    true,
  ]);
  expect(keys()).toEqual(['a']);
});

it('treats a record as absent from the moment it expires', () => {
  write(put('ended', { expiresAtMs: NOW_MS }), put('living', { expiresAtMs: NOW_MS + 1 }));
  expect(write(put('ended'), put('living'))).toEqual([true, false]);
});

it('writes nothing of a failed batch, and continues with the next', () => {
  database.exec(
    `CREATE TRIGGER refuse BEFORE INSERT ON records WHEN new.key = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END`,
  );
  expect(() => write(put('a'), put('bad'), put('b'))).toThrow('no');
  expect(database.isTransaction).toBe(false);
  expect(keys()).toEqual([]);
  expect(write(put('a'))).toEqual([true]);
  expect(keys()).toEqual(['a']);
});

it('recovers after the disk was full', () => {
  database.exec('PRAGMA max_page_count = 12');
  const big = put('big', { envelope: 'x'.repeat(100_000) });
  expect(() => write(put('a'), big)).toThrow(expect.objectContaining({ errcode: SQLITE_FULL }));
  expect(keys()).toEqual([]);
  expect(write(put('small'))).toEqual([true]);
});
