import { expect, it } from 'vitest';
import type { Caller } from '#commands/bot-port.ts';
import type { BudgetRoom, SpendingRules } from '#commands/orders/spending.ts';
import { buttonId } from '#commands/ui/buttons.ts';
import type { Price, Task, TaskEvent } from '#src/tasks/task.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { cardText, replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

const usd = (amount: string) => ({ amount, currency: 'USD' });
const cleo = (changes: Partial<Caller> = {}): Caller => ada({ user: { id: 'U3', name: 'Cleo' }, ...changes });
const room = (changes: Partial<BudgetRoom>): BudgetRoom => ({
  scope: 'team',
  period: '2026-11',
  used: '63.80',
  ...changes,
});
const LEFT = 'The team has $36.20 of $100.00 left for November.';
const RULES: SpendingRules = { confirmAbove: usd('0.10'), budgets: [room({ limit: '100' })] };
const UNCERTAIN: readonly TaskEvent[] = [
  { kind: 'send', owner: 'me', atMs: 0 },
  { kind: 'lost', failure: { code: 'lost_answer', words: null } },
];

const resendButtonId = ({ id, sends }: Task, price: Price | null, isConfirmed = false): string =>
  buttonId({ action: 'again', task: id, afterSends: sends, price, isConfirmed });

/** Returns a house with an uncertain task of Ada's at $0.30, and the button of its message. */
async function uncertain(rules: SpendingRules) {
  const house = new BotHouse(CATALOG);
  const task = await house.seed(ada(), 'a red fox --seconds 6', ...UNCERTAIN);
  house.rules = rules;
  const button = resendButtonId(task, task.price);
  const sent = () => house.task(task.id).state === 'claimed';
  return { house, task, button, sent };
}

/** Returns the buttons of a question, and its text. */
function asked(reply: Awaited<ReturnType<BotHouse['bot']['press']>>) {
  const card = reply.kind === 'offer' ? (reply.private ?? reply.card) : reply.kind === 'private' ? reply.card : null;
  if (card === null) throw new TypeError(replyText(reply));
  return { text: cardText(card), button: card.buttons[0]?.id ?? '' };
}

it('asks above the threshold, and is bought once by its button', async () => {
  const { house, button, sent } = await uncertain(RULES);
  const question = asked(await house.bot.press(ada(), button));
  expect(question.text).toBe(
    `This clip costs $0.30. ${LEFT}\nIt may be charged twice.\n“‹a red fox›”\n(Send again · $0.30)`,
  );
  expect(sent()).toBe(false);
  expect(replyText(await house.bot.press(ada(), question.button))).toMatch(/^Sending it again\./);
  expect(sent()).toBe(true);
  expect(replyText(await house.bot.press(ada(), question.button))).toMatch(/^Someone already decided this/);
});

it('asks beyond a soft limit of its requester, whoever presses', async () => {
  const soft = room({ scope: 'person', soft: '5', used: '5' });
  const { house, button, sent } = await uncertain({ budgets: [soft] });
  expect(asked(await house.bot.press(ada(), button)).text).toContain('It goes over your soft limit of $5.00');
  const manager = asked(await house.bot.press(bob({ mayManage: true }), button));
  expect(manager.text).toContain('It goes over its requester’s soft limit of $5.00');
  expect(sent()).toBe(false);
});

it('reads the rules of the task’s requester and channel, not those of the caller', async () => {
  const { house, task, button } = await uncertain(RULES);
  const readFor: object[] = [];
  const spendingRules = async (spender: object) => {
    readFor.push(spender);
    return RULES;
  };
  Object.assign(house, { spendingRules });
  await house.bot.press(bob({ mayManage: true }), button);
  expect(readFor).toEqual([task.origin]);
});

it('buys at the threshold, and leaves what is over a hard limit to the commit', async () => {
  const at = await uncertain({ ...RULES, confirmAbove: usd('0.30') });
  await at.house.bot.press(ada(), at.button);
  expect(at.sent()).toBe(true);
  const over = await uncertain({ ...RULES, budgets: [room({ limit: '63.90' })] });
  expect(replyText(await over.house.bot.press(ada(), over.button))).toMatch(/^Sending it again\./);
});

it('asks about a changed price, a late press and the amount in one question', async () => {
  const { house, task, button, sent } = await uncertain(RULES);
  const late = await house.bot.press(ada({ acknowledged: async () => false }), button);
  expect(replyText(late)).not.toContain(LEFT);
  for (const reply of [late, await house.bot.press(ada(), resendButtonId(task, usd('0.20')))]) {
    const { text } = asked(reply);
    expect(text).toContain('It may be charged twice.');
    expect(text).toContain(LEFT);
  }
  expect(sent()).toBe(false);
  await house.bot.press(ada(), asked(late).button);
  expect(sent()).toBe(true);
});

it('asks again at a price that changed after the question', async () => {
  const { house, task, sent } = await uncertain(RULES);
  const stale = resendButtonId(task, usd('0.20'), true);
  expect(asked(await house.bot.press(ada(), stale)).text).toContain('The price is now $0.30, not $0.20.');
  expect(sent()).toBe(false);
});

it('needs an approver above the threshold of approvals: not its requester, and no one else', async () => {
  const { house, task, button, sent } = await uncertain({ ...RULES, approveAbove: usd('0.20') });
  const words =
    'refused: Sending it again costs $0.30, and clips above $0.20 need an approval: only Cleo can press Send again. Nothing was bought.';
  for (const user of [ada().user, cleo().user])
    await house.approvers.add(ada(), { person: user, surface: 'command' }, { kind: 'person', ...user });
  const confirmed = resendButtonId(task, task.price, true);
  for (const caller of [ada(), ada({ mayAdminister: true }), bob({ mayManage: true })])
    for (const id of [button, confirmed]) expect(replyText(await house.bot.press(caller, id))).toBe(words);
  expect(replyText(await house.bot.press(bob(), confirmed))).toMatch(/^refused: Only Ada/);
  expect(sent()).toBe(false);
  await house.bot.press(cleo(), asked(await house.bot.press(cleo(), button)).button);
  expect(sent()).toBe(true);
});

it('is left to its requester and managers below the threshold of approvals', async () => {
  const { house, button, sent } = await uncertain({ ...RULES, approveAbove: usd('0.30') });
  await house.approvers.add(ada(), { person: ada().user, surface: 'command' }, { kind: 'person', ...cleo().user });
  expect(replyText(await house.bot.press(cleo(), button))).toMatch(/^refused: /);
  expect(sent()).toBe(false);
});

it('names administrators where there is no approver', async () => {
  const { house, button, sent } = await uncertain({ approveAbove: usd('0.20'), budgets: [] });
  expect(replyText(await house.bot.press(ada(), button))).toContain('only an administrator can press Send again');
  await house.bot.press(bob({ mayAdminister: true }), button);
  expect(sent()).toBe(true);
});

it('is refused at once during a pause', async () => {
  const { house, task, sent } = await uncertain(RULES);
  const pause = { reason: 'enough', by: { id: 'U9', name: 'Grace' }, atMs: NOON_MS };
  await house.settings.change(ada(), { person: pause.by, surface: 'command' }, { pause });
  for (const id of [resendButtonId(task, task.price), resendButtonId(task, null), resendButtonId(task, usd('0.20'))])
    expect(replyText(await house.bot.press(ada(), id))).toMatch(/^refused: Grace paused spending: enough\./);
  expect(sent()).toBe(false);
});
