import { describe, expect, it } from 'vitest';
import type { Reply } from '#commands/bot-port.ts';
import { isAnsweredInPlace } from '#commands/ui/buttons.ts';
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
  const open = async (shot: number, caller = ada()) => menuIn(await house.bot.press(caller, `shot:${set}:${shot}`));
  const press = (id: string, caller = ada()) => house.bot.press(caller, id);
  const move = (shot: number, before: number, revision = 0, caller = ada()) =>
    press(`move:${set}:${revision}:${shot}:${before}`, caller);
  const cut = async () => clipsOf(await board()).map(({ id }) => ids.indexOf(id) + 1);
  const order = async () => (await board()).shots.map(({ at }) => at);
  return { house, set, ids, board, open, press, move, cut, order };
}

/** Returns what the menu of a shot shows: its words, and the presses that it offers, by their labels. */
function menuIn(reply: Reply) {
  if (reply.kind !== 'private') throw new TypeError(replyText(reply));
  const { card } = reply;
  const ofSelect = (name: string) => card.selects?.find(({ placeholder }) => placeholder === name)?.options ?? [];
  const offered = [...card.buttons, ...(card.selects ?? []).flatMap(({ options }) => options)];
  return {
    text: replyText(reply),
    card,
    ofSelect,
    labels: card.buttons.map(({ label }) => label),
    id: (label: string) => offered.find((one) => one.label.startsWith(label))?.id ?? `no ${label}`,
  };
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

describe('the menu of a shot', () => {
  it('is opened from the board by the words of the shot, and shows it to everyone who sees the board', async () => {
    const { house, set, open } = await withBoard();
    house.pictures = { ...house.pictures, forPoster: ({ id }) => ({ id, url: 'https://dailies.example/p.jpg' }) };
    const status = await house.bot.text(ada(), `status ${setCardId(set)}`);
    const [select] = (status.kind === 'private' ? status.card.selects : undefined) ?? [];
    expect(select).toEqual({
      placeholder: 'A shot…',
      options: ['1 · a fox · ready', '2 · it runs · ready', '3 · it sleeps · ready', '4 · it wakes · failed'].map(
        (label, index) => ({ id: `shot:${set}:${index + 1}`, label }),
      ),
    });
    const { text, labels, card, ofSelect } = await open(1);
    expect(text).toContain('‹a fox›');
    expect(text).toMatch(/Shot 1 of the board · 4 s · \$0\.20 · Done in/u);
    expect(text).toContain('Price so far: $0.20');
    expect(card.blocks?.[0]).toMatchObject({ picture: { alt: 'A frame of “a fox”' } });
    expect(labels).toEqual(['Retry · $0.20', 'Skip', 'Edit words', 'Insert a shot before']);
    expect(ofSelect('Move…').map(({ label }) => label)).toEqual([
      'Before 3 · it sleeps',
      'Before 4 · it wakes',
      'To the end',
    ]);
    expect(ofSelect('Use another take…')).toEqual([]);
    const others = await open(1, bob());
    expect(others.text).toContain('‹a fox›');
    expect([others.labels, others.card.selects ?? []]).toEqual([[], []]);
    expect((await open(1, bob({ mayManage: true }))).labels).toHaveLength(4);
  });

  it('skips a shot and puts it back in its place, in place of itself', async () => {
    const { house, set, open, press, cut } = await withBoard();
    const skip = (await open(2)).id('Skip');
    expect(isAnsweredInPlace(skip)).toBe(true);
    const skipped = menuIn(await press(skip));
    expect(skipped.text).toMatch(/^Shot 2 is left out of the cut\./u);
    expect(skipped.text).toContain('skipped');
    expect(await cut()).toEqual([1, 3]);
    // The same press, delivered again.
    expect(menuIn(await press(skip)).text).toContain('Shot 2 is left out of the cut.');
    expect(house.updatedBoards).toEqual([set]);
    expect(menuIn(await press(skipped.id('Put back'))).text).toContain('Shot 2 is back in the cut.');
    expect(await cut()).toEqual([1, 2, 3]);
    expect(house.records.size).toBe(4);
  });

  it('moves a shot, and offers the moves from there', async () => {
    const { open, press, order } = await withBoard();
    const move = (await open(3)).id('Before 1');
    expect(isAnsweredInPlace(move)).toBe(true);
    const moved = menuIn(await press(move));
    expect(moved.text).toContain('Shot 3 is before shot 1.');
    expect(await order()).toEqual([3, 1, 2, 4]);
    expect(moved.ofSelect('Move…').map(({ label }) => label)).toEqual([
      'Before 2 · it runs',
      'Before 4 · it wakes',
      'To the end',
    ]);
    await press(moved.id('To the end'));
    expect(await order()).toEqual([1, 2, 4, 3]);
  });

  it('replaces a shot by another finished take, and says what all of them cost', async () => {
    const { house, ids, open, press, board } = await withBoard();
    house.clock.step(60_000);
    const retried = await house.bot.press(ada(), `retry:${ids[0]}:0.2USD`);
    if (retried.kind !== 'task') throw new TypeError(replyText(retried));
    // A take that is in progress is none to choose.
    expect((await open(1)).ofSelect('Use another take…')).toEqual([]);
    expect((await open(1)).labels).toEqual(['Skip', 'Insert a shot before']);
    for (const event of DONE)
      house.happen(retried.task, { ...event, ...('atMs' in event ? { atMs: house.clock.now() } : {}) });
    expect((await board()).shots[0]?.chosen.id).toBe(retried.task);
    house.clock.step(60_000);
    const menu = await open(1);
    expect(menu.text).toContain('Price so far: $0.40 · 2 takes');
    expect(menu.ofSelect('Use another take…').map(({ label }) => label)).toEqual(['Use take 1 · 4 s · a fox']);
    const chosen = menuIn(await press(menu.id('Use take 1')));
    expect(chosen.text).toContain('The cut uses take 1 of shot 1.');
    expect((await board()).shots[0]?.chosen.id).toBe(ids[0]);
    expect(chosen.id('Use take 2')).toContain(retried.task);
  });

  it('replaces a shot by a finished clip of the channel, and buys nothing', async () => {
    const { house, set, ids, open, press, board, cut } = await withBoard();
    const owl = await house.seed(bob(), 'an owl --seconds 6', ...DONE);
    await house.seed(bob(), 'a hen --seconds 6', ...FAILED);
    await house.seed(bob({ channel: 'other' }), 'a cat --seconds 6', ...DONE);
    const menu = await open(4);
    expect(menu.ofSelect('Replace by a clip…').map(({ label }) => label)).toEqual(['an owl · 6 s']);
    const before = house.records.size;
    const use = menu.id('an owl');
    const replaced = menuIn(await press(use));
    expect(replaced.text).toContain('The cut uses ‹“an owl”› in place of shot 4.');
    expect(replaced.text).toMatch(/‹it wakes› · Shot 4 .* · another clip · [\s\S]*In its place: ‹an owl›/u);
    expect((await board()).shots[3]?.chosen.id).toBe(owl.id);
    // Delivered again, it is done.
    expect(menuIn(await press(use)).text).toContain('in place of shot 4.');
    expect([house.records.size, house.orders.length]).toEqual([before, 0]);
    expect(house.updatedBoards).toEqual([set]);
    await house.bot.press(ada(), `join:${setCardId(set)}`);
    expect(house.joined.at(-1)?.tasks).toEqual([...ids.slice(0, 3), owl.id]);
    // It stands in one place, and another board does not know it.
    expect((await open(1)).ofSelect('Replace by a clip…')).toEqual([]);
    // Its content is removed: the shot is as it was.
    house.records.set(owl.id, { ...house.task(owl.id), presented: true });
    house.happen(owl.id, { kind: 'remove', reason: 'deleted', keepsContent: false, atMs: 2_000 });
    expect(await cut()).toEqual([1, 2, 3]);
    expect((await open(4)).text).not.toContain('owl');
  });

  it('offers and takes no clip that others of the board may not see, nor a blind one', async () => {
    const { house, set, open, press, board } = await withBoard();
    const secret = await house.seed(ada(), 'an owl --seconds 6', ...DONE);
    house.records.set(secret.id, { ...secret, origin: { ...secret.origin, audience: 'channel' } });
    const elsewhere = await house.seed(ada({ channel: 'other' }), 'a cat --seconds 6', ...DONE);
    const failed = await house.seed(ada(), 'a hen --seconds 6', ...FAILED);
    const blind = await house.bot.text(ada(), 'compare a mole --models swift-1,plain --seconds 6');
    if (blind.kind !== 'task') throw new TypeError(replyText(blind));
    const compared = [...house.records.values()].filter((task) => task.set?.kind === 'comparison');
    for (const { id } of compared) for (const event of DONE) house.happen(id, event);
    expect((await open(4)).ofSelect('Replace by a clip…')).toEqual([]);
    for (const { id } of [secret, elsewhere, failed, ...compared])
      expect((await press(`take:${set}:0:4:${id}`)).kind).toBe('refused');
    expect((await board()).revision).toBe(0);
  });

  it('changes nothing by a press with an old revision, and shows the shot as it is now', async () => {
    const { set, ids, open, press, move, order, board, cut } = await withBoard();
    const old = await open(3);
    await move(2, 1);
    const late = [old.id('Skip'), old.id('Before 1'), `take:${set}:0:1:${ids[0]}`];
    for (const id of late.slice(0, 2)) {
      const reply = menuIn(await press(id));
      expect(reply.text).toContain('Someone changed this board meanwhile. Nothing was changed');
      expect(reply.id('Skip')).toBe(`skip:${set}:1:3:out`);
    }
    // What is so already is done.
    expect(menuIn(await press(late[2] ?? '')).text).toContain('The cut uses take 1 of shot 1.');
    expect(await order()).toEqual([2, 1, 3, 4]);
    expect(await cut()).toEqual([2, 1, 3]);
    expect((await board()).revision).toBe(1);
  });

  it('takes no press of those who may not decide, nor of those who do not see the board', async () => {
    const { house, set, ids, press, board } = await withBoard();
    const presses = [`move:${set}:0:3:1`, `move:${set}:0:3:1:menu`, `skip:${set}:0:3:out`, `take:${set}:0:1:${ids[0]}`];
    for (const id of presses) expect(replyText(await press(id, bob()))).toContain('Only Ada');
    for (const [id, task] of house.records)
      house.records.set(id, { ...task, origin: { ...task.origin, audience: 'channel' } });
    const stranger = bob({ channel: 'other', mayManage: true });
    for (const id of [...presses, `shot:${set}:1`]) {
      const reply = await press(id, stranger);
      expect(reply.kind).toBe('refused');
      expect(replyText(reply)).not.toContain('hot');
    }
    // A take of another shot, or one without a clip, is none of this one.
    for (const take of [ids[1], ids[3], set]) expect((await press(`take:${set}:0:4:${take}`)).kind).toBe('refused');
    expect((await board()).revision).toBe(0);
  });
});

describe('Insert a shot before', () => {
  const WORDS = { prompt: 'it yawns', seconds: '6' };

  async function withInsert() {
    const made = await withBoard();
    const { house, set } = made;
    let presses = 0;
    const insert = (before: number, { caller = ada(), values = WORDS, id = `i-${++presses}` } = {}) =>
      house.bot.submit({ ...caller, interaction: id }, `insert:${set}:${before}`, values);
    const bought = () => [...house.records.values()].filter(({ takeOf }) => takeOf !== undefined);
    return { ...made, insert, bought };
  }

  it('opens a form without words, with the settings of the shot', async () => {
    const { open, press } = await withInsert();
    const id = (await open(4)).id('Insert a shot before');
    const reply = await press(id);
    if (reply.kind !== 'form') throw new TypeError(replyText(reply));
    const values = Object.fromEntries(reply.form.fields.map(({ name, value }) => [name, value]));
    expect(values).toMatchObject({ prompt: '', model: 'swift-1', seconds: '6' });
    expect(values).not.toHaveProperty('takes');
    expect(replyText(await press(id, bob()))).toContain('Only Ada');
  });

  it('orders one clip, which stands where it was asked for and is a shot like the others', async () => {
    const { house, set, insert, bought, open, order, cut } = await withInsert();
    const reply = await insert(3);
    expect(reply.kind).toBe('task');
    const [task, ...more] = bought();
    expect(more).toEqual([]);
    expect(task).toMatchObject({
      takeOf: { id: set, kind: 'storyboard', at: 5, of: 4 },
      request: { prompt: 'it yawns', seconds: 6, model: 'swift-1' },
    });
    expect(task).not.toHaveProperty('retryOf');
    expect(await order()).toEqual([1, 2, 5, 3, 4]);
    for (const event of DONE) house.happen(task?.id as TaskId, event);
    expect(await cut()).toEqual([1, 2, 0, 3]);
    const menu = await open(5);
    expect(menu.text).toContain('‹it yawns›');
    expect(menu.labels[0]).toBe('Retry · $0.30');
    const status = replyText(await house.bot.text(ada(), `status ${setCardId(set)}`));
    expect(status).toContain('Storyboard: ‹a fox› · 5 shots · 24 s');
    expect(status).toContain('In the cut: shots 1, 2, 5, 3, 4.');
    expect(replyText(await house.bot.press(ada(), `details:${task?.id}`))).toMatch(/ shot 5 · /u);
    expect(replyText(await house.bot.text(ada(), 'list')).match(/Storyboard/gu)).toHaveLength(1);
    // A retry of it is another take of it.
    const again = await house.bot.press(ada(), menu.id('Retry'));
    if (again.kind !== 'task') throw new TypeError(replyText(again));
    expect(house.task(again.task).takeOf).toMatchObject({ at: 5 });
    await house.bot.press(ada(), `cancel:${setCardId(set)}`);
    expect(house.task(again.task).state).toBe('cancelled');
  });

  it('buys one clip for one interaction, however often it arrives, and another for the next', async () => {
    const { insert, bought, order } = await withInsert();
    const same = { id: 'same' };
    const replies = await Promise.all([insert(1, same), insert(1, same)]);
    replies.push(await insert(1, same));
    expect(new Set(replies.map((reply) => (reply.kind === 'task' ? reply.task : replyText(reply)))).size).toBe(1);
    expect(bought()).toHaveLength(1);
    await insert(2);
    expect(bought().map(({ takeOf }) => takeOf?.at)).toEqual([5, 6]);
    expect(await order()).toEqual([5, 1, 6, 2, 3, 4]);
  });

  it('of two persons at the same moment is two shots', async () => {
    const { insert, bought } = await withInsert();
    const replies = await Promise.all([insert(1), insert(1, { caller: bob({ mayManage: true }) })]);
    expect(replies.map(({ kind }) => kind)).toEqual(['task', 'task']);
    expect(new Set(bought().map(({ takeOf }) => takeOf?.at))).toEqual(new Set([5, 6]));
  });

  /** Has every order ask first. */
  async function withQuestions() {
    const made = await withInsert();
    made.house.rules = { confirmAbove: { amount: '0.10', currency: 'USD' }, budgets: [] };
    const confirmOf = (reply: Reply) => (reply.kind === 'offer' ? (reply.card.buttons[0]?.id ?? '') : replyText(reply));
    const confirm = (reply: Reply) => made.house.bot.press(ada(), confirmOf(reply));
    return { ...made, confirmOf, confirm };
  }

  it('waits for a confirmation or an approval with its place, and its question buys its own words', async () => {
    const { house, insert, bought, order, confirm, move } = await withQuestions();
    const sneeze = { prompt: 'it sneezes', seconds: '6' };
    const [asked, other] = await Promise.all([insert(2), insert(2, { values: sneeze })]);
    expect(bought()).toEqual([]);
    expect((await confirm(other)).kind).toBe('task');
    expect(bought().map(({ request }) => request.prompt)).toEqual(['it sneezes']);
    // The board may change before it is confirmed.
    await move(4, 1);
    expect((await confirm(asked)).kind).toBe('task');
    expect(bought().map(({ request }) => request.prompt)).toEqual(['it sneezes', 'it yawns']);
    expect((await order()).slice(0, 2)).toEqual([4, 1]);
    expect(new Set((await order()).slice(2, 4))).toEqual(new Set([5, 6]));
    expect((await order()).slice(4)).toEqual([2, 3]);
    house.rules = { approveAbove: { amount: '0.10', currency: 'USD' }, budgets: [] };
    const before = await order();
    expect((await insert(1)).kind).toBe('task');
    // What is not bought yet is no shot.
    expect(bought().map(({ state }) => state)).toEqual(['claimed', 'claimed', 'requested']);
    expect(await order()).toEqual(before);
  });

  it('counts those that wait for a confirmation, and not those that were discarded', async () => {
    const { house, insert, bought, confirm } = await withQuestions();
    const asked: Reply[] = [];
    for (let at = 5; at <= 12; at += 1) asked.push(await insert(1));
    expect(replyText(await insert(1))).toContain('at most 12 shots, with those that wait for a confirmation');
    const [first] = asked;
    const discard =
      first?.kind === 'offer' ? first.card.buttons.find(({ id }) => id.startsWith('discard:')) : undefined;
    await house.bot.press(ada(), discard?.id ?? '');
    house.clock.advance(60_000);
    const instead = await insert(1);
    for (const reply of [...asked, instead]) await confirm(reply);
    expect(bought()).toHaveLength(8);
    expect(new Set(bought().map(({ takeOf }) => takeOf?.at)).size).toBe(8);
  });

  it('is refused once all of the storyboard is removed', async () => {
    const { house, ids, insert, bought } = await withInsert();
    for (const id of ids) house.happen(id, { kind: 'presented', revision: house.task(id).revision });
    for (const id of ids) house.happen(id, { kind: 'remove', reason: 'deleted', keepsContent: false, atMs: 5_000 });
    expect((await insert(1)).kind).toBe('refused');
    expect(bought()).toEqual([]);
  });

  it('is one clip, also when its form is corrected', async () => {
    const { house, insert, bought } = await withInsert();
    const wrong = await insert(1, { values: { prompt: 'it yawns', seconds: '7' } });
    const fix = wrong.kind === 'refused' ? wrong.buttons?.find(({ id }) => id.startsWith('fix:'))?.id : undefined;
    const form = await house.bot.press(ada(), fix ?? '');
    if (form.kind !== 'form') throw new TypeError(replyText(form));
    expect(form.form.fields.map(({ name }) => name)).not.toContain('takes');
    await house.bot.submit(ada(), form.form.id, { prompt: 'it yawns', seconds: '6', takes: '3' });
    expect(bought()).toMatchObject([{ takeOf: { at: 5 } }]);
  });

  it('is refused on a full board, elsewhere, and to who may not decide, and buys nothing', async () => {
    const { house, set, insert, bought, open, press } = await withInsert();
    expect(replyText(await insert(1, { caller: bob() }))).toContain('Only Ada');
    expect(replyText(await insert(1, { caller: ada({ channel: 'other' }) }))).toContain(
      'in the channel of its storyboard',
    );
    expect((await insert(9)).kind).toBe('refused');
    expect(bought()).toEqual([]);
    for (let at = 5; at <= 12; at += 1) expect((await insert(1)).kind).toBe('task');
    expect(replyText(await insert(1))).toContain('at most 12 shots');
    expect(replyText(await press(`insert:${set}:1`))).toContain('at most 12 shots');
    expect((await open(1)).labels).not.toContainEqual(expect.stringMatching(/^Insert/u));
    expect(bought()).toHaveLength(8);
    expect((await house.boards.get({ id: set, kind: 'storyboard', at: 1, of: 4 })).shots).toHaveLength(12);
  });
});

describe('Move', () => {
  it('puts a shot before another one, or at the end, and shows it on the card', async () => {
    const { house, set, move, order } = await withBoard();
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
    const { set, press, move, cut } = await withBoard();
    await press(`skip:${set}:0:2:out`);
    await move(3, 1, 1);
    expect(await cut()).toEqual([3, 1]);
  });

  it('delivered twice is done once, and says the same', async () => {
    const { house, move, order } = await withBoard();
    const replies = await Promise.all([move(3, 1), move(3, 1)]);
    expect(replies.map(replyText)).toEqual(Array(2).fill(expect.stringContaining('Shot 3 is before shot 1.')));
    expect(replyText(await move(3, 1))).toContain('Shot 3 is before shot 1.');
    expect(await order()).toEqual([3, 1, 2, 4]);
    expect(house.updatedBoards).toHaveLength(1);
  });

  it('does not overwrite a change that its board did not show', async () => {
    const { house, move, order } = await withBoard();
    const replies = await Promise.all([move(3, 1), move(4, 2)]);
    expect(replies.map(replyText).filter((text) => text.includes('Someone changed this board'))).toHaveLength(1);
    const after = await order();
    const shown = house.updatedBoards.length;
    expect(replyText(await move(2, 0))).toContain('Someone changed this board meanwhile. Nothing was changed');
    expect(await order()).toEqual(after);
    // Its card is shown anew, so that the next try names the revision that it is at now.
    expect(house.updatedBoards).toHaveLength(shown + 1);
  });

  it('is for those who may decide, and of shots that there are', async () => {
    const { house, move, order } = await withBoard();
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
    const { house, set, ids, press, move } = await withBoard();
    await move(3, 1);
    await press(`skip:${set}:1:2:out`);
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

  it.each(['button', '❌'])(
    'is cancelled by %s with the takes that were added, but for those that others bought',
    async (how) => {
      const { house, set, ids, open } = await withBoard();
      const own = await house.bot.press(ada(), `retry:${ids[3]}:0.3USD`);
      const manager = bob({ mayManage: true });
      const asked = await house.bot.press(manager, (await open(1, manager)).id('Insert'));
      const form = asked.kind === 'form' ? asked.form.id : replyText(asked);
      const inserted = await house.bot.submit(manager, form, { prompt: 'it yawns', seconds: '6' });
      if (own.kind !== 'task' || inserted.kind !== 'task')
        throw new TypeError(`${replyText(own)} ${replyText(inserted)}`);
      const cancelled =
        how === 'button'
          ? await house.bot.press(ada(), `cancel:${setCardId(set)}`)
          : await house.bot.react(ada(), { channel: 'clips', message: `m-${setCardId(set)}` }, how);
      expect(replyText(cancelled as Reply)).toContain('Cancelled 1 shot. ');
      expect(house.task(own.task).state).toBe('cancelled');
      expect(house.task(inserted.task).state).toBe('claimed');
      await house.bot.press(manager, `cancel:${setCardId(set)}`);
      expect(house.task(inserted.task).state).toBe('cancelled');
    },
  );

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
    expect(buttons).toEqual([`retry:${ids[3]}:0.3USD`, `join:${card}`, `details:${card}`, `show:${card}`]);
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
