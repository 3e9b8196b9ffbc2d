import { describe, expect, it } from 'vitest';
import { OPERATORS_ONLY } from '#commands/administration/audit.ts';
import type { AuditEntry, AuditValue } from '#src/teams/audit/audit-entry.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

const admin = () => ada({ mayAdminister: true });
const said = async (house: BotHouse, text: string, caller = admin()) => replyText(await house.bot.text(caller, text));

const text = (value: string) => ({ kind: 'text', text: value }) as const;
const usd = (amount: string) => ({ kind: 'price', price: { amount, currency: 'USD' } }) as const;
const eur = (amount: string) => ({ kind: 'price', price: { amount, currency: 'EUR' } }) as const;
const OCTOBER = [text('2026-10')];
const CLIP = { kind: 'task', task: 'stiekrrc0a1b2c3d' } as const;
const decided = (how: string, ...details: readonly AuditValue[]): AuditEntry => ({
  action: 'approval',
  subject: [CLIP, { kind: 'person', person: { id: 'U2', name: 'Bob' } }],
  before: [],
  after: [text(how), ...details],
});
const unconfirmed = (how: string): AuditEntry => ({ ...decided(how, usd('0.30')), action: 'unconfirmed' });

describe('/video audit', () => {
  it('is empty at first', async () => {
    expect(await said(new BotHouse(CATALOG), 'audit')).toContain('Nothing was changed yet.');
  });

  it.each([
    ['settings --time_zone Europe/Berlin', 'Ada changed the time zone from ‹UTC› to ‹Europe/Berlin›.'],
    ['settings --confirm_above 2', 'Ada set the confirmation threshold to $2.00.'],
    ['settings --approve_above 5', 'Ada set the approval threshold to $5.00.'],
    ['settings --report_channel <#C7|clips>', 'Ada set the report channel to #C7.'],
    ['settings --currency USD', 'Ada set the currency to ‹USD›.'],
    ['settings --alerts off', 'Ada turned alerts off.'],
    ['settings --unusual_spend 9', 'Ada set the threshold for unusual spend to $9.00.'],
    ['settings --keep_clips 90', 'Ada set the time that clips are kept to ‹90 days›.'],
    ['budget team 100', 'Ada set the team’s budget to $100.00.'],
    ['budget everyone 5 soft', 'Ada set the soft budget of each person to $5.00.'],
    ['budget #C7 20', 'Ada set the budget of #C7 to $20.00.'],
    ['budget <@U2|Bob> 20', 'Ada set the budget of Bob to $20.00.'],
    ['pause over the plan', 'Ada paused spending: ‹over the plan›.'],
    ['pause that’s it!', 'Ada paused spending: ‹that’s it!›'],
    ['approvers add <@U8|Ben>', 'Ada made Ben an approver.'],
    ['approvers add <@U8|Ben> 2026-12-24', 'Ada made Ben an approver until 24 December 2026.'],
    ['approvers add <@&99|leads>', 'Ada made @[99] an approver.'],
    ['pause over the plan --until 2h', 'Ada paused spending until 20 November, 14:00 (UTC): ‹over the plan›.'],
  ])('%s leaves exactly one entry: %s', async (line, sentence) => {
    const house = new BotHouse(CATALOG);
    await said(house, line);
    const words = await said(house, 'audit');
    expect(words).toContain(`${sentence} · 2026-11-20T12:00 · by command`);
    expect(words).toContain('1 entry');
    expect(await house.audit.verify(admin())).toEqual({ ok: true, entries: 1 });
  });

  it('shows changes from one value to another, and removals', async () => {
    const house = new BotHouse(CATALOG);
    for (const line of ['--confirm_above 2', '--confirm_above 3.50', '--confirm_above off'])
      await said(house, `settings ${line}`);
    for (const line of ['pause enough', 'pause a lot --until 2h', 'pause off']) await said(house, line);
    for (const line of ['add <@U8|Ben>', 'add <@U8|Ben> 2026-12-24', 'remove <@U8|Ben>'])
      await said(house, `approvers ${line}`);
    const words = await said(house, 'audit');
    expect(words).toMatch(/Ada ended the pause\.[\s\S]*removed the confirmation threshold, which was \$3\.50/u);
    expect(words).toContain('Ada changed the confirmation threshold from $2.00 to $3.50.');
    expect(words).toContain(
      'changed the pause from “‹enough›” without an end to “‹a lot›” until 20 November, 14:00 (UTC).',
    );
    expect(words).toContain('changed the last day of Ben as an approver from none to 24 December 2026.');
    expect(words).toContain('Ada removed Ben from the approvers.');
    expect(words).toContain('9 entries');
  });

  it.each<readonly [AuditEntry, string]>([
    [decided('approved', usd('0.30')), 'Ada approved Bob’s request `stiekrrc` for $0.30.'],
    [
      decided('approved', usd('0.30'), text('granted'), usd('0.20')),
      'Ada approved Bob’s request `stiekrrc` for $0.30, granting $0.20 over the budget.',
    ],
    [
      decided('denied', usd('4'), { kind: 'note', text: 'too long for a test' }),
      'Ada denied Bob’s request `stiekrrc` for $4.00: ‹too long for a test›.',
    ],
    [
      decided('repriced', usd('4')),
      'Ada could not approve Bob’s request `stiekrrc` for $4.00, since its price had risen.',
    ],
    [unconfirmed('sent again'), 'Ada sent Bob’s unconfirmed clip `stiekrrc` again for $0.30.'],
    [unconfirmed('dismissed'), 'Ada dismissed Bob’s unconfirmed clip `stiekrrc` for $0.30.'],
    [unconfirmed('ID entered'), 'Ada entered the service’s ID of Bob’s unconfirmed clip `stiekrrc` for $0.30.'],
    [
      { action: 'statement_import', subject: OCTOBER, before: [], after: [text('0a1b')] },
      'Ada compared the video service’s statement of October 2026 with the books.',
    ],
    [
      { action: 'statement_booking', subject: OCTOBER, before: [], after: [text('0a1b'), text('3')] },
      'Ada booked 3 matching clips of the video service’s statement of October 2026.',
    ],
    [
      { action: 'statement_decision', subject: [CLIP], before: [usd('0.30'), usd('0.40')], after: [text('billed')] },
      'Ada decided on the clip `stiekrrc` ($0.30 in the books, $0.40 in the statement): it was billed.',
    ],
    [
      { action: 'statement_decision', before: [usd('0.40')], after: [text('ours')] },
      'Ada decided on something on the video service’s statement ($0.40): our books stay as they are.',
    ],
    [
      { action: 'budget', before: [usd('5')], after: [eur('4'), usd('6')] },
      'Ada changed the team’s budget from $5.00 to €4.00 and $6.00.',
    ],
  ])('phrases %j as a sentence', async (entry, sentence) => {
    const house = new BotHouse(CATALOG);
    const actor = { person: ada().user, surface: 'button' } as const;
    await house.audit.commitAudited({ platform: 'slack', team: 'T1' }, actor, async () => ({
      change: { records: [] },
      entries: [entry],
      result: null,
    }));
    expect(await said(house, 'audit')).toContain(`${sentence} · 2026-11-20T12:00 · by button`);
  });

  it('has pages, which only administrators can turn', async () => {
    const house = new BotHouse(CATALOG);
    for (let at = 1; at <= 11; at += 1) await said(house, `settings --confirm_above ${at}`);
    const first = await house.bot.text(admin(), 'audit');
    expect(replyText(first)).toContain('(Older)');
    const [button] = first.kind === 'private' ? first.card.buttons : [];
    expect(replyText(await house.bot.press(admin(), button?.id ?? ''))).toMatch(
      /set the confirmation threshold to \$1\.00[\s\S]*\(Newer\)/u,
    );
    expect((await house.bot.press(bob(), button?.id ?? '')).kind).toBe('refused');
  });

  it('shows the changes of the deployment to people in ADMINS, and in the playground', async () => {
    const house = new BotHouse(CATALOG);
    const entry: AuditEntry = {
      action: 'environment',
      subject: [{ kind: 'text', text: 'REFUNDS' }],
      before: [],
      after: [{ kind: 'text', text: 'by_statement' }],
    };
    const actor = { person: null, surface: 'environment' } as const;
    await house.audit.commitAudited('deployment', actor, async () => ({
      change: { records: [] },
      entries: [entry],
      result: null,
    }));
    const line = 'audit --deployment';
    expect(await said(house, line)).toBe(`refused: ${OPERATORS_ONLY}`);
    const expected = 'The operator set ‹REFUNDS› to ‹by_statement›. · 2026-11-20T12:00 · in the environment';
    expect(await said(house, line, ada({ platform: 'playground', mayAdminister: true }))).toContain(expected);
    house.admins = [{ platform: 'slack', user: 'U1' }];
    expect(await said(house, line)).toContain(expected);
    expect(await said(house, 'audit')).toContain('Nothing was changed yet.');
  });
});
