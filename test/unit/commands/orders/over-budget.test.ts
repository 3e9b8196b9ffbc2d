import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller, Reply } from '#commands/bot-port.ts';
import type { OverBudget } from '#src/pipeline/over-budget.ts';
import { microsOf } from '#src/tasks/money.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { CATALOG, EPIC, SWIFT } from '#test/unit/videos/models.ts';

const TEAM = { kind: 'team', platform: 'slack', team: 'T1' } as const;
const OVER: OverBudget = {
  scope: 'team',
  budget: 'team:slack:T1',
  period: '2026-11',
  currency: 'USD',
  limit: '100',
  used: '99.7',
  held: '0',
  doubted: '0',
  room: '0.3',
  price: '0.4',
};

let house: BotHouse;

beforeEach(async () => {
  house = new BotHouse(CATALOG);
  house.over = OVER;
  await house.budgets.change(
    TEAM,
    { person: { id: 'U8', name: 'Grace' }, surface: 'command' },
    { part: 'hard', currency: 'USD', amount: microsOf('100') },
  );
  await house.settings.change(TEAM, { person: null, surface: 'command' }, { timeZone: 'Europe/Berlin' });
});

const order = (text = 'a fox --seconds 8', caller: Caller = ada()): Promise<Reply> => house.bot.text(caller, text);
const sentence = (reply: Reply): string => {
  if (reply.kind !== 'refused') throw new TypeError(`not refused: ${JSON.stringify(reply)}`);
  return reply.sentence;
};
const labels = (reply: Reply): readonly string[] =>
  reply.kind === 'refused' ? (reply.buttons ?? []).map(({ label }) => label) : [];

describe('an order over a budget', () => {
  it('is refused with what is left, what would fit, when the budget resets and who can raise it', async () => {
    house.over = { ...OVER, held: '2.4', doubted: '0.4' };
    const reply = await order();
    expect(sentence(reply)).toBe(
      'This would exceed the team’s November budget: $0.30 of $100.00 left, this clip costs $0.40. Includes $2.40 for clips in progress. $0.40 is unconfirmed. 6 s for $0.30 would fit. The budget resets on 1 December (Berlin time). Grace can raise it.',
    );
    expect(labels(reply)).toEqual(['Create 6 s · $0.30', 'Try again · $0.40', 'Ask for approval · $0.40']);
    expect(house.overBudgets).toEqual(['team']);
  });

  it('may include failed clips that await their refund, where a statement has to show it', async () => {
    house.over = { ...OVER, held: '2.4' };
    house.refunds = 'by_statement';
    expect(sentence(await order())).toContain(' Includes $2.40 for clips in progress or awaiting refund. ');
  });

  it('can be ordered shorter, or as it was once the budget is raised: one clip of the two', async () => {
    const reply = await order();
    const [shorter, again] = reply.kind === 'refused' ? (reply.buttons ?? []) : [];
    house.over = null;
    const created = await house.bot.press(ada(), shorter?.id ?? '');
    if (created.kind !== 'task') throw new TypeError('no task');
    expect(house.task(created.task).request).toMatchObject({ prompt: 'a fox', seconds: 6 });
    expect(await house.bot.press(ada(), again?.id ?? '')).toMatchObject({ kind: 'private' });
    expect(house.records.size).toBe(1);
    expect(await house.bot.press(bob(), again?.id ?? '')).not.toMatchObject({ kind: 'task' });
  });

  it('names the person’s own budget, that of the channel, and a limit lowered below what is used', async () => {
    house.over = { ...OVER, scope: 'person', room: '-5', used: '105' };
    expect(sentence(await order())).toMatch(
      /^Your November budget of \$100\.00 is over by \$5\.00, this clip costs \$0\.40\. The budget resets/,
    );
    house.over = { ...OVER, scope: 'channel', room: '0' };
    expect(sentence(await order())).toContain('exceed this channel’s November budget: $0.00 of $100.00 left');
  });

  it('without any money: nothing resets', async () => {
    house.over = { ...OVER, limit: '0', used: '0', room: '0' };
    expect(sentence(await order())).toBe(
      'The team’s November budget is $0.00, this clip costs $0.40. Grace can raise it.',
    );
  });

  it('proposes a free model where nothing else fits', async () => {
    const free = { ...SWIFT, name: 'draft-0', title: 'Draft', price: '0', default: false };
    house.replaceCatalog(parseCatalog({ models: [SWIFT, free, EPIC] }));
    house.over = { ...OVER, room: '0' };
    const reply = await order();
    expect(sentence(reply)).toContain('8 s with Draft for $0.00 would fit.');
    expect(labels(reply)).toContain('Create 8 s with Draft · $0.00');
  });

  it('proposes a cheaper model that does not offer the resolution of the request', async () => {
    const sketch = { ...SWIFT, name: 'sketch', title: 'Sketch', price: '0.01', resolutions: [], default: false };
    house.replaceCatalog(parseCatalog({ models: [SWIFT, sketch, EPIC] }));
    house.over = { ...OVER, room: '0.1' };
    expect(sentence(await order())).toContain('8 s with Sketch for $0.08 would fit.');
  });

  it('says that a currency is missing, and never converts', async () => {
    house.over = { ...OVER, currency: 'EUR', missingCurrency: true, limit: '0', room: '-1' };
    expect(sentence(await order())).toBe(
      'The team’s budget has no amount in EUR, in which this clip costs €0.40; amounts are never converted. Choose a model priced in USD. Grace can add one.',
    );
  });

  it('tells an administrator the command, and names no one where no one is known', async () => {
    expect(sentence(await order(undefined, ada({ mayAdminister: true })))).toContain('You can raise it: /video budget');
    const fields = { files: {}, links: {}, administration: '/video-admin' };
    expect(sentence(await order(undefined, ada({ mayAdminister: true, fields })))).toContain(
      'You can raise it: /video-admin budget',
    );
    house.over = { ...OVER, budget: 'channel:slack:T1:clips', scope: 'channel' };
    expect(sentence(await order())).toMatch(/An administrator can raise it with \/video budget$/);
    expect(sentence(await order(undefined, ada({ fields })))).toMatch(/can raise it with \/video-admin budget$/);
    house.over = { ...OVER, budget: 'channel:slack:T1:clips', currency: 'EUR', missingCurrency: true };
    expect(sentence(await order())).toMatch(/An administrator can add one with \/video budget$/);
  });

  it('names the people in ADMINS beside the one who set the budget: two, and others', async () => {
    const named = (...users: readonly string[]) => users.map((user) => ({ platform: 'slack', user }));
    house.over = null;
    for (const [id, name] of [
      ['U5', 'Eve'],
      ['U6', 'Finn'],
    ] as const)
      await house.seed(ada({ user: { id, name } }), 'a fox --seconds 4', { kind: 'cancel', by: { id, name }, atMs: 0 });
    house.over = OVER;
    for (const [admins, words] of [
      [named('U5'), 'Grace or Eve can raise it.'],
      [named('U5', 'U8'), 'Grace or Eve can raise it.'],
      [named('U5', 'U6'), 'Grace, Eve or others can raise it.'],
      [named('U0UNKNOWN'), 'Grace or others can raise it.'],
      [[{ platform: 'discord', user: 'U5' }], 'time). Grace can raise it.'],
    ] as const) {
      house.admins = admins;
      expect(sentence(await order())).toContain(words);
    }
    house.over = { ...OVER, budget: 'channel:slack:T1:clips', scope: 'channel' };
    house.admins = named('U5');
    expect(sentence(await order())).toContain('time). Eve can raise it.');
    house.admins = named('U0UNKNOWN');
    expect(sentence(await order())).toMatch(/An administrator can raise it with \/video budget$/);
  });

  it('names neither people who left the team nor the caller, who may not raise it any more', async () => {
    house.outsiders.add('U8');
    expect(sentence(await order())).toMatch(/An administrator can raise it with \/video budget$/);
    house.outsiders.clear();
    const grace = ada({ user: { id: 'U8', name: 'Grace' } });
    expect(sentence(await order(undefined, grace))).toMatch(/An administrator can raise it with \/video budget$/);
  });

  it('names the operator on the playground', async () => {
    house.over = { ...OVER, budget: 'channel:playground:T1:clips', scope: 'channel' };
    expect(sentence(await order(undefined, ada({ platform: 'playground' })))).toContain('operator can raise it.');
  });

  it('hides the figures of the installation from everyone outside of ADMINS', async () => {
    house.over = { ...OVER, scope: 'deployment', budget: 'deployment' };
    await house.budgets.setDeployment({ USD: microsOf('100') });
    for (const mayAdminister of [false, true]) {
      const reply = await order(undefined, ada({ mayAdminister }));
      expect(sentence(reply)).toBe(
        'The budget of this installation is used up. The budget resets on 1 December (Berlin time). Only whoever runs this installation can raise it.',
      );
      expect(labels(reply)).toEqual(['Try again · $0.40']);
    }
    house.admins = [{ platform: 'slack', user: 'U1' }];
    expect(sentence(await order())).toBe(
      'This would exceed the installation’s November budget: $0.30 of $100.00 left, this clip costs $0.40. The budget resets on 1 December (Berlin time). BUDGET_PER_MONTH in the environment raises it.',
    );
  });

  it('gets the same by a form, a retry, a button and a reaction', async () => {
    house.over = null;
    const made = await house.seed(ada(), 'a fox --seconds 8', { kind: 'cancel', by: ada().user, atMs: 0 });
    house.over = OVER;
    const message = { channel: 'clips', message: `m-${made.id}` };
    const replies = [
      await house.bot.text(ada(), `retry ${made.id}`),
      await house.bot.press(ada(), `retry:${made.id}:0.4USD`),
      await house.bot.react(ada(), message, '🔁'),
      await house.bot.submit(ada(), 'create', { prompt: 'a fox', seconds: '8' }),
      await house.bot.command(ada(), 'create', { prompt: ['a fox'], seconds: ['8'] }),
    ];
    for (const reply of replies) {
      if (reply === null) throw new TypeError('no reply');
      expect(sentence(reply)).toContain('This would exceed the team’s November budget');
      expect(labels(reply)).toContain('Try again · $0.40');
    }
    expect(house.records.size).toBe(1);
  });
});
