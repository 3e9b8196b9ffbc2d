import { describe, expect, it } from 'vitest';
import { OPERATORS_ONLY } from '#commands/sentences/administration/audit.ts';
import type { AuditEntry } from '#src/money/audit-entry.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

const admin = () => ada({ mayAdminister: true });
const said = async (house: BotHouse, text: string, caller = admin()) => replyText(await house.bot.text(caller, text));

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
    ['settings --unusual_spend 9', 'Ada set the threshold of unusual spend to $9.00.'],
    ['budget team 100', 'Ada set the team’s budget to $100.00.'],
    ['budget everyone 5 soft', 'Ada set the soft budget of ‹everyone› to $5.00.'],
    ['budget #C7 20', 'Ada set the budget of #C7 to $20.00.'],
    ['budget <@U2|Bob> 20', 'Ada set the budget of Bob to $20.00.'],
    ['pause over the plan', 'Ada paused spending: ‹over the plan›.'],
    ['pause over the plan --until 2h', 'Ada paused spending until 2026-11-20T14:00: ‹over the plan›.'],
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
    await said(house, 'pause enough');
    await said(house, 'pause off');
    const words = await said(house, 'audit');
    expect(words).toMatch(/Ada ended the pause\.[\s\S]*removed the confirmation threshold, which was \$3\.50/u);
    expect(words).toContain('Ada changed the confirmation threshold from $2.00 to $3.50.');
    expect(words).toContain('5 entries');
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
