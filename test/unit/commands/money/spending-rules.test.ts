import { expect, it } from 'vitest';
import { createSpendingRules } from '#commands/money/spending-rules.ts';
import { decideSpending } from '#commands/orders/spending.ts';
import { microsOf } from '#src/tasks/money.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { CATALOG } from '#test/unit/videos/models.ts';

const TEAM = { kind: 'team', platform: 'slack', team: 'T1' } as const;
const ACTOR = { person: { id: 'U8', name: 'Grace' }, surface: 'command' } as const;

it('reads the thresholds and budgets of an order in the team’s month, without those of the installation', async () => {
  const house = new BotHouse(CATALOG);
  const read = async () => createSpendingRules(house)(ada(), 'USD', await house.settings.get(TEAM));
  expect(await read()).toEqual({ budgets: [] });

  await house.budgets.setDeployment({ USD: microsOf('500') });
  await house.budgets.change(TEAM, ACTOR, { part: 'hard', currency: 'USD', amount: microsOf('100') });
  await house.budgets.change(TEAM, ACTOR, { part: 'soft', currency: 'USD', amount: microsOf('80') });
  const confirmAbove = { amount: '2', currency: 'USD' };
  await house.settings.change(TEAM, ACTOR, { confirmAbove, timeZone: 'Asia/Tokyo' });
  // It is December in Tokyo.
  house.clock.advance(Date.UTC(2026, 10, 30, 16) - house.clock.now());
  await house.store.commit({
    records: [],
    sums: [{ sum: 'team:slack:T1:2026-12:USD', add: { held: 1n, settled: 2n, doubted: 3n, extra: microsOf('5') } }],
  });
  expect(await read()).toEqual({
    confirmAbove,
    budgets: [{ scope: 'team', period: '2026-12', limit: '105', granted: '5', soft: '80', used: '0.000006' }],
  });
});

it('leaves no room where the budget is in other currencies alone, so that nothing is asked before the refusal', async () => {
  const house = new BotHouse(CATALOG);
  await house.budgets.change(TEAM, ACTOR, { part: 'hard', currency: 'EUR', amount: microsOf('100') });
  await house.settings.change(TEAM, ACTOR, { confirmAbove: { amount: '2', currency: 'USD' } });
  const rules = await createSpendingRules(house)(ada(), 'USD', await house.settings.get(TEAM));
  expect(decideSpending({ amount: '4', currency: 'USD' }, rules, false)).toEqual({ kind: 'buy' });
});

it('reads the pause while it lasts, so that nothing is asked before the refusal', async () => {
  const house = new BotHouse(CATALOG);
  const pause = { reason: 'enough', by: ACTOR.person, atMs: house.clock.now(), untilMs: house.clock.now() + 1000 };
  const usd = (amount: string) => ({ amount, currency: 'USD' });
  await house.settings.change(TEAM, ACTOR, { pause, confirmAbove: usd('2'), approveAbove: usd('3') });
  const read = async () => createSpendingRules(house)(ada(), 'USD', await house.settings.get(TEAM));
  const rules = await read();
  for (const amount of ['0', '1', '2.50', '4'])
    expect(decideSpending(usd(amount), rules, false)).toEqual({ kind: 'paused', pause: { ...pause, timeZone: 'UTC' } });
  house.clock.advance(1000);
  expect(decideSpending(usd('2.50'), await read(), false).kind).toBe('confirm');
});
