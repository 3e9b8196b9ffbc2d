import { expect, it } from 'vitest';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Task } from '#src/tasks/task.ts';
import { EVENTS, lived, newTask } from '../../fakes/tasks.ts';
import type { MoneyCommit } from '../commits.ts';
import type { Kept, Pressed } from '../history.ts';
import { checkBoards } from './boards.ts';

const ID = taskIdOf('playground:s1-000');
const SHOTS = memberIds({ id: ID, of: 3 }).map((id, at) =>
  newTask({ id, set: { id: ID, kind: 'storyboard', at: at + 1, of: 3 } }),
);
const PRESS: Pressed = { user: 'ana', action: 'order', task: ID, afterSends: null, status: 202, message: 'm1' };

function commitOf(...tasks: readonly Task[]): MoneyCommit {
  return tasks.map((value) => ({ of: 'task', key: value.id, value }));
}

function wrong(commits: readonly MoneyCommit[], pressed: readonly Pressed[] = []): readonly string[] {
  const store = { tasks: new Map() } as unknown as Kept;
  return checkBoards({ store, commits, pressed, messages: [] }).map(({ name }) => name);
}

const sent = (at: number): MoneyCommit => commitOf(...SHOTS.slice(at, at + 1).map((task) => lived(task, EVENTS.send)));
const ended = (at: number): MoneyCommit =>
  commitOf(...SHOTS.slice(at, at + 1).map((task) => lived(task, EVENTS.send, EVENTS.accepted, EVENTS.failed)));

it('accepts shots that wait for their turn, and finds one that does not', () => {
  expect(wrong([commitOf(...SHOTS), sent(0), sent(1), ended(1), sent(2)])).toEqual([]);
  expect(wrong([commitOf(...SHOTS), sent(0), sent(1), sent(2)])).toEqual(['shot before its turn']);
});

it('takes the writes of merged commits in their order', () => {
  const before = [commitOf(...SHOTS), sent(0), sent(1)];
  expect(wrong([...before, [...ended(1), ...sent(2)]])).toEqual([]);
  expect(wrong([...before, [...sent(2), ...ended(1)]])).toEqual(['shot before its turn']);
});

it('counts no shot that is overdue', () => {
  const hourLater = SHOTS.slice(1, 2).map((task) =>
    lived({ ...task, createdAtMs: task.createdAtMs + 3_600_000 }, EVENTS.send),
  );
  expect(wrong([commitOf(...SHOTS), sent(0), commitOf(...hourLater), sent(2)])).toEqual([]);
});

it('counts no shot whose acceptance a clock an hour behind dated back', () => {
  const accepted = SHOTS.slice(0, 2).map((task) =>
    lived(task, EVENTS.send, { ...EVENTS.accepted, atMs: task.createdAtMs - 3_600_000 }),
  );
  expect(wrong([commitOf(...SHOTS), sent(0), sent(1), commitOf(...accepted), sent(2)])).toEqual([]);
});

it('finds a retry beside another one of the same task', () => {
  const retry = (key: string): Task => newTask({ id: taskIdOf(key), retryOf: ID });
  const first = lived(retry('one'), EVENTS.send, EVENTS.accepted, EVENTS.failed);
  expect(wrong([commitOf(retry('one')), commitOf(first), commitOf(retry('two'))])).toEqual([]);
  expect(wrong([commitOf(retry('one')), commitOf(retry('two'))])).toEqual(['retry beside a retry']);
});

it('finds a confirmation that left nothing', () => {
  expect(wrong([], [PRESS])).toEqual(['lost task']);
});
