import { describe, expect, test } from 'vitest';
import type { SumParts } from '#src/engine/store/store.ts';
import { addParts, ZERO_SUM } from '#src/engine/store/sums.ts';
import { microsOf, sumWritesOf } from '#src/tasks/money.ts';
import { recount } from '#src/tasks/recount.ts';
import type { Task } from '#src/tasks/task.ts';
import { EVENTS, lived, newTask, originOf, requestedTask } from '../../fakes/tasks.ts';
import type { MoneyCommit } from '../commits.ts';
import { checkLimits } from './limits.ts';

/** The commits of a task that goes through these records, each with the sums that it leaves. */
function commitsOf(...records: readonly Task[]): readonly MoneyCommit[] {
  const sums = new Map<string, SumParts>();
  return records.map((task, at) => [
    { of: 'task', key: task.id, value: task },
    ...sumWritesOf(records[at - 1] ?? null, task).map(({ sum, add }) => {
      const parts = addParts(sums.get(sum) ?? ZERO_SUM, { ...ZERO_SUM, ...add });
      sums.set(sum, parts);
      return { of: 'sum' as const, key: sum, parts };
    }),
  ]);
}

/** The task with an amount that its last purchase is granted beyond the team's budget. */
function granting(task: Task): Task {
  const sends = (task.money?.sends ?? []).map((send, at, all) =>
    at === all.length - 1 ? { ...send, granted: { team: send.amount } } : send,
  );
  return task.money === undefined ? task : { ...task, money: { ...task.money, sends } };
}

describe('each commit', () => {
  const REQUESTED = recount(requestedTask({ origin: originOf({ platform: 'playground' }) }));
  const APPROVED = recount(lived(REQUESTED, EVENTS.approve));
  const CLAIMED = recount(newTask({ origin: originOf({ platform: 'playground' }) }));
  const LOST_TASK = recount(lived(CLAIMED, EVENTS.send, EVENTS.lost));
  const AGAIN_TASK = recount(lived(LOST_TASK, EVENTS.resubmit));
  const team = CLAIMED.origin.team;
  const budget = (hard: Readonly<Record<string, string>>, scope = `team:playground:${team}`): MoneyCommit => [
    { of: 'budget', key: scope, value: { hard } },
  ];
  const price = String(microsOf(CLAIMED.price.amount));
  const namesOf = (commits: readonly MoneyCommit[]) => [...new Set(checkLimits({ commits }).map(({ name }) => name))];

  test('within every limit, and what the service reports beyond it, is no violation', () => {
    const [claim = [], ...others] = commitsOf(CLAIMED, LOST_TASK, AGAIN_TASK);
    expect(namesOf([claim, ...others])).toEqual([]);
    expect(namesOf([budget({ USD: price }), claim])).toEqual([]);
    expect(namesOf([claim, budget({ USD: '0' }), others[0] ?? []])).toEqual([]);
    expect(namesOf([budget({}), claim])).toEqual([]);
  });

  test('with an approval that grants what is missing is no violation', () => {
    expect(namesOf([budget({ USD: '0' }), ...commitsOf(REQUESTED, granting(APPROVED))])).toEqual([]);
  });

  test.each<readonly [string, readonly MoneyCommit[]]>([
    ['grant without an approval', commitsOf(granting(CLAIMED))],
    ['grant without an approval', commitsOf(CLAIMED, LOST_TASK, granting(AGAIN_TASK))],
    ['limit exceeded', [budget({ USD: '1' }), ...commitsOf(REQUESTED, APPROVED)]],
    ['limit exceeded', [budget({ USD: '1' }), ...commitsOf(CLAIMED)]],
    ['limit exceeded', [budget({ EUR: '100000000' }), ...commitsOf(CLAIMED)]],
    ['limit exceeded', [budget({ USD: '1' }, 'deployment'), ...commitsOf(CLAIMED)]],
    ['limit exceeded', [budget({ USD: '1' }, `everyone:playground:${team}`), ...commitsOf(CLAIMED)]],
    ['limit exceeded', [budget({ USD: price }), ...commitsOf(CLAIMED, LOST_TASK, AGAIN_TASK)]],
    ['sum that differs from its tasks', commitsOf(CLAIMED).map((commit) => commit.slice(0, -1))],
    ['sum that differs from its tasks', commitsOf(CLAIMED).map((commit) => commit.slice(1))],
    ['negative sum', [[{ of: 'sum', key: 'team:playground:T1:2026-11:USD', parts: { ...ZERO_SUM, held: -1n } }]]],
    ['purchase without money', [[{ of: 'task', key: 'x', value: newTask() }]]],
  ])('%s', (name, commits) => {
    expect(namesOf(commits)).toContain(name);
  });
});
