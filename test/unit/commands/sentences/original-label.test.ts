import { expect, it } from 'vitest';
import { originalLabel } from '#commands/sentences/attachments.ts';
import { viewOf } from '#src/chat/view.ts';
import type { SetKind } from '#src/tasks/task.ts';
import { NOON_MS, newTask } from '#test/fakes/tasks.ts';
import { setView } from '#test/fakes/views.ts';

const CONTEXT = {
  nowMs: NOON_MS,
  progress: null,
  isRunning: false,
  model: undefined,
  usual: null,
  retrying: null,
  deadlineMs: 1,
  slowestPollMs: 1,
  refundKnown: false,
  handover: null,
};

it.each<[SetKind, string]>([
  ['storyboard', 'Shot 3 of this storyboard'],
  ['comparison', 'Clip C of this comparison'],
  ['takes', 'Take 3 of this order'],
])('the link below a clip of a %s names it', (kind, label) => {
  const task = newTask({ set: { id: newTask().id, kind, at: 3, of: 4 }, revealedAtMs: NOON_MS });
  expect(originalLabel(viewOf(task, CONTEXT))).toBe(label);
});

it('of a retry and of a set again, it is another take', () => {
  expect(originalLabel(viewOf(newTask({ retryOf: newTask().id }), CONTEXT))).toBe('Another take of this one');
  const set = { id: newTask().id, kind: 'takes', of: 2 } as const;
  expect(originalLabel(setView(set, [{ view: viewOf(newTask(), CONTEXT), message: null }]))).toBe(
    'Another take of this one',
  );
});
