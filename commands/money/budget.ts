import type { Budget, ChangedBudget, Spend } from '#src/money/index.ts';
import { microsOf } from '#src/tasks/index.ts';
import type { Caller, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { currenciesOf, typedAmount } from '../input/amounts.ts';
import { budgetScope, budgetWords, scopeProblem, type TeamScope } from '../input/budget-words.ts';
import {
  type BotPorts,
  byCommand,
  isOperator,
  mayRun,
  privately,
  refused,
  type Subcommand,
  teamOf,
} from '../input/subcommand.ts';
import { administratorsOnly } from '../sentences/access.ts';
import { nameOf } from '../sentences/cards/help.ts';
import { amountMissing, whoseBudget, wrongAmount } from '../sentences/money/budgets.ts';
import { type BudgetOutcome, type BudgetRow, budgetsCard } from '../sentences/money/budgets-card.ts';
import { pageButtons } from '../ui/page-buttons.ts';
import { periodNow } from './month.ts';

const options: readonly OptionDeclaration[] = [
  {
    name: 'scope',
    description: 'Whose budget; for a channel or a person, use that option',
    kind: 'text',
    positional: true,
    choices: [
      { value: 'team', label: 'The team' },
      { value: 'everyone', label: 'Each person without a budget of their own' },
    ],
    defaultWords: 'team',
  },
  {
    name: 'amount',
    description: 'Most per month, such as 100 USD; 0 allows no money, off removes the limit',
    kind: 'text',
    maxLength: 40,
    range: 'an amount such as 100 or 100 EUR, or off',
  },
  { name: 'channel', description: 'The channel whose budget it is', kind: 'channel' },
  { name: 'person', description: 'The person whose budget it is', kind: 'person' },
  { name: 'soft', description: 'Asks for a confirmation from this amount on, and refuses nothing', kind: 'flag' },
];

/** `/video budget`: shows the monthly budgets of a team, or sets or removes one. */
export const budget: Subcommand = {
  declaration: {
    name: 'budget',
    description: 'Shows or sets the monthly budgets of the team, its channels and people',
    example: '/video budget team --amount 100',
    options,
    visibility: 'private',
    isAdministrative: true,
  },
  run: async (ports, caller, given) => {
    const change = await requestedChange(ports, caller, given);
    if (change === null) return showBudgets(ports, caller);
    if (typeof change === 'string') return refused(change);
    return setBudget(ports, caller, change);
  },
};

interface RequestedChange {
  readonly scope: TeamScope;
  readonly part: 'hard' | 'soft';
  /** `null`: remove the limit. */
  readonly amount: string | null;
  /** Absent: all currencies, which only a removal concerns. */
  readonly currency?: string;
}

/** Returns the change that the options ask for, `null` for none, or a sentence for what is wrong with them. */
async function requestedChange(
  ports: BotPorts,
  caller: Caller,
  given: GivenOptions,
): Promise<RequestedChange | string | null> {
  const command = nameOf(budget.declaration, caller.fields);
  const { scope: named, amount: typed, isSoft } = budgetWords(given);
  const scope = await budgetScope(ports, caller, { scope: named, given });
  if (typeof scope === 'string') return scope;
  if (typed === null) return isSoft ? amountMissing(command) : null;
  const part = isSoft ? 'soft' : 'hard';
  const [, off, offCurrency] = /^(off)(?:\s+([a-z]{3}))?$/iu.exec(typed.trim()) ?? [];
  if (off !== undefined) {
    if (scope === null) return whoseBudget(command);
    return { scope, part, amount: null, ...(offCurrency === undefined ? {} : { currency: offCurrency.toUpperCase() }) };
  }
  const catalog = ports.catalog();
  const { currency = catalog.defaultModel.currency } = await ports.settings.get(teamOf(caller));
  const read = typedAmount(typed, currency, currenciesOf(catalog));
  if ('problem' in read) return wrongAmount(read.problem);
  const wanted: TeamScope = scope ?? { kind: 'team', ...teamOf(caller) };
  return (await scopeProblem(ports, caller, wanted)) ?? { scope: wanted, part, ...read.value };
}

async function setBudget(ports: BotPorts, caller: Caller, requested: RequestedChange): Promise<Reply> {
  const { scope, part, amount, currency } = requested;
  const change = {
    part,
    amount: amount === null ? null : microsOf(amount),
    ...(currency === undefined ? {} : { currency }),
  };
  const changed = await ports.budgets.change(scope, byCommand(caller), change);
  const refusedCurrencies = refusedBy(changed, currenciesOf(ports.catalog()));
  const period = await periodNow(ports, caller);
  const spend = await spendOf(ports, changed.after, period.period);
  return showBudgets(ports, caller, 0, { scope, change, ...changed, spend, refused: refusedCurrencies });
}

/** Returns the currencies that a budget with hard amounts has none in, so that their models are refused. */
function refusedBy({ after }: ChangedBudget, currencies: readonly string[]): readonly string[] {
  const hard = Object.keys(after?.hard ?? {});
  return hard.length === 0 ? [] : currencies.filter((currency) => !hard.includes(currency));
}

/** Number of budgets per page. */
const PAGE_LENGTH = 10;

/** Shows a page of the budgets to the caller only, below the outcome of a change, if any. */
async function showBudgets(
  ports: BotPorts,
  caller: Caller,
  wanted = 0,
  outcome: BudgetOutcome | null = null,
): Promise<Reply> {
  const [own, { period, timeZone }, deployment] = await Promise.all([
    ports.budgets.list(teamOf(caller)),
    periodNow(ports, caller),
    // The figures of all teams together are the operator's.
    isOperator(ports, caller) ? ports.budgets.get({ kind: 'deployment' }) : null,
  ]);
  const all = deployment === null ? own : [deployment, ...own];
  // Budgets may have been removed since the button was shown.
  const lastPage = Math.max(0, Math.ceil(all.length / PAGE_LENGTH) - 1) * PAGE_LENGTH;
  const offset = Math.min(wanted, lastPage);
  const shown = all.slice(offset, offset + PAGE_LENGTH);
  const rows = await Promise.all(
    shown.map(async (one): Promise<BudgetRow> => ({ budget: one, spend: await spendOf(ports, one, period) })),
  );
  const buttons = pageButtons({
    page: { list: 'budgets', offset },
    length: PAGE_LENGTH,
    hasMore: all.length > offset + PAGE_LENGTH,
    labels: ['Previous', 'Next'],
  });
  const command = nameOf(budget.declaration, caller.fields);
  return privately(budgetsCard({ outcome, period, timeZone, refunds: ports.refunds, rows, command, buttons }));
}

/** Shows another page of the budgets, to administrators only. */
export async function turnBudgetsPage(ports: BotPorts, caller: Caller, offset: number): Promise<Reply> {
  if (!mayRun(caller, budget.declaration)) return refused(administratorsOnly(caller.platform));
  return showBudgets(ports, caller, offset);
}

/** Returns the spend of a budget's scope in the currencies of its amounts. */
async function spendOf(ports: BotPorts, of: Budget | null, period: string): Promise<readonly Spend[]> {
  if (of === null || of.scope.kind === 'everyone') return [];
  const [spend = []] = await ports.budgets.spend([of.scope], period, currenciesIn(of));
  return spend;
}

function currenciesIn({ hard, soft }: Budget): readonly string[] {
  return [...new Set([...Object.keys(hard), ...Object.keys(soft)])];
}
