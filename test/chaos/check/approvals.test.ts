import { describe, expect, test } from 'vitest';
import type { Task } from '#src/tasks/task.ts';
import { BOB, EVENTS, lived, requestedTask, UPSTREAM } from '../../fakes/tasks.ts';
import type { MoneyCommit } from '../commits.ts';
import type { History } from '../history.ts';
import { checkApprovals } from './approvals.ts';

const REQUESTED = requestedTask();
const APPROVED = lived(REQUESTED, EVENTS.approve);
const DENIED = lived(REQUESTED, EVENTS.decline);
const CREATE: History['creates'][number] = {
  key: REQUESTED.id,
  order: 's1-000',
  sender: { replica: 0, life: 0 },
  fate: 'right',
  upstreamId: UPSTREAM,
  atMs: 1_000,
  answeredAtMs: 1_010,
};

type Seen = Parameters<typeof checkApprovals>[0];

function namesOf(task: Task, changes: Partial<Omit<Seen, 'store'>> = {}): readonly string[] {
  const seen = { creates: [], commits: [], pressed: [], store: { tasks: new Map([[task.id, task]]) }, ...changes };
  return [...new Set(checkApprovals(seen).map(({ name }) => name))];
}

function press(user: string, action: 'approve' | 'deny'): History['pressed'][number] {
  return { user, action, task: REQUESTED.id, afterSends: null, status: 202, message: null };
}

const written = (value: Task): readonly MoneyCommit[] => [[{ of: 'task', key: value.id, value }]];

describe('a request for approval', () => {
  test('that another person decided, and was bought once approved, is no violation', () => {
    expect(namesOf(REQUESTED, { commits: written(REQUESTED) })).toEqual([]);
    const commits = [...written(REQUESTED), ...written(APPROVED)];
    expect(namesOf(APPROVED, { commits, creates: [CREATE], pressed: [press('bob', 'approve')] })).toEqual([]);
    expect(namesOf(DENIED, { pressed: [press('bob', 'deny')] })).toEqual([]);
  });

  test.each<readonly [string, Task, Partial<Omit<Seen, 'store'>>]>([
    ['bought without an approval', REQUESTED, { creates: [CREATE] }],
    ['bought without an approval', DENIED, { creates: [CREATE] }],
    ['bought without an approval', REQUESTED, { commits: written({ ...REQUESTED, state: 'claimed' }) }],
    ['decision that no user made', APPROVED, {}],
    ['decision that no user made', APPROVED, { pressed: [press('ana', 'approve')] }],
    ['decision that no user made', DENIED, { pressed: [press('bob', 'approve')] }],
    ['own request approved', { ...APPROVED, origin: { ...APPROVED.origin, user: BOB } }, {}],
  ])('%s', (name, task, changes) => {
    expect(namesOf(task, changes)).toContain(name);
  });
});
