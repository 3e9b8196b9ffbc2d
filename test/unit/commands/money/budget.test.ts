import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '#commands/bot-port.ts';
import { microsOf } from '#src/tasks/money.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG, EPIC, SWIFT } from '#test/unit/videos/models.ts';

const TWO_CURRENCIES = parseCatalog({ models: [SWIFT, { ...EPIC, currency: 'EUR' }] });
const admin = (changes: Partial<Caller> = {}): Caller => ada({ mayAdminister: true, ...changes });

let house: BotHouse;

beforeEach(() => {
  house = new BotHouse(CATALOG);
});

const said = async (text: string, caller = admin()): Promise<string> =>
  replyText(await house.bot.text(caller, `budget ${text}`));
const entries = async (): Promise<number> =>
  (await house.audit.page({ platform: 'slack', team: 'T1' }, { offset: 0, limit: 1 })).total;
const spend = (scope: string, parts: Readonly<Record<string, string>>) =>
  house.store.commit({
    records: [],
    sums: [
      {
        sum: `${scope}:2026-11:USD`,
        add: Object.fromEntries(Object.entries(parts).map(([part, amount]) => [part, microsOf(amount)])),
      },
    ],
  });

describe('/video budget', () => {
  it('shows an example while none is set, and is refused to members', async () => {
    expect(await said('')).toBe(
      'Monthly budgets\nNone is set. For example: `/video budget team 100 USD`\n(Set a budget…)',
    );
    expect(await said('', bob())).toMatch(/^refused: Only admins and owners/);
    expect(await said('team 5', bob())).toMatch(/^refused: Only admins and owners/);
    expect(await entries()).toBe(0);
  });

  it('shows what is used, in progress, unconfirmed and left of each budget', async () => {
    await spend('team:slack:T1', { settled: '60', held: '2.4', doubted: '0.4', extra: '5' });
    await spend('person:slack:T1:U2', { settled: '21' });
    for (const text of ['team 100 USD', 'team 80 soft', 'everyone 10', '<#C1|clips> 20', '<@U2|Bob> 20']) {
      expect(await said(text)).not.toContain('refused');
    }
    expect(await said('')).toBe(
      [
        'Monthly budgets',
        'They reset on 1 December (UTC).',
        'The team · $62.80 of $100.00 used ($5.00 granted on top) · $42.20 left · $2.40 in progress · $0.40 unconfirmed · asks for a confirmation from $80.00 on (Change…)',
        'Each person without a budget of their own · $10.00 each (Change…)',
        '#C1 · $0.00 of $20.00 used · $20.00 left (Change…)',
        'Bob · $21.00 of $20.00 used · over by $1.00 (Change…)',
        '(Set a budget…)',
      ].join('\n'),
    );
  });

  it('counts failed clips until a statement shows their refund, where REFUNDS says so', async () => {
    house.refunds = 'by_statement';
    await spend('team:slack:T1', { held: '2.4' });
    const shown = await said('team 1 USD');
    expect(shown).toContain('resets on 1 December (UTC). Clips in progress run on.');
    expect(shown).toContain('over by $1.40 · $2.40 in progress or awaiting refund');
  });

  it('shows the budget of the installation to those in ADMINS only', async () => {
    await house.budgets.setDeployment({ USD: microsOf('500') });
    expect(await said('')).not.toContain('500');
    house.admins = [{ platform: 'slack', user: 'U1' }];
    expect(await said('')).toContain('This installation, all teams together · $0.00 of $500.00 used');
  });

  it('says what changed, and from what', async () => {
    expect(await said('team 100 USD')).toMatch(/^The monthly budget of the team is now \$100\.00\.\n/);
    expect(await said('team 150')).toMatch(/^The monthly budget of the team is now \$150\.00 \(it was \$100\.00\)\.\n/);
    expect(await said('team $150')).toMatch(/^The monthly budget of the team is already \$150\.00\.\n/);
    expect(await said('team off')).toMatch(/^The monthly budget of the team was removed \(it was \$150\.00\)\.\n/);
    expect(await said('team off')).toMatch(/^Nothing to remove: the team has no budget\.\n/);
    expect(await entries()).toBe(3);
  });

  it('allows no money with 0', async () => {
    expect(await said('everyone 0')).toMatch(/is now \$0\.00\.\nOnly free models can be used\.\n/);
  });

  it('lowered below what is used: says by how much, and that clips in progress run on', async () => {
    await spend('team:slack:T1', { settled: '60', held: '2.4' });
    expect(await said('team 50 USD')).toMatch(
      /^The monthly budget of the team is now \$50\.00\.\nIt is over by \$12\.40: nothing new can be ordered until it is raised, or resets on 1 December \(UTC\)\. Clips in progress \(\$2\.40\) run on\.\n/,
    );
  });

  it('names the end of the month in the team’s time zone', async () => {
    await house.settings.change(
      { platform: 'slack', team: 'T1' },
      { person: null, surface: 'command' },
      { timeZone: 'Europe/Berlin' },
    );
    await said('team 100');
    expect(await said('')).toContain('They reset on 1 December (Berlin time).');
  });

  it('sets a soft amount, and notes one without effect', async () => {
    expect(await said('team 80 soft')).toMatch(
      /^Once the team used \$80\.00 in a month, each order asks for a confirmation\.\n/,
    );
    expect(await said('team 50')).toContain(
      'Its soft amount of $80.00 has no effect: the budget itself is reached first.',
    );
    expect(await said('team off soft')).toMatch(/^Orders of the team no longer ask for a confirmation/);
    expect(await said('team off soft')).toMatch(/^Nothing to remove: the team has no soft amount\./);
  });

  it('warns of models in another currency, which it refuses, and never converts', async () => {
    house.replaceCatalog(TWO_CURRENCIES);
    expect(await said('team 50 USD')).toContain('Models priced in EUR are refused: it has no amount in that currency.');
    expect(await said('team 20 EUR')).not.toContain('are refused');
    expect(await said('team off EUR')).toMatch(/^The monthly budget of the team was removed \(it was €20\.00\)\./);
    expect((await house.budgets.get({ kind: 'team', platform: 'slack', team: 'T1' }))?.hard).toEqual({
      USD: microsOf('50'),
    });
  });

  it('uses the currency of the settings for an amount without one', async () => {
    house.replaceCatalog(TWO_CURRENCIES);
    await house.settings.change(
      { platform: 'slack', team: 'T1' },
      { person: null, surface: 'command' },
      { currency: 'EUR' },
    );
    expect(await said('50')).toContain('The monthly budget of the team is now €50.00.');
  });

  it('takes options in place of words', async () => {
    const command = async (given: Readonly<Record<string, readonly string[]>>) =>
      replyText(await house.bot.command(admin(), 'budget', given));
    expect(await command({ scope: ['everyone'], amount: ['5 USD'] })).toContain('each person without');
    expect(await command({ person: ['<@U2|Bob>'], amount: ['5'] })).toContain('budget of Bob is now $5.00');
    expect(await command({ channel: ['<#C1|clips>'], amount: ['5'], soft: [''] })).toContain('Once #C1 used $5.00');
    expect(await command({ scope: ['team'], person: ['<@U2|Bob>'], amount: ['5'] })).toMatch(
      /^refused: scope: both “team” and “@Bob” were given\./,
    );
  });

  it('knows people by name, also with blanks', async () => {
    await house.seed(ada({ user: { id: 'U7', name: 'Cleo van Dyk' } }), 'a fox');
    expect(await said('@Cleo van Dyk 20 USD')).toContain('budget of Cleo van Dyk is now $20.00');
    expect(await said('cleo van dyk 25')).toContain('budget of Cleo van Dyk is now $25.00');
    expect(await said('me 5')).toContain('budget of Ada is now $5.00');
  });

  it.each([
    ['team abc', 'amount: “abc” isn’t an amount'],
    ['team -5', 'amount: “-5” isn’t an amount'],
    ['team 1e9', 'amount: “1e9” isn’t an amount'],
    ['team 0.1234567', 'amount: “0.1234567” isn’t an amount'],
    ['team 10000000000', 'amount: “10000000000” isn’t an amount'],
    ['team 5 GBP', 'amount: No model is billed in GBP'],
    ['team soft', 'amount: how much a month?'],
    ['off', 'scope: whose budget is it?'],
    ['nobody 5', 'scope: I don’t know “nobody” here.'],
    ['<@U9|Gone> 5', 'scope: Gone isn’t a member here any more. Nothing was changed.'],
    ['<#C9|secret> 5', 'scope: I can’t find that channel. Nothing was changed.'],
    [
      '<#C8|thread> 5',
      'scope: a thread’s clips count towards the budget of its channel. Set that one; nothing was changed.',
    ],
  ])('refuses %s and changes nothing', async (text, sentence) => {
    house.outsiders.add('U9');
    house.memberRights.set('C9', { view: false, post: false, manage: false });
    house.memberRights.set('C8', { view: true, post: true, manage: true, parent: 'C7' });
    expect(await said(text)).toContain(`refused: ${sentence}`);
    expect([await house.budgets.list({ platform: 'slack', team: 'T1' }), await entries()]).toEqual([[], 0]);
  });

  it('takes any @name or person on the chat page, also one who never ordered', async () => {
    const onPage = admin({ platform: 'playground' });
    expect(await said('@ana 5', onPage)).toContain('budget of ana is now $5.00');
    expect(await said('5 --person ben', onPage)).toContain('budget of ben is now $5.00');
    expect(await said('5 --person ben')).toContain('refused: scope: I don’t know “ben” here.');
    expect(await said('ana 5', onPage)).toContain('refused: scope: I don’t know “ana” here.');
  });

  it('sets none for a channel of the chat page that nobody wrote in, and removes one that was set', async () => {
    const onPage = admin({ platform: 'playground' });
    expect(await said('#nowhere 5', onPage)).toContain('budget of #nowhere is now $5.00');
    house.memberRights.set('nowhere', { view: true, post: true, manage: true, isUnused: true });
    expect(await said('#nowhere 6', onPage)).toBe('refused: scope: I can’t find that channel. Nothing was changed.');
    expect(await said('#nowhere off', onPage)).toContain('budget of #nowhere was removed');
  });

  it('removes the budget of a person who left', async () => {
    await said('<@U9|Gone> 5');
    house.outsiders.add('U9');
    expect(await said('<@U9|Gone> off')).toContain('budget of Gone was removed');
  });

  it('turns pages, for administrators only', async () => {
    for (let index = 0; index < 12; index += 1) await said(`<#C1${index}|c> 5`);
    const first = await house.bot.text(admin(), 'budget');
    if (first.kind !== 'private') throw new TypeError('no card');
    const [next] = first.card.buttons;
    const second = await house.bot.press(admin(), next?.id ?? '');
    const rows = `${replyText(first)}\n${replyText(second)}`.match(/^#C1\d+/gm) ?? [];
    expect([next?.label, new Set(rows).size]).toEqual(['Next', 12]);
    expect(replyText(await house.bot.press(bob(), next?.id ?? ''))).toMatch(/^refused: Only admins/);
  });

  it('shows the last page where budgets were removed since the button was shown', async () => {
    for (let index = 0; index < 12; index += 1) await said(`<#C1${index}|c> 5`);
    for (let index = 0; index < 3; index += 1) await said(`<#C1${index}|c> off`);
    const text = replyText(await house.bot.press(admin(), 'page:budgets:10'));
    expect(text).not.toContain('None is set');
    expect(text.match(/^#C1\d+/gm)).toHaveLength(9);
  });
});
