import { beforeEach, describe, expect, it } from 'vitest';
import type { Discrepancy, Match } from '#src/money/statement/findings.ts';
import { PAGE, StatementImports } from '#src/money/statement/imports.ts';
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
let imports: StatementImports;

beforeEach(() => {
  store = new MemoryStore();
  clock = new ManualClock(1_000);
  audit = new AuditTrail(store, clock);
  imports = new StatementImports(store, audit, clock);
});

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
    expect(await imports.add(HASH, found())).toBe(true);
    const { statements, total } = await imports.list(TEAM, ALL);
    expect(total).toBe(1);
    expect(statements).toMatchObject([
      { id: 'a'.repeat(16), confirmed: 3, discrepancies: 3, decided: 0, importedAtMs: 1_000 },
    ]);
    const [others] = (await imports.list(OTHER, ALL)).statements;
    expect(others).toMatchObject({ confirmed: 0, discrepancies: 1 });
    expect(others && (await imports.discrepancy(others, 0))?.task).toBe('task-7');
    for (const team of [TEAM, OTHER]) {
      const { entries } = await audit.page(team, ALL);
      expect(entries).toMatchObject([{ action: 'statement_import', by: null, surface: 'command_line' }]);
    }
    expect((await imports.list({ platform: 'fake', team: 'T3' }, ALL)).total).toBe(0);
  });

  it('counts the same file once, one after the other and at the same time', async () => {
    const outcomes = await Promise.all([imports.add(HASH, found()), imports.add(HASH, found())]);
    expect(outcomes.toSorted((one, other) => Number(one) - Number(other))).toEqual([false, true]);
    const records = await recordsIn();
    expect(await imports.add(HASH, found())).toBe(false);
    expect(await recordsIn()).toBe(records);
    expect((await imports.list(TEAM, ALL)).total).toBe(1);
    expect((await audit.page(TEAM, ALL)).total).toBe(1);
    const [statement] = (await imports.list(TEAM, ALL)).statements;
    expect(statement && (await imports.matches(statement, 0))).toHaveLength(3);
  });

  it.each(['unwritten', 'answer_lost'] as const)('is whole or not there after a failed commit (%s)', async (how) => {
    const flaky = new FlakyStore(store);
    const over = new StatementImports(flaky, new AuditTrail(flaky, clock), clock);
    flaky.failNext(how);
    await expect(over.add(HASH, found())).rejects.toMatchObject({ code: 'store_unavailable' });
    expect((await imports.list(TEAM, ALL)).total).toBe(how === 'unwritten' ? 0 : 1);
    expect(await over.add(HASH, found())).toBe(how === 'unwritten');
    const [statement] = (await imports.list(TEAM, ALL)).statements;
    expect(statement && (await imports.matches(statement, 0))).toHaveLength(3);
    expect(statement && (await imports.discrepancy(statement, 2))?.task).toBe('task-2');
  });

  it('pages what is large, leaving out matches that nothing is booked for', async () => {
    await imports.add(HASH, found(2 * PAGE));
    const [statement] = (await imports.list(TEAM, ALL)).statements;
    if (statement === undefined) throw new TypeError('no statement');
    expect(statement.confirmed).toBe(1.8 * PAGE);
    const pages = await Promise.all([0, 1, 2].map((page) => imports.matches(statement, page)));
    expect(pages.map(({ length }) => length)).toEqual([PAGE, 0.8 * PAGE, 0]);
    expect((await imports.discrepancy(statement, PAGE + 1))?.task).toBe(`task-${PAGE + 1}`);
    expect(await imports.discrepancy(statement, 2 * PAGE)).toBeUndefined();
  });
});

it('finds the next undecided discrepancy, from a position on and then from the start', async () => {
  await imports.add(HASH, found());
  const decide = async (position: number) => {
    const statement = await imports.get(TEAM, 'a'.repeat(16));
    if (statement === undefined) throw new TypeError('no statement');
    const decision = { position, as: 'ours', by: ADA, atMs: 0 } as const;
    expect(await store.commit({ records: imports.decisionWrites(TEAM, statement, decision) })).toBe(true);
    const [after] = (await imports.list(TEAM, ALL)).statements;
    return after && [after.decided, await imports.nextUndecided(after, position)];
  };
  expect(await decide(1)).toEqual([1, 2]);
  expect(await decide(2)).toEqual([2, 0]);
  expect(await decide(0)).toEqual([3, null]);
});
