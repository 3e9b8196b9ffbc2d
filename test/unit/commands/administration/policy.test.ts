import { beforeEach, describe, expect, it } from 'vitest';
import type { GivenOptions, Reply } from '#commands/bot-port.ts';
import { buttonsOf } from '#commands/ui/card.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

let house: BotHouse;
beforeEach(() => {
  house = new BotHouse(CATALOG);
});

const admin = () => bob({ mayAdminister: true });
/** Changes the policy as an administrator. */
async function set(options: Readonly<Record<string, string>>, caller = admin()): Promise<string> {
  const given: GivenOptions = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, [value]]));
  return replyText(await house.bot.command(caller, 'policy', given));
}
const shown = async (caller = ada()) => plain(await house.bot.command(caller, 'policy', {}));
/** Returns the text of a reply without its formatting. */
const plain = (reply: Reply): string => replyText(reply).replace(/[*‹›`]/gu, '');
const stored = async () => (await house.settings.get(ada())).policy;
const order = (text: string, caller = ada()): Promise<Reply> => house.bot.text(caller, text);

describe('/video policy', () => {
  it('is shown to everyone, and changed by administrators', async () => {
    expect(await shown()).toContain('Everything that the models offer, for everyone.');
    const refused = await house.bot.command(ada(), 'policy', { seconds: ['4'] });
    expect(replyText(refused)).toContain('admins and owners of this workspace can do this. Nothing was changed.');
    expect(await stored()).toBeUndefined();
    expect(await set({ models: 'Swift-1, plain', seconds: '6', clips: '2', words: 'gore, Blood' })).toContain('Saved.');
    const text = await shown();
    expect(text).toContain('Models: Swift 1 and Plain');
    expect(text).toContain('Length: up to 6 s');
    expect(text).toContain('Clips per order: up to 2');
    expect(text).toContain('Forbidden words: gore, Blood');
    expect(text).toContain('Administrators change this with /video policy.');
  });

  it('has rules of a channel in place of the team’s, and lists begin with those', async () => {
    await set({ seconds: '4, 6', words: 'gore' });
    await set({ channel: '<#ads|ads>', seconds: 'any', words: 'blood' });
    expect(await stored()).toEqual({
      team: { seconds: [4, 6], words: ['gore'] },
      channels: { ads: { seconds: 'any', words: ['gore', 'blood'] } },
    });
    expect(await shown(ada({ channel: 'thread', parentChannel: 'ads' }))).toContain(
      'Length: any · this channel’s own rule',
    );
    await set({ channel: '<#ads|ads>', words: 'GORE', change: 'remove' });
    expect((await stored())?.channels['ads']?.words).toEqual(['blood']);
    await set({ channel: '<#ads|ads>', off: 'all' });
    expect(await stored()).toEqual({ team: { seconds: [4, 6], words: ['gore'] }, channels: {} });
  });

  it('refuses no order that was claimed before it', async () => {
    const caller = ada();
    const placed = await order('a fox', caller);
    await set({ create: '<@U2|Bob>' });
    expect(placed).toMatchObject(await order('a fox', caller));
    expect(await order('a fox')).toMatchObject({ kind: 'refused' });
  });

  it('names people, roles and groups', async () => {
    await set({ create: '<@U1|Ada>' });
    await set({ create: '<!subteam^S1|editors>' });
    expect(await shown()).toContain('Who may create clips: Ada, @[@editors], administrators');
    expect(await order('a fox')).toMatchObject({ kind: 'task' });
    const cleo = bob({ user: { id: 'U3', name: 'Cleo' } });
    expect(replyText(await order('a fox', cleo))).toContain('You can’t create clips here: only Ada or @editors may.');
    house.groups.set('S1', ['U3']);
    expect(await order('a fox', { ...cleo, interaction: 'later' })).toMatchObject({ kind: 'task' });
    await set({ create: 'everyone' });
    expect(await order('a fox', bob())).toMatchObject({ kind: 'task' });
  });

  it('lets those decide whom it names, instead of the managers of the channel', async () => {
    const { id } = await house.seed(ada(), 'a fox');
    await set({ decide: '<@U3|Cleo>' });
    const manager = bob({ mayManage: true });
    expect(replyText(await house.bot.press(manager, `cancel:${id}`))).toContain(
      'Only Ada, Cleo or an administrator can do that here.',
    );
    const cleo = bob({ user: { id: 'U3', name: 'Cleo' } });
    expect(await house.bot.suggest(manager, 'cancel', 'id', '', {})).toEqual([]);
    expect(await house.bot.suggest(cleo, 'cancel', 'id', '', {})).toHaveLength(1);
    expect(await house.bot.press(cleo, `cancel:${id}`)).toMatchObject({ kind: 'private' });
    expect(house.task(id).state).toBe('cancelled');
  });

  it('says where it can’t tell whether someone may decide, create or review', async () => {
    const task = await house.seed(ada(), 'a fox');
    await set({ create: '<!subteam^S1|editors>', decide: '<!subteam^S1|editors>' });
    house.groups.set('S1', new Error('slow'));
    for (const reply of [await house.bot.press(bob(), `cancel:${task.id}`), await order('a hen', bob())])
      expect(replyText(reply)).toContain(
        'I couldn’t find out who belongs to @editors just now; try again in a moment.',
      );
  });

  it.each([
    [{ models: 'swift-9' }, 'models: “swift-9” isn’t known. Choose from swift-1, epic-pro and plain'],
    [{ seconds: 'long' }, 'seconds: “long” isn’t a length.'],
    [{ clips: '13' }, 'clips: “13” isn’t a number of clips. Choose 1 to 12, or any.'],
    [{ resolutions: '4k' }, 'resolutions: “4k” isn’t known.'],
    [{ words: ', ,' }, 'words: write up to 200 words'],
    [{ create: 'nobody-known' }, 'create: I don’t know “nobody-known” here.'],
    [{ off: 'mood' }, 'off: “mood” isn’t known. Choose models, seconds,'],
    [{ create: '<@U1|Ada>', change: 'delete' }, 'change: “delete” isn’t known. Choose add or remove.'],
    [{ off: 'models', models: 'plain' }, 'models: given a value and switched off at once.'],
    [{ seconds: '1' }, 'With these rules, no model could make a clip'],
  ])('refuses %j and changes nothing', async (options, sentence) => {
    expect(await set(options as Readonly<Record<string, string>>)).toContain(sentence);
    expect(await stored()).toBeUndefined();
  });

  it('removes nothing where there is nothing to remove', async () => {
    expect(await set({ create: '<@U1|Ada>', words: 'gore', change: 'remove' })).toContain('Nothing changed');
    expect(await stored()).toBeUndefined();
    await set({ channel: '<#ads|ads>', create: 'everyone' });
    expect(await set({ channel: '<#ads|ads>', create: '<@U1|Ada>', change: 'remove' })).toContain('Nothing changed');
    expect((await stored())?.channels['ads']).toEqual({ create: 'any' });
    await set({ create: '<@U1|Ada>' });
    expect(await set({ create: '<@U1|Ada>' })).toContain('Nothing changed');
    expect(await set({ create: '<@U1|Ada>', change: 'remove' })).toContain('Saved.');
    expect((await stored())?.team).toEqual({ create: [] });
  });

  it('takes lists as they are typed, up to the next flag', async () => {
    await house.bot.text(admin(), 'policy --words blood, the mayor --seconds up to 6 --models swift-1, plain');
    expect((await stored())?.team).toEqual({
      words: ['blood', 'the mayor'],
      seconds: { max: 6 },
      models: ['swift-1', 'plain'],
    });
    const audit = plain(await house.bot.command(admin(), 'audit', {}));
    expect(audit).toContain('set the models allowed to Swift 1 and Plain.');
  });

  it('keeps both of two changes at once, each in the audit log', async () => {
    await Promise.all([set({ words: 'gore' }), set({ words: 'blood' }), set({ clips: '3' })]);
    const { clips, words } = (await stored())?.team ?? {};
    expect([clips, new Set(words)]).toEqual([3, new Set(['gore', 'blood'])]);
    const audit = plain(await house.bot.command(admin(), 'audit', {}));
    expect(audit).toContain('Bob set the most clips per order to 3');
    expect(audit).toMatch(/Bob set the forbidden words to (?:gore|blood)/u);
  });
});

describe('what is offered under a policy', () => {
  beforeEach(async () => {
    await set({ channel: '<#clips|clips>', models: 'plain', seconds: '6' });
  });

  it('fills in allowed defaults', async () => {
    const reply = await order('a fox');
    if (reply.kind !== 'task') throw new TypeError(replyText(reply));
    expect(house.task(reply.task).request).toMatchObject({ model: 'plain', seconds: 4 });
  });

  it('offers only what is allowed there: autocomplete, forms, help, /video models and the page', async () => {
    expect((await house.bot.suggest(ada(), 'create', 'model', '', {})).map(({ value }) => value)).toEqual(['plain']);
    expect((await house.bot.suggest(ada(), 'create', 'seconds', '', {})).map(({ value }) => value)).toEqual(['4', '6']);
    expect((await house.bot.suggest(ada({ channel: 'other' }), 'create', 'model', '', {})).length).toBe(3);
    const form = await house.bot.form(ada());
    if (form.kind !== 'form') throw new TypeError('there is no form');
    const choices = form.form.fields.flatMap(({ choices: some }) => some?.all.map(({ value }) => value) ?? []);
    expect(choices).toEqual(expect.arrayContaining(['plain', '4', '6']));
    expect(choices).not.toEqual(expect.arrayContaining(['swift-1']));
    expect(choices).not.toEqual(expect.arrayContaining(['8']));
    const models = plain(await house.bot.command(ada(), 'models', {}));
    expect(models).toContain('(plain, default)');
    expect(models).not.toContain('swift-1');
    expect(plain(await house.bot.command(ada(), 'help', { command: ['create'] }))).toContain('model: plain');
    await set({ channel: '<#clips|clips>', clips: '2' });
    expect(plain(await house.bot.command(ada(), 'help', { command: ['create'] }))).toContain(
      'takes: 1 to 2 (default 1)',
    );
    expect(plain(await house.bot.command(admin(), 'help', { command: ['policy'] }))).toContain(
      'words: adds forbidden words',
    );
    expect((await house.bot.catalogFor(ada())).models.map(({ name }) => name)).toEqual(['plain']);
  });

  it('refuses with Fix it, whose form has allowed values', async () => {
    const reply = await house.bot.command(ada(), 'create', { prompt: ['a fox'], model: ['swift-1'], seconds: ['8'] });
    expect(replyText(reply)).toContain(
      'model: swift-1 isn’t allowed here. Choose plain, or ask an administrator to change that (/video policy).',
    );
    if (reply.kind !== 'refused') throw new TypeError('it was not refused');
    const [fix] = reply.buttons ?? [];
    expect(fix?.label).toBe('Fix it');
    const form = await house.bot.press(ada(), fix?.id ?? '');
    if (form.kind !== 'form') throw new TypeError('there is no form');
    expect(Object.fromEntries(form.form.fields.map(({ name, value }) => [name, value]))).toMatchObject({
      prompt: 'a fox',
      model: 'plain',
      seconds: '4',
    });
  });

  it('says once who can change the rules, after all that are broken', async () => {
    await set({ channel: '<#clips|clips>', words: 'gore, blood' });
    const text = replyText(await house.bot.text(ada(), 'storyboard\na fox --model swift-1\ngore --seconds 8'));
    expect(text).toContain('Line 1: model: swift-1 isn’t allowed here. Choose plain.\n');
    expect(text.match(/ask an administrator/gu)).toHaveLength(1);
    const [last = ''] = text.split('\n').slice(-1);
    expect(last).toMatch(/^Line \d: .*, or ask an administrator to change that \(\/video policy\)\.$/u);
  });

  it('takes no default that is not allowed, and a default that is not allowed any more has no effect', async () => {
    expect(replyText(await house.bot.command(ada(), 'defaults', { model: ['epic-pro'] }))).toContain(
      'model: epic-pro isn’t allowed here.',
    );
    await house.bot.command(ada({ channel: 'other' }), 'defaults', { model: ['epic-pro'], seconds: ['10'] });
    const reply = await order('a hen');
    if (reply.kind !== 'task') throw new TypeError(replyText(reply));
    expect(house.task(reply.task).request).toMatchObject({ model: 'plain', seconds: 4 });
  });

  it('offers nothing to order to someone who may not create clips', async () => {
    await set({ channel: '<#clips|clips>', create: '<@U2|Bob>' });
    expect(await house.bot.suggest(ada(), 'create', 'model', '', {})).toEqual([]);
    const names = (await house.bot.commandsFor(ada())).map(({ name }) => name);
    expect(names).toContain('list');
    expect(names).not.toContain('create');
    expect((await house.bot.commandsFor(ada({ channel: 'other' }))).map(({ name }) => name)).toContain('create');
    expect((await house.bot.suggest(ada(), 'help', 'command', 'c', {}))[0]?.value).toBe('cancel');
    const help = await house.bot.command(ada(), 'help', {});
    expect(replyText(help)).toContain('You can’t create clips here: only Bob may.');
    expect(help.kind === 'private' ? buttonsOf(help.card) : null).toEqual([]);
    expect(replyText(await house.bot.command(ada(), 'models', {}))).toContain('You can’t create clips here');
  });
});
