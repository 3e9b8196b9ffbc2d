import { describe, expect, it } from 'vitest';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { TaskEvent, TaskId } from '#src/tasks/task.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

const SEND: TaskEvent = { kind: 'send', owner: 'o' };
const DONE: readonly TaskEvent[] = [
  SEND,
  { kind: 'accepted', upstreamId: 'up:1' as UpstreamId, atMs: NOON_MS },
  { kind: 'completed', atMs: NOON_MS + 134_000 },
  { kind: 'fetched', clip: { path: '/a', bytes: 1, contentType: 'video/mp4' } },
];

/** A house with a set of Ada's, each task after the events. */
async function withTakes(takes: number, ...events: readonly TaskEvent[]) {
  const house = new BotHouse(CATALOG);
  const reply = await house.bot.text(ada(), `a red fox --seconds 6 --takes ${takes}`);
  if (reply.kind !== 'task') throw new TypeError(replyText(reply));
  const ids = memberIds({ id: reply.task, of: takes });
  for (const id of ids) for (const event of events) house.happen(id, event);
  house.orders.length = 0;
  const card = `set-${reply.task}`;
  const ref = { channel: 'clips', message: `m-${card}` };
  return { house, ids, card, ref, set: reply.task };
}

describe('--takes', () => {
  it.each([2, 4])('orders %i takes at once, under the key of the command', async (takes) => {
    const house = new BotHouse(CATALOG);
    const caller = ada();
    const reply = await house.bot.text(caller, `a red fox --seconds 6 --takes ${takes}`);
    const id = taskIdOf(`slack:${caller.interaction}`);
    expect(reply).toEqual({ kind: 'task', task: id });
    expect(house.orders).toMatchObject([{ price: { amount: '0.3' }, set: { kind: 'takes' } }]);
    expect(house.records.size).toBe(takes);
    expect(await house.bot.text(caller, `a red fox --seconds 6 --takes ${takes}`)).toEqual(reply);
    expect(house.records.size).toBe(takes);
  });

  it('of 1 is one task', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.command(ada(), 'create', { prompt: ['a red fox'], takes: ['1'] });
    expect(house.orders[0]).not.toHaveProperty('set');
    expect(house.records.size).toBe(1);
  });

  it.each(['0', '5', 'two', '-1', '1.5'])('refuses %s', async (takes) => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.command(ada(), 'create', { prompt: ['a red fox'], takes: [takes] });
    expect(replyText(reply)).toContain(`takes: “${takes}” isn’t a number of takes. Choose 1 to 4.`);
    expect(house.orders).toEqual([]);
  });

  it('is asked about once, at the price of all', async () => {
    const house = new BotHouse(CATALOG);
    house.rules = { budgets: [], confirmAbove: { amount: '1', currency: 'USD' } };
    const reply = await house.bot.text(ada(), 'a red fox --seconds 6 --takes 4');
    expect(house.orders).toEqual([]);
    const button = reply.kind === 'offer' ? reply.card.buttons[0] : undefined;
    expect(button?.label).toBe('Create for $1.20');
    expect((await house.bot.press(ada(), button?.id ?? '')).kind).toBe('task');
    expect(house.records.size).toBe(4);
  });

  it('is not asked about below the threshold', async () => {
    const house = new BotHouse(CATALOG);
    house.rules = { budgets: [], confirmAbove: { amount: '1', currency: 'USD' } };
    expect((await house.bot.text(ada(), 'a red fox --seconds 6 --takes 3')).kind).toBe('task');
  });

  it('over a budget offers as many takes as fit, and nothing is bought', async () => {
    const house = new BotHouse(CATALOG);
    house.over = {
      scope: 'team',
      budget: 'team:slack:T1',
      period: '2026-11',
      currency: 'USD',
      limit: '1',
      used: '0.3',
      held: '0',
      doubted: '0',
      room: '0.7',
      price: '1.2',
    };
    const reply = await house.bot.text(ada(), 'a red fox --seconds 6 --takes 4');
    expect(replyText(reply)).toContain('2 takes for $0.60 would fit.');
    expect(house.records.size).toBe(0);
    const [fit] = reply.kind === 'refused' ? (reply.buttons ?? []) : [];
    expect(fit?.label).toBe('Create 2 takes · $0.60');
    house.over = null;
    await house.bot.press(ada(), fit?.id ?? '');
    expect(house.records.size).toBe(2);
  });

  it('above the threshold of approvals is refused for now', async () => {
    const house = new BotHouse(CATALOG);
    house.rules = { budgets: [], approveAbove: { amount: '1', currency: 'USD' } };
    const reply = await house.bot.text(ada(), 'a red fox --seconds 6 --takes 4');
    expect(replyText(reply)).toContain('takes: Above $1.00, an approval is for one clip at a time.');
    expect(house.records.size).toBe(0);
  });

  it('is refused where the bot can show one message only', async () => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.text(ada({ isGuest: true }), 'a red fox --takes 2');
    expect(replyText(reply)).toContain('I’m not a member here');
    expect(house.records.size).toBe(0);
  });
});

describe('the card of a set', () => {
  it.each(['button', 'reaction'])('cancels by %s what can be cancelled', async (way) => {
    const { house, ids, card, ref } = await withTakes(3);
    for (const event of DONE) house.happen(ids[0] as TaskId, event);
    house.happen(ids[1] as TaskId, SEND);
    const reply =
      way === 'button' ? await house.bot.press(ada(), `cancel:${card}`) : await house.bot.react(ada(), ref, '❌');
    expect(replyText(reply)).toContain('Cancelled 2 takes.');
    expect(replyText(reply)).toContain('it may still finish 1 take and charge $0.30.');
    expect(ids.map((id) => house.task(id).state)).toEqual(['completed', 'sending', 'cancelled']);
  });

  it('is cancelled by its requester and managers of the channel alone', async () => {
    const { house, ids, card } = await withTakes(2);
    expect(replyText(await house.bot.press(bob(), `cancel:${card}`))).toContain('Only Ada');
    expect(ids.map((id) => house.task(id).state)).toEqual(['claimed', 'claimed']);
    await house.bot.press(bob({ mayManage: true }), `cancel:${card}`);
    expect(ids.map((id) => house.task(id).state)).toEqual(['cancelled', 'cancelled']);
  });

  it('answers 🔁 with the price and a button, and buys nothing by it', async () => {
    const { house, ref } = await withTakes(4, ...DONE);
    const reply = await house.bot.react(ada(), ref, '🔁');
    expect(house.orders).toEqual([]);
    expect(reply?.kind).toBe('offer');
    const button = reply?.kind === 'offer' ? reply.card.buttons[0] : undefined;
    expect(button?.label).toBe('Create · $1.20');
    expect((await house.bot.press(ada(), button?.id ?? '')).kind).toBe('task');
    expect(house.records.size).toBe(8);
  });

  it('makes as many takes again for the price on its button, once while they run', async () => {
    const { house, card, set } = await withTakes(2, ...DONE);
    const first = await house.bot.press(ada(), `retry:${card}:0.6USD`);
    expect(first).toEqual({ kind: 'task', task: taskIdOf(`retry:set-${set}`) });
    expect(replyText(await house.bot.press(ada(), `retry:${card}:0.6USD`))).toContain('Already on its way');
    expect(house.records.size).toBe(4);
    expect(replyText(await house.bot.press(ada(), `retry:${card}:0.4USD`))).not.toContain('Only');
    expect(house.records.size).toBe(4);
  });

  it('retries one of its tasks as any other', async () => {
    const { house, ids } = await withTakes(2, ...DONE);
    const second = ids[1] as TaskId;
    expect(await house.bot.press(ada(), `retry:${second}:0.3USD`)).toEqual({
      kind: 'task',
      task: taskIdOf(`retry:${second}`),
    });
    expect(house.orders[0]).not.toHaveProperty('set');
  });

  it('is no card to someone who may not see its tasks, or of a set that does not exist', async () => {
    const { house, card } = await withTakes(2);
    house.audiences.set('secret', 'channel');
    expect(replyText(await house.bot.press(ada({ team: 'T2' }), `cancel:${card}`))).toContain('refused');
    expect(replyText(await house.bot.press(ada(), 'cancel:set-nothing'))).toContain('refused');
  });
});
