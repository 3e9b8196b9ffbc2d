import { expect, it } from 'vitest';
import type { ReviewDecision } from '#src/tasks/review/review.ts';
import type { Task } from '#src/tasks/task.ts';
import { newTask, originOf } from '../../fakes/tasks.ts';
import type { MoneyCommit } from '../commits.ts';
import type { Life, Pressed, Shown } from '../history.ts';
import { checkReviews } from './reviews.ts';

const TASK = newTask({ origin: originOf({ platform: 'playground' }) });
const DECISION: ReviewDecision = { kind: 'signed_off', by: { id: 'eva', name: 'eva' }, atMs: 1 };
const PRESS: Pressed = { user: 'eva', action: 'signoff', task: TASK.id, afterSends: null, status: 202, message: 'r1' };
const REPLY: Shown = {
  id: 'r1',
  channel: 'clips',
  task: null,
  state: null,
  files: [],
  buttons: [],
  replyTo: null,
  end: null,
  words: 'Signed off v1.',
};
const NOTICES: readonly Shown[] = [`review:${TASK.id}:1`, `signed-off:${TASK.id}`].map((review) => ({
  ...REPLY,
  id: review,
  review,
  words: '',
}));

function commitOf(review: readonly ReviewDecision[]): MoneyCommit {
  return [{ of: 'task', key: TASK.id, value: { ...TASK, review } }];
}

function wrong(
  review: readonly ReviewDecision[],
  {
    pressed = [PRESS],
    messages = [REPLY, ...NOTICES],
    commits = [] as readonly MoneyCommit[],
    output = '',
    platform = 'playground',
  } = {},
): readonly string[] {
  const task: Task = { ...TASK, origin: originOf({ platform }), review };
  const lives = [{ output } as Life];
  return checkReviews({ pressed, messages, commits, lives, store: { tasks: new Map([[TASK.id, task]]) } }).map(
    ({ name }) => name,
  );
}

it('accepts a decision with its notice and its message in the channel of signed-off clips', () => {
  expect(wrong([DECISION])).toEqual([]);
  expect(wrong([], { pressed: [], messages: [] })).toEqual([]);
});

it('finds a decision without a press, and one that was promised and is not there', () => {
  expect(wrong([DECISION], { pressed: [{ ...PRESS, user: 'ana' }] })).toContain('review nobody made');
  expect(wrong([])).toEqual(['lost review']);
});

it('finds notices that are missing or doubled', () => {
  expect(wrong([DECISION], { messages: [REPLY] })).toEqual(['lost notice', 'lost notice']);
  expect(wrong([DECISION], { messages: [REPLY, ...NOTICES, ...NOTICES.slice(0, 1)] })).toEqual(['doubled notice']);
});

it('judges a chat alike, where the bot may report that the chat took a notice nowhere', () => {
  const at = { platform: 'slack', messages: [REPLY, ...NOTICES.slice(0, 1)] };
  expect(wrong([DECISION], at)).toEqual(['lost notice']);
  const output = `{"level":40,"event":"signed_off_post_failed","task":"${TASK.id}"}`;
  expect(wrong([DECISION], { ...at, output })).toEqual([]);
});

it('finds a decision that replaced another one', () => {
  const other: ReviewDecision = { ...DECISION, by: { id: 'ana', name: 'ana' } };
  expect(wrong([DECISION], { commits: [commitOf([DECISION]), commitOf([DECISION, other])] })).toEqual([]);
  expect(wrong([DECISION], { commits: [commitOf([other]), commitOf([DECISION])] })).toEqual(['rewritten review']);
});
