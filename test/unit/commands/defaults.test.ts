import { describe, expect, it } from 'vitest';
import type { Reply } from '#commands/bot-port.ts';
import { buttonsOf, type CardButton } from '#commands/ui/card.ts';
import { formId } from '#commands/ui/form-ids.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG, EPIC, SWIFT } from '../videos/models.ts';

/** A second model that takes a prompt alone. */
const CALM = { ...SWIFT, name: 'calm-2', title: 'Calm 2', price: '0.10', seconds: [5, 10], default: false };
const TWO = parseCatalog({ models: [SWIFT, CALM, EPIC] });

async function houseWith(line: string): Promise<BotHouse> {
  const house = new BotHouse(TWO);
  expect(replyText(await house.bot.text(ada(), line))).toContain('Saved.');
  return house;
}

/** Finds a button by its label's beginning. */
function buttonIn(reply: Reply, label: string): CardButton {
  const card = 'card' in reply ? reply.card : { lines: [], progress: null, buttons: [] };
  const found = buttonsOf(card).find((button) => button.label.startsWith(label));
  if (found === undefined) throw new TypeError(`no button ${label}`);
  return found;
}

const lastRequest = ({ orders }: BotHouse) => orders.at(-1)?.request;

describe('/video defaults', () => {
  it('shows what everyone gets, and then what the caller has set', async () => {
    const house = new BotHouse(CATALOG);
    const lines = async () => replyText(await house.bot.command(ada(), 'defaults', {})).split('\n');
    expect(await lines()).toEqual([
      'Your defaults',
      '*Model*: Swift 1, as for everyone.',
      '*Length*: 4 s, as for everyone.',
      '*Aspect*: 16:9, as for everyone.',
      expect.stringContaining('A clip with these settings costs $0.20.'),
      '(Change…)',
    ]);
    await house.bot.command(ada(), 'defaults', { model: ['Epic-Pro'], seconds: ['10s'] });
    expect(await lines()).toEqual([
      'Your defaults',
      '*Model*: Epic Pro.',
      '*Length*: 10 s.',
      '*Aspect*: 16:9, as for everyone.',
      'Epic Pro needs reference images: a prompt alone isn’t enough.',
      expect.stringContaining('A clip with these settings costs $1.20.'),
      '(Change…)',
    ]);
  });

  it.each([
    [{ model: ['nope'] }, 'model'],
    [{ seconds: ['7'] }, 'seconds'],
    [{ seconds: ['x'] }, 'seconds'],
    [{ model: ['epic-pro'], aspect: ['9:16'] }, 'aspect'],
    [{ off: ['price'] }, 'off'],
    [{ seconds: ['6'], off: ['seconds'] }, 'seconds'],
  ])('refuses %j and changes nothing', async (given, named) => {
    const house = await houseWith('defaults --seconds 8');
    const reply = await house.bot.command(ada(), 'defaults', given);
    expect(reply).toMatchObject({ kind: 'refused', sentence: expect.stringContaining(`${named}: `) });
    await house.bot.text(ada(), 'a red fox');
    expect(lastRequest(house)).toMatchObject({ model: 'swift-1', seconds: 8 });
  });

  it('tells what a model gets that does not offer the length', async () => {
    const house = await houseWith('defaults --seconds 8');
    expect(replyText(await house.bot.text(ada(), 'defaults --model calm-2'))).toContain(
      '*Length*: 8 s, where the model offers it. Calm 2 doesn’t, and gets 5 s.',
    );
  });

  it('removes one, or all', async () => {
    const house = await houseWith('defaults --model calm-2 --seconds 10 --aspect 9:16');
    await house.bot.text(ada(), 'defaults --off model');
    expect(await house.defaults.get({ platform: 'slack', team: 'T1', user: 'U1' })).toEqual({
      seconds: 10,
      aspect: '9:16',
    });
    await house.bot.text(ada(), 'defaults --off all');
    expect(replyText(await house.bot.text(ada(), 'defaults'))).not.toContain('9:16');
  });
});

describe('an order that names no settings', () => {
  const LINE = 'defaults --model calm-2 --seconds 10 --aspect 9:16';
  const OWN = { model: 'calm-2', seconds: 10, aspectRatio: '9:16' };

  it.each([
    ['typed', (house: BotHouse) => house.bot.text(ada(), 'a red fox')],
    ['as options', (house: BotHouse) => house.bot.command(ada(), 'create', { prompt: ['a red fox'] })],
    ['in a mention', (house: BotHouse) => house.bot.text(ada(), 'create a red fox', 'message')],
    ['by form', (house: BotHouse) => house.bot.submit(ada(), formId({ form: 'create' }), { prompt: 'a red fox' })],
    [
      'after a question',
      async (house: BotHouse) => {
        const caller = ada();
        const asked = await house.bot.text(caller, 'a red fox', 'plain');
        const button = buttonIn(asked, 'Create');
        expect(button.label).toContain('$1.00');
        return house.bot.press(ada(), button.id);
      },
    ],
  ])('gets the caller’s defaults: %s', async (_way, order) => {
    const house = await houseWith(LINE);
    expect(await order(house)).toMatchObject({ kind: 'task' });
    expect(lastRequest(house)).toMatchObject(OWN);
  });

  it('gets those of the caller in that team alone', async () => {
    const house = await houseWith(LINE);
    for (const other of [bob(), ada({ team: 'T2' }), ada({ platform: 'discord' })]) {
      await house.bot.text(other, 'a red fox');
      expect(lastRequest(house)).toMatchObject({ model: 'swift-1', seconds: 4, aspectRatio: '16:9' });
    }
  });

  it('gets what it names, and of the rest what its model offers', async () => {
    const house = await houseWith(LINE);
    await house.bot.text(ada(), 'a red fox --seconds 5');
    expect(lastRequest(house)).toMatchObject({ ...OWN, seconds: 5 });
    await house.bot.text(ada(), 'a red fox --model swift-1');
    expect(lastRequest(house)).toMatchObject({ model: 'swift-1', seconds: 4, aspectRatio: '9:16' });
  });

  it('gets the defaults of all once the model is gone from the catalog', async () => {
    const house = await houseWith(LINE);
    house.replaceCatalog(CATALOG);
    await house.bot.text(ada(), 'a red fox');
    expect(lastRequest(house)).toMatchObject({ model: 'swift-1', seconds: 4, aspectRatio: '9:16' });
    expect(replyText(await house.bot.text(ada(), 'defaults'))).toContain('Swift 1, since there is no calm-2 any more.');
  });

  it('is offered for a new price where the defaults changed after the question', async () => {
    const house = await houseWith(LINE);
    const button = buttonIn(await house.bot.text(ada(), 'a red fox', 'plain'), 'Create');
    await house.bot.text(ada(), 'defaults --off all');
    expect(replyText(await house.bot.press(ada(), button.id))).toContain('$0.20');
    expect(house.orders).toEqual([]);
  });
});

it('a retry keeps the settings of its clip', async () => {
  const house = new BotHouse(TWO);
  const task = await house.seed(
    ada(),
    'a red fox --seconds 6',
    { kind: 'send', owner: 'x', atMs: 0 },
    { kind: 'refused', failure: { code: 'bad_request', words: null }, atMs: 0 },
  );
  await house.bot.text(ada(), 'defaults --model calm-2 --seconds 10 --aspect 9:16');
  expect(await house.bot.command(ada(), 'retry', { id: [task.id] })).toMatchObject({ kind: 'task' });
  expect(lastRequest(house)).toEqual(task.request);
});

it('forms, suggestions and the help show the caller’s defaults', async () => {
  const house = await houseWith('defaults --model calm-2 --seconds 10');
  const form = await house.bot.form(ada());
  if (form.kind !== 'form') throw new TypeError('no form');
  const values = Object.fromEntries(form.form.fields.map(({ name, value }) => [name, value]));
  expect(values).toEqual({ prompt: '', model: 'calm-2', seconds: '10', aspect: '', resolution: '', takes: '' });
  expect(await house.bot.suggest(ada(), 'create', 'model', 'calm', {})).toEqual([
    expect.objectContaining({ label: expect.stringContaining('10 s = $1.00 (default)') }),
  ]);
  expect(await house.bot.suggest(ada(), 'create', 'seconds', '10', {})).toEqual([
    { value: '10', label: 'Calm 2 · $0.10/s · 10 s = $1.00 (default)' },
  ]);
  expect(replyText(await house.bot.command(ada(), 'help', {}))).toContain('(default calm-2)');
  expect((await house.bot.catalogFor(ada())).defaultModel).toMatchObject({ name: 'calm-2', personal: { seconds: 10 } });
});

it('an order is refused, not bought with other settings, while the defaults cannot be read', async () => {
  const house = new BotHouse(TWO);
  Object.assign(house.defaults, { get: () => Promise.reject(new TypeError('the store is away')) });
  await expect(house.bot.text(ada(), 'a red fox')).rejects.toThrow('the store is away');
  expect(house.orders).toEqual([]);
  expect(await house.bot.command(ada(), 'help', {})).toMatchObject({ kind: 'private' });
  expect(await house.bot.suggest(ada(), 'create', 'model', '', {})).toHaveLength(3);
});
