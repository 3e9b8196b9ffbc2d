import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SUMMARY = join(import.meta.dirname, '../../../.ci/summary.js');

let top = '';
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'dailies-summary-'));
  mkdirSync(join(top, 'test/unit'), { recursive: true });
});
afterEach(() => rmSync(top, { recursive: true }));

/** Builds a file of vitest's JSON report from the status of its tests; `status` overrides that of the file. */
const suite = (file: string, tests: readonly string[], status?: string) => ({
  name: join(top, file),
  status: status ?? (tests.includes('failed') ? 'failed' : 'passed'),
  assertionResults: tests.map((one) => ({ status: one })),
});

const summary = (
  suites: readonly ReturnType<typeof suite>[] | null,
  { tests = 0, checks = 0, stray = 0, audit = 2 } = {},
): { readonly line: string; readonly status: number | null } => {
  const all = suites?.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status)) ?? [];
  const many = (status: string): number => all.filter((one) => one === status).length;
  const report = {
    numPassedTests: many('passed'),
    numFailedTests: many('failed'),
    numPendingTests: many('pending'),
    numTodoTests: many('todo'),
    testResults: suites,
  };
  if (suites !== null) writeFileSync(join(top, 'report.json'), JSON.stringify(report));
  const { stdout, status } = spawnSync(
    process.execPath,
    [SUMMARY, 'report.json', ...[tests, checks, stray, audit].map(String)],
    { cwd: top, encoding: 'utf8' },
  );
  return { line: stdout.trimEnd().split('\n').at(-1) ?? '', status };
};

describe('the last line of .ci/run', () => {
  it('counts every test, and all checks as one', () => {
    expect(summary([suite('test/a.test.ts', ['passed', 'passed'])])).toEqual({
      line: '3 passed, 0 failed, 0 skipped',
      status: 0,
    });
  });

  it.each([
    ['a failed test', ['passed', 'failed'], { tests: 1 }, '2 passed, 1 failed, 0 skipped'],
    ['a skipped test', ['passed', 'pending'], {}, '2 passed, 0 failed, 1 skipped'],
    ['a todo test', ['passed', 'todo'], {}, '2 passed, 0 failed, 1 skipped'],
    ['failed checks', ['passed'], { checks: 2 }, '1 passed, 1 failed, 0 skipped'],
    ['an error outside of tests', ['passed'], { tests: 1 }, '2 passed, 1 failed, 0 skipped'],
    ['a process left running', ['passed'], { stray: 1 }, '2 passed, 1 failed, 0 skipped'],
    ['no tests at all', [], {}, '1 passed, 1 failed, 0 skipped'],
  ])('fails for %s', (_what, tests, outcome, line) => {
    expect(summary([suite('test/a.test.ts', tests)], outcome)).toEqual({ line, status: 1 });
  });

  it.each([
    ['counts a passed audit as one test', 0, { line: '3 passed, 0 failed, 0 skipped', status: 0 }],
    ['fails for a failed audit', 1, { line: '2 passed, 1 failed, 0 skipped', status: 1 }],
    ['ignores an audit that could not run', 2, { line: '2 passed, 0 failed, 0 skipped', status: 0 }],
    ['fails for a killed audit', 137, { line: '2 passed, 1 failed, 0 skipped', status: 1 }],
  ])('%s', (_what, audit, ends) => {
    expect(summary([suite('test/a.test.ts', ['passed'])], { audit })).toEqual(ends);
  });

  it('fails if a test file did not load', () => {
    const suites = [suite('test/a.test.ts', ['passed']), suite('test/b.test.ts', [], 'failed')];
    expect(summary(suites, { tests: 1 })).toEqual({ line: '2 passed, 1 failed, 0 skipped', status: 1 });
  });

  it('fails if an existing test file did not run', () => {
    writeFileSync(join(top, 'test/unit/b.test.ts'), '');
    const suites = [suite('test/a.test.ts', ['passed'])];
    expect(summary(suites)).toEqual({ line: '2 passed, 0 failed, 1 skipped', status: 1 });
  });

  it('fails without a report', () => {
    expect(summary(null, { tests: 1, checks: 1 })).toEqual({ line: '0 passed, 2 failed, 0 skipped', status: 1 });
  });
});
