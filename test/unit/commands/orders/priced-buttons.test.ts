import { describe, expect, it } from 'vitest';
import type { Reply } from '#commands/bot-port.ts';
import { NO_SPENDING_RULES, type SpendingRules } from '#commands/orders/spending.ts';
import { buttonId, type Press, parseButton } from '#commands/ui/buttons.ts';
import { buttonsOf, type CardButton } from '#commands/ui/card.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { TaskEvent, TaskId } from '#src/tasks/task.ts';
import { modelFingerprint } from '#src/videos/elsewhere.ts';
import { ada, BotHouse } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { doneIn } from '#test/fakes/outcomes.ts';
import { CATALOG } from '../../videos/models.ts';

// Which press buys: every button × the price in its id × the threshold of confirmations.

const usd = (amount: string) => ({ amount, currency: 'USD' });
const BELOW: SpendingRules = NO_SPENDING_RULES;
const ABOVE: SpendingRules = { confirmAbove: usd('0.10'), budgets: [] };
const PRICE = usd('0.3');
const LOST: readonly TaskEvent[] = [
  { kind: 'send', owner: 'me', atMs: 0 },
  { kind: 'lost', failure: { code: 'lost_answer', words: null } },
];
const DONE = doneIn(0);

/** Returns the id of a button that shows $0.30 for a clip of 6 s. */
type Find = (house: BotHouse) => Promise<string>;

const finished = (house: BotHouse) => house.seed(ada(), 'a red fox --seconds 6', ...DONE);
const uncertain = (house: BotHouse) => house.seed(ada(), 'a red fox --seconds 6', ...LOST);

/** Saves a draft of Ada's for 6 s, with a command that a button of an earlier version may run. */
async function draft(house: BotHouse, command?: string): Promise<TaskId> {
  const id = taskIdOf('slack:d1');
  const { platform, team, channel, user: by } = ada();
  const of = { id, key: 'slack:d1', platform, team, channel, by, request: { prompt: 'a red fox', seconds: 6 } };
  await house.drafts.save({ ...of, ...(command === undefined ? {} : { command }) });
  return id;
}

interface Spending {
  readonly find: Find;
  /** True for a button that is a confirmation at its price. */
  readonly isConfirmation?: boolean;
  /** True where an id without a price is no button at all. */
  readonly needsPrice?: boolean;
  /** Outcome of a press at the present price. Default: it buys, above the threshold only if it is a confirmation. */
  readonly outcome?: 'asks' | 'requests';
}

/**
 * Each action of a button, so that a new one needs a row; `null`: its press buys nothing, whatever the price; a string:
 * the file of its tests.
 */
const ACTIONS: Readonly<Record<Press['action'], readonly (readonly [string, Spending])[] | string | null>> = {
  retry: [
    ['Retry', { find: async (house) => buttonId({ action: 'retry', task: (await finished(house)).id, price: PRICE }) }],
  ],
  elsewhere: [
    [
      'Make it with another model',
      {
        find: async (house) =>
          buttonId({
            action: 'elsewhere',
            task: (await finished(house)).id,
            model: modelFingerprint({ name: 'swift-1' }),
            price: PRICE,
          }),
        needsPrice: true,
      },
    ],
  ],
  order: [
    [
      'Create, Try again and the cheaper form',
      { find: async (house) => `order:${await draft(house)}:0.3USD`, isConfirmation: true },
    ],
  ],
  again: [
    [
      'Send again',
      {
        find: async (house) =>
          buttonId({
            action: 'again',
            task: (await uncertain(house)).id,
            afterSends: 1,
            price: PRICE,
            isConfirmed: false,
          }),
      },
    ],
    [
      'Send again of its question',
      {
        find: async (house) =>
          buttonId({
            action: 'again',
            task: (await uncertain(house)).id,
            afterSends: 1,
            price: PRICE,
            isConfirmed: true,
          }),
        isConfirmation: true,
      },
    ],
  ],
  run: [
    [
      'the command that was meant, a retry',
      { find: async (house) => `run:${await draft(house, `retry ${(await finished(house)).id}`)}`, outcome: 'asks' },
    ],
    [
      'the command that was meant, a create',
      { find: async (house) => `run:${await draft(house, 'create a hen --seconds 6')}`, outcome: 'asks' },
    ],
  ],
  ask: [
    [
      'Ask for approval',
      { find: async (house) => `ask:${await draft(house)}:0.3USD`, outcome: 'requests', needsPrice: true },
    ],
  ],
  approve: 'approvals.test.ts',
  // Forms: they carry the prices that they show, see `spending.test.ts`.
  edit: null,
  fix: null,
  // Both of its buttons are those of drafts, see `improve.test.ts`.
  improve: null,
  lookup: null,
  deny: null,
  cancel: null,
  withdraw: null,
  details: null,
  leave: null,
  show: null,
  refetch: null,
  sign_off: null,
  changes: null,
  discard: null,
  page: null,
  notify: null,
  statement: null,
  privacy: null,
  delete: null,
  join: null,
  board: null,
  vote: null,
  reveal: null,
  prefer: null,
  // It is always asked about, at the highest price of its comparison.
  panel: null,
  move: null,
  remake: 'comparisons.test.ts',
};

const ROWS = Object.values(ACTIONS).flatMap((rows) => (typeof rows === 'string' ? [] : (rows ?? [])));

function shownButtons(reply: Reply): readonly CardButton[] {
  if (reply.kind === 'private') return buttonsOf(reply.card);
  return reply.kind === 'offer' ? buttonsOf(reply.private ?? reply.card) : [];
}

/** Returns the number of purchases and requests for approval so far. */
function counted(house: BotHouse) {
  const tasks = [...house.records.values()];
  const bought = tasks.filter(({ state }) => state === 'claimed').length;
  return { bought, requested: tasks.filter(({ state }) => state === 'requested').length };
}

const THRESHOLDS = [
  ['below', BELOW],
  ['above', ABOVE],
] as const;

describe.each(ROWS)('press on %s', (_name, { find, isConfirmation = false, needsPrice = false, outcome = null }) => {
  async function pressed(rules: SpendingRules, change: (id: string) => string) {
    const house = new BotHouse(CATALOG);
    const id = change(await find(house));
    house.rules = rules;
    const before = counted(house);
    const reply = await house.bot.press(ada(), id);
    const { bought, requested } = counted(house);
    return { house, reply, id, bought: bought - before.bought, requested: requested - before.requested };
  }

  it.each(THRESHOLDS)('at its price, %s the threshold, buys only what was shown or confirmed', async (where, rules) => {
    const { bought, requested, reply } = await pressed(rules, (id) => id);
    const buys = outcome === null && (where === 'below' || isConfirmation);
    expect([bought, requested]).toEqual([buys ? 1 : 0, outcome === 'requests' ? 1 : 0]);
    if (!buys && outcome !== 'requests') expect(replyText(reply)).toContain('$0.30');
  });

  it.each(THRESHOLDS)('at a stale price, %s the threshold, asks', async (_where, rules) => {
    const { reply, id, bought, requested } = await pressed(rules, (one) => one.replace(':0.3USD', ':0.2USD'));
    if (!id.includes('USD')) return;
    expect([bought, requested]).toEqual([0, 0]);
    expect(replyText(reply)).toContain('The price is now $0.30, not $0.20.');
  });

  it.each(THRESHOLDS)('without a price, %s the threshold, asks once', async (_where, rules) => {
    const { house, reply, id, bought, requested } = await pressed(rules, (one) =>
      one.replace(/:0\.3USD(?::confirmed)?/u, ''),
    );
    expect([bought, requested]).toEqual([0, 0]);
    if (needsPrice) return expect(parseButton(id)).toBeNull();
    const before = counted(house).bought;
    const [confirm] = shownButtons(reply);
    expect(confirm?.label).toMatch(/(?:· |for )\$0\.30$/u);
    for (const _time of ['first', 'second']) await house.bot.press(ada(), confirm?.id ?? '');
    expect(counted(house).bought - before).toBe(1);
  });
});
