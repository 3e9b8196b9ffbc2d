import { describe, expect, it } from 'vitest';
import { setCardId } from '#src/chat/sets/set-view.ts';
import { memberIds } from '#src/pipeline/task-ids.ts';
import { clipsOf } from '#src/studio/storyboards/board.ts';
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
      form: { title: 'Edit board', fields: [{ name: 'order', value: '1 2 3 4' }] },
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
    ['1 2 9', 'order: “9” isn’t a shot. Write numbers from 1 to 4'],
    ['1 two', 'order: “two” isn’t a shot'],
    ['1 2 1', 'order: shot 1 is there twice'],
  ])('refuses %s and names it', async (order, sentence) => {
    const { save, cut } = await withBoard();
    expect(replyText(await save({ order }))).toContain(sentence);
    expect(await cut()).toEqual([1, 2, 3]);
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
    expect(replyText(await save({ order: '1 3 2' }, 0))).toContain('Someone changed this board');
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

  it('has its shots named in the lists', async () => {
    const { house } = await withBoard();
    expect(replyText(await house.bot.text(ada(), 'list'))).toContain('shot 4 of 4 · 6 s');
  });
});
