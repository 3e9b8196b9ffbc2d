import { beforeEach, describe, expect, it } from 'vitest';
import type { SumWrite } from '#src/engine/store/store.ts';
import type { LedgerEntry } from '#src/tasks/ledger.ts';
import { microsOf } from '#src/tasks/money.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '#test/unit/videos/models.ts';

const TEAM = { kind: 'team', platform: 'slack', team: 'T1' } as const;
const ACTOR = { person: { id: 'U8', name: 'Grace' }, surface: 'command' } as const;
const ENTRY: LedgerEntry = {
  task: 't' as TaskId,
  send: 1,
  platform: 'slack',
  team: 'T1',
  channel: 'clips',
  user: 'U1',
  userName: 'Ada',
  model: 'swift-1',
  period: '2026-11',
  amount: '0.3',
  currency: 'USD',
  state: 'settled',
  createdAtMs: NOON_MS,
};

const onDayBefore = (days: number, changes: Partial<LedgerEntry> = {}): LedgerEntry => ({
  ...ENTRY,
  ...changes,
  createdAtMs: ENTRY.createdAtMs - days * 86_400_000,
});

let house: BotHouse;

beforeEach(() => {
  house = new BotHouse(CATALOG);
});

const said = async (text = '', caller = ada()): Promise<string> =>
  replyText(await house.bot.text(caller, `usage ${text}`));
const lines = async (text = '', caller = ada()): Promise<readonly string[]> => (await said(text, caller)).split('\n');
const spend = (sum: string, add: Readonly<Record<keyof SumWrite['add'], string>> | Readonly<Record<string, string>>) =>
  house.store.commit({
    records: [],
    sums: [{ sum, add: Object.fromEntries(Object.entries(add).map(([part, amount]) => [part, microsOf(amount)])) }],
  });
const limit = (amount: string, currency = 'USD') =>
  house.budgets.change(TEAM, ACTOR, { part: 'hard', currency, amount: microsOf(amount) });

it('takes any @name on the chat page, also that of one who never ordered', async () => {
  const onPage = ada({ platform: 'playground' });
  for (const name of ['ana', '@ana']) expect(await said(name, onPage)).toContain('· ana');
  expect(await said('ana')).toContain('I don’t know anyone here called “ana”.');
});

it('tells neither which model of a blind comparison failed nor what it would have cost', async () => {
  const blind = { isBlind: true } as const;
  house.entries.push(
    { ...ENTRY, ...blind },
    { ...ENTRY, ...blind, task: 'u' as TaskId, model: 'epic-pro', amount: '0.9', state: 'released' },
    { ...ENTRY, task: 'v' as TaskId },
  );
  const text = await said();
  expect(text).toContain('In comparisons that are not revealed: 2 clips');
  expect(text).not.toContain('Not charged');
  expect(text).not.toContain('0.9');
  expect(text).not.toContain('Epic');
  expect(text).toMatch(/Swift 1\D+0\.30\D+1 clip/u);
});

it('bills for the same clips as it counts, and has no row of nothing, while others are blind', async () => {
  await spend('team:slack:T1:2026-11:USD', { settled: '0.9' });
  const cleo = { user: 'U3', userName: 'Cleo', isBlind: true } as const;
  house.entries.push(
    ENTRY,
    { ...ENTRY, ...cleo, task: 'u' as TaskId },
    { ...ENTRY, ...cleo, task: 'v' as TaskId, model: 'epic-pro' },
  );
  const text = await said();
  expect(text.split('\n').slice(1, 4)).toEqual([
    '*$0.90* used',
    '*$0.30* billed · 1 clip',
    'In comparisons that are not revealed: 2 clips',
  ]);
  expect(text).not.toContain('Cleo');
});

it('has no row for whom nothing was charged', async () => {
  house.entries.push(ENTRY, { ...ENTRY, task: 'u' as TaskId, user: 'U3', userName: 'Cleo', state: 'refunded' });
  const text = await said();
  expect(text).toContain('Ada');
  expect(text).toContain('Failed, refunded');
  expect(text).not.toContain('Cleo');
});

describe('what is used of a limit', () => {
  it('comes from the sums, with what is left and the pace', async () => {
    // Noon on the 20th: 19.5 of 30 days.
    await limit('100');
    await spend('team:slack:T1:2026-11:USD', { settled: '60', held: '4.6', doubted: '0.4' });
    house.entries.push(ENTRY, onDayBefore(1, { state: 'reserved' }), onDayBefore(2, { state: 'in_doubt' }));
    expect((await lines()).slice(0, 6)).toEqual([
      'November 2026 · everyone',
      '*$65.00* of $100.00 used · $35.00 left',
      'At this rate about $100.00 by the end of November.',
      '*$60.00* billed · 1 clip',
      '*$4.60* in progress · 1 clip',
      '*$0.40* unconfirmed, may be billed · 1 clip',
    ]);
  });

  it('has no pace before there were orders on three days', async () => {
    await spend('team:slack:T1:2026-11:USD', { settled: '65' });
    house.entries.push(ENTRY, ENTRY, ENTRY, onDayBefore(1));
    expect(await said()).not.toContain('At this rate');
    house.entries.push(onDayBefore(2));
    expect(await said()).toContain('At this rate');
  });

  it('names the day on which it runs out, in the team’s time zone', async () => {
    await limit('80');
    await spend('team:slack:T1:2026-11:USD', { settled: '65' });
    house.entries.push(ENTRY, onDayBefore(1), onDayBefore(2));
    expect(await said()).toContain('At this rate it runs out on 25 November (about $100.00 by the end of November).');
    await house.settings.change(TEAM, ACTOR, { timeZone: 'Asia/Tokyo' });
    expect(await said()).toContain('November 2026 (Tokyo time) · everyone');
  });

  it('is over a limit that was lowered, and names apart what was granted on top', async () => {
    await limit('50');
    await spend('team:slack:T1:2026-11:USD', { settled: '65', extra: '5' });
    expect(await said()).toContain('*$65.00* of $50.00 used ($5.00 granted on top) · over by $10.00');
    await spend('team:slack:T1:2026-11:USD', { extra: '10' });
    expect(await said()).toContain('*$65.00* of $50.00 used ($15.00 granted on top) · $0.00 left');
  });

  it('is that of the person for one person: their own limit or the one of everyone', async () => {
    await limit('100');
    await house.budgets.change({ ...TEAM, kind: 'everyone' }, ACTOR, {
      part: 'hard',
      currency: 'USD',
      amount: microsOf('10'),
    });
    await spend('person:slack:T1:U2:2026-11:USD', { settled: '2.5' });
    expect(await said('me', bob())).toContain('*$2.50* of $10.00 used · $7.50 left');
  });

  it('has no limit and no pace in another month: that limit is not kept', async () => {
    await limit('100');
    await spend('team:slack:T1:2026-10:USD', { settled: '212.4' });
    house.entries.push({ ...ENTRY, createdAtMs: Date.UTC(2026, 9, 3) });
    expect((await lines('--month 2026-10')).slice(0, 3)).toEqual([
      'October 2026 · everyone',
      '*$212.40* used',
      '*$212.40* billed · 1 clip',
    ]);
  });

  it('is shown before anything was requested', async () => {
    await limit('100');
    expect(await lines()).toEqual([
      'November 2026 · everyone',
      '*$0.00* of $100.00 used · $100.00 left',
      'Nothing was requested.',
    ]);
  });

  it('is that of the channel for guests', async () => {
    await limit('100');
    await spend('team:slack:T1:2026-11:USD', { settled: '65' });
    await spend('channel:slack:T1:clips:2026-11:USD', { settled: '3' });
    const text = await said('', ada({ isExternal: true }));
    expect(text).toContain('*$3.00* used');
    expect(text).not.toContain('65');
  });

  it('of another person is not shown to guests, who may see that person’s clips in this channel alone', async () => {
    const other = bob().user;
    await spend(`person:slack:T1:${other.id}:2026-11:USD`, { settled: '65' });
    house.entries.push({ ...ENTRY, user: other.id, userName: other.name });
    const who = `<@${other.id}|${other.name}>`;
    expect(await said(who)).toContain('*$65.00* used');
    const text = await said(who, ada({ isExternal: true }));
    expect(text).toContain('*$0.30* billed');
    expect(text).not.toContain('65');
  });
});

describe('the tables', () => {
  it('are by person, model or channel; a private channel stays nameless elsewhere', async () => {
    house.audiences.set('secret', 'channel');
    house.entries.push(ENTRY, { ...ENTRY, channel: 'secret', user: 'U2', userName: 'Bob', amount: '0.1' });
    expect(await lines('--by channel')).toEqual([
      'November 2026 · everyone',
      '*$0.40* billed · 2 clips',
      '*By channel*',
      '• #clips · $0.30 · 1 clip',
      '• a private channel · $0.10 · 1 clip',
    ]);
    expect(await said('--by channel', ada({ channel: 'secret' }))).toContain('• #secret · $0.10');
    expect(await said('--by person')).toMatch(/\*By person\*\n• Ada · \$0\.30 · 1 clip\n• Bob · \$0\.10 · 1 clip$/);
    expect(await said('--by colour')).toBe('refused: by: “colour” isn’t known. Choose person, model or channel.');
  });

  it('name a thread’s channel in the thread', async () => {
    house.audiences.set('secret', 'channel');
    house.entries.push({ ...ENTRY, channel: 'secret' });
    const caller = ada({ channel: 'thread-1', parentChannel: 'secret' });
    expect(await said('--by channel', caller)).toContain('• #secret · $0.30');
  });

  it('keep their grouping on later pages', async () => {
    for (let at = 0; at < 20; at += 1) house.entries.push({ ...ENTRY, channel: `c${at}` });
    const first = await house.bot.text(ada(), 'usage --by channel');
    const [next] = first.kind === 'private' ? first.card.buttons : [];
    const second = replyText(await house.bot.press(ada(), next?.id ?? ''));
    const channels = `${replyText(first)}\n${second}`.match(/#c\d+/g) ?? [];
    expect([new Set(channels).size, second.split('\n')[0]]).toEqual([20, 'November 2026 · everyone']);
    expect(second).not.toContain('billed ·');
  });

  it('count an entry by the decision on it', async () => {
    house.entries.push({ ...ENTRY, state: 'in_doubt', booked: 'settled' });
    expect((await lines()).slice(1, 2)).toEqual(['*$0.30* billed · 1 clip']);
  });

  it('count a failed clip that awaits its refund as such, and not as in progress', async () => {
    house.entries.push(
      { ...ENTRY, state: 'reserved', amount: '0.1', counted: 'held' },
      { ...ENTRY, state: 'refunded', counted: 'held' },
    );
    await spend('team:slack:T1:2026-11:USD', { held: '0.4' });
    const shown = await lines('--by person');
    expect(shown.slice(2)).toEqual([
      '*$0.10* in progress · 1 clip',
      '*$0.30* awaiting refund · 1 clip',
      '*By person*',
      '• Ada · $0.00 · 0 clips · $0.10 in progress, $0.30 awaiting refund',
    ]);
  });
});

it('suggests the months of the team’s time zone', async () => {
  house.clock.advance(Date.UTC(2026, 10, 30, 16) - NOON_MS);
  const months = async () => (await house.bot.suggest(ada(), 'usage', 'month', '', {})).map(({ value }) => value);
  expect((await months()).slice(0, 2)).toEqual(['2026-11', '2026-10']);
  await house.settings.change(TEAM, ACTOR, { timeZone: 'Asia/Tokyo' });
  expect(await months()).toEqual(expect.arrayContaining(['2026-12', '2026-11', '2026-01']));
  expect(await months()).toHaveLength(12);
});
