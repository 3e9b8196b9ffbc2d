import { describe, expect, it } from 'vitest';
import { type Handover, type ViewContext, viewOf } from '#src/chat/view.ts';
import type { SetPlace, Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { EVENTS, lived, NOON_MS, newTask } from '#test/fakes/tasks.ts';
import { FOX, SWIFT } from '../../videos/models.ts';

const PLACE: SetPlace = {
  id: 'set-1' as TaskId,
  kind: 'comparison',
  at: 2,
  of: 2,
  upTo: { amount: '0.77', currency: 'USD' },
};

/** What a model makes of an order: everything that another one would make differently. */
interface Making {
  readonly task: Partial<Task>;
  readonly context: Partial<ViewContext>;
  readonly handover: Handover;
  readonly fetched: TaskEvent;
  readonly endedAtMs: number;
  readonly words: string;
}

const { models } = parseCatalog({
  models: [SWIFT, { ...SWIFT, name: 'reel-2', title: 'Reel 2', price: '0.70', default: false }],
});

const { aspectRatio: _aspect, resolution: _resolution, ...withoutSettings } = FOX;

const SLOW: Making = {
  task: {
    request: { ...FOX, model: 'reel-2' },
    price: { amount: '0.77', currency: 'USD' },
  },
  context: {
    model: models[1],
    progress: 40,
    isRunning: true,
    usual: { fromMs: 10_000, toMs: 20_000 },
    retrying: { step: 'poll', code: 'timed_out', nextAtMs: NOON_MS + 90_000, words: 'reel-2 is busy' },
    keptUntilMs: NOON_MS + 86_400_000 + 9_000,
  },
  handover: { kind: 'fitted', bytes: 30_000_000, limitBytes: 10_000_000, link: null },
  fetched: { kind: 'fetched', clip: { ...EVENTS.fetched.clip, isUnproven: true } },
  endedAtMs: NOON_MS + 9_000,
  words: 'reel-2 is tired',
};

const FAST: Making = {
  task: { request: withoutSettings, price: { amount: '0.33', currency: 'USD' } },
  context: { model: models[0], keptUntilMs: NOON_MS + 86_400_000 + 2_000 },
  handover: { kind: 'fitted', bytes: 12_000_000, limitBytes: null, link: null },
  fetched: EVENTS.fetched,
  endedAtMs: NOON_MS + 2_000,
  words: 'swift-1 says no',
};

const { send, accepted, cancel, disowned } = EVENTS;
const there = [send, accepted];

const STATES: readonly (readonly [state: string, events: (made: Making) => readonly TaskEvent[], isHeld: boolean])[] = [
  ['queued', () => [], false],
  ['at the service', () => there, false],
  ['held', ({ endedAtMs, fetched }) => [...there, { kind: 'completed', atMs: endedAtMs }, fetched], true],
  ['held as failed', ({ endedAtMs, words }) => [...there, failedAt(endedAtMs, words)], true],
  ['done', ({ endedAtMs, fetched }) => [...there, { kind: 'completed', atMs: endedAtMs }, fetched], false],
  ['failed', ({ endedAtMs, words }) => [...there, failedAt(endedAtMs, words)], false],
  ['unconfirmed', () => [...there, disowned], false],
  ['cancelled', () => [...there, cancel], false],
];

function failedAt(atMs: number, words: string): TaskEvent {
  return { kind: 'failed', failure: { code: 'generation_failed', words }, atMs };
}

function viewMade(made: Making, events: readonly TaskEvent[], isHeld: boolean) {
  const task = lived(newTask({ ...made.task, set: PLACE }), ...events);
  return viewOf(task, {
    nowMs: NOON_MS + 60_000,
    progress: null,
    isRunning: false,
    model: undefined,
    usual: null,
    retrying: null,
    deadlineMs: 30_000,
    slowestPollMs: 30_000,
    refundKnown: true,
    handover: task.clip === undefined ? null : made.handover,
    isHeld,
    ...made.context,
  });
}

describe('the view of a blind clip', () => {
  it.each(STATES)('is the same for every model: %s', (_state, events, isHeld) => {
    const [slow, fast] = [SLOW, FAST].map((made) => viewMade(made, events(made), isHeld));
    expect(slow).toEqual(fast);
    expect(slow?.task.price).toEqual(PLACE.upTo);
  });

  it('has no field of its task that was not considered', () => {
    const { task } = viewMade(SLOW, [...there, disowned], false);
    expect(Object.keys(task).toSorted()).toEqual([
      'createdAtMs',
      'failure',
      'id',
      'origin',
      'price',
      'request',
      'sends',
      'set',
      'state',
    ]);
    expect(Object.keys(task.request).toSorted()).toEqual(['media', 'model', 'prompt', 'seconds']);
  });

  it('does not tell the place in a queue, which only some services name', () => {
    const made = { ...FAST, context: { ...FAST.context, ahead: 3 } };
    expect(viewMade(made, there, false)).toEqual(viewMade(FAST, there, false));
  });

  it('looks like one in progress while its outcome is held', () => {
    const { task, ...view } = viewMade(SLOW, [...there, failedAt(NOON_MS, 'no')], true);
    expect(view).toMatchObject({ phase: 'running', handover: null, buttons: ['cancel'] });
    expect(task.state).toBe('polling');
    expect(task).not.toHaveProperty('endedAtMs');
    expect(task).not.toHaveProperty('failure');
  });
});
