import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { linesOf } from '#commands/ui/card.ts';
import { plainText } from '#commands/ui/plain-text.ts';
import { taskOfKey } from '#src/chat/platform.ts';
import { setCardId } from '#src/chat/sets/set-view.ts';
import { Boards } from '#src/orders/board.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { TaskEvent, TaskId } from '#src/tasks/task.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { CutHouse } from '#test/fakes/cut-house.ts';
import { CLIP, EVENTS, newTask } from '#test/fakes/tasks.ts';

const SET = taskIdOf('fake:i1');
const PLACE = { id: SET, kind: 'storyboard', at: 1, of: 4 } as const;
const IDS = memberIds(PLACE);
const [FIRST = SET, SECOND = SET, THIRD = SET, FOURTH = SET] = IDS;
const AGAIN = taskIdOf('retry');
const RUNNING = [EVENTS.send, EVENTS.accepted];

function done(house: ChatHouse): readonly TaskEvent[] {
  return [...RUNNING, { kind: 'completed', atMs: house.clock.now() }, { kind: 'fetched', clip: CLIP }];
}

/** A house with a storyboard of four shots, of which the fourth failed. */
async function withBoard(house = new ChatHouse()) {
  const { request } = newTask();
  await house.repository.claim(
    IDS.map((id, index) =>
      newTask({
        id,
        createdAtMs: house.clock.now(),
        set: { ...PLACE, at: index + 1 },
        request: { ...request, prompt: `scene ${index + 1}` },
      }),
    ),
  );
  await house.chat.show(SET);
  return house;
}

async function withFailure() {
  const house = await withBoard();
  for (const id of [FIRST, SECOND, THIRD]) await house.happen(id, ...done(house));
  await house.happen(FOURTH, ...RUNNING, EVENTS.failed);
  return house;
}

function card(house: ChatHouse) {
  const view = house.platform.messages.find(({ task }) => task === setCardId(SET))?.shown.at(-1)?.view;
  if (view === undefined) throw new TypeError('there is no card');
  return cardOf(view);
}

function text(house: ChatHouse): string {
  return plainText(linesOf(card(house)));
}

function labels(house: ChatHouse): readonly string[] {
  return card(house).buttons.map(({ label }) => label);
}

/** Makes the shot again, as Retry does. */
async function retry(house: ChatHouse, at: number, ...events: readonly TaskEvent[]): Promise<TaskId> {
  const takeOf = { ...PLACE, at };
  return house.task({ id: AGAIN, retryOf: IDS[at - 1] ?? SET, takeOf, presented: true }, ...events);
}

it('shows a line per shot with its number, prompt, length, price and state', async () => {
  const house = await withBoard();
  expect(text(house)).toContain('4 shots · 24 s · $1.20');
  expect(text(house)).toMatch(/Shot 1 · “?scene 1”? · 6 s · \$0\.30 · Waits for its turn/);
  expect(text(house)).toContain('None of 4 shots are ready. Two are made at a time.');
  await house.happen(FIRST, ...RUNNING);
  await house.pass(3_000);
  expect(text(house)).toMatch(/Shot 1 · “?scene 1”? · 6 s · \$0\.30 · Queued/);
  expect(labels(house)).toEqual(['Cancel all', 'Details']);
});

/** A house with a storyboard in which shots 2 to 4 each wait for the shot before. */
async function withChain() {
  const house = new ChatHouse();
  const { request } = newTask();
  const tasks = IDS.map((id, index) => {
    const task = newTask({ id, createdAtMs: house.clock.now(), set: { ...PLACE, at: index + 1 } });
    return index === 0 ? task : { ...task, state: 'waiting' as const, request: { ...request, chain: {} } };
  });
  await house.repository.claim(tasks);
  await house.chat.show(SET);
  const told = () => house.platform.notices.map(({ key }) => key);
  return { house, told };
}

it('asks for the decision for which the other shots wait, once for each submission, and tells of the end as always', async () => {
  const { house, told } = await withChain();
  await house.happen(FIRST, ...done(house));
  await house.happen(SECOND, EVENTS.framed, EVENTS.send, EVENTS.lost);
  await house.pass(10_000);
  expect(told()).toEqual([`end:${SECOND}:uncertain:1`]);
  const own = house.platform.messages.find(({ task }) => task === SECOND);
  expect(house.platform.notices[0]?.replyTo).toEqual(own?.ref);
  // Whatever is shown again meanwhile.
  await house.happen(FIRST, EVENTS.want);
  await house.happen(SECOND, EVENTS.resubmit, EVENTS.send, EVENTS.lost);
  await house.pass(10_000);
  const asked = [`end:${SECOND}:uncertain:1`, `end:${SECOND}:uncertain:2`];
  expect(told()).toEqual(asked);
  await house.happen(SECOND, EVENTS.leave);
  for (const id of [THIRD, FOURTH]) await house.happen(id, EVENTS.drop);
  await house.pass(10_000);
  expect(told()).toEqual([...asked, `end:${setCardId(SET)}:done:1`]);
});

it('asks for every decision that is needed', async () => {
  const { house, told } = await withChain();
  await house.happen(THIRD, EVENTS.framed, EVENTS.send, EVENTS.lost);
  await house.happen(FIRST, EVENTS.send, EVENTS.lost);
  await house.pass(10_000);
  expect(told().toSorted()).toEqual([`end:${FIRST}:uncertain:1`, `end:${THIRD}:uncertain:1`].toSorted());
});

it('asks for no decision while another shot is made, or the unconfirmed one is looked for', async () => {
  const { house, told } = await withChain();
  await house.happen(FIRST, EVENTS.send, { ...EVENTS.lost, isListed: true });
  await house.pass(10_000);
  expect(told()).toEqual([]);
  await house.happen(FIRST, EVENTS.sought);
  await house.pass(10_000);
  expect(told()).toEqual([`end:${FIRST}:uncertain:1`]);
  await house.happen(THIRD, EVENTS.framed, EVENTS.send);
  await house.happen(FIRST, EVENTS.resubmit, EVENTS.send, EVENTS.lost);
  await house.pass(10_000);
  expect(told()).toHaveLength(1);
  await house.happen(THIRD, EVENTS.refused);
  await house.happen(FOURTH, EVENTS.drop);
  await house.pass(10_000);
  expect(told()).toEqual([`end:${FIRST}:uncertain:1`, `end:${FIRST}:uncertain:2`]);
});

it('names what failed, offers its retry, and joins without it only by name', async () => {
  const house = await withFailure();
  expect(text(house)).toContain('3 of 4 shots are ready; shot 4 failed.');
  // The refunded shot is no part of the total.
  expect(text(house)).toContain('4 shots · 24 s · $0.90');
  expect(labels(house)).toContain('Join 3 shots without shot 4');
  expect(house.platform.notices).toHaveLength(1);
});

it('chooses a retry once it is finished, and shows that on the board', async () => {
  const house = await withFailure();
  await retry(house, 4);
  await house.pass(3_000);
  expect(text(house)).toMatch(/Shot 4 · .* · Queued/);
  expect(labels(house)).not.toContainEqual(expect.stringMatching(/^Retry/));
  await house.happen(AGAIN, ...done(house));
  expect(text(house)).toContain('All 4 shots are ready.');
  expect(labels(house)).toEqual(['Join 4 shots', 'Details']);
  expect(house.platform.messages.find(({ task }) => task === AGAIN)?.files).toHaveLength(1);
});

it('keeps the finished take in the cut while another one is made', async () => {
  const house = await withFailure();
  await retry(house, 1, ...RUNNING);
  await house.pass(3_000);
  expect(text(house)).toMatch(/Shot 1 · .* · Done in .* · another take is in progress/);
  expect(labels(house)).toContain('Join 3 shots without shot 4');
});

it('follows an edit: order and skipped shots', async () => {
  const house = await withFailure();
  const boards = new Boards(house.store);
  await boards.change(await boards.get(PLACE), { order: [3, 1, 2, 4], skipped: [4] });
  await house.chat.updateBoard(PLACE);
  expect(text(house)).toMatch(/Shot 3[\s\S]*Shot 1[\s\S]*Shot 2[\s\S]*Shot 4 · skipped · /);
  expect(text(house)).toContain('All 3 shots are ready. In the cut: shots 3, 1, 2. Shot 4 left out.');
  expect(text(house)).toMatch(/^Storyboard: “?scene 1/);
  expect(labels(house)).toEqual(['Join 3 shots', 'Details']);
  await boards.change(await boards.get(PLACE), { skipped: [2, 3, 4] });
  await house.chat.updateBoard(PLACE);
  expect(text(house)).toContain('Its one shot is ready. Shots 2, 3 and 4 left out.');
  expect(labels(house)).toEqual(['Details']);
  await boards.change(await boards.get(PLACE), { skipped: [1, 2, 3] });
  await house.chat.updateBoard(PLACE);
  expect(text(house)).toContain('Its one shot isn’t ready; shot 4 failed. Shots 1, 2 and 3 left out.');
});

it('deletes the record of the board with the content of its last shot', async () => {
  const house = await withFailure();
  const boards = new Boards(house.store);
  await boards.change(await boards.get(PLACE), { skipped: [4] });
  for (const id of IDS) {
    await house.happen(id, { ...EVENTS.remove, reason: 'deleted' });
    await house.store.commit({ records: await house.chat.retraction.deletions(await house.record(id)) });
    expect(await house.store.keyv('boards').get(SET)).toEqual(id === FOURTH ? undefined : expect.anything());
  }
});

it('names no shot as failed in the notice whose retry is finished by then, or on its way', async () => {
  const house = await withBoard();
  for (const id of [FIRST, SECOND]) await house.happen(id, ...done(house));
  await house.happen(FOURTH, ...RUNNING, EVENTS.failed);
  await retry(house, 4);
  await house.happen(THIRD, ...done(house));
  const notices = house.platform.notices.flatMap(({ view }) =>
    view.kind === 'end' && view.set !== undefined ? [view.set] : [],
  );
  expect(notices).toMatchObject([{ ready: 3, others: [{ at: 4, task: FOURTH, phase: 'running', retryPrice: null }] }]);
});

it('is posted again where its message was deleted, once, and is up to date from then on', async () => {
  const house = await withFailure();
  const cards = () => house.platform.messages.filter(({ task }) => taskOfKey(task) === setCardId(SET));
  expect(await house.chat.showSet(PLACE)).toBe(false);
  const [first] = cards();
  if (first !== undefined) first.isDeleted = true;
  expect(await Promise.all([house.chat.showSet(PLACE), house.chat.showSet(PLACE)])).toEqual([true, false]);
  expect(cards()).toHaveLength(2);
  const [, again] = cards();
  expect(await house.chat.messageOf(setCardId(SET))).toEqual(again?.ref);
  await retry(house, 4, ...done(house));
  await house.pass(3_000);
  const view = again?.shown.at(-1)?.view;
  expect(view === undefined ? '' : plainText(linesOf(cardOf(view)))).toContain('All 4 shots are ready.');
});

it('shows its cut, and Join only once that is not what is on it any more', async () => {
  const made = new CutHouse();
  const house = await withBoard(made.house);
  for (const id of IDS) {
    const path = join(made.folder, `${id}.mp4`);
    await writeFile(path, Buffer.alloc(1));
    await house.happen(id, ...done(house).slice(0, -1), { kind: 'fetched', clip: { ...CLIP, path } });
  }
  expect(labels(house)).toEqual(['Join 4 shots', 'Details']);
  await made.cut(IDS);
  await house.pass(3_000);
  expect(text(house)).toMatch(/Cut: See it.* · up to date/u);
  expect(labels(house)).toEqual(['Details']);
  const boards = new Boards(house.store);
  await boards.change(await boards.get(PLACE), { order: [2, 1, 3, 4] });
  await house.chat.updateBoard(PLACE);
  expect(text(house)).toMatch(/Cut: See it.* · the board has changed since/u);
  expect(labels(house)).toEqual(['Join again', 'Details']);
  made.remove();
});

it('shows another clip in the place of a shot with the words of the shot, until that clip is removed', async () => {
  const house = await withFailure();
  const { request } = newTask();
  const other = taskIdOf('other');
  await house.task({ id: other, request: { ...request, prompt: 'a secret owl', seconds: 8 } }, ...done(house));
  const boards = new Boards(house.store);
  const board = await boards.get(PLACE);
  await boards.change(board, { choice: { at: 4, take: other, atMs: house.clock.now() } });
  await house.chat.updateBoard(PLACE);
  expect(text(house)).toMatch(/Shot 4 · “?scene 4”? · 8 s · another clip · Done in .* · See it/u);
  // It was paid before, and the failed shot was refunded.
  expect(text(house)).toContain('4 shots · 26 s · $0.90');
  expect(labels(house)).toEqual(['Join 4 shots', 'Details']);
  expect(JSON.stringify(card(house))).not.toContain('owl');
  await house.happen(other, { ...EVENTS.remove, reason: 'deleted' });
  await house.pass(3_000);
  expect(text(house)).toContain('3 of 4 shots are ready; shot 4 failed.');
  expect((await boards.get(PLACE)).shots[3]?.chosen.id).toBe(FOURTH);
});
