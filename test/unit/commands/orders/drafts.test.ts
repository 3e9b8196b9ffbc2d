import { describe, expect, it } from 'vitest';
import type { Caller, Form, Reply } from '#commands/bot-port.ts';
import { offerRequest } from '#commands/orders/offers.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG, EPIC, SWIFT } from '../../videos/models.ts';

/** Returns the id of a reply's button by the start of its label. */
function buttonOf(reply: Reply, label: string): string {
  const buttons = reply.kind === 'private' ? reply.card.buttons : reply.kind === 'refused' ? (reply.buttons ?? []) : [];
  const found = buttons.find((one) => one.label.startsWith(label));
  if (found === undefined) throw new TypeError(`no button ${label} in ${JSON.stringify(reply)}`);
  return found.id;
}

function formOf(reply: Reply): Form {
  if (reply.kind !== 'form') throw new TypeError(replyText(reply));
  return reply.form;
}

const offered = async (caller: Caller = ada({ interaction: 'i-fox' })) => {
  const house = new BotHouse(CATALOG);
  const reply = await offerRequest(house, caller, { request: { prompt: 'a fox' } }, { reason: { kind: 'talk' } });
  return { house, reply, create: buttonOf(reply, 'Create'), discard: buttonOf(reply, 'Discard') };
};

describe('offer', () => {
  it('buys nothing and shows the price on its button', async () => {
    const { house, reply, create } = await offered();
    expect(house.orders).toEqual([]);
    expect(replyText(reply)).toContain('(Create a clip of “a fox” · $0.20) (Discard)');
    expect(create).toBe(`order:${taskIdOf('slack:i-fox')}:0.2USD`);
  });

  it('claims under the key of its request and creates one task for repeated confirmations', async () => {
    const { house, create } = await offered();
    const pressed = await house.bot.press(ada(), create);
    expect(pressed).toMatchObject({ kind: 'task', task: taskIdOf('slack:i-fox'), settled: 'Ordered: 1 clip · $0.20.' });
    expect(house.orders).toMatchObject([{ key: 'slack:i-fox', request: { prompt: 'a fox', seconds: 4 } }]);
    expect(replyText(await house.bot.press(ada(), create))).toContain('already requested');
    expect(house.records.size).toBe(1);
  });

  it('names the task of a repeated confirmation by its message, or by its id without one', async () => {
    const { house, create } = await offered();
    await house.bot.press(ada(), create);
    const id = taskIdOf('slack:i-fox');
    expect(replyText(await house.bot.press(ada(), create))).toBe(`This was already requested. [See it here → m-${id}]`);
    house.chat.messageOf = async () => undefined;
    expect(replyText(await house.bot.press(ada(), create))).toBe(
      `This was already requested, as \`${id.slice(0, 8)}\``,
    );
  });

  it('gives the same reply to a redelivered confirmation', async () => {
    const { house, create } = await offered();
    const caller = ada({ interaction: 'press' });
    const [first, second] = await Promise.all([house.bot.press(caller, create), house.bot.press(caller, create)]);
    expect([first.kind, second.kind]).toContain('task');
    expect(house.records.size).toBe(1);
  });

  it('is available to its requester only', async () => {
    const { house, create, discard } = await offered();
    for (const button of [create, discard])
      expect((await house.bot.press(bob({ mayManage: true }), button)).kind).toBe('refused');
    expect((await house.bot.press(ada({ team: 'T2' }), create)).kind).toBe('refused');
    expect(house.records.size).toBe(0);
    expect((await house.bot.press(ada(), create)).kind).toBe('task');
  });

  it('cannot be bought after it was discarded, by a button or a redelivery of its request', async () => {
    const { house, create, discard } = await offered();
    expect(replyText(await house.bot.press(ada(), discard))).toContain('Discarded');
    expect((await house.bot.press(ada(), create)).kind).toBe('refused');
    const again = ada({ interaction: 'i-fox' });
    await offerRequest(house, again, { request: { prompt: 'a fox' } }, { reason: { kind: 'talk' } });
    expect((await house.bot.press(ada(), create)).kind).toBe('refused');
    expect(house.records.size).toBe(0);
  });

  it.each(['', ':0.10USD', ':0.20EUR'])('asks for confirmation if the button’s price is %j', async (price) => {
    const { house } = await offered();
    const id = taskIdOf('slack:i-fox');
    const asked = await house.bot.press(ada(), `order:${id}${price}`);
    expect(house.records.size).toBe(0);
    expect((await house.bot.press(ada(), buttonOf(asked, 'Create · $0.20'))).kind).toBe('task');
  });

  it('asks for confirmation after a price change', async () => {
    const { house, create } = await offered();
    house.replaceCatalog(parseCatalog({ models: [{ ...SWIFT, price: '0.08' }] }));
    const asked = await house.bot.press(ada(), create);
    expect(replyText(asked)).toContain('The price is now $0.32, not $0.20.');
    expect(house.records.size).toBe(0);
    expect((await house.bot.press(ada(), buttonOf(asked, 'Create'))).kind).toBe('task');
    expect(house.orders[0]?.price).toEqual({ amount: '0.32', currency: 'USD' });
  });

  it('refuses an id without a stored draft', async () => {
    const { house } = await offered();
    for (const action of ['order', 'fix', 'run', 'discard'])
      expect((await house.bot.press(ada(), `${action}:${taskIdOf('slack:other')}`)).kind).toBe('refused');
  });
});

describe('Fix it', () => {
  const refused = async (text: string) => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.text(ada({ interaction: 'i-wrong' }), text);
    expect(reply.kind).toBe('refused');
    return { house, fix: buttonOf(reply, 'Fix it') };
  };

  it('opens the form with the prompt and the valid values, and notes on the invalid ones', async () => {
    const { house, fix } = await refused('a red fox --seconds 7 --aspect 1:1 --takes 3');
    const { fields } = formOf(await house.bot.press(ada(), fix));
    expect(Object.fromEntries(fields.map(({ name, value }) => [name, value]))).toEqual({
      prompt: 'a red fox',
      model: '',
      seconds: '4',
      aspect: '1:1',
      resolution: '',
      takes: '3',
    });
    expect(fields.find(({ name }) => name === 'seconds')?.note).toContain('Swift 1 can’t make 7 s');
  });

  it('falls back to the defaults of a model that does not support the given values', async () => {
    const { house, fix } = await refused('a fox --model epic-pro --seconds 4 --aspect 1:1 --image https://a.test/1');
    const { fields } = formOf(await house.bot.press(ada(), fix));
    expect(fields.map(({ value }) => value)).toEqual(['a fox', 'epic-pro', '5', '16:9', '', '']);
    expect(fields.filter(({ note }) => note !== undefined).map(({ name }) => name)).toEqual(['seconds', 'aspect']);
  });

  it('falls back to the default model', async () => {
    const { house, fix } = await refused('a fox --model swift --seconds 7');
    const { fields } = formOf(await house.bot.press(ada(), fix));
    expect(fields.map(({ value }) => value)).toEqual(['a fox', 'swift-1', '4', '', '', '']);
  });

  it('orders under the key of the refused command and keeps its reference media', async () => {
    const { house, fix } = await refused('a fox --model epic-pro --seconds 7 --image https://a.test/1');
    const { id } = formOf(await house.bot.press(ada(), fix));
    const values = { prompt: 'a fox', model: 'epic-pro', seconds: '10' };
    expect((await house.bot.submit(ada(), id, values)).kind).toBe('task');
    expect(house.orders).toMatchObject([{ key: 'slack:i-wrong', request: { seconds: 10 } }]);
    expect(house.orders[0]?.request.media.image).toEqual(['https://a.test/1']);
    expect((await house.bot.submit(ada(), id, values)).kind).toBe('private');
    expect(house.records.size).toBe(1);
  });

  it('can be used again after its form was refused', async () => {
    const { house, fix } = await refused('a fox --seconds 7');
    const { id } = formOf(await house.bot.press(ada(), fix));
    const again = await house.bot.submit(ada(), id, { prompt: 'a wolf', seconds: '9' });
    const { fields } = formOf(await house.bot.press(ada(), buttonOf(again, 'Fix it')));
    expect(fields.map(({ value }) => value)).toEqual(['a wolf', '', '4', '', '', '']);
  });

  it('keeps the original task and media of Edit & retry', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a fox --image https://a.test/1');
    const wrong = { prompt: 'a fox', model: 'epic-pro', seconds: '4' };
    const reply = await house.bot.submit(ada({ interaction: 'i-edit' }), `edit:${task.id}`, wrong);
    const { id } = formOf(await house.bot.press(ada(), buttonOf(reply, 'Fix it')));
    expect((await house.bot.submit(ada(), id, { ...wrong, seconds: '5' })).kind).toBe('task');
    expect(house.orders.at(-1)).toMatchObject({ key: 'slack:i-edit', retryOf: task.id });
    expect(house.orders.at(-1)?.request.media.image).toEqual(['https://a.test/1']);
  });

  it('is available to its requester only', async () => {
    const { house, fix } = await refused('a fox --seconds 7');
    expect((await house.bot.press(bob(), fix)).kind).toBe('refused');
    expect((await house.bot.submit(bob(), fix, { prompt: 'a fox' })).kind).toBe('refused');
    expect(house.records.size).toBe(0);
  });
});

describe('Edit & retry', () => {
  it('falls back to values of the current catalog, with notes', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a fox --seconds 8 --aspect 1:1');
    house.replaceCatalog(parseCatalog({ models: [{ ...SWIFT, seconds: [5] }, EPIC] }));
    const { fields } = formOf(await house.bot.press(ada(), `edit:${task.id}`));
    expect(fields.map(({ value }) => value)).toEqual(['a fox', 'swift-1', '5', '1:1', '720p', '']);
    expect(fields.find(({ name }) => name === 'seconds')?.note).toContain('can’t make 8 s');
  });
});

it.each([
  ['pasue --reason enough', '*Spending is paused*: ‹enough›'],
  ['unpause --off', 'Spending goes on'],
])('the button for the command meant by “%s” answers by the settings after it', async (typed, said) => {
  const house = new BotHouse(CATALOG);
  const admin = ada({ mayAdminister: true });
  if (typed.endsWith('--off')) await house.bot.command(admin, 'pause', { reason: ['enough'] });
  const asked = await house.bot.text(admin, typed);
  const run = asked.kind === 'private' ? asked.card.buttons.find(({ id }) => id.startsWith('run:')) : undefined;
  expect(replyText(await house.bot.press(admin, run?.id ?? ''))).toContain(said);
});
