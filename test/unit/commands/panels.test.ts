import { describe, expect, it } from 'vitest';
import { renderParts } from '#adapters/discord/messages/render.ts';
import { RULE_WORDS } from '#commands/administration/rule-words.ts';
import type { Caller, Form, Reply } from '#commands/bot-port.ts';
import { declarations, subcommands } from '#commands/registry.ts';
import { buttonsOf } from '#commands/ui/card.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { componentsV2 } from '#test/fakes/discord/components.ts';
import { CATALOG } from '../videos/models.ts';

const admin = (changes: Partial<Caller> = {}) => ada({ mayAdminister: true, ...changes });

const formIn = (reply: Reply): Form => {
  if (reply.kind !== 'form') throw new TypeError(replyText(reply));
  return reply.form;
};
const labelsOf = (reply: Reply): readonly string[] =>
  reply.kind === 'private' ? buttonsOf(reply.card).map(({ label }) => label) : [];
const open = async (house: BotHouse, button: string, caller = admin()): Promise<Form> =>
  formIn(await house.bot.press(caller, button));
/** Values of a form as it is, but for some fields, by the names of their options. */
const filled = ({ fields }: Form, changes: Readonly<Record<string, string>>): Record<string, string> => {
  const entered = fields.map(({ name, value }) => [name, changes[name.split('~')[0] ?? ''] ?? value] as const);
  return Object.fromEntries(entered);
};
const save = (house: BotHouse, form: Form, changes: Readonly<Record<string, string>>, caller = admin()) =>
  house.bot.submit(caller, form.id, filled(form, changes));

describe('the panel of /video settings', () => {
  it('is opened by buttons under its card', async () => {
    const house = new BotHouse(CATALOG);
    const reply = await house.bot.text(admin(), 'settings');
    expect(labelsOf(reply)).toEqual(['Amounts…', 'Months and reports…', 'Clips…']);
  });

  it('shows the values of today in the control of their kind', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'settings --time_zone Europe/Berlin --report_channel <#C7|clips> --alerts off');
    const { title, submit, fields } = await open(house, 'panel:settings:months');
    expect([title, submit]).toEqual(['Months and reports', 'Save']);
    expect(fields.map(({ label, value, control }) => [label, value, control])).toEqual([
      ['Time zone', 'Europe/Berlin', undefined],
      ['Report channel', '<#C7>', 'channel'],
      ['Alerts', 'off', 'switch'],
    ]);
    await house.bot.text(admin(), 'settings --confirm_above 2.50');
    const amounts = await open(house, 'panel:settings:amounts');
    expect(amounts.fields.map(({ label, value }) => [label, value])).toEqual([
      ['Currency', ''],
      ['Confirm above', '2.5 USD'],
      ['Approve above', ''],
      ['Unusual spend', ''],
    ]);
    expect(amounts.fields[0]?.choices?.all).toEqual([{ value: 'USD', label: 'USD' }]);
  });

  it('saves what was changed, by the command, with its sentences and its entries in the audit log', async () => {
    const house = new BotHouse(CATALOG);
    const form = await open(house, 'panel:settings:amounts');
    const reply = await save(house, form, { confirm_above: '2', approve_above: '5 USD' });
    expect(replyText(reply)).toContain('Saved.');
    expect(replyText(reply)).toContain('Nobody is an approver yet');
    expect(labelsOf(reply)).toContain('Amounts…');
    const { confirmAbove, approveAbove, unusualSpend, revision } = await house.settings.get(admin());
    expect([confirmAbove, approveAbove, unusualSpend]).toEqual([
      { amount: '2', currency: 'USD' },
      { amount: '5', currency: 'USD' },
      undefined,
    ]);
    expect(revision).toBe(1);
    const { entries } = await house.audit.page(admin(), { offset: 0, limit: 9 });
    expect(entries.map(({ surface }) => surface)).toEqual(['form', 'form']);
  });

  it('removes the value of a field that was emptied, and turns off what was switched off', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'settings --confirm_above 2 --report_channel <#C7>');
    await save(house, await open(house, 'panel:settings:amounts'), { confirm_above: ' ' });
    await save(house, await open(house, 'panel:settings:months'), { report_channel: '', alerts: 'off' });
    const now = await house.settings.get(admin());
    expect(now).not.toHaveProperty('confirmAbove');
    expect(now).not.toHaveProperty('reportChannel');
    expect(now.alerts).toBe(false);
  });

  it('leaves alone what somebody else changed meanwhile, in a field that was not touched', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'settings --confirm_above 2 --unusual_spend 20');
    const form = await open(house, 'panel:settings:amounts');
    await house.bot.text(admin(), 'settings --confirm_above 9 --off unusual_spend');
    await save(house, form, { approve_above: '5' });
    const now = await house.settings.get(admin());
    expect(now).toMatchObject({ confirmAbove: { amount: '9' }, approveAbove: { amount: '5' } });
    expect(now).not.toHaveProperty('unusualSpend');
  });

  it('changes nothing where nothing was touched, and shows the card', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'settings --report_channel <#C7|clips> --time_zone Europe/Berlin');
    const form = await open(house, 'panel:settings:months');
    // Platforms send a chosen channel back with its name.
    const reply = await save(house, form, { report_channel: '<#C7|clips>' });
    expect(replyText(reply)).toMatch(/^Settings of this team\n\*Time zone/u);
    expect((await house.settings.get(admin())).revision).toBe(1);
  });

  it('saves the same twice without a second change', async () => {
    const house = new BotHouse(CATALOG);
    const form = await open(house, 'panel:settings:amounts');
    await save(house, form, { confirm_above: '2' });
    expect(replyText(await save(house, form, { confirm_above: '2' }))).toContain('Nothing changed');
    expect((await house.audit.page(admin(), { offset: 0, limit: 9 })).total).toBe(1);
  });

  it('refuses wrong values by their fields, all at once, and changes nothing', async () => {
    const house = new BotHouse(CATALOG);
    const form = await open(house, 'panel:settings:amounts');
    const reply = await save(house, form, { confirm_above: 'much', approve_above: '-1', unusual_spend: '3' });
    const [, confirm, approve] = form.fields.map(({ name }) => name);
    expect(reply).toMatchObject({
      kind: 'refused',
      problems: [{ field: confirm }, { field: approve }],
      buttons: [{ id: 'panel:settings:amounts', label: 'Open it again' }],
    });
    expect((await house.settings.get(admin())).revision).toBe(0);
  });

  it('refuses a button and a form to someone who may not administer, or no longer may', async () => {
    const house = new BotHouse(CATALOG);
    expect(replyText(await house.bot.press(bob(), 'panel:settings:amounts'))).toContain('admins and owners');
    const form = await open(house, 'panel:settings:amounts');
    const reply = await save(house, form, { confirm_above: '2' }, ada({ mayAdminister: false }));
    expect(replyText(reply)).toContain('admins and owners');
    expect((await house.settings.get(admin())).revision).toBe(0);
  });

  it.each(['panel:settings:nothing', 'panel:create:amounts', 'panel:nothing:amounts', 'panel:settings:constructor'])(
    'knows no %s',
    async (id) => {
      const house = new BotHouse(CATALOG);
      expect(replyText(await house.bot.press(admin(), id))).toMatch(/^refused: .*button/u);
      expect((await house.bot.submit(admin(), id, { confirm_above: '2' })).kind).toBe('refused');
    },
  );
});

describe('the panel of /video review', () => {
  it('turns reviews of the channel on and off, and sets the rules of the team', async () => {
    const house = new BotHouse(CATALOG);
    expect(labelsOf(await house.bot.text(admin(), 'review'))).toEqual(['Reviews…']);
    const form = await open(house, 'panel:review:reviews');
    expect(form.fields.map(({ label, value, control }) => [label, value, control])).toEqual([
      ['Here', 'off', 'switch'],
      ['Own clips', 'on', 'switch'],
      ['Signed-off clips', '', 'channel'],
      ['Keeping', 'off', 'switch'],
    ]);
    await save(house, form, { state: 'on', own: 'off', post_to: '<#C7|final>' });
    expect(await house.settings.get(admin())).toMatchObject({
      reviewIn: ['clips'],
      signOffOwn: false,
      signedOffChannel: 'C7',
      keepSignedOff: false,
    });
    await save(house, await open(house, 'panel:review:reviews'), { state: 'off', post_to: '' });
    const after = await house.settings.get(admin());
    expect([after.reviewIn, after.signedOffChannel]).toEqual([[], undefined]);
  });
});

describe('every panel', () => {
  const groups = subcommands.flatMap(({ declaration, panel = {} }) =>
    Object.entries(panel).map(([name, group]) => [`${declaration.name} ${name}`, group] as const),
  );

  it.each(groups)('%s has a title that Slack does not cut', (_, { title, label }) => {
    expect(title.length).toBeLessThanOrEqual(24);
    expect(label).toMatch(/^[A-Z].*…$/u);
  });

  it('belongs to a command whose answer is private', () => {
    const names = subcommands.flatMap(({ declaration, panel }) => (panel === undefined ? [] : [declaration.name]));
    expect(declarations.filter(({ name }) => names.includes(name)).map(({ visibility }) => visibility)).not.toContain(
      'public',
    );
  });
});

describe('the panel of /video budget', () => {
  const amounts = async (house: BotHouse) =>
    (await house.budgets.list(admin())).map(({ scope, hard, soft }) => [scope.kind, { ...hard }, { ...soft }]);

  it('sets a budget of whom it names, the team’s where nobody is named', async () => {
    const house = new BotHouse(CATALOG);
    expect(labelsOf(await house.bot.text(admin(), 'budget'))).toEqual(['Set a budget…']);
    const form = await open(house, 'panel:budget:set');
    expect(form.fields.map(({ name, control }) => [name, control])).toEqual([
      ['scope~', undefined],
      ['channel~', 'channel'],
      ['person~', 'person'],
      ['amount~', undefined],
      [expect.stringMatching(/^soft~.{4}$/u), 'switch'],
    ]);
    await save(house, form, { amount: '100' });
    await save(house, form, { channel: '<#C1|clips>', amount: '20 USD' });
    await save(house, form, { person: '<@U2|Bob>', amount: '5', soft: 'on' });
    expect(await amounts(house)).toEqual([
      ['team', { USD: 100_000_000n }, {}],
      ['channel', { USD: 20_000_000n }, {}],
      ['person', {}, { USD: 5_000_000n }],
    ]);
  });

  it('changes and removes both amounts of one in a row, and keeps the name of its person', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'budget <@U2|Bob> 20 USD');
    await house.bot.text(admin(), 'budget team 100');
    const rows = await house.bot.text(admin(), 'budget');
    expect(labelsOf(rows)).toEqual(['Change…', 'Change…', 'Set a budget…']);
    const form = await open(house, 'panel:budget:amounts:person.U2');
    expect(form.fields.map(({ label, value }) => [label, value])).toEqual([
      ['Most per month, in USD', '20 USD'],
      ['Ask from, in USD', ''],
    ]);
    const reply = await save(house, form, { hard_USD: '30', soft_USD: '25' });
    expect(replyText(reply)).toContain(
      'Bob · $0.00 of $30.00 used · $30.00 left · asks for a confirmation from $25.00 on',
    );
    await save(house, await open(house, 'panel:budget:amounts:person.U2'), { hard_USD: '', soft_USD: '' });
    expect(await amounts(house)).toEqual([['team', { USD: 100_000_000n }, {}]]);
  });

  it('removes the amount that was emptied alone', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'budget team 100');
    await house.bot.text(admin(), 'budget team 50 --soft');
    const form = await open(house, 'panel:budget:amounts:team');
    expect(replyText(await save(house, form, { hard_USD: '' }))).toContain('was removed (it was $100.00)');
    expect(await amounts(house)).toEqual([['team', {}, { USD: 50_000_000n }]]);
  });

  it('removes the amount of its currency alone where “off” is written', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'budget team 100');
    await house.bot.text(admin(), 'budget team 50 --soft');
    await save(house, await open(house, 'panel:budget:amounts:team'), { soft_USD: 'off' });
    expect(await amounts(house)).toEqual([['team', { USD: 100_000_000n }, {}]]);
  });

  it('sets the budget of whom it showed, also where that was removed meanwhile', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'budget <#C1|clips> 20 USD');
    const form = await open(house, 'panel:budget:amounts:channel.C1');
    await house.bot.text(admin(), 'budget <#C1|clips> off');
    await save(house, form, { hard_USD: '30' });
    expect(await amounts(house)).toEqual([['channel', { USD: 30_000_000n }, {}]]);
  });

  it('saves neither amount where one is wrong', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'budget team 100');
    const form = await open(house, 'panel:budget:amounts:team');
    const reply = await save(house, form, { hard_USD: '90', soft_USD: 'lots' });
    expect(replyText(reply)).toContain('amount: “lots” isn’t an amount.');
    expect(reply).toMatchObject({ problems: [{ field: 'soft_USD~' }] });
    expect(await amounts(house)).toEqual([['team', { USD: 100_000_000n }, {}]]);
  });

  it('keeps the currency of an amount that is typed as a number', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'settings --confirm_above "2 USD"');
    const form = await open(house, 'panel:settings:amounts');
    await save(house, form, { confirm_above: '3' });
    expect(await house.settings.get(admin())).toMatchObject({ confirmAbove: { amount: '3', currency: 'USD' } });
  });
});

describe('the panel of /video approvers', () => {
  const names = async (house: BotHouse) => (await house.approvers.list(admin())).map(({ id }) => id);

  it('adds and removes those that were chosen and taken out, and leaves alone who was added meanwhile', async () => {
    const house = new BotHouse(CATALOG);
    for (const who of ['<@U2|Bob>', '<@U3|Cleo>', '<!subteam^S1|@producers>'])
      await house.bot.text(admin(), `approvers ${who}`);
    expect(labelsOf(await house.bot.text(admin(), 'approvers'))).toEqual(['Approvers…', 'Add a deputy…']);
    const form = await open(house, 'panel:approvers:approvers');
    expect(form.fields[0]).toMatchObject({ control: 'approver', most: 25 });
    expect(form.fields[0]?.value.split('\n').toSorted()).toEqual([
      '<!subteam^S1|@producers>',
      '<@U2|Bob>',
      '<@U3|Cleo>',
    ]);
    await house.bot.text(admin(), 'approvers <@U4|Dan>');
    await save(house, form, { who: '<!subteam^S1>\n<@U2|Bobby>\n<@U5|Eve>' });
    expect((await names(house)).toSorted()).toEqual(['S1', 'U2', 'U4', 'U5']);
    await save(house, await open(house, 'panel:approvers:approvers'), { who: '' });
    expect(await names(house)).toEqual([]);
  });

  it('adds a deputy until a day', async () => {
    const house = new BotHouse(CATALOG);
    const form = await open(house, 'panel:approvers:deputy');
    const wrong = await save(house, form, { who: '<@U2|Bob>', until: 'soon' });
    expect(replyText(wrong)).toContain('until: “soon” isn’t a day.');
    expect(replyText(await save(house, form, { who: '<@U2|Bob>', until: '2026-12-24' }))).toContain(
      'until 24 December',
    );
  });

  it('shows of many as many as fit, with a sentence, and removes none of the others', async () => {
    const house = new BotHouse(CATALOG);
    for (let at = 10; at < 40; at += 1) await house.bot.text(admin(), `approvers <@U${at}|Person ${at}>`);
    const form = await open(house, 'panel:approvers:approvers');
    const [field] = form.fields;
    expect(field?.note).toBe('Only 20 of 30 fit here; the others stay as they are.');
    expect(field?.name.length).toBeLessThanOrEqual(100);
    const [first = '', ...others] = field?.value.split('\n') ?? [];
    await save(house, form, { who: others.join('\n') });
    const left = await names(house);
    expect(left).toHaveLength(29);
    expect(left.filter((id) => first.includes(id))).toEqual([]);
    await save(house, await open(house, 'panel:approvers:approvers'), { who: '' });
    expect(await names(house)).toHaveLength(9);
  });
});

describe('the panel of /video policy', () => {
  const rules = async (house: BotHouse) => (await house.settings.get(admin())).policy;

  it('is for administrators alone, under a card that everyone may see', async () => {
    const house = new BotHouse(CATALOG);
    expect(labelsOf(await house.bot.text(bob(), 'policy'))).toEqual([]);
    expect((await house.bot.press(bob(), 'panel:policy:people')).kind).toBe('refused');
    const labels = ['Models and lengths…', 'Words and style…', 'People…'];
    expect(labelsOf(await house.bot.text(admin(), 'policy'))).toEqual(labels);
  });

  it('chooses models, lengths and sizes of the team, and removes what is emptied', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'policy --seconds "only 8" --clips 3');
    const form = await open(house, 'panel:policy:values');
    expect(form.fields.map(({ label, value, most }) => [label, value, most])).toEqual([
      ['Only in a channel', '', undefined],
      ['Models', '', 25],
      ['Length', 'only 8', undefined],
      ['Resolution', '', 25],
      ['Clips per order', '3', undefined],
    ]);
    expect(form.fields[1]?.choices?.all.map(({ value }) => value)).toEqual(['swift-1', 'epic-pro', 'plain']);
    await save(house, form, { models: 'swift-1\nplain', clips: '', resolutions: '720p' });
    expect((await rules(house))?.team).toEqual({
      models: ['swift-1', 'plain'],
      seconds: [8],
      resolutions: ['720p'],
    });
  });

  it('changes the rules of a channel that is chosen, or that the card is about', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'policy --seconds 6');
    await save(house, await open(house, 'panel:policy:values'), { channel: '<#C7|films>', clips: '2' });
    expect(await rules(house)).toEqual({ team: { seconds: { max: 6 } }, channels: { C7: { clips: 2 } } });
    const card = await house.bot.text(admin(), 'policy --channel <#C7|films>');
    if (card.kind !== 'private') throw new TypeError(card.kind);
    const [values] = buttonsOf(card.card);
    expect(values?.id).toBe('panel:policy:values:C7');
    const form = await open(house, values?.id ?? '');
    expect(form.fields.map(({ label, value }) => [label, value])).toEqual([
      ['Models', ''],
      ['Length', '6'],
      ['Resolution', ''],
      ['Clips per order', '2'],
    ]);
    await save(house, form, { seconds: '4', clips: '' });
    expect(await rules(house)).toEqual({ team: { seconds: { max: 6 } }, channels: { C7: { seconds: { max: 4 } } } });
  });

  it('adds and removes people and words, and keeps what others added meanwhile', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'policy --create <@U2|Bob> --words "blood, gore"');
    const people = await open(house, 'panel:policy:people');
    await house.bot.text(admin(), 'policy --create <@U3|Cleo>');
    await save(house, people, { create: '<@U4|Dan>\n<!subteam^S1|@producers>', review: '<@U2|Bob>' });
    const words = await open(house, 'panel:policy:words');
    expect(words.fields.map(({ name }) => name.split('~')[0])).toEqual(['channel', 'style', 'words', 'allowed']);
    await save(house, words, { words: 'guns', allowed: 'gore' });
    const now = (await rules(house))?.team;
    expect(now?.words).toEqual(['blood', 'guns']);
    expect(Array.isArray(now?.create) && now.create.map(({ id }) => id)).toEqual(['U3', 'U4', 'S1']);
    expect(Array.isArray(now?.review) && now.review.map(({ id }) => id)).toEqual(['U2']);
    await save(house, await open(house, 'panel:policy:people'), { create: '' });
    expect((await rules(house))?.team).not.toHaveProperty('create');
  });

  it.each(['swift-1\nplain\nepic-pro', ''])(
    'refuses a list that somebody else changed meanwhile, which %j would undo',
    async (models) => {
      const house = new BotHouse(CATALOG);
      await house.bot.text(admin(), 'policy --models "swift-1, plain"');
      const form = await open(house, 'panel:policy:values');
      await house.bot.text(admin(), 'policy --models swift-1');
      const reply = await save(house, form, { models, clips: '2' });
      expect(reply).toMatchObject({ kind: 'refused', sentence: expect.stringContaining('changed this meanwhile') });
      expect((await rules(house))?.team).toEqual({ models: ['swift-1'] });
    },
  );

  it('takes out whoever has left, and saves what is right beside what is refused', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'policy --create <@U2|Bob>');
    await house.bot.text(admin(), 'policy --create <@U9|Gone>');
    house.outsiders.add('U9');
    house.outsiders.add('U8');
    const form = await open(house, 'panel:policy:people');
    const reply = await save(house, form, { create: '<@U2|Bob>\n<@U8|Away>\n<@U3|Cleo>' });
    expect(replyText(reply)).toMatch(/^\*This part was not saved\*: ‹create: Away/u);
    const now = (await rules(house))?.team.create;
    expect(Array.isArray(now) && now.map(({ id }) => id)).toEqual(['U2', 'U3']);
  });

  it('says what was not saved where a part was refused', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'policy --create <@U2|Bob>');
    house.outsiders.add('U9');
    const reply = await save(house, await open(house, 'panel:policy:people'), {
      create: '<@U2|Bob>\n<@U3|Cleo>\n<@U9|Gone>',
    });
    expect(replyText(reply)).toMatch(/^\*This part was not saved\*: ‹create: Gone/u);
    const now = (await rules(house))?.team.create;
    expect(Array.isArray(now) && now.map(({ id }) => id)).toEqual(['U2', 'U3']);
  });

  it('has a field for every rule', async () => {
    const house = new BotHouse(CATALOG);
    const forms = await Promise.all(['values', 'words', 'people'].map((name) => open(house, `panel:policy:${name}`)));
    const names = forms.flatMap(({ fields }) => fields.map(({ name }) => name.split('~')[0]));
    expect(names).toEqual(expect.arrayContaining(Object.keys(RULE_WORDS)));
  });
});

describe('the panel of /video defaults', () => {
  it('is for everyone, with the models and lengths that the policy allows', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'policy --models swift-1,plain');
    await house.bot.text(bob(), 'defaults --model plain --seconds 6');
    const form = await open(house, 'panel:defaults:change', bob());
    expect(form.fields.map(({ label, value }) => [label, value])).toEqual([
      ['Model', 'plain'],
      ['Length', '6'],
      ['Aspect', ''],
    ]);
    expect(form.fields[0]?.choices?.all.map(({ value }) => value)).toEqual(['swift-1', 'plain']);
    await save(house, form, { model: 'swift-1', seconds: '', aspect: '9:16' }, bob());
    expect(await house.defaults.get({ platform: 'slack', team: 'T1', user: 'U2' })).toMatchObject({
      model: 'swift-1',
      aspect: '9:16',
    });
    expect(await house.defaults.get({ platform: 'slack', team: 'T1', user: 'U2' })).not.toHaveProperty('seconds');
  });
});

describe('the panel of /video notify', () => {
  it('announces the clips of a person in a channel, or by direct message', async () => {
    const house = new BotHouse(CATALOG);
    const form = await open(house, 'panel:notify:announce', ada());
    expect(form.fields.map(({ control, value }) => [control, value])).toEqual([
      ['person', ''],
      ['channel', ''],
      ['switch', 'off'],
    ]);
    await save(house, form, { who: '<@U2|Bob>', channel: '<#C2|films>' }, ada());
    await save(house, form, { direct: 'on' }, ada());
    expect(house.subscribed.map(({ who, channel, from }) => [who, channel, from])).toEqual([
      [{ id: 'U2', name: 'Bob' }, 'C2', undefined],
      ['everyone', 'direct-U1', 'clips'],
    ]);
    house.memberRights.set('C3', { view: true, post: true, manage: false });
    const reply = await save(house, form, { channel: '<#C3>', who: '<@U2|Bob>' }, ada());
    expect(reply.kind).toBe('refused');
  });
});

it('a form of /video notify in which nothing was chosen announces everyone’s clips here', async () => {
  const house = new BotHouse(CATALOG);
  const reply = await save(house, await open(house, 'panel:notify:announce'), {});
  expect(replyText(reply)).toContain('everyone');
  expect(replyText(await house.bot.text(admin(), 'notify'))).not.toContain('No notifications');
});

describe('the panel of /video style', () => {
  const styles = async (house: BotHouse) => (await house.settings.get(admin())).styles;

  it('adds, changes and removes a style', async () => {
    const house = new BotHouse(CATALOG);
    expect(labelsOf(await house.bot.text(bob(), 'style'))).toEqual([]);
    expect(labelsOf(await house.bot.text(admin(), 'style'))).toEqual(['New style…']);
    const created = await save(house, await open(house, 'panel:style:new'), { name: 'House', before: 'on film,' });
    expect(replyText(created)).toContain('Style house');
    expect(labelsOf(created)).toEqual(['Words…', 'Model and length…']);
    expect(labelsOf(await house.bot.text(admin(), 'style'))).toEqual(['Change…', 'New style…']);
    const words = await open(house, 'panel:style:words:house');
    expect(words.fields.map(({ label, value, long }) => [label, value, long])).toEqual([
      ['Before the prompt', 'on film,', true],
      ['After the prompt', '', true],
      ['Avoid', '', true],
      ['Reference images', '', true],
      ['Remove', '', false],
    ]);
    await save(house, words, { before: '', avoid: 'logos' });
    await save(house, await open(house, 'panel:style:clips:house'), { model: 'swift-1', seconds: '8' });
    expect(await styles(house)).toEqual([{ name: 'house', avoid: 'logos', model: 'swift-1', seconds: 8 }]);
    await save(house, await open(house, 'panel:style:words:house'), { off: 'all' });
    expect(await styles(house)).toBeUndefined();
  });

  it('refuses a name by its field', async () => {
    const house = new BotHouse(CATALOG);
    const form = await open(house, 'panel:style:new');
    const reply = await save(house, form, { name: 'my house', before: 'x' });
    expect(reply).toMatchObject({ kind: 'refused', problems: [{ field: 'name~' }] });
  });

  it.each([
    ['/video style', {}],
    ['/video-admin style', { fields: { files: {}, links: {}, administration: '/video-admin' } }],
  ])('makes no new style of a name that is taken, and says how to change that: %s', async (command, more) => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(admin(), 'style house --before "on film,"');
    const form = await open(house, 'panel:style:new');
    const reply = await save(house, form, { name: 'House', before: 'in clay,' }, admin(more));
    expect(reply).toMatchObject({ kind: 'refused', problems: [{ field: 'name~' }] });
    expect(replyText(reply)).toContain(`there is already a style “house”. To change it, use ${command} with its name.`);
    expect(await styles(house)).toEqual([{ name: 'house', before: 'on film,' }]);
  });
});

describe('a list with a button in each row', () => {
  /** Counts the buttons of a card as Discord shows it. */
  const buttonsOnDiscord = (reply: Reply, messages: number): number => {
    if (reply.kind !== 'private') throw new TypeError(reply.kind);
    const parts = renderParts(reply.card, { guild: null });
    expect(parts).toHaveLength(messages);
    for (const { components } of parts) componentsV2.parse(components);
    return JSON.stringify(parts).split('"panel:').length - 1;
  };

  it('keeps all of them on Discord: ten budgets in one message, 25 styles in two for their words', async () => {
    const house = new BotHouse(CATALOG);
    for (let at = 0; at < 12; at += 1) {
      await house.bot.text(admin(), `budget <@U${at}|${'Long name '.repeat(3)}${at}> 100000`);
      await house.bot.text(admin(), `budget <@U${at}|${'Long name '.repeat(3)}${at}> 90000 soft`);
    }
    expect(buttonsOnDiscord(await house.bot.text(admin(), 'budget'), 1)).toBe(11);
    for (let at = 0; at < 25; at += 1)
      await house.bot.text(admin(), `style style-${at} --before "${'words '.repeat(30)}"`);
    expect(buttonsOnDiscord(await house.bot.text(admin(), 'style'), 2)).toBe(9);
  });
});
