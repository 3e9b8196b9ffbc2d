import { describe, expect, test } from 'vitest';
import type { Task } from '#src/tasks/task.ts';
import { ADA, BOB, EVENTS, lived, NOON_MS, requestedTask } from '../../fakes/tasks.ts';
import type { ApproversValue, MoneyCommit } from '../commits.ts';
import type { History, Trouble } from '../history.ts';
import { checkDecisions } from './decisions.ts';

const REQUESTED = requestedTask();
const APPROVED = lived(REQUESTED, EVENTS.approve);
const DENIED = lived(REQUESTED, EVENTS.decline);
const EXPIRES_MS = NOON_MS + 24 * 3_600_000;
const APPROVED_MS = EVENTS.approve.atMs;
const BOB_ALONE = [{ kind: 'person', id: 'bob' }] as const;
const ADA_ALONE = [{ kind: 'person', id: 'ada' }] as const;
const RIGHTS: History['rights'] = {
  administrators: new Set(['fake:boss']),
  members: new Map([['directors', ['fake:bob']]]),
};
const STEP: Trouble = { kind: 'clock', replica: 0, fromMs: 0, untilMs: 1, remark: '' };

const written = (...tasks: readonly Task[]): readonly MoneyCommit[] =>
  tasks.map((value) => [{ of: 'task', key: value.id, value }]);

/** Commit that sets the approvers at a time. */
function approvers(list: ApproversValue['approvers'], atMs = NOON_MS - 60_000): MoneyCommit {
  const entry = { number: 1, atMs, action: 'approver', by: null, surface: 'command', hash: '' } as const;
  return [
    { of: 'approvers', key: 'fake:T1', value: { approvers: list } },
    { of: 'audit', key: 'entry:fake:T1#1', value: { revision: 1, ...entry, subject: [], before: [], after: [] } },
  ];
}

function namesOf(commits: readonly MoneyCommit[], troubles: readonly Trouble[] = []): readonly string[] {
  return checkDecisions({ commits, troubles, rights: RIGHTS }).map(({ name }) => name);
}

const byBoss = lived(REQUESTED, { ...EVENTS.approve, by: { id: 'boss', name: 'Boss' } });

describe('each decision', () => {
  test.each<readonly [string, readonly MoneyCommit[]]>([
    ['by an approver', [approvers(BOB_ALONE), ...written(REQUESTED, APPROVED, { ...APPROVED, state: 'sending' })]],
    ['by a member of a role', [approvers([{ kind: 'role', id: 'directors' }]), ...written(REQUESTED, APPROVED)]],
    ['by a deputy in time', [approvers([{ ...BOB_ALONE[0], untilMs: APPROVED_MS + 1 }]), ...written(APPROVED)]],
    ['by an administrator without approvers', written(REQUESTED, byBoss)],
    ['by an administrator with the requester alone', [approvers(ADA_ALONE), ...written(REQUESTED, byBoss)]],
    ['by one who was removed meanwhile', [approvers(BOB_ALONE), approvers([], APPROVED_MS), ...written(APPROVED)]],
    ['at the last moment', [approvers(BOB_ALONE), ...written(laterBy(-1))]],
    ['of nobody', written({ ...DENIED, declined: { how: 'expired', atMs: EXPIRES_MS } })],
    ['of a denial', written(REQUESTED, DENIED, DENIED)],
  ])('%s is no violation', (_case, commits) => {
    expect(namesOf(commits)).toEqual([]);
  });

  test.each<readonly [string, readonly MoneyCommit[]]>([
    ['approved without the right', written(REQUESTED, APPROVED)],
    ['approved without the right', [approvers(BOB_ALONE), ...written(REQUESTED, byBoss)]],
    ['approved without the right', [approvers([{ kind: 'group', id: 'others' }]), ...written(APPROVED)]],
    ['approved without the right', [approvers([{ ...BOB_ALONE[0], untilMs: APPROVED_MS }]), ...written(APPROVED)]],
    ['approved without the right', [approvers(BOB_ALONE), approvers([]), ...written(APPROVED)]],
    ['decided twice', [approvers(BOB_ALONE), ...written(REQUESTED, APPROVED, DENIED)]],
    ['decided out of time', [approvers(BOB_ALONE), ...written(laterBy(0))]],
    ['decided out of time', written({ ...DENIED, declined: { how: 'expired', atMs: EXPIRES_MS - 1 } })],
    ['decided twice', written(REQUESTED, DENIED, REQUESTED)],
    ['decided twice', [...written(DENIED), ...written({ ...DENIED, declined: { how: 'expired', atMs: EXPIRES_MS } })]],
    ['decided twice', [approvers(BOB_ALONE), ...written(APPROVED, { ...APPROVED, ...ofAda(APPROVED) })]],
  ])('%s', (name, commits) => {
    expect(namesOf(commits)).toEqual([name]);
  });

  test('may have been checked long before its commit where a clock was stepped', () => {
    const commits = [approvers(BOB_ALONE), approvers([]), ...written(REQUESTED, APPROVED)];
    expect(namesOf(commits, [STEP])).toEqual([]);
  });
});

/** The request as approved this long after its expiry. */
function laterBy(ms: number): Task {
  const { approval, ...task } = REQUESTED;
  if (approval === undefined) throw new TypeError('the task is no request');
  return { ...task, approval: { ...approval, approved: { by: BOB, atMs: EXPIRES_MS + ms } } };
}

function ofAda({ approval }: Task): Partial<Task> {
  return approval === undefined ? {} : { approval: { ...approval, approved: { by: ADA, atMs: APPROVED_MS } } };
}
