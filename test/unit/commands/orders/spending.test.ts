import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Caller, Reply } from '#commands/bot-port.ts';
import { type BudgetRoom, decideSpending, NO_SPENDING_RULES, type SpendingRules } from '#commands/orders/spending.ts';
import { spendingSentences } from '#commands/orders/spending-sentences.ts';
import { cardOf as taskCardOf } from '#commands/sentences/cards/task-card.ts';
import { buttonsOf, type Card, type CardButton } from '#commands/ui/card.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Task } from '#src/tasks/task.ts';
import { parseCatalog, priceFingerprint } from '#src/videos/catalog.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { cardText, replyText } from '#test/fakes/card-text.ts';
import { doneIn } from '#test/fakes/outcomes.ts';
import { CATALOG, SWIFT } from '../../videos/models.ts';

const usd = (amount: string) => ({ amount, currency: 'USD' });
const eur = (amount: string) => ({ amount, currency: 'EUR' });

const team = (changes: Partial<BudgetRoom> = {}): BudgetRoom => ({
  scope: 'team',
  period: '2026-11',
  used: '63.80',
  ...changes,
});
const LIMITED = team({ limit: '100' });

describe('decision on a priced order', () => {
  const decide = (amount: string, rules: Partial<SpendingRules>, isConfirmed = false) =>
    decideSpending(usd(amount), { budgets: [], ...rules }, isConfirmed).kind;

  it.each<readonly [string, string, Partial<SpendingRules>, boolean]>([
    ['buy', '4', {}, false],
    ['buy', '4', { confirmAbove: usd('4') }, false],
    ['confirm', '4.000001', { confirmAbove: usd('4') }, false],
    ['buy', '4.000001', { confirmAbove: usd('4') }, true],
    ['confirm', '0.01', { confirmAbove: usd('0') }, false],
    ['buy', '0', { confirmAbove: usd('0'), approveAbove: usd('0') }, false],
    // Another currency: asks always, and never converts.
    ['confirm', '0.01', { confirmAbove: eur('100') }, false],
    ['request_approval', '0.01', { approveAbove: eur('100') }, false],
    // An approval includes the confirmation, and a confirmation does not replace it.
    ['request_approval', '4', { confirmAbove: usd('1'), approveAbove: usd('2') }, false],
    ['request_approval', '4', { confirmAbove: usd('1'), approveAbove: usd('2') }, true],
    ['confirm', '1.5', { confirmAbove: usd('1'), approveAbove: usd('2') }, false],
    // The claim refuses what is over a hard limit: no question before.
    ['buy', '36.21', { confirmAbove: usd('1'), budgets: [LIMITED] }, false],
    ['confirm', '36.20', { confirmAbove: usd('1'), budgets: [LIMITED] }, false],
    ['request_approval', '36.21', { approveAbove: usd('1'), budgets: [LIMITED] }, false],
    // Soft limits turn the confirmation on.
    ['confirm', '0.01', { budgets: [team({ soft: '60' })] }, false],
    ['confirm', '16.21', { budgets: [team({ soft: '80' })] }, false],
    ['buy', '16.20', { budgets: [team({ soft: '80' })] }, false],
    ['buy', '16.21', { budgets: [team({ soft: '80' })] }, true],
  ])('is %s for $%s under %j (confirmed: %s)', (kind, amount, rules, isConfirmed) => {
    expect(decide(amount, rules, isConfirmed)).toBe(kind);
  });

  it('never asks for a confirmation that was just given', () => {
    const amount = fc.integer({ min: 0, max: 10_000_000 }).map((micros) => (micros / 1_000_000).toFixed(6));
    const price = fc.record({ amount, currency: fc.constantFrom('USD', 'EUR') });
    const budget = fc.record({
      scope: fc.constantFrom('deployment', 'team', 'channel', 'person'),
      period: fc.constant('2026-11'),
      limit: fc.option(amount, { nil: undefined }),
      soft: fc.option(amount, { nil: undefined }),
      used: amount,
    }) as fc.Arbitrary<BudgetRoom>;
    const rules = fc.record({
      confirmAbove: fc.option(price, { nil: undefined }),
      approveAbove: fc.option(price, { nil: undefined }),
      budgets: fc.array(budget, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(price, rules, (cost, given) => {
        expect(decideSpending(cost, given, true).kind).not.toBe('confirm');
        if (given.confirmAbove === undefined && given.budgets.every(({ soft }) => soft === undefined))
          expect(decideSpending(cost, given, false).kind).not.toBe('confirm');
      }),
    );
  });
});

describe('sentences of a confirmation', () => {
  const said = (amount: string, rules: Partial<SpendingRules>) => {
    const decision = decideSpending(usd(amount), { budgets: [], ...rules }, false);
    return decision.kind === 'confirm' ? spendingSentences(decision.question) : decision.kind;
  };

  it('name the price and what the team has left', () => {
    expect(said('4', { confirmAbove: usd('1'), budgets: [LIMITED] })).toEqual([
      'This clip costs $4.00. The team has $36.20 of $100.00 left for November.',
    ]);
  });

  it('name the budget as it is set, and apart what an approver granted on top', () => {
    expect(said('4', { confirmAbove: usd('1'), budgets: [team({ limit: '105', granted: '5' })] })).toEqual([
      'This clip costs $4.00. The team has $41.20 of $100.00 left for November ($5.00 granted on top).',
    ]);
  });

  it('add a scope that has less left than the team', () => {
    const person = team({ scope: 'person', limit: '5', used: '0.5' });
    expect(said('4', { confirmAbove: usd('1'), budgets: [LIMITED, person] })).toEqual([
      'This clip costs $4.00. The team has $36.20 of $100.00 left for November. You have $4.50 of $5.00 left for November.',
    ]);
    expect(said('4', { confirmAbove: usd('1'), budgets: [{ ...LIMITED, scope: 'deployment' }] })).toEqual([
      'This clip costs $4.00. All teams together have $36.20 of $100.00 left for November.',
    ]);
  });

  it('name the threshold where there is no budget, and where its currency is another one', () => {
    expect(said('4', { confirmAbove: usd('1') })).toEqual([
      'This clip costs $4.00. Clips above $1.00 need a confirmation.',
    ]);
    expect(said('4', { confirmAbove: eur('10') })).toEqual([
      'This clip costs $4.00. Clips above €10.00 need a confirmation; so do all in another currency.',
    ]);
  });

  it('name each soft limit that would be exceeded', () => {
    const channel = team({ scope: 'channel', soft: '20', used: '20' });
    expect(said('20', { budgets: [team({ limit: '100', soft: '80' }), channel] })).toEqual([
      'This clip costs $20.00. The team has $36.20 of $100.00 left for November.',
      'It goes over the team’s soft limit of $80.00 for November: $16.20 is left.',
      'It goes over this channel’s soft limit of $20.00 for November, which is used up.',
    ]);
  });
});

/** Threshold below the price of each clip here: 6 s for $0.30. */
const RULES: SpendingRules = { confirmAbove: usd('0.10'), budgets: [LIMITED] };
const DONE = doneIn(0);
const FOX = { prompt: ['a red fox'], seconds: ['6'] };
const ASKED = [
  'This clip costs $0.30. The team has $36.20 of $100.00 left for November.',
  '“‹a red fox›”',
  '(Create for $0.30) (Cancel)',
].join('\n');

/** Returns a house with a finished task of Ada's, whose team confirms above $0.10. */
async function expensive() {
  const house = new BotHouse(CATALOG);
  const task = await house.seed(ada(), 'a red fox --seconds 6', ...DONE);
  house.rules = RULES;
  return { house, task };
}

function privateCard(reply: Reply | null) {
  if (reply?.kind === 'offer') return reply.private ?? reply.card;
  if (reply?.kind === 'private') return reply.card;
  throw new TypeError(replyText(reply));
}

/** Returns the button of a card or reply whose label begins so. */
function buttonIn(from: Reply | Card | null, label: string): CardButton {
  const isReply = from === null || 'kind' in from;
  const refusal = isReply && from?.kind === 'refused' ? (from.buttons ?? []) : null;
  const buttons = refusal ?? buttonsOf(isReply ? privateCard(from) : from);
  const found = buttons.find((button) => button.label.startsWith(label));
  if (found === undefined) throw new TypeError(JSON.stringify(from));
  return found;
}

const buttonOf = (reply: Reply | null, label: string): string => buttonIn(reply, label).id;

type Way = (house: BotHouse, caller: Caller, task: Task) => Promise<Reply | null>;

/** Each way to order a clip. */
const WAYS: readonly (readonly [string, Way])[] = [
  ['a command', (house, caller) => house.bot.command(caller, 'create', FOX)],
  ['typed text', (house, caller) => house.bot.text(caller, 'create a red fox --seconds 6')],
  ['a mention', (house, caller) => house.bot.text(caller, 'create a red fox --seconds 6', 'message')],
  ['the form', (house, caller) => house.bot.submit(caller, 'create', { prompt: 'a red fox', seconds: '6' })],
  [
    'Edit & retry',
    (house, caller, { id }) => house.bot.submit(caller, `edit:${id}`, { prompt: 'a red fox', seconds: '6' }),
  ],
  ['Retry', (house, caller, { id }) => house.bot.press(caller, `retry:${id}:0.3USD`)],
  ['🔁', (house, caller, { id }) => house.bot.react(caller, { channel: 'clips', message: `m-${id}` }, '🔁')],
  ['/video retry', (house, caller, { id }) => house.bot.command(caller, 'retry', { id: [id] })],
];

describe.each(WAYS)('order above the threshold by %s', (_name, order) => {
  it('asks privately, buys nothing and holds nothing; the button creates one task', async () => {
    const { house, task } = await expensive();
    const asked = await order(house, ada(), task);
    expect(cardText(privateCard(asked))).toBe(ASKED);
    expect(house.orders).toEqual([]);
    const create = buttonOf(asked, 'Create');
    expect(create).toMatch(/^order:[^:]+:0.3USD$/);
    const first = await house.bot.press(ada(), create);
    expect(first.kind).toBe('task');
    expect(replyText(await house.bot.press(ada(), create))).toContain('already requested');
    expect(house.records.size).toBe(2);
  });

  it('asks the same question again when it is redelivered, under the same key', async () => {
    const { house, task } = await expensive();
    const caller = ada();
    const [one, other] = [await order(house, caller, task), await order(house, caller, task)];
    expect(other).toEqual(one);
    for (const asked of [one, other]) await house.bot.press(ada(), buttonOf(asked, 'Create'));
    expect(house.records.size).toBe(2);
  });

  it('offers the new price if it changed meanwhile', async () => {
    const { house, task } = await expensive();
    const asked = await order(house, ada(), task);
    house.replaceCatalog(parseCatalog({ models: [{ ...SWIFT, price: '0.08' }] }));
    const offer = await house.bot.press(ada(), buttonOf(asked, 'Create'));
    expect(replyText(offer)).toContain('The price is now $0.48, not $0.30.');
    expect(replyText(offer)).toContain('The team has $36.20 of $100.00 left for November.');
    expect(house.orders).toEqual([]);
    expect((await house.bot.press(ada(), buttonOf(offer, 'Create'))).kind).toBe('task');
    expect(house.records.size).toBe(2);
  });

  it('is cancelled by Cancel, and confirmed by its requester alone', async () => {
    const { house, task } = await expensive();
    const asked = await order(house, ada(), task);
    expect((await house.bot.press(bob(), buttonOf(asked, 'Create'))).kind).toBe('refused');
    expect(replyText(await house.bot.press(ada(), buttonOf(asked, 'Cancel')))).toContain('Nothing was bought.');
    expect(replyText(await house.bot.press(ada(), buttonOf(asked, 'Create')))).toContain('Nothing was bought.');
    expect(house.records.size).toBe(1);
  });

  it('buys at once at the threshold', async () => {
    const { house, task } = await expensive();
    house.rules = { ...RULES, confirmAbove: usd('0.30') };
    expect((await order(house, ada(), task))?.kind).toBe('task');
  });

  it('buys nothing while the rules cannot be read', async () => {
    const { house, task } = await expensive();
    Object.assign(house, { spendingRules: () => Promise.reject(new Error('store away')) });
    await expect(order(house, ada(), task)).rejects.toThrow('store away');
    expect(house.orders).toEqual([]);
  });

  it.each<readonly [string, Partial<SpendingRules>]>([
    ['confirmed', {}],
    ['approved', { approveAbove: usd('0.20') }],
  ])('is refused at once during a pause, and its button waits, if it had to be %s', async (_what, rules) => {
    const { house, task } = await expensive();
    house.rules = { ...RULES, ...rules };
    const pause = { reason: 'enough', by: { id: 'U9', name: 'Grace' }, atMs: NOON_MS };
    await house.settings.change(ada(), { person: pause.by, surface: 'command' }, { pause });
    const refusal = await order(house, ada(), task);
    expect(replyText(refusal)).toMatch(/^refused: Grace paused spending: enough\./u);
    expect(replyText(refusal).includes('This clip costs $0.30.')).toBe(rules.approveAbove === undefined);
    const again = buttonOf(refusal, 'Try again · $0.30');
    expect(replyText(await house.bot.press(ada(), again))).toContain('Grace paused spending');
    expect(house.orders).toEqual([]);
    await house.settings.change(ada(), { person: pause.by, surface: 'command' }, { pause: null });
    expect((await house.bot.press(ada(), again)).kind).toBe('task');
    expect(house.records.size).toBe(2);
  });

  it('becomes a request for approval above the threshold of approvals', async () => {
    const { house, task } = await expensive();
    house.rules = { ...RULES, approveAbove: usd('0.20') };
    expect(await order(house, ada(), task)).toMatchObject({ kind: 'task' });
    expect(house.orders).toMatchObject([{ approval: { above: usd('0.20') } }]);
  });
});

describe('confirmation', () => {
  it('shows no budget where others see it', async () => {
    const { house, task } = await expensive();
    const asked = await house.bot.react(ada(), { channel: 'clips', message: `m-${task.id}` }, '🔁');
    expect(replyText(asked)).toBe('This clip costs $0.30.\n“‹a red fox›”\n(Create for $0.30) (Cancel)');
  });

  it('is not asked for once the task exists', async () => {
    const { house, task } = await expensive();
    const asked = await house.bot.press(ada(), `retry:${task.id}:0.3USD`);
    await house.bot.press(ada(), buttonOf(asked, 'Create'));
    expect(replyText(await house.bot.press(ada(), `retry:${task.id}:0.3USD`))).toContain('Already on its way');
  });

  it('is asked for again after Cancel of a Retry', async () => {
    const { house, task } = await expensive();
    const press = () => house.bot.press(ada(), `retry:${task.id}:0.3USD`);
    await house.bot.press(ada(), buttonOf(await press(), 'Cancel'));
    expect((await house.bot.press(ada(), buttonOf(await press(), 'Create'))).kind).toBe('task');
  });

  it('is claimed under the key of its order', async () => {
    const { house } = await expensive();
    const asked = await house.bot.command(ada({ interaction: 'x1' }), 'create', FOX);
    const made = await house.bot.press(ada(), buttonOf(asked, 'Create'));
    expect(made).toMatchObject({ kind: 'task', task: taskIdOf('slack:x1'), settled: 'Ordered: 1 clip · $0.30.' });
  });
});

describe('order of the questions about an order', () => {
  const note = 'The team has $36.20 of $100.00 left for November.';
  const late = (): Caller => ada({ acknowledged: async () => false });

  it.each<readonly [string, Way, string]>([
    ['a slip', (house, caller) => house.bot.text(caller, 'creat a red fox --seconds 6'), 'Did you mean'],
    ['small talk', (house, caller) => house.bot.text(caller, 'a red fox', 'plain'), 'Should I make a clip'],
    [
      'an option in the prompt',
      (house, caller) => house.bot.command(caller, 'create', { prompt: ['a fox --seconds'] }),
      'looks like an option',
    ],
    ['a changed price', (house, caller, { id }) => house.bot.press(caller, `retry:${id}:0.1USD`), 'The price is now'],
  ])('asks about %s and the amount in one question', async (_name, order, words) => {
    const { house, task } = await expensive();
    const asked = await order(house, ada(), task);
    const text = cardText(privateCard(asked));
    expect(text).toContain(words);
    expect(text).toContain(note);
    expect((await house.bot.press(ada(), buttonOf(asked, 'Create'))).kind).toBe('task');
  });

  it('asks about a late order without the budget where others see it', async () => {
    const { house } = await expensive();
    house.rules = { budgets: [team({ limit: '100', soft: '60' })] };
    const asked = await house.bot.command(late(), 'create', FOX);
    expect(replyText(asked)).not.toContain('left for November');
    expect(cardText(privateCard(asked))).toContain(note);
  });

  it('names the amount with the remedy for a missing right, whose button then buys', async () => {
    const { house } = await expensive();
    house.lacking = { kind: 'permission', right: 'Attach Files', where: 'Server Settings' };
    const refusal = await house.bot.command(ada(), 'create', FOX);
    expect(replyText(refusal)).toContain(note);
    house.lacking = null;
    const [again] = refusal.kind === 'refused' ? (refusal.buttons ?? []) : [];
    expect(again?.label).toBe('Try again · $0.30');
    expect((await house.bot.press(ada(), again?.id ?? '')).kind).toBe('task');
  });

  it('names a pause in the question about something else', async () => {
    const { house } = await expensive();
    const pause = { reason: 'enough', by: { id: 'U9', name: 'Grace' }, atMs: NOON_MS };
    await house.settings.change(ada(), { person: pause.by, surface: 'command' }, { pause });
    const asked = await house.bot.text(ada(), 'creat a red fox --seconds 6');
    expect(replyText(asked)).toContain('Did you mean');
    expect(replyText(asked)).toContain('Grace paused spending: enough.');
    expect(replyText(asked)).toContain(note);
  });

  it('leaves an order over a hard limit to the claim, which buys nothing if the limit is raised meanwhile', async () => {
    const { house } = await expensive();
    const before = house.records.size;
    house.rules = { ...RULES, budgets: [team({ limit: '63.90' })] };
    const refused = await house.bot.command(ada(), 'create', FOX);
    expect(replyText(refused)).toContain('A budget changed just now. Nothing was bought');
    expect(house.records.size).toBe(before);
    house.rules = RULES;
    expect((await house.bot.press(ada(), buttonOf(refused, 'Try again'))).kind).toBe('task');
  });

  it('is not acknowledged in the channel if it is over a hard limit', async () => {
    const { house } = await expensive();
    house.rules = { ...RULES, budgets: [team({ limit: '63.90' })] };
    const acknowledged = vi.fn<NonNullable<Caller['acknowledged']>>().mockResolvedValue(true);
    const refused = await house.bot.command({ ...ada(), acknowledged }, 'create', FOX);
    expect(refused.kind).toBe('refused');
    expect(acknowledged).not.toHaveBeenCalled();
  });

  it('buys a free clip at once, whatever is left', async () => {
    const house = new BotHouse(parseCatalog({ models: [{ ...SWIFT, price: '0' }] }));
    house.rules = { budgets: [team({ limit: '0' })] };
    expect((await house.bot.command(ada(), 'create', FOX)).kind).toBe('task');
  });
});

describe('price that a form showed', () => {
  const shown = (amount: string): Pick<Caller, 'shown'> => ({ shown: { price: usd(amount) } });
  const FILLED = { prompt: 'a red fox', seconds: '6' };

  it.each<readonly [string, Pick<Caller, 'shown'>, string]>([
    ['another price', shown('0.20'), 'The price is now $0.30, not $0.20.'],
    ['another currency', { shown: { price: eur('0.30') } }, 'The price is now $0.30, not €0.30.'],
    ['no price', { shown: { price: null } }, 'This costs $0.30.'],
    ['another price, at earlier ones', { shown: { price: usd('0.20'), prices: '00000000' } }, 'now $0.30, not $0.20.'],
    ['the choices at earlier prices', { shown: { prices: '00000000' } }, 'This costs $0.30.'],
  ])('leads to a new offer if it was %s', async (_name, change, words) => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a red fox --seconds 6', ...DONE);
    const submits: readonly Way[] = [
      (_house, caller) => house.bot.submit(caller, 'create', FILLED),
      (_house, caller) => house.bot.submit(caller, `edit:${task.id}`, FILLED),
      // Slack and “Animate this” submit their forms as a command.
      (_house, caller) => house.bot.command(caller, 'create', FOX),
    ];
    for (const submit of submits) {
      const offer = await submit(house, ada(change), task);
      expect(replyText(offer)).toContain(words);
      expect(house.orders.splice(0)).toEqual([]);
      expect((await house.bot.press(ada(), buttonOf(offer, 'Create'))).kind).toBe('task');
      house.orders.length = 0;
    }
  });

  it.each<readonly [string, Pick<Caller, 'shown'>]>([
    ['the same', shown('0.3')],
    ['the same, written differently', shown('0.30')],
    ['of the same catalog', { shown: { prices: priceFingerprint(CATALOG) } }],
    [
      'of an earlier choice at the same prices',
      { shown: { ...shown('0.20').shown, prices: priceFingerprint(CATALOG) } },
    ],
    ['the same, though another one changed', { shown: { ...shown('0.30').shown, prices: '00000000' } }],
    ['of an earlier version', {}],
  ])('buys if it is %s', async (_name, change) => {
    const house = new BotHouse(CATALOG);
    expect((await house.bot.submit(ada(change), 'create', FILLED)).kind).toBe('task');
  });

  it('has a fingerprint that changes with any price, and with nothing else', async () => {
    const { defaultModel } = CATALOG;
    const changed = { ...defaultModel, price: '0.06' };
    expect(priceFingerprint({ models: [changed] })).not.toBe(priceFingerprint({ models: [defaultModel] }));
    expect(priceFingerprint({ models: [{ ...changed, title: 'X' }] })).toBe(priceFingerprint({ models: [changed] }));
    const form = await new BotHouse(CATALOG).bot.form(ada());
    expect(form).toMatchObject({ form: { prices: priceFingerprint(CATALOG) } });
  });
});

/** Finds a button in what the bot shows. */
type Find = (house: BotHouse, task: Task) => Promise<CardButton>;

const createIn = async (reply: Promise<Reply>): Promise<CardButton> => buttonIn(await reply, 'Create');

/** Each button that buys a clip. */
const BUYING: readonly (readonly [string, Find])[] = [
  ['Retry', async (house, task) => buttonIn(taskCardOf(await house.chat.view(task)), 'Retry')],
  ['Create of a slip', (house) => createIn(house.bot.text(ada(), 'creat a red fox --seconds 6'))],
  ['Create of small talk', (house) => createIn(house.bot.text(ada(), 'foxes', 'message'))],
  ['Create of a prompt without letters', (house) => createIn(house.bot.text(ada(), '1984'))],
  [
    'Create of an option in a prompt',
    (house) => createIn(house.bot.command(ada(), 'create', { prompt: ['--seconds'] })),
  ],
  ['Create at a new price', (house, { id }) => createIn(house.bot.press(ada(), `retry:${id}:0.01USD`))],
  [
    'Create of a late order',
    (house) => createIn(house.bot.command(ada({ acknowledged: async () => false }), 'create', FOX)),
  ],
  [
    'Create of a private prompt elsewhere',
    (house, task) => {
      house.records.set(task.id, { ...task, origin: { ...task.origin, audience: 'channel' } });
      return createIn(house.bot.press(ada({ channel: 'elsewhere' }), `retry:${task.id}`));
    },
  ],
  [
    'Create for',
    async (house) => {
      house.rules = RULES;
      return buttonIn(await house.bot.command(ada(), 'create', FOX), 'Create for');
    },
  ],
  [
    'Try again',
    async (house) => {
      house.limit = { of: 'person', kind: 'perMinute', max: 1, found: 1, freeInMs: 1000 };
      return buttonIn(await house.bot.command(ada(), 'create', FOX), 'Try again');
    },
  ],
];

describe.each(BUYING)('button %s', (_name, find) => {
  it('carries its price in its label and its id, and offers a changed one', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a red fox --seconds 6', ...DONE);
    const { id, label } = await find(house, task);
    expect(label).toMatch(/(?:· |for )\$0\.[23]0$/);
    expect(id).toMatch(/:0\.[23]USD$/);
    house.orders.length = 0;
    house.limit = null;
    house.rules = NO_SPENDING_RULES;
    house.replaceCatalog(parseCatalog({ models: [{ ...SWIFT, price: '0.08' }] }));
    const offer = await house.bot.press(ada(), id);
    expect(replyText(offer)).toMatch(/^The price is now \$0\.(?:48|32), not \$0\.[23]0\./);
    expect(house.orders).toEqual([]);
    expect((await house.bot.press(ada(), buttonOf(offer, 'Create'))).kind).toBe('task');
  });
});
