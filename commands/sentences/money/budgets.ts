import type { Budget, BudgetChange, BudgetScope, ChangedBudget, Spend } from '#src/money/index.ts';
import { amountOf, formatPrice, type Micros, type Refunds } from '#src/tasks/index.ts';
import { type Block, type Card, type CardButton, type Line, layOut } from '../../ui/card.ts';
import { all, shorten } from '../format.ts';
import { heldWords, limitFacts } from './limit-facts.ts';
import { formatReset } from './months.ts';

// Refusals of `/video budget`, as plain text that includes user input: adapters escape all of it.

export function unknownScope(given: string): string {
  return `scope: I don’t know ${quoted(given)} here. Use team, everyone, #channel or @person.`;
}

/** Refuses two scopes at once. */
export function isScopeTwice(one: string, other: string): string {
  return `scope: both ${quoted(one)} and ${quoted(other)} were given. Set one budget at a time.`;
}

/** Refuses a budget for a channel that does not exist or that the caller may not see. */
export function unknownBudgetChannel(): string {
  return 'scope: I can’t find that channel. Nothing was changed.';
}

export function threadBudget(): string {
  return 'scope: a thread’s clips count towards the budget of its channel. Set that one; nothing was changed.';
}

/** Refuses to remove a limit without saying which. @param command such as `/video budget` */
export function whoseBudget(command: string): string {
  return `scope: whose budget is it? For example: ${command} team off`;
}

/** Refuses a malformed amount. @param reason sentence without the option's name */
export function wrongAmount(reason: string): string {
  return `amount: ${reason} Nothing was changed.`;
}

/** Refuses a soft amount without an amount. @param command such as `/video budget` */
export function amountMissing(command: string): string {
  return `amount: how much a month? For example: ${command} team 100 USD. To remove a budget, write off; to see all, leave everything out.`;
}

function quoted(given: string): string {
  return `“${shorten(given, 60)}”`;
}

/** Budget with its spend of the month, one entry per currency of its amounts; none for that of everyone. */
export interface BudgetRow {
  readonly budget: Budget;
  readonly spend: readonly Spend[];
}

export interface BudgetOutcome extends ChangedBudget {
  readonly scope: BudgetScope;
  readonly change: BudgetChange;
  /** Spend of the scope in the currencies of the new budget. */
  readonly spend: readonly Spend[];
  /** Currencies of models that the budget has no amount in, and so refuses. */
  readonly refused: readonly string[];
}

/** Content of a page of `/video budget`. */
interface BudgetsShown {
  readonly outcome: BudgetOutcome | null;
  /** Month, such as `2026-11`, in the team's time zone. */
  readonly period: string;
  readonly timeZone: string;
  readonly refunds: Refunds;
  readonly rows: readonly BudgetRow[];
  /** Command as the platform types it, such as `/video budget`. */
  readonly command: string;
  readonly buttons: readonly CardButton[];
}

/** Shows the outcome of a change, if any, and the budgets of a team: used, in progress, unconfirmed, limit, left. */
export function budgetsCard({ outcome, period, timeZone, refunds, rows, command, buttons }: BudgetsShown): Card {
  const text = (line: Line): Block => ({ kind: 'text', line });
  const changes =
    outcome === null ? [] : outcomeLines(outcome, { resetsOn: formatReset(period, timeZone), refunds }).map(text);
  const heading: Block = { kind: 'heading', line: ['Monthly budgets'] };
  if (rows.length === 0)
    return layOut([...changes, heading, text(['None is set. For example: ', { code: `${command} team 100 USD` }])]);
  const resets: Block = { kind: 'small', line: [`They reset on ${formatReset(period, timeZone)}.`] };
  return layOut([...changes, heading, resets, ...rows.map((one) => row(one, refunds))], { buttons });
}

function row({ budget, spend }: BudgetRow, refunds: Refunds): Block {
  const { scope, hard, soft } = budget;
  const currencies = [...new Set([...Object.keys(hard), ...Object.keys(soft)])];
  const facts = currencies.flatMap((currency) => {
    const found = spend.find((one) => one.currency === currency);
    return factsOf(budget, { currency, spend: found, refunds });
  });
  return { kind: 'item', title: [capitalised(scopeWords(scope))].flat(), small: [facts.join(' · ')] };
}

function factsOf(
  { scope, hard, soft }: Budget,
  {
    currency,
    spend,
    refunds,
  }: { readonly currency: string; readonly spend: Spend | undefined; readonly refunds: Refunds },
): readonly string[] {
  const show = (micros: Micros): string => formatPrice({ amount: amountOf(micros), currency });
  const [limit, asks] = [hard[currency], soft[currency]];
  const question = asks === undefined ? [] : [`asks for a confirmation from ${show(asks)} on`];
  if (scope.kind === 'everyone' || spend === undefined)
    return [...(limit === undefined ? [] : [`${show(limit)} each`]), ...question];
  const { held, doubted, extra } = spend;
  const used = usedOf(spend);
  const [ofLimit, ...left] = limit === undefined ? ['used'] : limitFacts({ limit, extra, used }, show);
  return [
    `${show(used)} ${ofLimit}`,
    ...left,
    ...(held > 0n ? [`${show(held)} ${heldWords(refunds)}`] : []),
    ...(doubted > 0n ? [`${show(doubted)} unconfirmed`] : []),
    ...question,
  ];
}

/** Returns the amount that counts towards a limit. */
function usedOf({ held, settled, doubted }: Spend): Micros {
  return held + settled + doubted;
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

function capitalised([first = '', ...rest]: Line): Line {
  return [typeof first === 'string' ? `${first.charAt(0).toUpperCase()}${first.slice(1)}` : first, ...rest];
}

function outcomeLines(outcome: BudgetOutcome, over: OverWords): readonly Line[] {
  const { scope, change, after, refused } = outcome;
  const whose: Line = ['The monthly budget of ', ...scopeWords(scope)];
  if (change.part === 'soft') return [softLine(outcome)];
  if (change.amount === null) return [removedLine(outcome, whose)];
  const { currency = '', amount } = change;
  const show = (micros: Micros): string => formatPrice({ amount: amountOf(micros), currency });
  const was = outcome.before?.hard[currency];
  const before = was === undefined ? '' : ` (it was ${show(was)})`;
  const first: Line =
    was === amount ? [...whose, ` is already ${show(amount)}.`] : [...whose, ` is now ${show(amount)}${before}.`];
  const others =
    refused.length === 0 ? [] : [[`Models priced in ${all(refused)} are refused: it has no amount in that currency.`]];
  return [
    first,
    ...(amount === 0n ? [['Only free models can be used.']] : []),
    ...overLines(outcome, show, over),
    ...others,
    ...(after === null ? [] : uselessSoft(after, currency, show)),
  ];
}

/** Facts for the words about a budget that is exceeded as it is set. */
interface OverWords {
  readonly resetsOn: string;
  readonly refunds: Refunds;
}

function overLines(
  { scope, change, spend }: BudgetOutcome,
  show: (micros: Micros) => string,
  { resetsOn, refunds }: OverWords,
): readonly Line[] {
  const found = spend.find(({ currency }) => currency === change.currency);
  if (found === undefined || change.amount === null || scope.kind === 'everyone') return [];
  const over = usedOf(found) - change.amount - found.extra;
  if (over <= 0n) return [];
  const held = refunds === 'assumed' ? ` (${show(found.held)})` : '';
  const runs = found.held > 0n ? ` Clips in progress${held} run on.` : '';
  return [
    [`It is over by ${show(over)}: nothing new can be ordered until it is raised, or resets on ${resetsOn}.${runs}`],
  ];
}

/** Notes a soft amount that is never reached before the hard one. */
function uselessSoft({ soft, hard }: Budget, currency: string, show: (micros: Micros) => string): readonly Line[] {
  const [asks, limit] = [soft[currency], hard[currency]];
  if (asks === undefined || limit === undefined || asks < limit) return [];
  return [[`Its soft amount of ${show(asks)} has no effect: the budget itself is reached first.`]];
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
  const was = removed.map(([currency, micros]) => formatPrice({ amount: amountOf(micros), currency }));
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
  const from = formatPrice({ amount: amountOf(amount), currency });
  return ['Once ', ...scopeWords(scope), ` used ${from} in a month, each order asks for a confirmation.`];
}
