import { expect, test } from 'vitest';
import type { ReviewDecision } from '#src/tasks/review/review.ts';
import type { Task } from '#src/tasks/task.ts';
import { newTask, originOf } from '../fakes/tasks.ts';
import { type ChatMessage, shownIn } from './chat-messages.ts';
import type { Kept } from './history.ts';

const BOB = { id: 'U2', name: 'bob' };
const SIGNED: ReviewDecision = { kind: 'signed_off', by: BOB, atMs: 2 };
const NOTED: ReviewDecision = { kind: 'changes_requested', by: BOB, atMs: 1, note: { text: 'too dark, 7' } };
const TASK = newTask({ origin: originOf({ platform: 'slack' }), review: [NOTED, SIGNED] });
const CLIP = `v1 of “${TASK.request.prompt}”`;
const NOTICES = [`@alice bob requested changes to ${CLIP}: 0:01 too dark, 7`, `@alice bob signed off ${CLIP}.`];
const POST = `Signed off: ${CLIP} by alice in #general`;

/** Returns the keys of the notices about reviews among messages, and the ends that were reported. */
function shown(words: readonly string[], tasks: readonly Task[] = [TASK]) {
  const messages = words.map(
    (text, at): ChatMessage => ({
      id: `m${at}`,
      channel: 'C1',
      buttons: [],
      words: text,
      files: [],
      isVisible: true,
      isPinging: text.startsWith('@'),
    }),
  );
  const kept = { tasks: new Map(tasks.map((task) => [task.id, task])), cuts: new Map(), cards: new Map() };
  const all = shownIn('slack', messages, kept as unknown as Kept);
  return { reviews: all.flatMap(({ review }) => review ?? []), ends: all.flatMap(({ end }) => end ?? []) };
}

test('tells the notices about reviews by their words, and takes none for the end of a clip', () => {
  expect(shown([...NOTICES, POST])).toEqual({
    reviews: [`review:${TASK.id}:1`, `review:${TASK.id}:2`, `signed-off:${TASK.id}`],
    ends: [],
  });
});

test('finds a second notice of a decision, but gives those of the same words one each', () => {
  expect(shown([...NOTICES, NOTICES[1] ?? '']).reviews.filter((key) => key.endsWith(':2'))).toHaveLength(2);
  const other = newTask({ ...TASK, id: 'other' as Task['id'], review: [SIGNED] });
  const unsigned = newTask({ ...TASK, id: 'unsigned' as Task['id'], review: [] });
  expect(shown([POST], [unsigned, other]).reviews).toEqual([`signed-off:${other.id}`]);
  expect(shown([...NOTICES, NOTICES[1] ?? ''], [TASK, other]).reviews.toSorted()).toEqual(
    [`review:${TASK.id}:1`, `review:${TASK.id}:2`, `review:${other.id}:1`].toSorted(),
  );
});

test('shows the card of takes with the names of its files, and what its buttons lead to', () => {
  const [first, second] = [1, 2].map((at) =>
    newTask({
      id: `${at}abc00` as Task['id'],
      set: { id: '1abc00' as Task['id'], kind: 'takes', at, of: 2 },
      origin: originOf({ platform: 'slack' }),
    }),
  ) as [Task, Task];
  const card: ChatMessage = {
    id: 'm1',
    channel: 'C1',
    buttons: [`details:${second.id}`, `details:set-${first.id}`],
    words: 'a fox',
    files: [{ name: 'a-fox-1abc-1.mp4', bytes: 7 }],
    isVisible: true,
    isPinging: false,
  };
  const kept = { tasks: new Map([first, second].map((task) => [task.id, task])), cuts: new Map(), cards: new Map() };
  expect(shownIn('slack', [card], kept as unknown as Kept)).toMatchObject([
    { set: first.id, task: null, files: [7], names: ['a-fox-1abc-1.mp4'], buttonIds: card.buttons },
  ]);
});

test('leaves the files in the thread of a board to its shots, and finds the notice below a card that was deleted', () => {
  const task = newTask({
    id: '1abc00' as Task['id'],
    request: { ...TASK.request, prompt: 's1-800: shot 1' },
    set: { id: '1abc00' as Task['id'], kind: 'storyboard', at: 1, of: 2 },
    origin: originOf({ platform: 'slack' }),
  });
  const message = { channel: 'C1', buttons: [], words: '', isVisible: true, isPinging: false, files: [] };
  const file = { name: 'shot-1abc-1.mp4', bytes: 7 };
  const board = { ...message, id: 'm1', buttons: [`shot:${task.id}:1`, `details:set-${task.id}`], files: [file] };
  const shot = { ...message, id: 'm2', buttons: [`retry:${task.id}`, `details:${task.id}`], files: [file] };
  const notice = { ...message, id: 'm3', isPinging: true, words: '@alice your 2 shots of “s1-800: shot 1” are ready.' };
  const cards = new Map([[`set-${task.id}`, { message: { channel: 'C1', message: 'm0' } }]]);
  const kept = { tasks: new Map([[task.id, task]]), cuts: new Map(), cards } as unknown as Kept;
  expect(shownIn('slack', [board, shot, notice], kept)).toMatchObject([
    { task: task.id, files: [7] },
    { set: task.id, files: [], names: [] },
    { end: `set-${task.id}`, replyTo: 'm1' },
  ]);
  expect(shownIn('slack', [notice], kept)).toMatchObject([{ end: `set-${task.id}`, replyTo: 'm0' }]);
});
