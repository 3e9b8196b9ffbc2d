import { expect, it } from 'vitest';
import type { ComparisonRecord } from '#src/chat/comparisons/comparison-records.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Task } from '#src/tasks/task.ts';
import { CLIP, EVENTS, lived, newTask } from '../../fakes/tasks.ts';
import type { Create, Kept, Pressed, Shown } from '../history.ts';
import { checkComparisons } from './comparisons.ts';

const SET = taskIdOf('playground:s1-000');
const TASKS = memberIds({ id: SET, of: 2 }).map((id, at) => {
  const task = newTask({ id, set: { id: SET, kind: 'comparison', at: at + 1, of: 2 } });
  const request = { ...task.request, model: `swift-${at + 1}` };
  return { ...lived({ ...task, request }, EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.fetched), clip: CLIP };
});
const OWNER = TASKS[0]?.origin.user.id ?? '';
const BLIND: ComparisonRecord = {
  revision: 1,
  platform: 'playground',
  team: 'T1',
  of: 2,
  shownAtMs: 1_000,
  votes: { eva: 1 },
};
const REVEALED: ComparisonRecord = { ...BLIND, votes: {}, revealed: { atMs: 2_000, tally: [1, 0] } };
const AFTER = TASKS.map((task) => ({ ...task, revealedAtMs: 2_000 }));
const CARD: Shown = {
  id: 'm1',
  channel: 'clips',
  task: null,
  set: SET,
  state: null,
  files: [],
  buttons: [],
  replyTo: null,
  end: null,
  words: 'Clip A, clip B',
};
const TOLD: Shown = { ...CARD, id: 'm2', words: 'You voted for clip A. You can change it until the reveal.' };
const PRESS = { task: SET, afterSends: null, status: 202, message: 'm2' } as const;
const VOTE: Pressed = { ...PRESS, user: 'eva', action: 'vote', choice: 1 };
const REVEAL: Pressed = { ...PRESS, user: OWNER, action: 'reveal', message: null };

interface Changes {
  readonly tasks?: readonly Task[];
  readonly record?: ComparisonRecord;
  readonly pressed?: readonly Pressed[];
  readonly messages?: readonly Shown[];
  readonly creates?: readonly Create[];
}

/** Names of the violations of a history of one comparison. */
function wrong({ tasks = TASKS, record = BLIND, ...changes }: Changes): readonly string[] {
  const { pressed = [VOTE], messages = [CARD, TOLD], creates = [] } = changes;
  const store = {
    tasks: new Map(tasks.map((task) => [task.id, task])),
    comparisons: new Map([[SET, record]]),
  } as unknown as Kept;
  const rights = { administrators: new Set([`${TASKS[0]?.origin.platform}:carol`]), members: new Map() };
  return checkComparisons({ store, creates, pressed, messages, rights }).map(({ name }) => name);
}

it('accepts a vote, and a reveal by the requester, an administrator of its platform or after a day', () => {
  expect(wrong({})).toEqual([]);
  expect(wrong({ tasks: AFTER, record: REVEALED, pressed: [VOTE, REVEAL] })).toEqual([]);
  const carols = { ...REVEAL, user: 'carol' };
  expect(wrong({ tasks: AFTER, record: REVEALED, pressed: [VOTE, carols] })).toEqual([]);
  const late = { ...REVEALED, revealed: { atMs: 1_000 + 24 * 3_600_000, tally: [1, 0] } };
  expect(wrong({ tasks: AFTER, record: late })).toEqual([]);
});

it('finds votes that are counted twice, for another clip, or not at all', () => {
  expect(wrong({ record: { ...BLIND, votes: { eva: 2 } } })).toEqual(['vote of nobody']);
  expect(wrong({ record: { ...BLIND, votes: {} } })).toEqual(['lost vote']);
  const twice = { ...REVEALED, revealed: { atMs: 2_000, tally: [2, 0] } };
  expect(wrong({ tasks: AFTER, record: twice, pressed: [VOTE, REVEAL] })).toEqual(['vote of nobody']);
});

it('finds a reveal that is early, partial, lost, or that nobody allowed asked for', () => {
  const nobody = 'reveal that nobody allowed asked for';
  expect(wrong({ tasks: AFTER, record: REVEALED })).toEqual([nobody]);
  expect(wrong({ tasks: AFTER, record: REVEALED, pressed: [VOTE, { ...REVEAL, user: 'other' }] })).toEqual([nobody]);
  expect(wrong({ tasks: AFTER })).toEqual(['early reveal']);
  expect(wrong({ record: REVEALED, pressed: [VOTE, REVEAL] })).toEqual(['revealed in part']);
  const promise = { ...CARD, id: 'm3', set: 'other', words: 'The models are revealed.' };
  const pressed = [VOTE, { ...REVEAL, message: 'm3' }];
  expect(wrong({ messages: [CARD, TOLD, promise], pressed })).toEqual(['lost reveal']);
  const named = { ...CARD, id: 'm4', words: 'Clip A by Swift 2' };
  expect(wrong({ messages: [CARD, TOLD, named] })).toEqual(['model named before the reveal']);
  const request = { ...named, words: 'ana requests a comparison of 2 models for $0.48.\n• swift-1' };
  expect(wrong({ messages: [CARD, TOLD, request] })).toEqual([]);
});

it('finds a card that betrays a model by a file, or by the price of one clip, before the reveal', () => {
  const on = (card: Partial<Shown>) => wrong({ messages: [{ ...CARD, ...card }, TOLD] });
  const clip = TASKS[1]?.id;
  expect(on({ names: ['red-fox-0000-1.mp4'], buttonIds: [`retry:set-${SET}:1USD`, `remake:${clip}:1USD`] })).toEqual(
    [],
  );
  expect(on({ names: ['red-fox-swift-2-0000-1.mp4'] })).toEqual(['model named before the reveal']);
  for (const action of ['retry', 'again', 'edit'])
    expect(on({ buttonIds: [`${action}:${clip}:0.28USD`] })).toEqual(['model named before the reveal']);
  const buttonIds = [`retry:${clip}:0.28USD`];
  const messages = [{ ...CARD, buttonIds }, TOLD];
  expect(wrong({ tasks: AFTER, record: REVEALED, pressed: [VOTE, REVEAL], messages })).toEqual([]);
});

it('finds details of a clip that betray its model before the reveal', () => {
  const reply = { ...CARD, id: 'm7', set: 'other', words: 'Models, prices and times are shown after the reveal.' };
  const details: Pressed = { ...PRESS, user: 'eva', action: 'details', task: TASKS[1]?.id ?? '', message: 'm7' };
  const told = (changes: Partial<Shown>) =>
    wrong({ messages: [CARD, TOLD, { ...reply, ...changes }], pressed: [VOTE, details] });
  expect(told({ buttons: ['vote', 'refetch', 'leave'] })).toEqual([]);
  expect(told({ words: 'swift-2 · 6 s' })).toEqual(['model named before the reveal']);
  expect(told({ buttons: ['retry', 'edit'] })).toEqual(['model named before the reveal']);
});

it('finds a clip under the label of another one, and a label with the model of another one', () => {
  const own = { ...CARD, id: 'm5', task: TASKS[1]?.id ?? '', words: 's1-000: a fox · clip B of 2 · ana' };
  const { set: _set, ...clip } = own;
  expect(wrong({ messages: [CARD, TOLD, clip] })).toEqual([]);
  expect(wrong({ messages: [CARD, TOLD, { ...clip, words: 'clip A of 2' }] })).toEqual(['label of another clip']);
  const revealed = (words: string) =>
    wrong({ tasks: AFTER, record: REVEALED, pressed: [VOTE, REVEAL], messages: [{ ...CARD, words }, TOLD] });
  expect(revealed('**Clip A** · Swift 1 · $0.20\nClip B · Swift 2 · $0.28')).toEqual([]);
  expect(revealed('Clip A · Swift 2 · $0.28\nClip B · Swift 1 · $0.20')).toHaveLength(2);
});

it('finds a second clip of a label or model, and one of another model', () => {
  const second = newTask({ id: taskIdOf('again'), takeOf: { id: SET, kind: 'comparison', at: 1, of: 2 } });
  expect(wrong({ tasks: [...TASKS, second] })).toEqual(['second clip of a label']);
  const remake: Pressed = { ...VOTE, action: 'remake', user: OWNER };
  expect(wrong({ tasks: [...TASKS, second], pressed: [VOTE, remake] })).toEqual([]);
  const ofOther = { ...remake, task: TASKS[1]?.id ?? '' };
  expect(wrong({ tasks: [...TASKS, second], pressed: [VOTE, ofOther] })).toEqual(['second clip of a label']);
  const same = TASKS.map((task) => ({ ...task, request: { ...task.request, model: 'swift-1' } }));
  expect(wrong({ tasks: same })).toEqual(['two clips of a model']);
  const create = { key: SET, model: 'swift-2' } as unknown as Create;
  expect(wrong({ creates: [create] })).toEqual(['clip of another model']);
});
