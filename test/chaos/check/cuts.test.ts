import { expect, it } from 'vitest';
import { type Cut, cutIdOf } from '#src/orders/cut.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { newTask, originOf } from '../../fakes/tasks.ts';
import { hasWholeBoxes, makeShots, padded } from '../clips.ts';
import type { CutFile, Kept, Made, Pressed, Shown } from '../history.ts';
import { checkCuts } from './cuts.ts';

const SET = taskIdOf('playground:s1-000');
const TASKS = memberIds({ id: SET, of: 2 });
const ID = cutIdOf(TASKS);
const CUT: Cut = {
  revision: 3,
  id: ID,
  tasks: TASKS,
  origin: originOf({}),
  requestedAtMs: 1,
  state: 'joined',
  file: { bytes: 9, seconds: 2 },
  presented: true,
};
const FILE: CutFile = { path: `clips/${ID}.mp4`, cut: ID, message: null, pictures: ['a', 'b', 'c'] };
const MESSAGE: Shown = {
  id: 'm1',
  channel: 'clips',
  task: null,
  cut: ID,
  state: null,
  files: [9],
  buttons: [],
  replyTo: null,
  end: null,
};
const PRESS: Pressed = { user: 'ana', action: 'join', task: SET, afterSends: null, status: 202, message: 'm1' };
const MADE: readonly Made[] = [['a', 'b'], ['c']].map((pictures, at) => ({
  upstreamId: `up-${at}`,
  status: 'completed',
  clipBytes: 1,
  isGone: false,
  pictures,
}));

interface Changes {
  readonly cut?: Partial<Cut>;
  readonly files?: readonly CutFile[];
  readonly messages?: readonly Shown[];
  readonly pressed?: readonly Pressed[];
}

/** Names of the violations of a history of one cut. */
function wrong({ cut = {}, files = [FILE], messages = [MESSAGE], pressed = [PRESS] }: Changes = {}): readonly string[] {
  const tasks = TASKS.map((id, at) =>
    newTask({ id, upstreamId: `up-${at}` as UpstreamId, set: { id: SET, kind: 'storyboard', at: at + 1, of: 2 } }),
  );
  const store = {
    tasks: new Map(tasks.map((task) => [task.id, task])),
    cuts: new Map([[ID, { ...CUT, ...cut }]]),
    cards: new Map(),
  } as unknown as Kept;
  return checkCuts({ store, made: MADE, cutFiles: files, messages, pressed }).map(({ name }) => name);
}

it('accepts a cut with the pictures of its clips', () => {
  expect(wrong()).toEqual([]);
  expect(wrong({ files: [FILE, { ...FILE, cut: null, message: 'm1' }] })).toEqual([]);
});

it('finds half a file, and one with other pictures or in another order', () => {
  expect(wrong({ files: [{ ...FILE, pictures: null }] })).toEqual(['half file']);
  expect(wrong({ files: [{ ...FILE, cut: null, message: 'm1', pictures: ['c', 'a', 'b'] }] })).toEqual(['wrong cut']);
  expect(wrong({ cut: { tasks: TASKS.toReversed() } })).toEqual(['wrong cut']);
});

it('finds a cut that is stuck, given up, lost, doubled, or that nobody asked for', () => {
  expect(wrong({ cut: { presented: false } })).toEqual(['stuck cut']);
  expect(wrong({ cut: { state: 'failed', failure: { code: 'failed' } } })).toEqual(['cut given up']);
  expect(wrong({ messages: [{ ...MESSAGE, files: [] }] })).toEqual(['lost delivery']);
  expect(wrong({ messages: [{ ...MESSAGE, files: [9, 9] }] })).toEqual(['doubled delivery']);
  expect(wrong({ messages: [MESSAGE, { ...MESSAGE, id: 'm2', files: [] }] })).toEqual(['doubled message']);
  expect(wrong({ messages: [] })).toEqual(['lost cut', 'lost message']);
  expect(wrong({ pressed: [] })).toEqual(['cut nobody asked for']);
});

it('tells a whole file from half of one', async () => {
  const [shot] = await makeShots();
  const content = shot?.content ?? Buffer.alloc(0);
  expect(hasWholeBoxes(content)).toBe(true);
  expect(hasWholeBoxes(padded(content, content.length + 100))).toBe(true);
  expect(hasWholeBoxes(content.subarray(0, content.length - 1))).toBe(false);
});
