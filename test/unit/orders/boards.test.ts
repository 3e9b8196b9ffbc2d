import { expect, it } from 'vitest';
import { type BoardEdit, Boards, clipsOf, isReplaced, missingOf } from '#src/orders/board.ts';
import { memberIdOf, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';
import { ADA, EVENTS, NOON_MS, orderOf } from '#test/fakes/tasks.ts';

const SET = taskIdOf('fake:i1');
const PLACE = { id: SET, kind: 'storyboard', at: 1, of: 3 } as const;

/** A house with a storyboard of three shots. */
async function withBoard() {
  const house = new TaskHouse();
  const { request, price } = orderOf();
  const more = ['it sleeps', 'it wakes'].map((prompt) => ({ request: { ...request, prompt }, price }));
  await house.submit(orderOf({ set: { kind: 'storyboard', more } }));
  const boards = new Boards(house.store);
  const happen = async (id: TaskId, ...events: readonly TaskEvent[]) => {
    for (const event of events) await house.repository.record(id, event);
  };
  const finish = (id: TaskId, atMs: number) =>
    happen(
      id,
      EVENTS.send,
      { ...EVENTS.accepted, upstreamId: `up-${id}` as Task['upstreamId'] & string },
      { kind: 'completed', atMs },
      EVENTS.fetched,
    );
  const retry = async (key: string, at: number) => {
    const takeOf = { ...PLACE, at };
    return (await house.submit(orderOf({ key, retryOf: memberIdOf(SET, at), takeOf }))).task.id;
  };
  return { house, boards, happen, finish, retry };
}

function idsOf(tasks: readonly Task[]): readonly TaskId[] {
  return tasks.map(({ id }) => id);
}

it('has the shots in their order, and the finished ones in the cut', async () => {
  const { boards, finish } = await withBoard();
  expect((await boards.get(PLACE)).shots.map(({ at, chosen, isSkipped }) => [at, chosen.id, isSkipped])).toEqual([
    [1, SET, false],
    [2, memberIdOf(SET, 2), false],
    [3, memberIdOf(SET, 3), false],
  ]);
  await finish(memberIdOf(SET, 3), NOON_MS + 1_000);
  await finish(SET, NOON_MS + 2_000);
  const board = await boards.get(PLACE);
  expect(idsOf(clipsOf(board))).toEqual([SET, memberIdOf(SET, 3)]);
  expect(missingOf(board).map(({ at }) => at)).toEqual([2]);
});

it('chooses a retry once it is finished, and never one that failed', async () => {
  const { boards, finish, happen, retry } = await withBoard();
  const second = memberIdOf(SET, 2);
  await happen(second, EVENTS.send, EVENTS.accepted, EVENTS.failed);
  const again = await retry('retry:a', 2);
  expect((await boards.get(PLACE)).shots[1]).toMatchObject({
    chosen: { id: again },
    takes: [{ id: second }, { id: again }],
  });
  await finish(again, NOON_MS + 5_000);
  expect(idsOf(clipsOf(await boards.get(PLACE)))).toEqual([again]);
  const third = await retry('retry:b', 2);
  expect((await boards.get(PLACE)).shots[1]).toMatchObject({ chosen: { id: again } });
  await happen(third, EVENTS.send, EVENTS.accepted, EVENTS.failed);
  expect(idsOf(clipsOf(await boards.get(PLACE)))).toEqual([again]);
});

it('shows a take in progress rather than a later one that failed, while none is finished', async () => {
  const { boards, happen, retry } = await withBoard();
  await happen(SET, EVENTS.send, EVENTS.accepted);
  const again = await retry('retry:a', 1);
  await happen(again, { ...EVENTS.cancel, by: ADA });
  expect((await boards.get(PLACE)).shots[0]).toMatchObject({ chosen: { id: SET } });
});

it('keeps order, skipped shots and choices, each through edits of the others', async () => {
  const { boards, finish, retry } = await withBoard();
  for (const at of [1, 2, 3]) await finish(memberIdOf(SET, at), NOON_MS + at);
  await finish(await retry('retry:a', 1), NOON_MS + 10);
  const edit = async (change: BoardEdit) => boards.change(await boards.get(PLACE), change);
  await edit({ choice: { at: 1, take: SET, atMs: NOON_MS + 20 } });
  await edit({ order: [3, 2, 1] });
  await edit({ skipped: [2] });
  await edit({ choice: { at: 3, take: memberIdOf(SET, 3), atMs: NOON_MS + 30 } });
  const board = await boards.get(PLACE);
  expect(board.shots.map(({ at, isSkipped }) => [at, isSkipped])).toEqual([
    [3, false],
    [2, true],
    [1, false],
  ]);
  expect(idsOf(clipsOf(board))).toEqual([memberIdOf(SET, 3), SET]);
});

it('keeps the take that a person chose, until a later one is finished', async () => {
  const { boards, finish, retry } = await withBoard();
  await finish(SET, NOON_MS + 1_000);
  const again = await retry('retry:a', 1);
  await finish(again, NOON_MS + 2_000);
  const choice = { at: 1, take: SET, atMs: NOON_MS + 3_000 };
  expect(await boards.change(await boards.get(PLACE), { choice })).toBe(true);
  expect(idsOf(clipsOf(await boards.get(PLACE)))).toEqual([SET]);
  const third = await retry('retry:b', 1);
  await finish(third, NOON_MS + 4_000);
  expect(idsOf(clipsOf(await boards.get(PLACE)))).toEqual([third]);
});

it('serialises edits: of two of the same board, the second changes nothing', async () => {
  const { house, boards, finish } = await withBoard();
  for (const at of [1, 2, 3]) await finish(memberIdOf(SET, at), NOON_MS + at);
  const read = await boards.get(PLACE);
  const others = new Boards(house.store);
  const done = await Promise.all([
    boards.change(read, { order: [3, 1, 2], skipped: [2] }),
    others.change(read, { order: [2, 1, 3] }),
  ]);
  expect(done.toSorted()).toEqual([false, true]);
  const now = await boards.get(PLACE);
  expect(await boards.change(now, { order: [3, 1, 2], skipped: [2] })).toBe(true);
  const board = await others.get(PLACE);
  expect(board).toMatchObject({ revision: 2 });
  expect(idsOf(clipsOf(board))).toEqual([memberIdOf(SET, 3), SET]);
  expect(missingOf(board)).toEqual([]);
});

it('lacks a clip that was removed', async () => {
  const { house, boards, finish, retry, happen } = await withBoard();
  await finish(SET, NOON_MS + 1_000);
  const again = await retry('retry:a', 1);
  await finish(again, NOON_MS + 2_000);
  await happen(again, { kind: 'presented', revision: (await house.task(again)).revision }, EVENTS.remove);
  const board = await boards.get(PLACE);
  expect(idsOf(clipsOf(board))).toEqual([SET]);
  expect(board.shots[0]?.takes).toHaveLength(1);
});

it('has another clip in the place of a shot, until a take is finished, and one of several takes is chosen', async () => {
  const { house, boards, finish, retry } = await withBoard();
  for (const [index, id] of [SET, memberIdOf(SET, 2), memberIdOf(SET, 3)].entries()) await finish(id, NOON_MS + index);
  // A take of a shot of the same number on another board.
  const elsewhere = { id: taskIdOf('fake:i9'), kind: 'storyboard', at: 2, of: 3 } as const;
  const { task: clip } = await house.submit(orderOf({ key: 'clip', takeOf: elsewhere }));
  const choice = { at: 1, take: clip.id, atMs: NOON_MS + 10_000 };
  // Without its clip, it is nothing to choose.
  expect(await boards.change(await boards.get(PLACE), { choice })).toBe(true);
  expect((await boards.get(PLACE)).shots[0]?.chosen.id).toBe(SET);
  await finish(clip.id, NOON_MS + 9_000);
  const replaced = await boards.get(PLACE);
  expect(idsOf(clipsOf(replaced))).toEqual([clip.id, memberIdOf(SET, 2), memberIdOf(SET, 3)]);
  expect(replaced.shots.map((shot) => [isReplaced(shot), shot.takes.length])).toEqual([
    [true, 1],
    [false, 1],
    [false, 1],
  ]);
  expect(await boards.withClip(clip.id)).toEqual([SET]);
  expect(await boards.withClip(SET)).toEqual([]);
  const again = await retry('retry:a', 1);
  await finish(again, NOON_MS + 20_000);
  expect((await boards.get(PLACE)).shots[0]).toMatchObject({ chosen: { id: again }, takes: [{}, {}] });
});
