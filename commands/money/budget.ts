import type { Budget, BudgetScope, ChangedBudget, Spend } from '#src/money/index.ts';
import { microsOf } from '#src/tasks/index.ts';
import type { Caller, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { currenciesOf, typedAmount } from '../input/amounts.ts';
import { rightsIn } from '../input/member-rights.ts';
import { isSet, optionValue } from '../input/options.ts';
import { anyoneNamed, channelNamed, personNamed, withoutMarkup } from '../input/people.ts';
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
import {
  amountMissing,
  type BudgetOutcome,
  type BudgetRow,
  budgetsCard,
  isScopeTwice,
  threadBudget,
  unknownBudgetChannel,
  unknownScope,
  whoseBudget,
  wrongAmount,
} from '../sentences/money/budgets.ts';
import { hasLeft } from '../sentences/refusals.ts';
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

type TeamScope = Exclude<BudgetScope, { readonly kind: 'deployment' }>;

/** Options of `/video budget`, or its words: `@ada 20 USD soft`. */
interface BudgetWords {
  /** `team`, `everyone`, a mention, `#channel` or a name; `null` if none was given. */
  readonly scope: string | null;
  readonly amount: string | null;
  readonly isSoft: boolean;
}

const SCOPE = /^(?<scope>team|everyone|me|<[@#][^<>]*>|#\S+)(?=\s|$)\s*(?<rest>.*)$/isu;
const AMOUNT = /(?:^|\s)(?<amount>off(?:\s+[a-z]{3})?|[-+$€£]?\d\S*(?:\s+[a-z]{3})?)$/iu;
const SOFT = /(?:^|\s)soft$/iu;

/** Splits the words of a typed command; an option of its own takes precedence over a word. */
function budgetWords(given: GivenOptions): BudgetWords {
  const typed = optionValue(given, 'scope') ?? '';
  const text = typed.replace(SOFT, '').trim();
  const { scope, amount } = splitWords(text);
  return {
    scope: scope === '' ? null : scope,
    amount: optionValue(given, 'amount') ?? (amount === '' ? null : amount),
    isSoft: isSet(given, 'soft') || SOFT.test(typed),
  };
}

function splitWords(text: string): { readonly scope: string; readonly amount: string } {
  const { scope, rest = '' } = SCOPE.exec(text)?.groups ?? {};
  // What follows a scope is an amount, well-formed or not.
  if (scope !== undefined) return { scope, amount: rest };
  const amount = AMOUNT.exec(text)?.groups?.['amount'] ?? '';
  return { scope: text.slice(0, text.length - amount.length).trim(), amount };
}

/**
 * Finds the scope of a budget among the words and the options for a channel and a person.
 * @returns the scope, `null` where none was given, or a sentence.
 */
async function budgetScope(
  ports: BotPorts,
  caller: Caller,
  { scope, given }: { readonly scope: string | null; readonly given: GivenOptions },
): Promise<TeamScope | string | null> {
  const named = [scope, optionValue(given, 'channel') ?? null, optionValue(given, 'person') ?? null];
  const isPerson = named[2] !== null;
  const [first, another] = named.filter((one) => one !== null);
  if (first === undefined) return null;
  if (another !== undefined) return isScopeTwice(withoutMarkup(first), withoutMarkup(another));
  const { platform, team } = caller;
  const word = first.toLowerCase();
  if (word === 'team' || word === 'everyone') return { kind: word, platform, team };
  if (named[1] !== null || /^(?:<#|#)/u.test(first))
    return { kind: 'channel', platform, team, channel: channelNamed(first) };
  const person = await (isPerson || first.startsWith('@') ? anyoneNamed : personNamed)(ports, caller, first);
  return person === null || person === 'everyone' ? unknownScope(first) : { kind: 'person', platform, team, person };
}

/**
 * Returns why a scope can have no budget: a channel that the caller does not see, a thread, a person who left; `null` if
 * it can.
 */
async function scopeProblem(ports: BotPorts, caller: Caller, scope: TeamScope): Promise<string | null> {
  const { platform, team, channel, address } = caller;
  if (scope.kind === 'channel') {
    const { view, parent, isUnused } = await rightsIn(ports, caller, scope.channel);
    if (!view || isUnused === true) return unknownBudgetChannel();
    return parent === undefined ? null : threadBudget();
  }
  if (scope.kind !== 'person' || scope.person.id === caller.user.id) return null;
  const isMember = await ports.chat.isMember(platform, { team, channel, address }, scope.person.id);
  return isMember ? null : hasLeft('scope', scope.person.name);
}
