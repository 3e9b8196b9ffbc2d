import { expect, it } from 'vitest';
import { memberIdOf, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { SetKind, Task } from '#src/tasks/task.ts';
import { newTask } from '../../fakes/tasks.ts';
import type { Asked, Create, History, Pressed } from '../history.ts';
import { checkCreates } from './creates.ts';

const SET = taskIdOf('playground:s1-000');
const ASKED = { platform: 'playground', id: 's1-000', user: 'ana', takes: 2, status: 202 } as Asked;
const PRESS: Pressed = { user: 'ana', action: 'order', task: SET, afterSends: null, status: 202, message: 'm1' };

function member(kind: SetKind, at: number, change: Partial<Task> = {}): Task {
  return newTask({ id: memberIdOf(SET, at), set: { id: SET, kind, at, of: 2 }, ...change });
}

/** Names of the violations where each task was sent once. */
function wrong(asked: Asked, tasks: readonly Task[], pressed: readonly Pressed[] = []): readonly string[] {
  const creates = tasks.map(({ id }) => ({ key: id, fate: 'right', upstreamId: `up-${id}` }) as unknown as Create);
  const store = { tasks: new Map(tasks.map((task) => [task.id, task])) };
  const history = { asked: [asked], pressed, creates, store, offered: [], troubles: [] } as unknown as History;
  return [
    ...new Set(
      checkCreates({ ...history, creates: creates.map((one) => ({ ...one, sender: { replica: 0, life: 0 } })) }).map(
        ({ name }) => name,
      ),
    ),
  ];
}

it('takes a storyboard as ordered once its price is confirmed, or somebody approved it', () => {
  const board = { ...ASKED, isAskedAbout: true as const };
  const shots = [member('storyboard', 1), member('storyboard', 2)];
  expect(wrong(board, shots)).toEqual(['create nobody asked for']);
  const both = shots.map(({ id }) => ({ ...PRESS, task: id }));
  expect(wrong(board, shots, both)).toEqual([]);
  const approval = { expiresAtMs: 9, approved: { by: { id: 'eva', name: 'eva' }, atMs: 1 } } as Task['approval'] &
    object;
  expect(
    wrong(
      board,
      shots.map((shot) => ({ ...shot, approval })),
    ),
  ).toEqual([]);
});

it('takes a clip made again under the label of its first one', () => {
  const clips = [member('comparison', 1), member('comparison', 2)];
  const takeOf = { id: SET, kind: 'comparison', at: 2, of: 2 } as const;
  const take = (key: string): Task => newTask({ id: taskIdOf(key), takeOf });
  const [first, second] = [take(`retry:${memberIdOf(SET, 2)}`), take(`retry:${memberIdOf(SET, 2)}:2`)];
  const remake = { ...PRESS, action: 'remake' as const, task: memberIdOf(SET, 2) };
  expect(wrong(ASKED, [...clips, first], [remake])).toEqual([]);
  expect(wrong(ASKED, [...clips, first])).toEqual(['create nobody asked for']);
  // The button names the take that failed last.
  expect(wrong(ASKED, [...clips, first, second], [remake, { ...remake, task: first.id }])).toEqual([]);
});

it('takes outdated shots of a board as asked for that are made again by its card', () => {
  const shots = [member('storyboard', 1), member('storyboard', 2)];
  const ordered = shots.map(({ id }) => ({ ...PRESS, task: id }));
  const take = newTask({ id: taskIdOf(`retry:${memberIdOf(SET, 2)}`) });
  expect(wrong(ASKED, [...shots, take], ordered)).toEqual(['create nobody asked for']);
  const again = { ...PRESS, action: 'retry' as const, task: `set-${SET}` };
  expect(wrong(ASKED, [...shots, take], [...ordered, again])).toEqual([]);
});
