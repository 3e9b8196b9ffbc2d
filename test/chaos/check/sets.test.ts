import { expect, it } from 'vitest';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { SetKind, Task } from '#src/tasks/task.ts';
import { EVENTS, lived, newTask, requestedTask, waitingTask } from '../../fakes/tasks.ts';
import type { MoneyCommit } from '../commits.ts';
import type { History, Kept, Shown } from '../history.ts';
import { checkSets } from './sets.ts';

const ID = taskIdOf('playground:s1-000');
const CARD: Shown = {
  id: 'm1',
  channel: 'clips',
  task: null,
  set: ID,
  state: null,
  files: [],
  buttons: [],
  replyTo: null,
  end: null,
};
const NOTICE: Shown = { ...CARD, id: 'm2', replyTo: 'm1', end: `set-${ID}` };
const { set: _set, ...NOTICED } = NOTICE;

/** The message of a task, and the notice of its end below it. */
function toldOf({ id }: Task, end: string): readonly Shown[] {
  const { set: _, ...own } = { ...CARD, id: 'm8', task: id };
  return [own, { ...own, id: 'm9', task: null, replyTo: 'm8', end }];
}

/** The notice of the end of a task below the card of its set. */
function toldOnCard({ id }: Task, end: string): Shown {
  return { ...NOTICED, id: 'm9', end, endOf: id };
}

function setOf(make: (changes: Partial<Task>) => Task, kind: SetKind = 'takes'): readonly Task[] {
  return memberIds({ id: ID, of: 3 }).map((id, at) => make({ id, set: { id: ID, kind, at: at + 1, of: 3 } }));
}

const CLAIMED = setOf(newTask);
const FAILED = CLAIMED.map((task) => lived(task, EVENTS.send, EVENTS.accepted, EVENTS.failed));
const REQUESTED = setOf(requestedTask);
const APPROVED = REQUESTED.map((task) => lived(task, EVENTS.approve));

function commitOf(...tasks: readonly Task[]): MoneyCommit {
  return tasks.map((value) => ({ of: 'task', key: value.id, value }));
}

/** Names of the violations of a history. */
function wrong(
  tasks: readonly Task[],
  commits: readonly MoneyCommit[],
  messages: readonly Shown[],
  { deleted = [], troubles = [] }: Partial<Pick<History, 'deleted' | 'troubles'>> = {},
): readonly string[] {
  const store = { tasks: new Map(tasks.map((task) => [task.id, task])) } as unknown as Kept;
  return checkSets({ store, commits, messages, deleted, troubles }).map(({ name }) => name);
}

it('accepts a set that is claimed, approved and told of as a whole', () => {
  expect(wrong(FAILED, [commitOf(...CLAIMED)], [CARD, NOTICED])).toEqual([]);
  expect(wrong(REQUESTED, [commitOf(...REQUESTED)], [CARD])).toEqual([]);
  const later = APPROVED.map((task) => commitOf(lived(task, EVENTS.send)));
  expect(wrong(APPROVED, [commitOf(...REQUESTED), commitOf(...APPROVED), ...later], [CARD, NOTICED])).toEqual([]);
});

it('finds a part of a set that is claimed or decided on alone', () => {
  expect(wrong(CLAIMED.slice(0, 2), [], [CARD, NOTICED])).toEqual(['partial set']);
  expect(wrong(CLAIMED, [commitOf(...CLAIMED.slice(0, 2)), commitOf(...CLAIMED.slice(2))], [CARD, NOTICED])).toEqual([
    'set changed in part',
    'set changed in part',
  ]);
  const [first, ...others] = APPROVED;
  const alone = first === undefined ? [] : [first];
  expect(wrong([...alone, ...REQUESTED.slice(1)], [], [CARD])).toEqual(['set approved in part']);
  const commits = [commitOf(...REQUESTED), commitOf(...alone), commitOf(...others)];
  expect(wrong(APPROVED, commits, [CARD, NOTICED])).toEqual(['set changed in part', 'set changed in part']);
});

it('finds a card or a notice that is missing or doubled', () => {
  expect(wrong(FAILED, [], [])).toEqual(['lost message']);
  expect(wrong(FAILED, [], [CARD, { ...CARD, id: 'm3' }, NOTICED])).toEqual(['doubled message']);
  expect(wrong(FAILED, [], [CARD])).toEqual(['lost delivery']);
  expect(wrong(FAILED, [], [CARD, NOTICED, { ...NOTICED, id: 'm4' }])).toEqual(['doubled delivery']);
});

it('finds a chain that waits for a decision of which nobody was told', () => {
  const [first, ...others] = setOf(waitingTask, 'storyboard');
  const doubtful = lived({ ...newTask(), ...first, state: 'claimed' }, EVENTS.send, EVENTS.lost);
  expect(wrong([doubtful, ...others], [], [CARD])).toEqual(['lost delivery']);
  expect(wrong([doubtful, ...others], [], [CARD, ...toldOf(doubtful, 'uncertain:1')])).toEqual([]);
  const sought = lived({ ...newTask(), ...first, state: 'claimed' }, EVENTS.send, { ...EVENTS.lost, isListed: true });
  expect(wrong([sought, ...others], [], [CARD])).toEqual([]);
});

it('accepts a clip that is told of by itself, as its id was entered after all was cancelled', () => {
  const [first, ...others] = CLAIMED.map((task) => lived(task, EVENTS.send, EVENTS.cancel));
  const found = lived(first ?? newTask(), EVENTS.lost, EVENTS.identify, EVENTS.completed, EVENTS.fetched);
  const cancelled = others.map((task) => lived(task, EVENTS.accepted));
  expect(wrong([found, ...cancelled], [], [CARD])).toEqual(['lost delivery']);
  expect(wrong([found, ...cancelled], [], [CARD, toldOnCard(found, 'done:1')])).toEqual([]);
  const [other = found] = cancelled;
  expect(wrong([found, ...cancelled], [], [CARD, toldOnCard(other, 'done:1')])).toEqual(['lost delivery']);
});

it('finds a doubled notice of one clip below the card of its set', () => {
  const [first = newTask()] = FAILED;
  const notice = toldOnCard(first, 'uncertain:1');
  expect(wrong(FAILED, [], [CARD, NOTICED, notice])).toEqual([]);
  expect(wrong(FAILED, [], [CARD, NOTICED, notice, { ...notice, id: 'm10' }])).toEqual(['doubled delivery']);
  expect(wrong(FAILED, [], [CARD, NOTICED, toldOnCard(first, '?')])).toEqual(['doubled delivery']);
});

it('accepts a card that was deleted, and the notice below it', () => {
  const deleted = [{ id: 'm1', task: `set-${ID}`, hadClip: false, atMs: 1, wasDelivered: false }];
  expect(wrong(FAILED, [], [NOTICED], { deleted })).toEqual([]);
  expect(wrong(FAILED, [], [], { deleted })).toEqual(['lost delivery']);
  expect(wrong(FAILED, [], [{ ...CARD, id: 'm3' }, NOTICED], { deleted })).toEqual([]);
});

it('accepts a card in the place of one that the channel let nobody change', () => {
  const tasks = FAILED.map((task) => ({ ...task, origin: { ...task.origin, platform: 'slack' } }));
  const direct = { ...CARD, id: 'm3', channel: 'dm' };
  const troubles = [{ kind: 'scope', replica: null, chat: 'slack', fromMs: 0, untilMs: 1, remark: '' } as const];
  expect(wrong(tasks, [], [direct, CARD, NOTICED], { troubles })).toEqual([]);
  expect(wrong(tasks, [], [direct, CARD, NOTICED])).toEqual(['doubled message']);
  expect(wrong(tasks, [], [direct, CARD, CARD, NOTICED], { troubles })).toEqual(['doubled message']);
});
