import { expect, it } from 'vitest';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { newTask, originOf } from '../fakes/tasks.ts';
import { drawPlan, FAULT_KINDS } from './plan.ts';
import { type Counted, countOf, studioIn, tallyOf } from './tally.ts';

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
