import { describe, expect, it } from 'vitest';
import type { ButtonAction, TaskView } from '#src/chat/view.ts';
import { type ViewContext, viewOf } from '#src/chat/view.ts';
import type { Phase, Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import { BOB, EVENTS, lived, NOON_MS, newTask, requestedTask } from '#test/fakes/tasks.ts';

const context: ViewContext = {
  nowMs: NOON_MS + 60_000,
  progress: null,
  isRunning: false,
  model: undefined,
  usual: null,
  retrying: null,
  deadlineMs: 1_800_000,
  slowestPollMs: 30_000,
  refundKnown: true,
  handover: null,
};

const {
  send,
  accepted,
  completed,
  fetched,
  unfetchable,
  refused,
  failed,
  lost,
  leave,
  cancel,
  want,
  abandon,
  resubmit,
} = EVENTS;
const polling: readonly TaskEvent[] = [send, accepted];

/** Every state, by its events, with its phase and buttons. */
const VIEWS: readonly (readonly [
  name: string,
  events: readonly TaskEvent[],
  given: Partial<ViewContext>,
  phase: Phase,
  buttons: readonly ButtonAction[],
])[] = [
  ['claimed', [], {}, 'queued', ['cancel', 'details']],
  ['sending', [send], {}, 'queued', ['cancel', 'details']],
  ['sending, cancelled', [send, cancel], {}, 'cancelled', ['details']],
  ['polling', polling, {}, 'queued', ['cancel', 'details']],
  ['polling, running', polling, { isRunning: true }, 'running', ['cancel', 'details']],
  ['polling, with a percentage', polling, { progress: 3 }, 'running', ['cancel', 'details']],
  ['polling, at zero', polling, { progress: 0 }, 'queued', ['cancel', 'details']],
  ['completed', [...polling, completed], { progress: 90 }, 'fetching', ['details']],
  ['fetched', [...polling, completed, fetched], {}, 'fetching', ['details']],
  [
    'delivered',
    [...polling, completed, fetched],
    { handover: { kind: 'attached' } },
    'done',
    ['retry', 'edit', 'details'],
  ],
  ['completed, clip unavailable', [...polling, completed, unfetchable], {}, 'lost', ['refetch', 'retry', 'details']],
  ['failed', [...polling, failed], {}, 'failed', ['retry', 'edit', 'details']],
  ['rejected', [send, refused], {}, 'refused', ['retry', 'edit', 'details']],
  [
    'rejected when it was resubmitted',
    [send, lost, resubmit, send, refused],
    {},
    'refused',
    ['lookup', 'retry', 'edit', 'details'],
  ],
  ['uncertain', [send, lost], {}, 'uncertain', ['lookup', 'again', 'leave', 'details']],
  ['dismissed', [send, lost, leave], {}, 'uncertain', ['lookup', 'again', 'details']],
  ['cancelled before submission', [cancel], {}, 'cancelled', ['retry', 'edit', 'details']],
  ['cancelled after submission', [...polling, cancel], {}, 'cancelled', ['retry', 'edit', 'details']],
  ['cancelled, being downloaded', [...polling, cancel, completed], {}, 'cancelled', ['retry', 'edit', 'details']],
  [
    'cancelled, but downloaded',
    [...polling, cancel, completed, fetched],
    {},
    'cancelled',
    ['show', 'retry', 'edit', 'details'],
  ],
  [
    'cancelled, completed, clip unavailable',
    [...polling, cancel, completed, unfetchable],
    {},
    'cancelled',
    ['show', 'retry', 'edit', 'details'],
  ],
  ['cancelled and failed', [...polling, cancel, failed], {}, 'cancelled', ['retry', 'edit', 'details']],
  ['cancelled and abandoned', [...polling, cancel, abandon], {}, 'cancelled', ['retry', 'edit', 'details']],
  ['requested after the download', [...polling, cancel, completed, fetched, want], {}, 'fetching', ['details']],
  ['requested before the download', [...polling, cancel, completed, want], {}, 'fetching', ['details']],
];

function viewAfter(
  events: readonly TaskEvent[],
  given: Partial<ViewContext> = {},
  changes: Partial<Task> = {},
): TaskView {
  return viewOf(lived(newTask(changes), ...events), { ...context, ...given });
}

describe('the view of a task', () => {
  it.each(VIEWS)('in the state: %s', (_name, events, given, phase, buttons) => {
    const view = viewAfter(events, given);
    expect(view).toMatchObject({ phase, buttons, task: { state: lived(newTask(), ...events).state } });
  });

  it('has the request, the requester and the price', () => {
    const request = { ...newTask().request, aspectRatio: '16:9', resolution: '720p' } as const;
    const { origin, price, id } = newTask();
    expect(viewAfter([], {}, { request, retryOf: 'first' as TaskId })).toEqual({
      kind: 'task',
      task: { id, state: 'claimed', request, origin, price, createdAtMs: NOON_MS, sends: 0, retryOf: 'first' },
      phase: 'queued',
      modelTitle: 'swift-1',
      progress: null,
      startedAtMs: NOON_MS,
      nowMs: NOON_MS + 60_000,
      pace: null,
      retrying: null,
      retryPrice: null,
      refundKnown: true,
      handover: null,
      buttons: ['cancel', 'details'],
    });
  });

  it('has a request as expired once its time is over, although its record does not say so yet', () => {
    const waiting = requestedTask();
    expect(viewOf(waiting, { ...context, nowMs: NOON_MS + 1 })).toMatchObject({
      phase: 'requested',
      task: { approval: waiting.approval },
      buttons: ['withdraw', 'details'],
    });
    const expired = viewOf(waiting, { ...context, nowMs: NOON_MS + 24 * 3_600_000 });
    expect(expired).toMatchObject({ phase: 'declined', task: { state: 'declined', declined: { how: 'expired' } } });
    expect(expired.buttons).toEqual(['retry', 'edit', 'details']);
  });

  it('counts the elapsed time of an approved task from its approval', () => {
    const approved = lived(requestedTask(), EVENTS.approve);
    expect(viewOf(approved, context)).toMatchObject({
      task: { createdAtMs: NOON_MS },
      startedAtMs: EVENTS.approve.atMs,
    });
  });

  it('has the outcome', () => {
    expect(viewAfter([...polling, failed]).task).toMatchObject({
      failure: failed.failure,
      endedAtMs: failed.atMs,
      sends: 1,
    });
    expect(viewAfter([...polling, cancel, completed]).task).toMatchObject({
      cancelledBy: BOB,
      lateOutcome: 'completed',
    });
    expect(viewAfter([send, lost, leave]).task).toMatchObject({ leftBy: BOB, failure: lost.failure });
  });

  it('has a handover only once the clip is delivered', () => {
    const handover = { kind: 'attached' } as const;
    expect(viewAfter([...polling, completed, fetched], { handover }).handover).toEqual(handover);
    expect(viewAfter([...polling, failed], { handover }).handover).toBeNull();
  });
});

describe('the usual duration', () => {
  const usual = { fromMs: 30_000, toMs: 90_000 };

  it('is shown while the task runs, and when it is exceeded', () => {
    expect(viewAfter(polling, { usual }).pace).toEqual({ kind: 'usual', ...usual });
    const nowMs = accepted.atMs + 90_001;
    expect(viewAfter(polling, { usual, nowMs }).pace).toEqual({ kind: 'longer' });
    expect(viewAfter([...polling, failed], { usual, nowMs }).pace).toBeNull();
  });
});

describe('an overdue task', () => {
  it('is one that has been at the service for longer than the deadline', () => {
    const nowMs = accepted.atMs + 1_800_000;
    expect(viewAfter(polling, { nowMs: nowMs - 1 }).pace).toBeNull();
    const overdue = { kind: 'overdue', deadlineMs: 1_800_000, pollEveryMs: 30_000 };
    expect(viewAfter(polling, { nowMs }).pace).toEqual(overdue);
    expect(viewAfter([send], { nowMs }).pace).toBeNull();
    expect(viewAfter([...polling, failed], { nowMs }).pace).toBeNull();
    expect(viewAfter([...polling, cancel], { nowMs }).pace).toBeNull();
  });

  it('is measured from the acceptance, after a user’s decision the next day', () => {
    const takenAtMs = NOON_MS + 12 * 3_600_000;
    const events = [send, lost, { ...EVENTS.identify, atMs: takenAtMs }];
    const usual = { fromMs: 30_000, toMs: 90_000 };
    const fresh = viewAfter(events, { usual, nowMs: takenAtMs + 2_000 });
    expect(fresh.pace).toEqual({ kind: 'usual', ...usual });
    expect(viewAfter(events, { nowMs: takenAtMs + 1_800_000 }).pace?.kind).toBe('overdue');
  });
});
