import { expect, it, test } from 'vitest';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { SetKind, Task } from '#src/tasks/task.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { EVENTS, lived, newTask, originOf } from '../../fakes/tasks.ts';
import type { Deleted, History, Kept, Made, Shown, Trouble } from '../history.ts';
import { checkSetClips } from './set-clips.ts';

const ID = taskIdOf('slack:s1-000');
const IDS = memberIds({ id: ID, of: 3 });

function setOf(kind: SetKind, ...events: Parameters<typeof lived>[1][]): readonly Task[] {
  return IDS.map((id, index) => {
    const made = newTask({ id, set: { id: ID, kind, at: index + 1, of: 3 }, origin: originOf({ platform: 'slack' }) });
    return lived({ ...made, upstreamId: upstreamOf(index + 1) }, ...events);
  });
}

const upstreamOf = (at: number): UpstreamId => `up-${at}` as UpstreamId;
const done = (task: Task): Task => {
  const { upstreamId = upstreamOf(0) } = task;
  return lived(task, EVENTS.send, { ...EVENTS.accepted, upstreamId }, EVENTS.completed, EVENTS.fetched);
};
const RUNNING = setOf('takes', EVENTS.send);
const DONE = setOf('takes').map(done);
const [FIRST, SECOND, THIRD] = DONE as [Task, Task, Task];
const UNCERTAIN = [FIRST, SECOND, lived(setOf('takes', EVENTS.send)[2] ?? FIRST, EVENTS.lost)];
const REMOVED = lived({ ...SECOND, presented: true }, { ...EVENTS.remove, reason: 'deleted' });

const MADE: readonly Made[] = [1, 2, 3].map((at) => ({
  upstreamId: upstreamOf(at),
  status: 'completed',
  clipBytes: 1_000 + at,
  isGone: false,
}));

const nameOf = (at: number): string => `s1-000-red-fox-${IDS[at - 1]?.slice(0, 4)}-${at}.mp4`;

/** The card of the set with the clips of these numbers. */
function cardWith(numbers: readonly number[], changes: Partial<Shown> = {}): Shown {
  return {
    id: 'm1',
    channel: 'clips',
    task: null,
    set: ID,
    state: null,
    files: numbers.map((at) => 1_000 + at),
    names: numbers.map(nameOf),
    buttons: [],
    buttonIds: [`retry:set-${ID}:0.90USD`, `details:set-${ID}`],
    replyTo: null,
    end: null,
    ...changes,
  };
}

const GONE: Deleted = { id: 'm0', task: `set-${ID}`, hadClip: false, names: [], atMs: 3_000, wasDelivered: false };
const REFUSED: Trouble = { kind: 'scope', replica: null, chat: 'slack', fromMs: 0, untilMs: 100, remark: '' };

type Given = Partial<Pick<History, 'messages' | 'deleted' | 'troubles'>>;

/** Names of the violations of a history. */
function wrong(tasks: readonly Task[], { messages = [], deleted = [], troubles = [] }: Given): readonly string[] {
  const store = { tasks: new Map(tasks.map((task) => [task.id, task])) } as unknown as Kept;
  return checkSetClips({ store, messages, made: MADE, deleted, troubles }).map(({ name }) => name);
}

it('accepts a card with one file for each clip', () => {
  expect(wrong(DONE, { messages: [cardWith([2, 1, 3])] })).toEqual([]);
  expect(wrong(RUNNING, { messages: [cardWith([])] })).toEqual([]);
});

it('finds a clip that the card lacks, has twice, or has in another size', () => {
  expect(wrong(DONE, { messages: [cardWith([1, 3])] })).toEqual(['lost delivery']);
  expect(wrong(DONE, { messages: [cardWith([1, 2, 3, 2])] })).toEqual(['doubled delivery']);
  expect(wrong(DONE, { messages: [cardWith([1, 2, 3], { files: [1_001, 1_003, 1_003] })] })).toEqual(['wrong clip']);
  expect(wrong(RUNNING, { messages: [cardWith([1])] })).toEqual(['doubled delivery']);
});

it('finds a file of another clip, but not that of a retry in the thread of the card', () => {
  const names = [...(cardWith([1, 2, 3]).names ?? []), 'red-fox-0000-1.mp4'];
  expect(wrong(DONE, { messages: [cardWith([1, 2, 3], { names, files: [1_001, 1_002, 1_003, 9] })] })).toEqual([
    'wrong clip',
  ]);
  const again = done(newTask({ id: taskIdOf(`retry:${ID}`), takeOf: { id: ID, kind: 'comparison', at: 1, of: 3 } }));
  const thread = [...(cardWith([1, 2, 3]).names ?? []), `red-fox-${again.id.slice(0, 4)}.mp4`];
  const card = cardWith([1, 2, 3], { names: thread, files: [1_001, 1_002, 1_003, 1_000] });
  expect(wrong([...DONE, again], { messages: [card] })).toEqual([]);
});

it('finds a removed clip that is still on the card, or in the thread of a card without content', () => {
  const tasks = [FIRST, REMOVED, THIRD];
  expect(wrong(tasks, { messages: [cardWith([1, 3])] })).toEqual([]);
  expect(wrong(tasks, { messages: [cardWith([1, 2, 3])] })).toEqual(['left by a deletion']);
  expect(wrong([REMOVED], { messages: [cardWith([])] })).toEqual([]);
  expect(wrong([REMOVED], { messages: [cardWith([2])] })).toEqual(['left by a deletion']);
});

it('finds a message of its own of a clip that is on the card', () => {
  const { set: _, ...own } = cardWith([]);
  expect(wrong(DONE, { messages: [cardWith([1, 2, 3]), { ...own, id: 'm2', task: SECOND.id }] })).toEqual([
    'doubled message',
  ]);
});

it('leaves the shots of a storyboard to their own messages, and their card without a file', () => {
  const shots = setOf('storyboard').map(done);
  expect(wrong(shots, { messages: [cardWith([], { names: [] })] })).toEqual([]);
});

it('finds a state on the card that is not that of the task, but not of a blind one', () => {
  const tasks = [FIRST, SECOND, THIRD].map(({ id }) => ({ task: id, state: 'polling' }));
  const right = DONE.map(({ id, state }) => ({ task: id, state }));
  expect(wrong(DONE, { messages: [cardWith([1, 2, 3], { tasks: right })] })).toEqual([]);
  expect(
    wrong(DONE, { messages: [cardWith([1, 2, 3], { tasks: [...right.slice(1), ...tasks.slice(0, 1)] })] }),
  ).toEqual(['message in a wrong state']);
  const blind = setOf('comparison').map(done);
  expect(wrong(blind, { messages: [cardWith([1, 2, 3], { tasks })] })).toEqual([]);
});

it('finds a decision that the card does not lead to, and one that nobody has to take', () => {
  const decide = (task: Task): string => `details:${task.id}`;
  const [, , last] = UNCERTAIN as [Task, Task, Task];
  const buttonIds = (...tasks: readonly Task[]) => ({ buttonIds: [...tasks.map(decide), `details:set-${ID}`] });
  expect(wrong(UNCERTAIN, { messages: [cardWith([1, 2], buttonIds(last))] })).toEqual([]);
  expect(wrong(UNCERTAIN, { messages: [cardWith([1, 2])] })).toEqual(['message in a wrong state']);
  expect(wrong(DONE, { messages: [cardWith([1, 2, 3], buttonIds(THIRD))] })).toEqual(['message in a wrong state']);
  const left = lived(last, EVENTS.leave);
  expect(wrong([FIRST, SECOND, left], { messages: [cardWith([1, 2])] })).toEqual([]);
});

it('finds a card elsewhere, unless the chat may have refused it', () => {
  const direct = cardWith([1, 2, 3], { channel: 'dm' });
  expect(wrong(DONE, { messages: [direct] })).toEqual(['message in another channel']);
  expect(wrong(DONE, { messages: [direct], troubles: [REFUSED] })).toEqual([]);
});

test('a card that was deleted is posted anew with all clips', () => {
  const deleted = [{ ...GONE, hadClip: true, names: [nameOf(1)] }];
  expect(wrong(DONE, { messages: [cardWith([1, 2, 3])], deleted })).toEqual([]);
  expect(wrong(DONE, { messages: [cardWith([2, 3])], deleted })).toEqual(['lost delivery']);
  expect(wrong(DONE, { messages: [], deleted })).toEqual(['lost delivery', 'lost delivery']);
  // The second one was deleted while it was posted.
  expect(wrong(DONE, { messages: [], deleted: [...deleted, { ...GONE, id: 'm1' }] })).toEqual([]);
});

test('a card that was deleted with all clips on it stays deleted', () => {
  const deleted = [{ ...GONE, hadClip: true, names: [1, 2, 3].map(nameOf), wasDelivered: true }];
  expect(wrong(DONE, { messages: [], deleted })).toEqual([]);
  expect(wrong(DONE, { messages: [cardWith([1, 2, 3])], deleted })).toEqual(['doubled delivery']);
  expect(
    wrong(DONE, { messages: [cardWith([1, 2, 3])], deleted: [{ ...GONE, ...deleted[0], wasDelivered: false }] }),
  ).toEqual([]);
});

test('after two deletions, a clip may wait until a user asks for it', () => {
  const deleted = [GONE, { ...GONE, id: 'm2' }];
  expect(wrong(DONE, { messages: [cardWith([2, 3])], deleted })).toEqual([]);
  expect(wrong(DONE, { messages: [cardWith([2, 3, 3])], deleted })).toEqual(['doubled delivery']);
});

it('leaves a clip of a comparison that was made again to its own message', () => {
  const [first, second, third] = setOf('comparison').map(done) as [Task, Task, Task];
  const again = newTask({ id: taskIdOf(`retry:${SECOND.id}`), takeOf: { id: ID, kind: 'comparison', at: 2, of: 3 } });
  const { set: _, ...own } = cardWith([2]);
  const messages = [cardWith([1, 3]), { ...own, id: 'm2', task: second.id }];
  expect(wrong([first, second, third], { messages })).toEqual(['doubled message', 'lost delivery']);
  expect(wrong([first, second, third, again], { messages })).toEqual([]);
});
