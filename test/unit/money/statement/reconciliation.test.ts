import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseMapping, readStatement, type StatementFile } from '#src/money/statement/read.ts';
import { reconcileStatement } from '#src/money/statement/reconciliation.ts';
import { monthLine } from '#src/money/statement/sentences.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { UpstreamIds } from '#src/pipeline/upstream-ids.ts';
import type { Origin, TaskEvent, TaskId } from '#src/tasks/task.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { newTask, originOf } from '#test/fakes/tasks.ts';

const SERVICE = 'https://video.example';
const OCTOBER_MS = Date.UTC(2026, 9, 3, 12);
const FAILURE = { code: 'generation_failed', words: null } as const;

let dir: string;
let store: MemoryStore;
let repository: TaskRepository;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'statement-'));
  store = new MemoryStore();
  repository = new TaskRepository(store, () => SERVICE);
});
afterEach(() => rm(dir, { recursive: true }));

interface Made {
  readonly atMs?: number;
  readonly amount?: string;
  readonly currency?: string;
  readonly origin?: Partial<Origin>;
  readonly end?: TaskEvent['kind'];
  readonly service?: string;
}

/** Claims a task that the service accepted as `upstream`, and ends it. */
async function made(upstream: string, given: Made = {}): Promise<TaskId> {
  const { atMs = OCTOBER_MS, amount = '0.30', currency = 'USD', origin = {}, end = 'completed', service } = given;
  const id = `task-of-${upstream}` as TaskId;
  const request = { ...newTask().request, ...(service === undefined ? {} : { service }) };
  const task = newTask({ id, request, createdAtMs: atMs, price: { amount, currency }, origin: originOf(origin) });
  await repository.claim([task]);
  await repository.record(id, { kind: 'send', owner: 'me', atMs: 0 });
  if (end === 'lost') {
    await repository.record(id, { kind: 'lost', failure: FAILURE });
    return id;
  }
  await repository.record(id, { kind: 'accepted', upstreamId: upstream as UpstreamId, atMs: atMs + 1_000 });
  if (end === 'completed') await repository.record(id, { kind: 'completed', atMs: atMs + 60_000 });
  if (end === 'failed') await repository.record(id, { kind: 'failed', failure: FAILURE, atMs: atMs + 60_000 });
  return id;
}

async function reconciled(rows: readonly string[], given: Partial<StatementFile> = {}) {
  const path = join(dir, 'statement.csv');
  await writeFile(path, ['task,cost,time', ...rows].join('\n'));
  const file = { path, mapping: parseMapping('id=task,amount=cost,at=time'), ...given };
  const books = { store, upstreamIds: new UpstreamIds(store, () => SERVICE) };
  return reconcileStatement(books, await readStatement(file));
}

const linesOf = async (...given: Parameters<typeof reconciled>) =>
  (await reconciled(...given)).months.map((month) => monthLine(month, 2026));

it('reports rows that match, differ, are missing in ours and missing in theirs', async () => {
  const rows: string[] = [];
  for (let at = 0; at < 428; at += 1) {
    await made(`up-${at}`, { amount: '0.49' });
    rows.push(`up-${at},0.49,2026-10-04`);
  }
  await made('more', { amount: '0.40' });
  await made('less', { amount: '0.40' });
  await made('absent', { amount: '0.40' });
  rows.push('more,0.55,2026-10-04', 'less,0.25,2026-10-04', 'foreign,0.50,2026-10-31');
  expect(await linesOf(rows)).toEqual([
    'October: 431 rows, $211.02. 428 match. 2 differ by $0.30 in total. 1 not in our records: $0.50. ' +
      '1 missing from the statement: $0.40.',
  ]);
  const [team, ...others] = (await reconciled(rows)).teams;
  expect(others).toEqual([]);
  expect(team?.team).toEqual({ platform: 'fake', team: 'T1' });
  expect(team?.matches).toHaveLength(428);
  expect(team?.discrepancies.map(({ kind, id, task }) => [kind, id, task])).toEqual([
    ['differs', 'more', 'task-of-more'],
    ['differs', 'less', 'task-of-less'],
    ['missing', 'absent', 'task-of-absent'],
    ['unknown', 'foreign', undefined],
  ]);
});

it('does not take two errors of opposite sign for a matching total', async () => {
  await made('a', { amount: '0.30' });
  await made('b', { amount: '0.40' });
  expect(await linesOf(['a,0.40,2026-10-04', 'b,0.30,2026-10-04'])).toEqual([
    'October: 2 rows, $0.70. 0 match. 2 differ by $0.20 in total.',
  ]);
  expect(await linesOf(['a,0.30,2026-10-04', 'b,0.40,2026-10-04', 'x,5,2026-10-04', ',-5,2026-10-04'])).toEqual([
    'October: 4 rows, $0.70. 2 match. 2 not in our records: $10.00.',
  ]);
});

it('says so when all match, by month, with the year where it is not this one', async () => {
  await made('a');
  await made('b', { atMs: Date.UTC(2025, 11, 5) });
  expect(await linesOf(['b,0.30,2025-12-06', 'a,0.30,2026-10-04'])).toEqual([
    'December 2025: 1 row, $0.30. All match.',
    'October: 1 row, $0.30. All match.',
  ]);
});

it('leaves what may be on another statement: earlier clips, running ones, and what ended after the last row', async () => {
  await made('billed');
  await made('september', { atMs: Date.UTC(2026, 8, 30, 23) });
  await made('running', { end: 'accepted' });
  await made('later', { atMs: OCTOBER_MS + 86_400_000 });
  await made('failed', { end: 'failed' });
  await made('free', { amount: '0' });
  expect(await linesOf(['billed,0.30,2026-10-03T12:05:00Z'])).toEqual([
    'October: 1 row, $0.30. All match. 1 clip ended after the last row and was not compared.',
  ]);
  expect(await linesOf(['billed,0.30,2026-10-31'])).toEqual([
    'October: 1 row, $0.30. 1 matches. 1 missing from the statement: $0.30.',
  ]);
});

it('takes a date without a time for the whole day', async () => {
  await made('billed');
  await made('evening', { atMs: OCTOBER_MS + 6 * 3_600_000 });
  const [day = ''] = new Date(OCTOBER_MS).toISOString().split('T');
  expect(await linesOf([`billed,0.30,${day}`])).toEqual([
    'October: 1 row, $0.30. 1 matches. 1 missing from the statement: $0.30.',
  ]);
});

it('counts what differs in the latest month of its rows, in whatever order they are', async () => {
  await made('a', { amount: '0.40' });
  const { months } = await reconciled(['a,0.30,2026-10-04', 'a,0.20,2026-01-05']);
  expect(months.map(({ month, differs }) => [month, differs.count])).toEqual([
    ['2026-01', 0],
    ['2026-10', 2],
  ]);
});

it('finds the refund of an earlier month’s clip, and doubts that the statement does not settle', async () => {
  await made('september', { atMs: Date.UTC(2026, 8, 5), end: 'failed' });
  const doubt = await made('unknown', { end: 'lost' });
  const { months, teams } = await reconciled(['september,-0.30,2026-10-04', 'september,0.30,2026-09-06']);
  expect(months.map((month) => monthLine(month, 2026))).toEqual([
    'September: 1 row, $0.30. All match.',
    'October: 1 row, −$0.30. 1 matches. 1 missing from the statement: $0.30.',
  ]);
  expect(teams[0]?.discrepancies).toMatchObject([{ kind: 'missing', task: doubt, send: 1 }]);
});

it('knows a failed clip that awaits its refund, and what was booked before', async () => {
  const id = 'task-of-failed' as TaskId;
  const { createdAtMs, price } = newTask();
  const money = { sends: [{ period: '2026-10', ...price, atMs: createdAtMs }], awaitsRefund: true } as const;
  await repository.claim([newTask({ id, createdAtMs: OCTOBER_MS, money })]);
  await repository.record(id, { kind: 'send', owner: 'me', atMs: 0 });
  await repository.record(id, { kind: 'accepted', upstreamId: 'failed' as UpstreamId, atMs: OCTOBER_MS });
  await repository.record(id, { kind: 'failed', failure: FAILURE, atMs: OCTOBER_MS + 1 });
  const compared = async (...rows: readonly string[]) =>
    (await reconciled(rows)).teams[0]?.matches.map(({ book }) => book);
  expect(await compared('failed,0.30,2026-10-04')).toEqual([null]);
  expect(await compared('failed,0.30,2026-10-04', 'failed,-0.30,2026-10-05')).toEqual(['refunded']);
  await repository.record(id, { kind: 'book', send: 1, as: 'settled' });
  expect(await compared('failed,0.30,2026-10-04')).toEqual(['settled']);
});

it('keeps teams apart, and bills of no task away from all of several teams', async () => {
  await made('a');
  await made('b', { origin: { team: 'T:2' } });
  const { months, teams } = await reconciled(['a,0.30,2026-10-04', 'b,0.40,2026-10-04', 'x,1,2026-10-04']);
  expect(months.map((month) => monthLine(month, 2026))).toEqual([
    'October: 3 rows, $1.70. 1 matches. 1 differs by $0.10. 1 not in our records: $1.00.',
  ]);
  expect(teams.map(({ team, months: each }) => [team?.team, ...each.map((month) => monthLine(month, 2026))])).toEqual([
    ['T1', 'October: 1 row, $0.30. All match.'],
    ['T:2', 'October: 1 row, $0.40. 0 match. 1 differs by $0.10.'],
    [undefined, 'October: 1 row, $1.00. 0 match. 1 not in our records: $1.00.'],
  ]);
});

it('takes the currency of the matched clips, and asks where that is not clear', async () => {
  await made('a', { currency: 'EUR' });
  expect(await linesOf(['a,0.30,2026-10-04', 'x,1,2026-10-04'])).toEqual([
    'October: 2 rows, €1.30. 1 matches. 1 not in our records: €1.00.',
  ]);
  await expect(reconciled(['x,1,2026-10-04'])).rejects.toThrow('add --currency USD');
  expect(await linesOf(['x,1,2026-10-04'], { currency: 'USD' })).toEqual([
    'October: 1 row, $1.00. 0 match. 1 not in our records: $1.00. 1 missing from the statement: €0.30.',
  ]);
});

it('takes a bill that is off within the tolerance for a match, and says how many and by how much', async () => {
  await made('more', { amount: '2.666664' });
  await made('less', { amount: '0.200004' });
  await made('exact', { amount: '0.30' });
  await made('far', { amount: '0.40' });
  await made('failed', { amount: '0.333333', end: 'failed' });
  const rows = ['more,2.67', 'less,0.20', 'exact,0.30', 'far,0.42', 'failed,0.33', 'failed,-0.34'];
  const dated = rows.map((row) => `${row},2026-10-31`);
  expect(await linesOf(dated, { tolerance: '0.01' })).toEqual([
    'October: 6 rows, $3.58. 5 match. 4 rows only within the tolerance of 0.01, off by $0.01334 in total. 1 differs by $0.02.',
  ]);
  expect(await linesOf(['exact,0.30,2026-10-03T12:10Z'], { tolerance: '0.01' })).toEqual([
    'October: 1 row, $0.30. 1 matches. No row needed the tolerance of 0.01. 3 missing from the statement: $3.266668.',
  ]);
});

/** Returns the kinds and ids of the discrepancies that were brought together. */
async function paired(rows: readonly string[], given: Partial<StatementFile> = {}) {
  const all = (await reconciled(rows, { currency: 'USD', ...given })).teams.flatMap(
    ({ discrepancies }) => discrepancies,
  );
  return all.flatMap(({ kind, task, id, pair }, position) =>
    pair === undefined ? [] : [[kind, task ?? id, all[pair]?.pair === position] as const],
  );
}

it('brings an unconfirmed clip and the one unknown bill of its price and time together', async () => {
  const lost = await made('lost', { end: 'lost' });
  await made('billed');
  const both = [
    ['missing', lost, true],
    ['unknown', 'up-new', true],
  ];
  const others = ['billed,0.30,2026-10-03T12:01Z', 'dear,0.40,2026-10-03T12:01Z', 'late,0.30,2026-10-31T12:00Z'];
  expect(await paired([...others, 'up-new,0.30,2026-10-03T12:09Z'])).toEqual(both);
  expect(await paired([...others, 'up-new,0.30,2026-10-03'])).toEqual(both);
  expect(await paired([...others, 'up-new,0.31,2026-10-03T12:01Z'], { tolerance: '0.01' })).toEqual(both);
  expect(await paired([...others, 'up-new,0.31,2026-10-03T12:01Z'])).toEqual([]);
  expect(await paired([...others, 'up-new,0.30,2026-10-03T12:11Z'])).toEqual([]);
  expect(await paired([...others, ',0.30,2026-10-03T12:01Z'])).toEqual([]);
  expect(await paired([...others, 'up-new,0.30,2026-10-03T12:01Z', 'up-new,-0.30,2026-10-03T12:02Z'])).toEqual([]);
  expect(await paired(['x,0.30,2026-10-03T12:01Z'], { currency: 'EUR' })).toEqual([]);
});

it('guesses nothing where several bills or clips fit', async () => {
  const last = '0.30,2026-10-31T12:00Z';
  await made('lost', { end: 'lost' });
  expect(await paired(['x,0.30,2026-10-03T12:01Z', 'y,0.30,2026-10-03T12:02Z', `z,${last}`])).toEqual([]);
  await made('other', { end: 'lost', atMs: OCTOBER_MS + 300_000 });
  expect(await paired(['x,0.30,2026-10-03T12:01Z', `z,${last}`])).toEqual([]);
  // Only the other one is near this.
  expect(await paired(['x,0.30,2026-10-03T12:14Z', `z,${last}`])).toEqual([
    ['missing', 'task-of-other', true],
    ['unknown', 'x', true],
  ]);
});

it('brings no bill together with a clip that was sent again and has an id', async () => {
  const sent = await made('sent', { end: 'lost' });
  const purchase = { period: '2026-10', amount: '0.30', currency: 'USD', atMs: OCTOBER_MS + 1_000 };
  await repository.record(sent, { kind: 'resubmit', afterSends: 1, purchase });
  await repository.record(sent, { kind: 'send', owner: 'me', atMs: 0 });
  await repository.record(sent, { kind: 'accepted', upstreamId: 'again' as UpstreamId, atMs: OCTOBER_MS + 2_000 });
  expect(await paired(['x,0.30,2026-10-03T12:01Z', 'again,0.30,2026-10-03T12:01Z', 'z,9,2026-10-31'])).toEqual([]);
});

it('compares the books of its own service alone', async () => {
  await made('a', { service: 'one' });
  await made('b', { service: 'other' });
  await made('c');
  const kindsOf = async (given: Partial<StatementFile>) => {
    const { teams } = await reconciled(['a,0.30,2026-10-04', 'z,0.30,2026-10-31'], given);
    return teams.flatMap(({ matches, discrepancies }) => [
      ...matches.map(({ task }) => task),
      ...discrepancies.map(({ kind }) => kind),
    ]);
  };
  expect(await kindsOf({ service: 'one' })).toEqual(['task-of-a', 'unknown']);
  expect(await kindsOf({ service: 'other' })).toContain('missing');
});

it('finds no task of another video service under the same id', async () => {
  await made('a');
  const other = { store, upstreamIds: new UpstreamIds(store, () => 'https://other.example') };
  expect(await other.upstreamIds.holders(['a' as UpstreamId], {})).toEqual([undefined]);
  expect(await new UpstreamIds(store, () => `${SERVICE}/`).holders(['a' as UpstreamId], {})).toEqual(['task-of-a']);
});

it('refuses a statement without rows', async () => {
  await expect(reconciled([])).rejects.toThrow('has no rows');
});
