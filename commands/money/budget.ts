import {
  type Budget,
  type BudgetChange,
  type BudgetScope,
  type ChangedBudget,
  type Spend,
  usedOf,
} from '#src/money/index.ts';
import { amountOf, type Micros, microsOf, type Refunds } from '#src/tasks/index.ts';
import type { Caller, Command, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { currenciesOf, typedAmount } from '../input/amounts.ts';
import { rightsIn } from '../input/member-rights.ts';
import { isMemberHere } from '../input/membership.ts';
import { checkValues, isSet, optionValue } from '../input/options.ts';
import { type Panel, type PanelField, panelButtons } from '../input/panels.ts';
import { anyoneNamed, channelNamed, mentionOf, personNamed, withoutMarkup } from '../input/people.ts';
import {
  type BotPorts,
  byCommand,
  isOperator,
  privately,
  refused,
  type Subcommand,
  teamOf,
} from '../input/subcommand.ts';
import { administratorsOnly } from '../sentences/access.ts';
import { formatMicros, heldWords, limitFacts } from '../sentences/amounts.ts';
import { nameOf } from '../sentences/command-name.ts';
import { formatReset } from '../sentences/dates.ts';
import { all, capitalised, quoted } from '../sentences/format.ts';
import { hasLeft } from '../sentences/refusals.ts';
import { pageButtons } from '../ui/buttons.ts';
import {
  type Block,
  type CardButton,
  facts,
  heading,
  item,
  type Line,
  layOut,
  type Optional,
  present,
  small,
} from '../ui/card.ts';
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

const declaration: Command = {
  name: 'budget',
  description: 'Shows or sets the monthly budgets of the team, its channels and people',
  example: '/video budget team --amount 100',
  options,
  visibility: 'private',
  isAdministrative: true,
};

const panel: Panel = {
  set: {
    label: 'Set a budget…',
    title: 'Set a budget',
    fields: () => [
      { option: 'scope', label: 'Whose', values: [], note: 'The team’s, if you choose nothing here or below' },
      { option: 'channel', label: 'Of a channel', values: [] },
      { option: 'person', label: 'Of a person', values: [] },
      { option: 'amount', label: 'Amount per month', values: [], required: true },
      { option: 'soft', label: 'Only ask', values: [] },
    ],
  },
  amounts: {
    label: 'Change…',
    title: 'Change a budget',
    isAboutOne: 'always',
    fields: async (ports, caller, about) => {
      const found = await budgetAbout(ports, caller, about);
      const all = new Set([...(found === undefined ? [] : currenciesIn(found)), ...currenciesOf(ports.catalog())]);
      return [...all].slice(0, MAX_CURRENCIES).flatMap((currency) => amountFields(found, currency));
    },
    subject: subjectOf,
  },
};

/** `/video budget`: shows the monthly budgets of a team, or sets or removes one. */
export const budget: Subcommand = {
  declaration,
  panel,
  check: ({ catalog }, given) => {
    const { amount } = budgetWords(given);
    const { currency } = catalog().defaultModel;
    const read = amount === null || OFF.test(amount) ? null : typedAmount(amount, currency, currenciesOf(catalog()));
    const problem = read !== null && 'problem' in read ? [{ field: 'amount', sentence: notSet(read.problem) }] : [];
    return [...checkValues(declaration, given), ...problem];
  },
  run: async (ports, caller, given) => {
    const change = await requestedChange(ports, caller, given);
    if (change === null) return showBudgets(ports, caller);
    if (typeof change === 'string') return refused(change);
    return setBudget(ports, caller, change);
  },
  presses: {
    'page:budgets': async (ports, caller, { offset }) => {
      if (!caller.mayAdminister) return refused(administratorsOnly(caller.platform));
      return showBudgets(ports, caller, offset);
    },
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
  const command = nameOf(declaration, caller.fields);
  const { scope: named, amount: typed, isSoft } = budgetWords(given);
  const scope = await budgetScope(ports, caller, { scope: named, given });
  if (typeof scope === 'string') return scope;
  if (typed === null && isSoft)
    return `amount: how much a month? For example: ${command} team 100 USD. To remove a budget, write off; to see all, leave everything out.`;
  if (typed === null) return null;
  const part = isSoft ? 'soft' : 'hard';
  const [, off, offCurrency] = OFF.exec(typed.trim()) ?? [];
  if (off !== undefined) {
    if (scope === null) return `scope: whose budget is it? For example: ${command} team off`;
    return { scope, part, amount: null, ...(offCurrency === undefined ? {} : { currency: offCurrency.toUpperCase() }) };
  }
  const catalog = ports.catalog();
  const { currency = catalog.defaultModel.currency } = await ports.settings.get(teamOf(caller));
  const read = typedAmount(typed, currency, currenciesOf(catalog));
  if ('problem' in read) return notSet(read.problem);
  const wanted: TeamScope = scope ?? { kind: 'team', ...teamOf(caller) };
  return (await scopeProblem(ports, caller, wanted)) ?? { scope: wanted, part, ...read.value };
}

const OFF = /^(off)(?:\s+([a-z]{3}))?$/iu;

function notSet(problem: string): string {
  return `amount: ${problem} Nothing was changed.`;
}

/** Currencies whose amounts a form can hold: each has two. */
const MAX_CURRENCIES = 2;

/** Returns the fields of the amounts of a budget in a currency. */
function amountFields(of: Budget | undefined, currency: string): readonly PanelField[] {
  const parts = [
    {
      part: 'hard',
      label: `Most per month, in ${currency}`,
      note: 'Orders beyond it are refused; empty: no limit',
    },
    {
      part: 'soft',
      label: `Ask from, in ${currency}`,
      note: 'Orders beyond it ask for a confirmation; empty: none does',
    },
  ] as const;
  return parts.map(({ part, label, note }) => {
    const amount = of?.[part][currency];
    const values = amount === undefined ? [] : [`${amountOf(amount)} ${currency}`];
    const more = part === 'soft' ? { with: { soft: [''] } } : {};
    const emptied = { amount: [`off ${currency}`] };
    return { option: 'amount', name: `${part}_${currency}`, label, note, values, unit: currency, emptied, ...more };
  });
}

async function budgetAbout(ports: BotPorts, caller: Caller, about: string | null): Promise<Budget | undefined> {
  return (await ports.budgets.list(teamOf(caller))).find(({ scope }) => aboutOf(scope) === about);
}

/** Names a scope in the id of a button. */
function aboutOf(scope: BudgetScope): string {
  if (scope.kind === 'channel') return `channel.${scope.channel}`;
  return scope.kind === 'person' ? `person.${scope.person.id}` : scope.kind;
}

/** Returns the options that name the scope of a button, whose budget may have been removed meanwhile. */
async function subjectOf(ports: BotPorts, caller: Caller, about: string): Promise<GivenOptions> {
  const [, kind = '', id = ''] = /^(channel|person)\.(.+)$/su.exec(about) ?? [];
  if (kind === '') return { scope: [about] };
  if (kind === 'channel') return { channel: [`<#${id}>`] };
  const found = (await budgetAbout(ports, caller, about))?.scope;
  return { person: [found?.kind === 'person' ? mentionOf(found.person) : `<@${id}>`] };
}

async function setBudget(ports: BotPorts, caller: Caller, requested: RequestedChange): Promise<Reply> {
  const { scope, part, amount, currency } = requested;
  const change = {
    part,
    amount: amount === null ? null : microsOf(amount),
    ...(currency === undefined ? {} : { currency }),
  };
  const changed = await ports.budgets.change(scope, byCommand(caller), change);
  const hard = Object.keys(changed.after?.hard ?? {});
  // A budget refuses models of a currency in which it has no hard amount, once it has one in another.
  const without = currenciesOf(ports.catalog()).filter((one) => hard.length > 0 && !hard.includes(one));
  const period = await periodNow(ports, caller);
  const spend = await spendOf(ports, changed.after, period.period);
  return showBudgets(ports, caller, 0, { scope, change, ...changed, spend, refused: without });
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
  const { refunds } = ports;
  const resetsOn = formatReset(period, timeZone);
  const top = [...(outcome === null ? [] : outcomeLines(outcome, { resetsOn, refunds })), heading('Monthly budgets')];
  const example = `${nameOf(declaration, caller.fields)} team 100 USD`;
  const forms = panelButtons(caller, declaration, panel);
  if (rows.length === 0)
    return privately(layOut([...top, ['None is set. For example: ', { code: example }]], { buttons: forms }));
  const hasMore = all.length > offset + PAGE_LENGTH;
  const buttons = pageButtons({ page: { what: 'budgets', offset }, length: PAGE_LENGTH, hasMore });
  const items = rows.map((one) => {
    const { scope } = one.budget;
    // That of the deployment is set where it is deployed.
    const [change] = scope.kind === 'deployment' ? [] : panelButtons(caller, declaration, panel, aboutOf(scope));
    return row(one, refunds, change);
  });
  return privately(
    layOut([...top, small(`They reset on ${resetsOn}.`), ...items], { buttons: [...buttons, ...forms] }),
  );
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
  if (another !== undefined) {
    const both = `${quoted(withoutMarkup(first), 60)} and ${quoted(withoutMarkup(another), 60)}`;
    return `scope: both ${both} were given. Set one budget at a time.`;
  }
  const { platform, team } = caller;
  const word = first.toLowerCase();
  if (word === 'team' || word === 'everyone') return { kind: word, platform, team };
  if (named[1] !== null || /^(?:<#|#)/u.test(first))
    return { kind: 'channel', platform, team, channel: channelNamed(first) };
  const person = await (isPerson || first.startsWith('@') ? anyoneNamed : personNamed)(ports, caller, first);
  if (person === null || person === 'everyone')
    return `scope: I don’t know ${quoted(first, 60)} here. Use team, everyone, #channel or @person.`;
  return { kind: 'person', platform, team, person };
}

/**
 * Returns why a scope can have no budget: a channel that the caller does not see, a thread, a person who left; `null` if
 * it can.
 */
async function scopeProblem(ports: BotPorts, caller: Caller, scope: TeamScope): Promise<string | null> {
  if (scope.kind === 'channel') {
    const { view, parent, isUnused } = await rightsIn(ports, caller, scope.channel);
    if (!view || isUnused === true) return 'scope: I can’t find that channel. Nothing was changed.';
    if (parent === undefined) return null;
    return 'scope: a thread’s clips count towards the budget of its channel. Set that one; nothing was changed.';
  }
  if (scope.kind !== 'person' || scope.person.id === caller.user.id) return null;
  return (await isMemberHere(ports, caller, scope.person.id)) ? null : hasLeft('scope', scope.person.name);
}

/** Budget with its spend of the month, one entry per currency of its amounts; none for that of everyone. */
interface BudgetRow {
  readonly budget: Budget;
  readonly spend: readonly Spend[];
}

interface BudgetOutcome extends ChangedBudget {
  readonly scope: BudgetScope;
  readonly change: BudgetChange;
  /** Spend of the scope in the currencies of the new budget. */
  readonly spend: readonly Spend[];
  /** Currencies of models that the budget has no amount in, and so refuses. */
  readonly refused: readonly string[];
}

function row({ budget, spend }: BudgetRow, refunds: Refunds, change?: CardButton): Block {
  const found = currenciesIn(budget).flatMap((currency) => {
    const [of] = spend.filter((one) => one.currency === currency);
    return factsOf(budget, { currency, spend: of, refunds });
  });
  return item(capitalisedLine(scopeWords(budget.scope)), facts(...found), change);
}

function factsOf(
  { scope, hard, soft }: Budget,
  {
    currency,
    spend,
    refunds,
  }: { readonly currency: string; readonly spend: Spend | undefined; readonly refunds: Refunds },
): readonly Optional<string>[] {
  const show = (micros: Micros): string => formatMicros(micros, currency);
  const [limit, asks] = [hard[currency], soft[currency]];
  const question = asks !== undefined && `asks for a confirmation from ${show(asks)} on`;
  if (scope.kind === 'everyone' || spend === undefined) return [limit !== undefined && `${show(limit)} each`, question];
  const { held, doubted, extra } = spend;
  const used = usedOf(spend);
  const [ofLimit, ...left] = limit === undefined ? ['used'] : limitFacts({ currency, limit, extra, used });
  return [
    `${show(used)} ${ofLimit}`,
    ...left,
    held > 0n && `${show(held)} ${heldWords(refunds)}`,
    doubted > 0n && `${show(doubted)} unconfirmed`,
    question,
  ];
}

/** Names a budget's scope within a sentence. */
function scopeWords(scope: BudgetScope): Line {
  switch (scope.kind) {
    case 'deployment':
      return ['this installation, all teams together'];
    case 'team':
      return ['the team'];
    case 'everyone':
      return ['each person without a budget of their own'];
    case 'channel':
      return [{ channel: scope.channel }];
    case 'person':
      return [{ person: scope.person }];
  }
}

function capitalisedLine([first = '', ...rest]: Line): Line {
  return [typeof first === 'string' ? capitalised(first) : first, ...rest];
}

function outcomeLines(outcome: BudgetOutcome, over: OverWords): readonly Line[] {
  const { scope, change, after, refused } = outcome;
  const whose: Line = ['The monthly budget of ', ...scopeWords(scope)];
  if (change.part === 'soft') return [softLine(outcome)];
  if (change.amount === null) return [removedLine(outcome, whose)];
  const { currency = '', amount } = change;
  const show = (micros: Micros): string => formatMicros(micros, currency);
  const was = outcome.before?.hard[currency];
  const before = was === undefined ? '' : ` (it was ${show(was)})`;
  const first: Line =
    was === amount ? [...whose, ` is already ${show(amount)}.`] : [...whose, ` is now ${show(amount)}${before}.`];
  return present<Line>([
    first,
    amount === 0n && ['Only free models can be used.'],
    overLine(outcome, show, over),
    refused.length > 0 && [`Models priced in ${all(refused)} are refused: it has no amount in that currency.`],
    after && uselessSoft(after, currency, show),
  ]);
}

/** Facts for the words about a budget that is exceeded as it is set. */
interface OverWords {
  readonly resetsOn: string;
  readonly refunds: Refunds;
}

function overLine(
  { scope, change, spend }: BudgetOutcome,
  show: (micros: Micros) => string,
  { resetsOn, refunds }: OverWords,
): Line | null {
  const found = spend.find(({ currency }) => currency === change.currency);
  if (found === undefined || change.amount === null || scope.kind === 'everyone') return null;
  const over = usedOf(found) - change.amount - found.extra;
  if (over <= 0n) return null;
  const held = refunds === 'assumed' ? ` (${show(found.held)})` : '';
  const runs = found.held > 0n ? ` Clips in progress${held} run on.` : '';
  return [
    `It is over by ${show(over)}: nothing new can be ordered until it is raised, or resets on ${resetsOn}.${runs}`,
  ];
}

/** Notes a soft amount that is never reached before the hard one. */
function uselessSoft({ soft, hard }: Budget, currency: string, show: (micros: Micros) => string): Line | null {
  const [asks, limit] = [soft[currency], hard[currency]];
  if (asks === undefined || limit === undefined || asks < limit) return null;
  return [`Its soft amount of ${show(asks)} has no effect: the budget itself is reached first.`];
}

function removedLine({ before, after, change }: BudgetOutcome, whose: Line): Line {
  const removed = Object.entries(before?.hard ?? {}).filter(([currency]) => after?.hard[currency] === undefined);
  const softOnly =
    removed.length === 0 && Object.keys(before?.soft ?? {}).length > Object.keys(after?.soft ?? {}).length;
  if (removed.length === 0 && !softOnly)
    return [
      'Nothing to remove: ',
      ...whose.slice(1),
      change.currency === undefined ? ' has no budget.' : ` has no budget in ${change.currency}.`,
    ];
  const was = removed.map(([currency, micros]) => formatMicros(micros, currency));
  return [...whose, ` was removed${was.length === 0 ? '' : ` (it was ${all(was)})`}.`];
}

function softLine({ scope, before, after, change }: BudgetOutcome): Line {
  const { currency, amount } = change;
  if (amount === null || currency === undefined) {
    const wasSet = Object.keys(before?.soft ?? {}).length > Object.keys(after?.soft ?? {}).length;
    return wasSet
      ? ['Orders of ', ...scopeWords(scope), ' no longer ask for a confirmation because of their budget.']
      : ['Nothing to remove: ', ...scopeWords(scope), ' has no soft amount.'];
  }
  const from = formatMicros(amount, currency);
  return ['Once ', ...scopeWords(scope), ` used ${from} in a month, each order asks for a confirmation.`];
}
