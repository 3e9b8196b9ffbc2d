import { describe, expect, it } from 'vitest';
import { buttonsOf } from '#commands/ui/card.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

const THREE = 'storyboard --aspect 16:9\na fox wakes up --seconds 4\n\n  it stretches 🦊 --seconds 6\r\nit leaves';

/** Returns a button of a reply by the beginning of its label. */
function buttonOf(reply: Awaited<ReturnType<BotHouse['bot']['text']>>, label: string): string {
  const card = reply.kind === 'private' ? reply.card : reply.kind === 'offer' ? reply.card : null;
  const buttons = reply.kind === 'refused' ? (reply.buttons ?? []) : card === null ? [] : buttonsOf(card);
  const found = buttons.find((one) => one.label.startsWith(label));
  if (found === undefined) throw new TypeError(`no button ${label} in ${replyText(reply)}`);
  return found.id;
}

describe('/video storyboard', () => {
  it('names the price and the length of all shots before anything is bought, then claims all of them at once', async () => {
    const house = new BotHouse(CATALOG);
    const caller = ada();
    const asked = await house.bot.text(caller, THREE);
    expect(house.orders).toEqual([]);
    expect(replyText(asked)).toContain('3 shots · 14 s in total · $0.70');
    expect(replyText(asked)).toContain('Swift 1 · 16:9 · 720p');
    expect(replyText(asked)).toContain('2. ‹it stretches 🦊› · ‹6 s›');
    const placed = await house.bot.press(ada(), buttonOf(asked, 'Create 3 shots · $0.70'));
    const id = taskIdOf(`slack:${caller.interaction}`);
    expect(placed).toMatchObject({ kind: 'task', task: id, settled: 'Ordered: 3 shots · $0.70.' });
    expect(house.orders).toHaveLength(1);
    expect(house.orders[0]?.set?.kind).toBe('storyboard');
    const shots = memberIds({ id, of: 3 }).map((one) => house.task(one));
    expect(
      shots.map(({ request, price }) => [request.prompt, request.seconds, request.aspectRatio, price.amount]),
    ).toEqual([
      ['a fox wakes up', 4, '16:9', '0.2'],
      ['it stretches 🦊', 6, '16:9', '0.3'],
      ['it leaves', 4, '16:9', '0.2'],
    ]);
  });

  it('is ordered once, however often it is delivered and confirmed', async () => {
    const house = new BotHouse(CATALOG);
    const caller = ada();
    const button = buttonOf(await house.bot.text(caller, THREE), 'Create');
    await house.bot.text(caller, THREE);
    await Promise.all([1, 2, 3].map(() => house.bot.press(ada(), button)));
    expect(house.records.size).toBe(3);
  });

  it('asks again at a new price, and buys nothing', async () => {
    const house = new BotHouse(CATALOG);
    const button = buttonOf(await house.bot.text(ada(), THREE), 'Create');
    const models = CATALOG.models.map((model) => ({ ...model, price: '1' }));
    const [defaultModel] = models;
    if (defaultModel !== undefined) house.replaceCatalog({ ...CATALOG, models, defaultModel });
    const reply = await house.bot.press(ada(), button);
    expect(replyText(reply)).toContain('The price is now $14.00, not $0.70.');
    expect(house.records.size).toBe(0);
  });

  it('keeps the options of the command that a form with fewer fields leaves out', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(ada({ mayAdminister: true }), 'style house --after "on film"');
    const opened = await house.bot.command(ada(), 'storyboard', { style: ['house'], seconds: ['6'] });
    if (opened.kind !== 'form') throw new TypeError(replyText(opened));
    expect(opened.form.fields.find(({ name }) => name === 'style')?.value).toBe('house');
    const refused = await house.bot.submit(ada(), opened.form.id, { shots: 'a fox', seconds: '8' });
    const form = await house.bot.press(ada(), buttonOf(refused, 'Fix it'));
    if (form.kind !== 'form') throw new TypeError(replyText(form));
    const fixed = await house.bot.submit(ada(), form.form.id, { shots: 'a fox\nit runs', seconds: '' });
    expect(replyText(fixed)).toContain('2 shots · 8 s in total · $0.40* · ‹Swift 1 · 4 s · 16:9 · 720p · style house›');
  });

  it('reports all problems at once with their lines, and Fix it brings the text back', async () => {
    const house = new BotHouse(CATALOG);
    const lines = ['a fox --seconds 30', 'it runs --sconds 4', '', '--seconds 4', 'it sleeps --image nowhere --image'];
    const reply = await house.bot.text(ada(), `storyboard\n${lines.join('\n')}`);
    const said = replyText(reply);
    for (const part of [
      'Line 1: seconds: Swift 1 can’t make 30 s',
      'Line 2: There is no --sconds',
      'Line 4: prompt: ',
      'Line 5: image: --image needs a value',
    ])
      expect(said).toContain(part);
    const form = await house.bot.press(ada(), buttonOf(reply, 'Fix it'));
    if (form.kind !== 'form') throw new TypeError(replyText(form));
    expect(form.form.fields.map(({ name }) => name)).toEqual(['shots', 'model', 'seconds', 'aspect', 'resolution']);
    expect(form.form.fields[0]?.value).toBe(lines.join('\n'));
    const fixed = await house.bot.submit(ada(), form.form.id, { shots: 'a fox\nit runs', seconds: '6' });
    expect(replyText(fixed)).toContain('2 shots · 12 s in total · $0.60');
    await house.bot.press(ada(), buttonOf(fixed, 'Create 2 shots'));
    expect(house.records.size).toBe(2);
  });

  it('refuses a 13th shot by its line, and fewer than two', async () => {
    const house = new BotHouse(CATALOG);
    const shots = Array.from({ length: 13 }, (_, at) => `shot ${at + 1}`);
    const many = await house.bot.text(ada(), `storyboard ${shots.join('\n')}`);
    expect(replyText(many)).toContain('Line 13: A storyboard has at most 12 shots');
    expect(replyText(await house.bot.text(ada(), 'storyboard a fox'))).toContain('this is one. For a single clip');
    expect(replyText(await house.bot.text(ada(), `storyboard ${'a'.repeat(30_000)}`))).toContain(
      'up to 20,000 characters',
    );
  });

  it('opens an empty form without shots, also with options', async () => {
    const house = new BotHouse(CATALOG);
    for (const text of ['storyboard', 'storyboard --aspect 16:9']) {
      const reply = await house.bot.text(ada(), text);
      expect(reply).toMatchObject({ kind: 'form', form: { title: 'New storyboard' } });
    }
    const reply = await house.bot.command(ada(), 'storyboard', { aspect: ['16:9'] });
    expect(reply.kind === 'form' ? reply.form.fields.find(({ name }) => name === 'aspect')?.value : null).toBe('16:9');
  });

  it('takes the options of a platform with fields, and the text of a file', async () => {
    const house = new BotHouse(CATALOG);
    const file = '\uFEFFa fox --seconds 8\r\n\r\nit runs\r\n';
    const reply = await house.bot.command(ada(), 'storyboard', { shots: [file], seconds: ['6'] });
    expect(replyText(reply)).toContain('2 shots · 14 s in total');
  });

  it('obeys a pause, a hard limit and a threshold', async () => {
    const usd = (amount: string) => ({ amount, currency: 'USD' });
    const house = new BotHouse(CATALOG);
    house.rules = {
      budgets: [{ scope: 'team', period: '2026-11', used: '1', limit: '20' }],
      confirmAbove: usd('0.10'),
    };
    expect(replyText(await house.bot.text(ada(), THREE))).toContain('The team has $19.00 of $20.00 left');
    const pause = { reason: 'enough', by: { id: 'U9', name: 'Grace' }, atMs: 0 };
    await house.settings.change(ada(), { person: pause.by, surface: 'command' }, { pause });
    const reply = await house.bot.text(ada(), THREE);
    expect(replyText(reply)).toContain('Grace paused spending');
    expect(house.records.size).toBe(0);
  });

  it('is not bought unasked where a budget that refused it is raised before its claim', async () => {
    const house = new BotHouse(CATALOG);
    house.rules = { budgets: [{ scope: 'team', period: '2026-11', used: '1', limit: '1' }] };
    const reply = await house.bot.text(ada(), THREE);
    expect(replyText(reply)).toContain('A budget changed just now. Nothing was bought');
    expect(house.records.size).toBe(0);
  });

  it('opens no form where a policy lets only others create clips', async () => {
    const house = new BotHouse(CATALOG);
    const policy = { team: { create: [] }, channels: {} };
    await house.settings.change(ada(), { person: ada().user, surface: 'command' }, { policy });
    expect(replyText(await house.bot.text(ada(), 'storyboard'))).toContain('You can’t create clips here');
    expect(replyText(await house.bot.text(ada(), THREE))).toContain('You can’t create clips here');
  });

  it('is refused where the bot can post one message only', async () => {
    const house = new BotHouse(CATALOG);
    expect(replyText(await house.bot.text({ ...ada(), isGuest: true }, THREE))).toContain('I’m not a member here');
  });

  it('checks the hosts of all lines', async () => {
    const house = new BotHouse(CATALOG);
    house.checkReferences = async ({ media }) =>
      media.image.map((given) => ({ reason: 'unknown_host', option: 'image', given }));
    const reply = await house.bot.text(ada(), 'storyboard a fox\nit runs --image https://nowhere.example/a.png');
    expect(replyText(reply)).toContain('Line 2: image: there is no host');
    expect(buttonOf(reply, 'Fix it')).toMatch(/^fix:/);
  });
});

describe('lines of a script', () => {
  it('leaves out comments, and the marks of a list', async () => {
    const house = new BotHouse(CATALOG);
    const script =
      '# my board\n--aspect 16:9\n1. one fox\n// board\n3) three foxes --seconds 6\n- a hen\nShot 4: 2 cats\n5.\n';
    const asked = await house.bot.text(ada(), `storyboard ${script}`);
    expect(replyText(asked)).toContain('4 shots · 18 s in total');
    expect(replyText(asked)).toContain('2 comments left out.');
    await house.bot.press(ada(), buttonOf(asked, 'Create 4 shots'));
    expect([...house.records.values()].map(({ request }) => request.prompt)).toEqual([
      'one fox',
      'three foxes',
      'a hen',
      '2 cats',
    ]);
  });

  it.each(['\u200B', '---', '…'])('refuses a line of %j by its number', async (line) => {
    const reply = await new BotHouse(CATALOG).bot.text(ada(), `storyboard a fox\n${line}\na hen`);
    expect(replyText(reply)).toContain('Line 2: there are no words.');
  });

  it('says of one that is too long only that, with the options of all shots in its form', async () => {
    const house = new BotHouse(CATALOG);
    const line = 'a fox that runs through the snow and the wind\n';
    const reply = await house.bot.command(ada(), 'storyboard', { shots: [`--model epic-pro\n${line.repeat(450)}`] });
    expect(reply).toMatchObject({
      kind: 'refused',
      sentence: 'A storyboard may have up to 20,000 characters; this one has 20,699.',
    });
    const form = await house.bot.press(ada(), buttonOf(reply, 'Fix it'));
    if (form.kind !== 'form') throw new TypeError(replyText(form));
    expect(form.form.fields.find(({ name }) => name === 'model')?.value).toBe('epic-pro');
  });
});

it.each(['storyboard', 'storyboard --seconds 6'])(
  '%j in a message, which can open no form, has a button for it',
  async (text) => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.text(ada(), text, 'message');
    expect(replyText(reply)).toContain('Write the shots below the word');
    const form = await house.bot.press(ada(), buttonOf(reply, 'Open the form'));
    if (form.kind !== 'form') throw new TypeError(replyText(form));
    expect(form.form.fields.find(({ name }) => name === 'seconds')?.value).toBe(text.endsWith('6') ? '6' : '');
    const asked = await house.bot.submit(ada(), form.form.id, { shots: 'a fox\nit runs' });
    expect(replyText(asked)).toContain('2 shots');
  },
);
