import { describe, expect, it, vi } from 'vitest';
import type { Caller, Reply } from '#commands/bot-port.ts';
import { buttonsOf, linesOf } from '#commands/ui/card.ts';
import { plainText } from '#commands/ui/plain-text.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import { parseCatalog, priceFingerprint } from '#src/videos/catalog.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { doneIn } from '#test/fakes/outcomes.ts';
import { EVENTS } from '#test/fakes/tasks.ts';
import { CATALOG, EPIC, SWIFT } from '../../videos/models.ts';

const SEND: TaskEvent = { kind: 'send', owner: 'o', atMs: 0 };
const DONE = doneIn(134_000);

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
    expect(reply).toMatchObject({ kind: 'task', task: id });
    expect(house.orders).toMatchObject([{ price: { amount: '0.3' }, set: { kind: 'takes' } }]);
    expect(house.records.size).toBe(takes);
    expect(reply).toMatchObject(await house.bot.text(caller, `a red fox --seconds 6 --takes ${takes}`));
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

  it('may be chosen in a form, whose price is that of all', async () => {
    const house = new BotHouse(CATALOG);
    const shown = { price: { amount: '0.9', currency: 'USD' } };
    const values = { prompt: 'a red fox', seconds: '6', takes: '3' };
    expect((await house.bot.submit(ada({ shown }), 'create', values)).kind).toBe('task');
    expect(house.records.size).toBe(3);
    // A form that shows the prices of one clip only asks once more.
    const choices = { prices: priceFingerprint(CATALOG) };
    const reply = await house.bot.submit(ada({ shown: choices }), 'create', values);
    expect(replyText(reply)).toContain('This costs $0.90.');
    expect(house.records.size).toBe(3);
  });

  it('is asked about once, at the price of all', async () => {
    const house = new BotHouse(CATALOG);
    house.rules = { budgets: [], confirmAbove: { amount: '1', currency: 'USD' } };
    const reply = await house.bot.text(ada(), 'a red fox --seconds 6 --takes 4');
    expect(house.orders).toEqual([]);
    const button = reply.kind === 'offer' ? reply.card.buttons[0] : undefined;
    expect(button?.label).toBe('Create for $1.20');
    const own = reply.kind === 'offer' && reply.private !== undefined ? plainText(linesOf(reply.private)) : '';
    expect(own).toContain('These 4 takes cost $1.20. Orders above $1.00 need a confirmation.');
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
    expect(replyText(reply)).toContain('2 takes of 6 s for $0.60 would fit.');
    const whole = house.over;
    const labels = (of: Reply) => (of.kind === 'refused' ? (of.buttons ?? []).map(({ label }) => label) : []);
    for (const [room, model, fitting] of [
      ['0.35', SWIFT, '1 take of 6 s for $0.30'],
      ['0.25', SWIFT, '1 take of 4 s for $0.20'],
      [
        '0.19',
        { ...SWIFT, name: 'sketch', title: 'Sketch', price: '0.01', default: false },
        '3 takes of 6 s with Sketch for $0.18',
      ],
    ] as const) {
      house.replaceCatalog(parseCatalog({ models: [SWIFT, EPIC, ...(model === SWIFT ? [] : [model])] }));
      house.over = { ...whole, room };
      const fewer = await house.bot.text(ada(), 'a red fox --seconds 6 --takes 4');
      expect(replyText(fewer)).toContain(` ${fitting} would fit.`);
      expect(labels(fewer)).toContain(`Create ${fitting.replace(' for ', ' · ')}`);
    }
    expect(house.records.size).toBe(0);
    const [fit] = reply.kind === 'refused' ? (reply.buttons ?? []) : [];
    expect(fit?.label).toBe('Create 2 takes of 6 s · $0.60');
    house.over = null;
    await house.bot.press(ada(), fit?.id ?? '');
    expect(house.records.size).toBe(2);
  });

  it('is refused where the bot can show one message only', async () => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.text(ada({ isGuest: true }), 'a red fox --takes 2');
    expect(replyText(reply)).toContain('I’m not a member here');
    expect(house.records.size).toBe(0);
  });
});

it('are clips in lists, status and details, with their place', async () => {
  const { house, ids } = await withTakes(4);
  const list = replyText(await house.bot.text(ada(), 'list'));
  for (const at of [1, 2, 3, 4]) expect(list).toContain(`take ${at} of 4 · 6 s · $0.30`);
  expect(replyText(await house.bot.text(ada(), 'status'))).toContain('take 3 of 4');
  expect(replyText(await house.bot.text(ada(), `status ${ids[1]}`))).toContain('2 of 4 takes');
  expect(replyText(await house.bot.press(ada(), `details:${ids[2]}`))).toContain('6 s · 16:9 · 720p · take 3 of 4');
});

it('have details together: their total, state and id, and the details of each', async () => {
  const { house, ids, card } = await withTakes(3);
  for (const event of DONE) house.happen(ids[0] as TaskId, event);
  const reply = await house.bot.press(ada(), `details:${card}`);
  expect(replyText(reply)).toContain('3 takes · $0.90 · Ada');
  expect(replyText(reply)).toContain(`ID \`${card}\``);
  expect(replyText(reply)).toMatch(/Take 1\* · Done in .*\n\*Take 2\* · Queued/u);
  const buttons = reply.kind === 'private' ? buttonsOf(reply.card).map(({ id }) => id) : [];
  expect(buttons).toEqual([...ids.map((id) => `details:${id}`), `show:${card}`]);
});

it('have details each with what can be done with that clip, which is on the card of all', async () => {
  const { house, ids } = await withTakes(2);
  const [first, second] = ids as [TaskId, TaskId];
  for (const event of DONE) house.happen(first, event);
  for (const event of [SEND, EVENTS.lost]) house.happen(second, event);
  const detailsOf = async (id: TaskId) => {
    const reply = await house.bot.press(ada(), `details:${id}`);
    if (reply.kind !== 'private') throw new TypeError(replyText(reply));
    return { words: replyText(reply), labels: buttonsOf(reply.card).map(({ label }) => label) };
  };
  expect((await detailsOf(first)).labels).toEqual(['Retry · $0.30', 'Edit & retry']);
  const { words, labels } = await detailsOf(second);
  expect(words).toContain('Does the service’s console show it?');
  expect(labels).toEqual(['Enter its ID', 'Send again · $0.30', 'Dismiss']);
});

it('are offered as what they are: a slip, a late order, and a prompt without letters', async () => {
  const house = new BotHouse(CATALOG);
  const slip = await house.bot.text(ada(), 'crate a red fox --seconds 6 --takes 3');
  expect(slip.kind === 'private' ? buttonsOf(slip.card).map(({ label }) => label) : []).toEqual(
    expect.arrayContaining([expect.stringMatching(/^Create 3 takes of “.*” · \$0\.90$/)]),
  );
  const digits = await house.bot.text(ada(), '1984 --seconds 6 --takes 2');
  expect(replyText(digits)).toContain('Should I make 2 takes of it anyway?');
  expect(house.records.size).toBe(0);
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
    expect(first).toMatchObject({ kind: 'task', task: taskIdOf(`retry:set-${set}`) });
    expect(replyText(await house.bot.press(ada(), `retry:${card}:0.6USD`))).toContain('Already on its way');
    expect(house.records.size).toBe(4);
    expect(replyText(await house.bot.press(ada(), `retry:${card}:0.4USD`))).not.toContain('Only');
    expect(house.records.size).toBe(4);
  });

  it('leads every redelivered press back to its own set, and the one after that makes the next', async () => {
    const { house, card, set } = await withTakes(2, ...DONE);
    const [first, late] = [ada(), ada()];
    const again = (caller: Caller) => house.bot.press(caller, `retry:${card}:0.6USD`);
    await again(first);
    await again(late);
    for (const id of memberIds({ id: taskIdOf(`retry:set-${set}`), of: 2 })) {
      for (const event of DONE) house.happen(id, event);
      house.happen(id, { kind: 'presented', revision: house.task(id).revision });
    }
    expect(await again(first)).toMatchObject({ kind: 'task', task: taskIdOf(`retry:set-${set}`) });
    expect(replyText(await again(late))).toContain('Already retried');
    expect(house.records.size).toBe(4);
    expect(await again(ada())).toMatchObject({ kind: 'task', task: taskIdOf(`retry:set-${set}:2`) });
    expect(house.records.size).toBe(6);
  });

  it('makes no further set while a clip of the one before is in progress', async () => {
    const { house, card, set } = await withTakes(2, ...DONE);
    const again = () => house.bot.press(ada(), `retry:${card}:0.6USD`);
    await again();
    const first = taskIdOf(`retry:set-${set}`);
    for (const event of DONE) house.happen(first, event);
    house.happen(first, { kind: 'presented', revision: house.task(first).revision });
    expect(replyText(await again())).toContain('Already');
    expect(house.records.size).toBe(4);
  });

  it('is made again by its requester and managers alone, and asks before it shows a private prompt elsewhere', async () => {
    const { house, card } = await withTakes(2, ...DONE);
    expect(replyText(await house.bot.press(bob(), `retry:${card}:0.6USD`))).toContain('Only Ada');
    house.audiences.set('secret', 'channel');
    const placed = await house.bot.text(ada({ channel: 'secret' }), 'a red wolf --seconds 6 --takes 2');
    const ofSecret = placed.kind === 'task' ? `set-${placed.task}` : '';
    const reply = await house.bot.press(ada({ channel: 'other' }), `retry:${ofSecret}:0.6USD`);
    expect(replyText(reply)).toContain('private');
    expect(house.records.size).toBe(4);
  });

  it('is not made again by settings that change after they were read', async () => {
    const { house, card } = await withTakes(2, ...DONE);
    const by = { person: ada().user, surface: 'command' } as const;
    const decide = (rule: 'any' | readonly []) =>
      house.settings.change(ada(), by, { policy: { team: { decide: rule }, channels: {} } });
    await decide('any');
    const read = house.settings.get.bind(house.settings);
    vi.spyOn(house.settings, 'get').mockImplementationOnce(async (team) => {
      const before = await read(team);
      await decide([]);
      return before;
    });
    expect(replyText(await house.bot.press(bob(), `retry:${card}:0.6USD`))).toContain('settings changed just now');
    expect(house.records.size).toBe(2);
    expect(replyText(await house.bot.press(bob(), `retry:${card}:0.6USD`))).toContain('Only Ada');
  });

  it('is made again from what is left of it', async () => {
    const { house, card, ids } = await withTakes(2, ...DONE);
    for (const id of ids) house.happen(id, { kind: 'presented', revision: house.task(id).revision });
    const removed = { kind: 'remove', reason: 'deleted', keepsContent: false, atMs: NOON_MS } as const;
    house.happen(ids[0] as TaskId, removed);
    expect((await house.bot.press(ada(), `retry:${card}:0.6USD`)).kind).toBe('task');
    expect(house.orders[0]?.request.prompt).toBe('a red fox');
    house.happen(ids[1] as TaskId, removed);
    expect(replyText(await house.bot.press(ada(), `retry:${card}:0.6USD`))).toContain('removed');
    expect(house.orders).toHaveLength(1);
  });

  it('retries one of its tasks as any other', async () => {
    const { house, ids } = await withTakes(2, ...DONE);
    const second = ids[1] as TaskId;
    expect(await house.bot.press(ada(), `retry:${second}:0.3USD`)).toMatchObject({
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

describe('the approval of a set', () => {
  const DAY_MS = 24 * 3_600_000;
  const USD = (amount: string) => ({ amount, currency: 'USD' });
  const admin = (changes: Partial<Caller> = {}) => bob({ mayAdminister: true, ...changes });

  /** A house with Ada's request for four takes at $0.30 each. */
  async function requested(changes: Partial<Caller> = {}) {
    const house = new BotHouse(CATALOG);
    house.rules = { budgets: [], approveAbove: USD('1') };
    const caller = ada(changes);
    const reply = await house.bot.text(caller, 'a red fox --seconds 6 --takes 4');
    const set = taskIdOf(`slack:${caller.interaction}`);
    const ids = memberIds({ id: set, of: 4 });
    const states = () => ids.map((id) => house.records.get(id)?.state);
    const [approve, deny] = [`approve:set-${set}:1.2USD`, `deny:set-${set}`];
    return { house, reply, set, ids, states, approve, deny };
  }

  it('is asked for once, about the price of all, and given to all', async () => {
    const { house, reply, set, states, approve } = await requested();
    expect(reply).toMatchObject({ kind: 'task', task: set });
    expect(states()).toEqual(['requested', 'requested', 'requested', 'requested']);
    const done = await house.bot.press(admin(), approve);
    expect(replyText(done)).toContain('Approved for $1.20. The 4 takes for Ada are on their way.');
    expect(house.approved).toMatchObject([
      { offered: USD('1.2'), current: Array.from({ length: 4 }, () => USD('0.3')) },
    ]);
    expect(states()).toEqual(['claimed', 'claimed', 'claimed', 'claimed']);
    // A second press, the same one redelivered, and another approver's.
    expect(replyText(await house.bot.press(admin(), approve))).toContain('Approved for $1.20.');
    const other = admin({ user: { id: 'U7', name: 'Cleo' } });
    expect(replyText(await house.bot.press(other, approve))).toContain('Bob already approved this just now.');
    expect(replyText(await house.bot.press(ada(), `withdraw:set-${set}`))).toContain('Bob already approved this');
    expect(states()).toEqual(['claimed', 'claimed', 'claimed', 'claimed']);
  });

  it('is denied for all of it, with one reason', async () => {
    const { house, states, ids, deny } = await requested();
    expect(await house.bot.press(admin(), deny)).toMatchObject({ kind: 'form', form: { id: deny } });
    const reply = await house.bot.submit(admin(), deny, { reason: 'too many' });
    expect(replyText(reply)).toContain('Denied. Ada sees that under the 4 takes.');
    expect(states()).toEqual(['declined', 'declined', 'declined', 'declined']);
    for (const id of ids) expect(house.task(id).declined).toMatchObject({ how: 'denied', reason: 'too many' });
  });

  it.each(['withdraw', 'cancel', '❌', '/video cancel'] as const)('is withdrawn for all of it by %s', async (way) => {
    const { house, set, ids, states, approve } = await requested();
    const ref = { channel: 'clips', message: `m-set-${set}` };
    const reply =
      way === '❌'
        ? await house.bot.react(ada(), ref, way)
        : way === '/video cancel'
          ? await house.bot.text(ada(), `cancel ${ids[2]}`)
          : await house.bot.press(ada(), `${way}:set-${set}`);
    expect(replyText(reply)).toContain('Withdrawn. Nothing was charged.');
    expect(states()).toEqual(['declined', 'declined', 'declined', 'declined']);
    expect(replyText(await house.bot.press(admin(), approve))).toContain('Ada already withdrew this request');
  });

  it('is no one’s own, and a stranger’s neither', async () => {
    const { house, approve, deny, states, set } = await requested();
    const presses = [
      house.bot.press(ada({ mayAdminister: true }), approve),
      house.bot.press(bob(), approve),
      house.bot.press(bob(), deny),
      house.bot.press(bob(), `withdraw:set-${set}`),
      house.bot.press(admin({ team: 'T2' }), approve),
    ];
    for (const reply of await Promise.all(presses)) expect(reply.kind).toBe('refused');
    expect(new Set(states())).toEqual(new Set(['requested']));
  });

  it('of one task alone is not given: the reply has the button for all of them', async () => {
    const { house, ids, states, approve, deny } = await requested();
    const reply = await house.bot.press(admin(), `approve:${ids[1]}:0.3USD`);
    expect(replyText(reply)).toContain('The 4 takes are approved together. Nothing has been bought yet.');
    expect(reply.kind === 'private' ? buttonsOf(reply.card).map(({ id }) => id) : []).toEqual([approve, deny]);
    expect(house.approved).toEqual([]);
    expect(new Set(states())).toEqual(new Set(['requested']));
  });

  it('counts no more once it has expired, without a sweep', async () => {
    const { house, approve, states } = await requested();
    house.clock.advance(DAY_MS);
    expect(replyText(await house.bot.press(admin(), approve))).toContain('This request has expired.');
    expect(new Set(states())).toEqual(new Set(['requested']));
  });

  it('asks in a private channel whether approvers may see the prompt, and redelivered presses request it once', async () => {
    const house = new BotHouse(CATALOG);
    house.rules = { budgets: [], approveAbove: USD('1') };
    house.audiences.set('secret', 'channel');
    const reply = await house.bot.text(ada({ channel: 'secret' }), 'a red fox --seconds 6 --takes 4');
    expect(replyText(reply)).toContain('These 4 takes cost $1.20. Orders above $1.00 need an approval');
    expect(house.records.size).toBe(0);
    const [shown] = reply.kind === 'offer' ? buttonsOf(reply.card) : [];
    for (let press = 0; press < 2; press += 1) await house.bot.press(ada({ channel: 'secret' }), shown?.id ?? '');
    expect(house.records.size).toBe(4);
    for (const task of house.records.values()) expect(task.approval).toMatchObject({ isPromptShown: true });
  });

  it('may be asked for over a budget', async () => {
    const house = new BotHouse(CATALOG);
    const figures = { limit: '1', used: '1', held: '0', doubted: '0', room: '0', price: '1.2' };
    house.over = { scope: 'team', budget: 'team:slack:T1', period: '2026-11', currency: 'USD', ...figures };
    const reply = await house.bot.text(ada(), 'a red fox --seconds 6 --takes 4');
    expect(replyText(reply)).toContain('$0.00 of $1.00 left, these 4 takes cost $1.20.');
    const ask = reply.kind === 'refused' ? reply.buttons?.find(({ label }) => label.startsWith('Ask')) : undefined;
    expect(ask?.label).toBe('Ask for approval · $1.20');
    await house.bot.press(ada(), ask?.id ?? '');
    expect([...house.records.values()].map(({ state }) => state)).toEqual(Array(4).fill('requested'));
  });

  it('is one line in the list, with one pair of buttons, and one afterwards', async () => {
    const { house, set, approve, deny } = await requested();
    await house.bot.text(ada(), 'a blue fox --seconds 8 --takes 3');
    const forBob = await house.bot.text(admin(), 'approvals');
    expect(replyText(forBob)).toMatch(/Ada · \$1\.20 · ‹a red fox› .* 6 s · 4 takes/);
    expect(forBob.kind === 'private' ? buttonsOf(forBob.card).map(({ id }) => id) : []).toEqual(
      expect.arrayContaining([approve, deny]),
    );
    expect(forBob.kind === 'private' ? buttonsOf(forBob.card) : []).toHaveLength(4);
    const forAda = await house.bot.text(ada(), 'approvals');
    expect(forAda.kind === 'private' ? buttonsOf(forAda.card).map(({ id }) => id) : []).toContain(
      `withdraw:set-${set}`,
    );
    await house.bot.press(admin(), approve);
    expect(replyText(await house.bot.text(admin(), 'approvals')).match(/approved by Bob/g)).toHaveLength(1);
  });

  it('at a price that has risen is refused, and the catalog’s price is asked about again', async () => {
    const { house, states, ids, approve } = await requested();
    house.outcome = {
      kind: 'repriced',
      tasks: [repriced(house.task(ids[0] as TaskId)), ...ids.slice(1).map((id) => repriced(house.task(id)))],
    };
    expect(replyText(await house.bot.press(admin(), approve))).toContain('The price is now $1.60, not $1.20');
    expect(new Set(states())).toEqual(new Set(['requested']));
  });

  function repriced(task: Task): Task {
    return { ...task, declined: { how: 'repriced', price: USD('0.4'), atMs: NOON_MS } };
  }
});
