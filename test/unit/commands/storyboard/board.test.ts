import { describe, expect, it } from 'vitest';
import { buttonsOf } from '#commands/ui/card.ts';
import { setCardId } from '#src/chat/sets/set-view.ts';
import { clipsOf } from '#src/orders/board.ts';
import { memberIds } from '#src/pipeline/task-ids.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { doneIn, failedIn } from '#test/fakes/outcomes.ts';
import { CATALOG } from '../../videos/models.ts';

const DONE = doneIn(1_000);
const FAILED = failedIn(1_000);

/** A house with a storyboard of Ada's, whose fourth shot failed. */
async function withBoard() {
  const house = new BotHouse(CATALOG);
  const asked = await house.bot.text(ada(), 'storyboard a fox\nit runs\nit sleeps\nit wakes --seconds 6');
  const card = asked.kind === 'private' ? asked.card : undefined;
  const reply = await house.bot.press(ada(), card?.buttons[0]?.id ?? '');
  if (reply.kind !== 'task') throw new TypeError(replyText(reply));
  const set = reply.task;
  const ids = memberIds({ id: set, of: 4 });
  for (const id of ids.slice(0, 3)) for (const event of DONE) house.happen(id, event);
  for (const event of FAILED) house.happen(ids[3] as TaskId, event);
  const place = house.task(set).set;
  if (place === undefined) throw new TypeError('it is no set');
  const board = () => house.boards.get(place);
  const open = async (caller = ada()) => house.bot.press(caller, `board:${setCardId(set)}`);
  const save = (values: Readonly<Record<string, string>>, revision = 0, caller = ada()) =>
    house.bot.submit(caller, `board:${set}:${revision}`, values);
  const cut = async () => clipsOf(await board()).map(({ id }) => ids.indexOf(id) + 1);
  return { house, set, ids, board, open, save, cut };
}

describe('Retry of a shot', () => {
  it('pressed twice at once makes one clip, which belongs to the board', async () => {
    const { house, ids, set } = await withBoard();
    const fourth = ids[3] as TaskId;
    const before = house.records.size;
    await Promise.all([1, 2].map(() => house.bot.press(ada(), `retry:${fourth}:0.3USD`)));
    expect(house.records.size).toBe(before + 1);
    const [take] = [...house.records.values()].filter(({ takeOf }) => takeOf !== undefined);
    expect(take).toMatchObject({ retryOf: fourth, takeOf: { id: set, at: 4 }, request: { prompt: 'it wakes' } });
    expect(take).not.toHaveProperty('set');
  });

  it('by someone else, or in another channel, is a clip of its own', async () => {
    const { house, ids } = await withBoard();
    await house.bot.command(bob(), 'retry', { id: [ids[3] as TaskId] });
    await house.bot.command(ada({ channel: 'other' }), 'retry', { id: [ids[3] as TaskId] });
    expect([...house.records.values()].filter(({ takeOf }) => takeOf !== undefined)).toEqual([]);
    expect(house.records.size).toBe(6);
  });

  it('of a retry is another take of the same shot, also if its prompt is edited', async () => {
    const { house, ids, board } = await withBoard();
    const first = await house.bot.press(ada(), `retry:${ids[3]}:0.3USD`);
    if (first.kind !== 'task') throw new TypeError(replyText(first));
    for (const event of FAILED) house.happen(first.task, event);
    const edited = await house.bot.submit(ada(), `edit:${first.task}`, { prompt: 'it wakes up slowly' });
    if (edited.kind !== 'task') throw new TypeError(replyText(edited));
    for (const event of DONE) house.happen(edited.task, event);
    const [, , , fourth] = (await board()).shots;
    expect(fourth).toMatchObject({ at: 4, chosen: { id: edited.task }, takes: [{}, {}, {}] });
  });
});

describe('Edit board', () => {
  it('opens a form with the order of the cut, for those who may decide', async () => {
    const { open } = await withBoard();
    expect(await open()).toMatchObject({
      kind: 'form',
      form: {
        title: 'Edit board',
        fields: [{ name: 'order', value: '1 2 3 4', note: '1 a fox · 2 it runs · 3 it sleeps · 4 it wakes' }],
      },
    });
    expect(replyText(await open(bob()))).toContain('Only Ada');
    expect((await open(bob({ mayManage: true }))).kind).toBe('form');
  });

  it('reorders, skips what is left out, and brings it back', async () => {
    const { house, set, save, cut } = await withBoard();
    expect(replyText(await save({ order: '3, 1 2' }))).toContain('The board is changed.');
    expect(await cut()).toEqual([3, 1, 2]);
    expect(house.updatedBoards).toEqual([set]);
    await save({ order: '2 1 3 4' }, 1);
    expect(await cut()).toEqual([2, 1, 3]);
    // The same form, delivered again.
    expect(replyText(await save({ order: '2 1 3 4' }, 1))).toContain('The board is changed.');
    expect(replyText(await save({ order: '2 1 3 4' }, 2))).toContain('stays as it is');
  });

  it.each([
    ['1 2 9', 'refused: “9” isn’t a shot. Write the numbers of the shots in the cut, 1 to 4, such as 3 1 2.'],
    ['1 two', 'refused: “two” isn’t a shot'],
    ['1 2 1', 'refused: Shot 1 is there twice'],
  ])('refuses %s and names it', async (order, sentence) => {
    const { house, save, cut } = await withBoard();
    const reply = await save({ order });
    expect(replyText(reply)).toContain(sentence);
    expect(await cut()).toEqual([1, 2, 3]);
    const [again] = (reply.kind === 'refused' ? reply.buttons : undefined) ?? [];
    expect(again?.label).toBe('Edit again');
    expect(await house.bot.press(ada(), again?.id ?? '')).toMatchObject({
      kind: 'form',
      form: { fields: [{ name: 'order' }] },
    });
  });

  it('does not overwrite an edit that it did not show', async () => {
    const { save, cut } = await withBoard();
    const replies = await Promise.all([save({ order: '3 2 1' }), save({ order: '2 3 1' })]);
    expect(replies.map(replyText).filter((text) => text.includes('Someone changed this board'))).toHaveLength(1);
    expect([
      [3, 2, 1],
      [2, 3, 1],
    ]).toContainEqual(await cut());
    expect(replyText(await save({ order: '1 2 3' }, 0, bob()))).toContain('Only Ada');
    const after = await cut();
    // A form that was opened before, and is submitted later.
    const late = await save({ order: '1 3 2' }, 0);
    expect(replyText(late)).toContain('Someone changed this board');
    expect(late).toMatchObject({ buttons: [{ label: 'Edit again' }] });
    expect(await cut()).toEqual(after);
  });

  it('replaces a shot by another finished take', async () => {
    const { house, ids, open, save, board } = await withBoard();
    house.clock.step(60_000);
    const retried = await house.bot.press(ada(), `retry:${ids[0]}:0.2USD`);
    if (retried.kind !== 'task') throw new TypeError(replyText(retried));
    for (const event of DONE)
      house.happen(retried.task, { ...event, ...('atMs' in event ? { atMs: house.clock.now() } : {}) });
    expect((await board()).shots[0]?.chosen.id).toBe(retried.task);
    house.clock.step(60_000);
    // A take that is in progress is none to choose.
    await house.bot.press(ada(), `retry:${ids[1]}:0.2USD`);
    const form = await open();
    const field = form.kind === 'form' ? form.form.fields.find(({ name }) => name === 'take') : undefined;
    expect(field?.choices?.all).toEqual([{ value: `1:${ids[0]}`, label: 'Shot 1 · take 1 · 4 s · a fox' }]);
    await save({ order: '1 2 3 4', take: `1:${ids[0]}` });
    expect((await board()).shots[0]?.chosen.id).toBe(ids[0]);
  });
});

describe('Move', () => {
  async function withMoves() {
    const made = await withBoard();
    const { house, set, board } = made;
    const move = (shot: number, before: number, revision = 0, caller = ada()) =>
      house.bot.press(caller, `move:${set}:${revision}:${shot}:${before}`);
    const order = async () => (await board()).shots.map(({ at }) => at);
    return { ...made, move, order };
  }

  it('puts a shot before another one, or at the end, and shows it on the card', async () => {
    const { house, set, move, order } = await withMoves();
    const reply = await move(3, 1);
    expect(reply.kind).toBe('private');
    expect(replyText(reply)).toContain('Shot 3 is before shot 1.');
    expect(await order()).toEqual([3, 1, 2, 4]);
    expect(house.updatedBoards).toEqual([set]);
    expect(replyText(await move(1, 0, 1))).toContain('Shot 1 is at the end of the board.');
    expect(await order()).toEqual([3, 2, 4, 1]);
    expect(house.records.size).toBe(4);
  });

  it('keeps what is skipped', async () => {
    const { save, move, cut } = await withMoves();
    await save({ order: '1 3' });
    await move(3, 1, 1);
    expect(await cut()).toEqual([3, 1]);
  });

  it('delivered twice is done once, and says the same', async () => {
    const { house, move, order } = await withMoves();
    const replies = await Promise.all([move(3, 1), move(3, 1)]);
    expect(replies.map(replyText)).toEqual(Array(2).fill(expect.stringContaining('Shot 3 is before shot 1.')));
    expect(replyText(await move(3, 1))).toContain('Shot 3 is before shot 1.');
    expect(await order()).toEqual([3, 1, 2, 4]);
    expect(house.updatedBoards).toHaveLength(1);
  });

  it('does not overwrite a change that its board did not show', async () => {
    const { move, order } = await withMoves();
    const replies = await Promise.all([move(3, 1), move(4, 2)]);
    expect(replies.map(replyText).filter((text) => text.includes('Someone changed this board'))).toHaveLength(1);
    const after = await order();
    expect(replyText(await move(2, 0))).toContain('Someone changed this board meanwhile. Nothing was changed');
    expect(await order()).toEqual(after);
  });

  it('is for those who may decide, and of shots that there are', async () => {
    const { house, move, order } = await withMoves();
    expect(replyText(await move(3, 1, 0, bob()))).toContain('Only Ada');
    for (const [shot, before] of [
      [5, 1],
      [1, 5],
      [2, 2],
    ] as const)
      expect((await move(shot, before)).kind).toBe('refused');
    expect(await order()).toEqual([1, 2, 3, 4]);
    expect((await move(3, 1, 0, bob({ mayManage: true }))).kind).toBe('private');
    for (const [id, task] of house.records)
      house.records.set(id, { ...task, origin: { ...task.origin, audience: 'channel' } });
    const stranger = bob({ channel: 'other', mayManage: true });
    expect(replyText(await move(1, 0, 1, stranger))).not.toContain('Shot');
    expect(await order()).toEqual([3, 1, 2, 4]);
  });
});

describe('a board', () => {
  it('is joined from its chosen clips, in the order of the cut', async () => {
    const { house, set, ids, save } = await withBoard();
    await save({ order: '3 1' });
    await house.bot.press(ada(), `join:${setCardId(set)}`);
    expect(house.joined.map(({ tasks }) => tasks)).toEqual([[ids[2], ids[0]]]);
    expect(house.records.size).toBe(4);
  });

  it('is offered again as a whole with 🔁, with its price', async () => {
    const { house, set } = await withBoard();
    const reply = await house.bot.react(ada(), { channel: 'clips', message: `m-${setCardId(set)}` }, '🔁');
    expect(replyText(reply ?? { kind: 'refused', sentence: '' })).toContain('4 shots · 18 s in total · $0.90');
    expect(house.records.size).toBe(4);
  });

  it('is cancelled as a whole', async () => {
    const house = new BotHouse(CATALOG);
    const asked = await house.bot.text(ada(), 'storyboard a fox\nit runs');
    const reply = await house.bot.press(ada(), asked.kind === 'private' ? (asked.card.buttons[0]?.id ?? '') : '');
    if (reply.kind !== 'task') throw new TypeError(replyText(reply));
    const cancelled = await house.bot.press(ada(), `cancel:${setCardId(reply.task)}`);
    expect(replyText(cancelled)).toContain('Cancelled 2 shots. You were not charged for that.');
    expect([...house.records.values()].map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
  });

  it('has one row in the lists, and its shots where words are searched', async () => {
    const { house, set } = await withBoard();
    const list = replyText(await house.bot.text(ada(), 'list'));
    expect(list).toContain('1–4, newest first\nStoryboard: ‹a fox› · 4 shots · 3 of 4 shots are ready; shot 4 failed');
    expect(list).toContain(`(Details)`);
    expect(list.match(/Storyboard/gu)).toHaveLength(1);
    expect(list).toContain(`\`set-${set.slice(0, 8)}\``);
    expect(replyText(await house.bot.text(ada(), 'list it wakes'))).toContain('shot 4 of 4 · 6 s');
  });

  it('has details of its own, with those of each shot', async () => {
    const { house, set, ids } = await withBoard();
    const reply = await house.bot.press(ada(), `details:${setCardId(set)}`);
    const text = replyText(reply);
    expect(text).toContain('Storyboard: ‹a fox› · 4 shots · 18 s · $0.60 · Ada');
    expect(text).toContain(`ID \`set-${set}\``);
    expect(text).toContain('3 of 4 shots are ready; shot 4 failed.');
    const buttons = reply.kind === 'private' ? buttonsOf(reply.card).map(({ id }) => id) : [];
    expect(buttons).toEqual([...ids.map((id) => `details:${id}`), `show:${setCardId(set)}`]);
    house.boardCut = { message: { channel: 'clips', message: 'm-cut' }, isJoining: false, isCurrent: true };
    expect(replyText(await house.bot.press(ada(), `details:${setCardId(set)}`))).toContain(
      'Cut: [See it → m-cut] · up to date',
    );
  });
});

describe('a board whose message is deleted', () => {
  it('is found by its id, by a shot, and among the suggestions, with all its buttons', async () => {
    const { house, set, ids } = await withBoard();
    const card = setCardId(set);
    const board = await house.bot.text(ada(), `status ${card}`);
    expect(replyText(board)).toContain('3 of 4 shots are ready; shot 4 failed.');
    const buttons = board.kind === 'private' ? buttonsOf(board.card).map(({ id }) => id) : [];
    expect(buttons).toEqual([
      `retry:${ids[3]}:0.3USD`,
      `join:${card}`,
      `board:${card}`,
      `details:${card}`,
      `show:${card}`,
    ]);
    expect(replyText(await house.bot.text(ada(), `status ${card.slice(0, 12)}`))).toBe(replyText(board));
    for (const text of [`status ${ids[1]}`, `details ${ids[1]}`]) {
      const [action = '', id = ''] = text.split(' ');
      const shot = await (action === 'status' ? house.bot.text(ada(), text) : house.bot.press(ada(), `details:${id}`));
      expect(replyText(shot)).toContain(`Storyboard: ‹a fox› · 4 shots · [See it → m-${card}]`);
      expect(shot.kind === 'private' ? buttonsOf(shot.card).at(-1) : null).toMatchObject({ id: `show:${card}` });
    }
    const [first, ...others] = await house.bot.suggest(ada(), 'status', 'id', '', {});
    expect(first).toMatchObject({ value: card, label: expect.stringContaining('Storyboard of 4 shots · ') });
    expect(others.map(({ value }) => value)).toEqual(ids.toReversed());
    expect((await house.bot.suggest(ada(), 'delete', 'id', '', {})).map(({ value }) => value)).not.toContain(card);
  });

  it('is posted again once, for those who may decide', async () => {
    const { house, set } = await withBoard();
    house.goneCards.add(set);
    expect(replyText(await house.bot.press(bob(), `show:${setCardId(set)}`))).toContain('Only Ada');
    expect(house.shownAgain).toEqual([]);
    expect(replyText(await house.bot.press(ada(), `show:${setCardId(set)}`))).toContain('so I posted it again');
    expect(replyText(await house.bot.press(ada(), `show:${setCardId(set)}`))).toContain('Its message is there.');
    expect(house.shownAgain).toEqual([set]);
  });

  it('of a private channel is unknown to everybody else', async () => {
    const { house, set, ids } = await withBoard();
    for (const [id, task] of house.records)
      house.records.set(id, { ...task, origin: { ...task.origin, audience: 'channel' } });
    const stranger = bob({ channel: 'other' });
    expect(replyText(await house.bot.text(stranger, `status ${setCardId(set)}`))).not.toContain('fox');
    expect(replyText(await house.bot.text(stranger, 'list'))).not.toContain('fox');
    for (const action of ['show', 'details', 'join'])
      expect(replyText(await house.bot.press(stranger, `${action}:${setCardId(set)}`))).not.toContain('fox');
    expect(await house.bot.suggest(stranger, 'status', 'id', '', {})).toEqual([]);
    expect(replyText(await house.bot.press(stranger, `details:${ids[1]}`))).not.toContain('fox');
  });

  it('whose cut is up to date shows that in place of Join', async () => {
    const { house, set } = await withBoard();
    house.boardCut = { message: { channel: 'clips', message: 'm-cut' }, isJoining: false, isCurrent: true };
    const reply = await house.bot.text(ada(), `status ${setCardId(set)}`);
    const labels = reply.kind === 'private' ? buttonsOf(reply.card).map(({ label }) => label) : [];
    expect(labels).toContain('Show the cut');
    expect(labels).not.toContainEqual(expect.stringMatching(/^Join/u));
  });
});
