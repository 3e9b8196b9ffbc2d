import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { decisionWrites, Statements } from '#src/money/statement/decisions.ts';
import type { Discrepancy, Match } from '#src/money/statement/findings.ts';
import { importStatement, PAGE, statementPages, type TeamStatement } from '#src/money/statement/imports.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { FlakyStore } from '#test/fakes/flaky-store.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { ADA } from '#test/fakes/tasks.ts';

const HASH = `${'a'.repeat(16)}${'0'.repeat(48)}`;
const TEAM = { platform: 'fake', team: 'T1' };
const OTHER = { platform: 'fake', team: 'T2' };
const ALL = { offset: 0, limit: 10 };

let store: MemoryStore;
let clock: ManualClock;
let audit: AuditTrail;
let statements: Statements;

beforeEach(() => {
  store = new MemoryStore();
  clock = new ManualClock(1_000);
  audit = new AuditTrail(store, clock);
  const repository = { get: async () => undefined, record: async () => undefined };
  statements = new Statements({ store, repository, audit, clock, logger: pino({ level: 'silent' }) });
});

const add = (found: Parameters<typeof importStatement>[2]) => importStatement({ store, audit, clock }, HASH, found);
const matchesOf = async ({ pages }: TeamStatement, page: number) =>
  (await statementPages.get(store, { pages, kind: 'matches', page }))?.items ?? [];

const month = { month: '2026-10', rows: 1, billed: [], matched: 1, ...none() };

function none() {
  const tally = { count: 0, by: [] };
  return { differs: tally, unknown: tally, missing: tally, later: 0 };
}

const match = (at: number): Match => ({
  task: `task-${at}` as TaskId,
  send: 1,
  book: at % 10 === 9 ? null : 'settled',
});
const missing = (at: number): Discrepancy => ({
  kind: 'missing',
  month: '2026-10',
  task: `task-${at}` as TaskId,
  send: 1,
  by: [],
});

/** Returns the findings of two teams and none. */
function found(count = 3) {
  const discrepancies = Array.from({ length: count }, (_, at) => missing(at));
  const matches = Array.from({ length: count }, (_, at) => match(at));
  return {
    months: [month],
    teams: [
      { team: TEAM, matches, discrepancies, months: [month] },
      { team: OTHER, matches: [], discrepancies: [missing(7)], months: [month] },
      { team: null, matches: [], discrepancies: [missing(8)], months: [month] },
    ],
  };
}

const KINDS = ['statement_imports', 'statements', 'statement_pages'];
const recordsIn = async () => {
  const found = await Promise.all(KINDS.map((kind) => Array.fromAsync(store.contents.records(kind))));
  return found.flat(2).length;
};

describe('an import', () => {
  it('stores the findings of each team, with an entry in the log of each', async () => {
    expect(await add(found())).toBe(true);
    const { statements: listed, total } = await statements.list(TEAM, ALL);
    expect(total).toBe(1);
    expect(listed).toMatchObject([
      { id: 'a'.repeat(16), confirmed: 3, discrepancies: 3, decided: 0, importedAtMs: 1_000 },
    ]);
    const [others] = (await statements.list(OTHER, ALL)).statements;
    expect(others).toMatchObject({ confirmed: 0, discrepancies: 1 });
    expect(others && (await statements.discrepancy(others, 0))?.task).toBe('task-7');
    for (const team of [TEAM, OTHER]) {
      const { entries } = await audit.page(team, ALL);
      expect(entries).toMatchObject([{ action: 'statement_import', by: null, surface: 'command_line' }]);
    }
    expect((await statements.list({ platform: 'fake', team: 'T3' }, ALL)).total).toBe(0);
  });

  it('counts the same file once, one after the other and at the same time', async () => {
    const outcomes = await Promise.all([add(found()), add(found())]);
    expect(outcomes.toSorted((one, other) => Number(one) - Number(other))).toEqual([false, true]);
    const records = await recordsIn();
    expect(await add(found())).toBe(false);
    expect(await recordsIn()).toBe(records);
    expect((await statements.list(TEAM, ALL)).total).toBe(1);
    expect((await audit.page(TEAM, ALL)).total).toBe(1);
    const [statement] = (await statements.list(TEAM, ALL)).statements;
    expect(statement && (await matchesOf(statement, 0))).toHaveLength(3);
  });

  it.each(['unwritten', 'answer_lost'] as const)('is whole or not there after a failed commit (%s)', async (how) => {
    const flaky = new FlakyStore(store);
    const over = { store: flaky, audit: new AuditTrail(flaky, clock), clock };
    flaky.failNext(how);
    await expect(importStatement(over, HASH, found())).rejects.toMatchObject({ code: 'store_unavailable' });
    expect((await statements.list(TEAM, ALL)).total).toBe(how === 'unwritten' ? 0 : 1);
    expect(await importStatement(over, HASH, found())).toBe(how === 'unwritten');
    const [statement] = (await statements.list(TEAM, ALL)).statements;
    expect(statement && (await matchesOf(statement, 0))).toHaveLength(3);
    expect(statement && (await statements.discrepancy(statement, 2))?.task).toBe('task-2');
  });

  it('pages what is large, leaving out matches that nothing is booked for', async () => {
    await add(found(2 * PAGE));
    const [statement] = (await statements.list(TEAM, ALL)).statements;
    if (statement === undefined) throw new TypeError('no statement');
    expect(statement.confirmed).toBe(1.8 * PAGE);
    const pages = await Promise.all([0, 1, 2].map((page) => matchesOf(statement, page)));
    expect(pages.map(({ length }) => length)).toEqual([PAGE, 0.8 * PAGE, 0]);
    expect((await statements.discrepancy(statement, PAGE + 1))?.task).toBe(`task-${PAGE + 1}`);
    expect(await statements.discrepancy(statement, 2 * PAGE)).toBeUndefined();
  });
});

it('finds the next undecided discrepancy, from a position on and then from the start', async () => {
  await add(found());
  const decide = async (position: number) => {
    const statement = await statements.get(TEAM, 'a'.repeat(16));
    if (statement === undefined) throw new TypeError('no statement');
    const decision = { position, as: 'ours', by: ADA, atMs: 0 } as const;
    expect(await store.commit({ records: decisionWrites(TEAM, statement, decision) })).toBe(true);
    const [after] = (await statements.list(TEAM, ALL)).statements;
    return after && [after.decided, await statements.nextUndecided(after, position)];
  };
  expect(await decide(1)).toEqual([1, 2]);
  expect(await decide(2)).toEqual([2, 0]);
  expect(await decide(0)).toEqual([3, null]);
});
