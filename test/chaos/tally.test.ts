import { expect, it } from 'vitest';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { EVENTS, lived, newTask, originOf } from '../fakes/tasks.ts';
import type { History, Life } from './history.ts';
import { drawPlan, FAULT_KINDS } from './plan.ts';
import {
  type Counted,
  countEvents,
  countOf,
  type Event,
  type Eventful,
  eventsIn,
  profilesOf,
  studioIn,
  tallyOf,
} from './tally.ts';

const ID = taskIdOf('playground:s1-000');
const TASK = newTask({
  id: ID,
  origin: originOf({ platform: 'playground' }),
  set: { id: ID, kind: 'storyboard', at: 1, of: 2 },
});

/** Series of runs, each of which made one storyboard. */
function series(runs: number): readonly Counted[] {
  return Array.from({ length: runs }, (_, seed) => ({
    plan: drawPlan({ seed, store: 'redis', replicas: 2, interactions: 40, faults: FAULT_KINDS }),
    history: { store: { tasks: new Map([[ID, TASK]]), boards: new Map(), cuts: new Map(), comparisons: new Map() } },
  }));
}

it('counts what succeeded of what was drawn', () => {
  const runs = series(20);
  const { drawn, done } = countOf(runs, 'storyboards', 'playground');
  expect(drawn).toBeGreaterThan(40);
  expect(done).toBe(20);
  expect(studioIn(runs[0] as Counted)).toEqual(['1 storyboards']);
  expect(tallyOf(runs)).toContain(`| storyboards | 20 of ${drawn} |`);
});

it('names a kind that never succeeded, in a long series only', () => {
  expect(tallyOf(series(19))).not.toContain('shortfall');
  const [, missing = ''] = /shortfall, never succeeded: (.+)/u.exec(tallyOf(series(20))) ?? [];
  expect(missing).toContain('cuts (playground)');
  expect(missing).not.toContain('storyboards (playground)');
});

it('draws every kind', () => {
  const runs = series(20);
  for (const kind of ['shots made again', 'boards edited', 'cuts', 'votes', 'reveals', 'reviews'] as const)
    expect(countOf(runs, kind, 'playground').drawn, kind).toBeGreaterThan(0);
});

/** Run in whose course a task ended with this cost, at a price of 0.30, under a budget of 5. */
function eventful(cost: string, output = ''): Eventful {
  const accepted = lived(newTask({ id: ID }), EVENTS.send, EVENTS.accepted);
  const value = lived(accepted, { ...EVENTS.completed, cost: { amount: cost, currency: 'USD' } });
  const commits = [
    [{ of: 'budget', key: 'team:fake:T1', value: { hard: { USD: '5000000' } } }],
    [{ of: 'task', key: ID, value: accepted }],
    [{ of: 'task', key: ID, value }],
    // It is delivered later.
    [{ of: 'task', key: ID, value }],
  ] as unknown as History['commits'];
  const events = new Map<Event, number>([['cancels done', 2]]);
  return { plan: { service: { name: 'price' } }, history: { events, lives: [{ output } as Life], commits } };
}

it('counts what services did beyond our contract, and what lists and costs came to', () => {
  const found = '{"event":"lost_create_found"}\n{"event":"lost_create_found"}\n{"event":"ready"}';
  expect(Object.fromEntries(countEvents(eventful('0.31', found)))).toEqual({
    'cancels done': 2,
    'lost creates found in a list': 2,
    'costs above the price': 1,
  });
  expect([...countEvents(eventful('12.5')).keys()]).toContain('costs above a budget');
  expect([...countEvents(eventful('0.13')).keys()]).toContain('costs below the price');
  expect([...countEvents(eventful('0.30')).keys()]).toEqual(['cancels done']);
  expect(eventsIn(eventful('0.31'))).toEqual(['2 cancels done, 1 costs above the price']);
});

it('names profiles that were not drawn, and events that never happened, in a long series only', () => {
  const runs = Array.from({ length: 20 }, () => eventful('0.31'));
  expect(profilesOf(runs)).toContain('| runs | 0 | 0 | 0 | 20 |');
  expect(profilesOf(runs)).toContain('| cancels done | 0 | 0 | 0 | 40 |');
  expect(profilesOf(runs.slice(1))).not.toContain('shortfall');
  const [, missing = ''] = /shortfall, never happened: (.+)/u.exec(profilesOf(runs)) ?? [];
  expect(missing.split(', ')).toEqual(expect.arrayContaining(['profile list', 'lists that were late']));
  expect(missing).not.toContain('costs above the price');
});
