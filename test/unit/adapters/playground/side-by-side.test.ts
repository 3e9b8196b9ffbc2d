import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ComparisonView, SetMember } from '#src/chat/view.ts';
import type { SetKind, TaskId } from '#src/tasks/task.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { doneView, setView, taskView } from '#test/fakes/views.ts';

let house: PlaygroundHouse;

beforeEach(async () => {
  house = await PlaygroundHouse.start();
});

afterEach(() => house.remove());

const ORIGIN = {
  platform: 'playground',
  team: 'playground',
  channel: 'general',
  address: {},
  user: { id: 'ada', name: 'ada' },
  interaction: 'i1',
};

const VOTING: ComparisonView = {
  stage: 'voting',
  ended: 2,
  voters: 0,
  revealsAtMs: null,
  tally: [],
  clips: [1, 2],
  settings: { seconds: 6 },
};

/** Opens the card of a set of two, of which a third has no message. @returns what the page shows side by side on it */
async function besideOf(kind: SetKind, comparison?: ComparisonView) {
  const set = { id: `${kind}-1` as TaskId, kind, of: 3 };
  const members = [1, 2, 3].map(
    (at): SetMember => ({
      view: at === 3 ? taskView({ set: { ...set, at } }) : doneView({ set: { ...set, at } }),
      message: at === 3 ? null : { channel: 'general', message: `m${at}` },
    }),
  );
  const view = setView(set, members, comparison === undefined ? {} : { comparison });
  const { message } = await house.platform.open(view.id, ORIGIN, view);
  return (await house.messages()).find(({ id }) => id === message)?.sideBySide;
}

it('shows the clips of takes side by side, those that have a message', async () => {
  expect(await besideOf('takes')).toEqual([
    { name: 'Take 1', message: 'm1' },
    { name: 'Take 2', message: 'm2' },
  ]);
});

it('shows compared clips by their labels once they have appeared, and nothing of them before', async () => {
  expect(await besideOf('comparison', { ...VOTING, stage: 'making', clips: [] })).toEqual([]);
});

it('names compared clips by their labels', async () => {
  expect(await besideOf('comparison', VOTING)).toEqual([
    { name: 'Clip A', message: 'm1' },
    { name: 'Clip B', message: 'm2' },
  ]);
});

it('leaves the shots of a storyboard to its board', async () => {
  expect(await besideOf('storyboard')).toEqual([]);
});
