import { amountOf, formatPrice, type Micros, microsOf, type Price, type Refunds } from '#src/tasks/index.ts';
import type { CardButton } from '../../ui/card.ts';
import { capitalised, count, either, shorten } from '../format.ts';
import { clipsCost, type Ordered } from '../ordered.ts';
import { heldWords } from './limit-facts.ts';
import { formatReset, monthName } from './months.ts';

interface CheaperOrder {
  readonly seconds: number;
  /** Number of takes, if several were ordered; `null` for a single clip. */
  readonly takes: number | null;
  /** Title of its model; `null` for the same one. */
  readonly model: string | null;
  readonly price: Price;
}

/** Budget that an order would exceed, with the facts that help its requester. Amounts are decimal strings. */
interface OverBudgetShown {
  /** Whose budget it is, as it begins a sentence: `the team’s`, `your`, `Cleo’s`. `null`: that of the installation. */
  readonly whose: string | null;
  /** Month, such as `2026-11`. */
  readonly period: string;
  readonly timeZone: string;
  readonly price: Price;
  readonly ordered: Ordered;
  /** Figures in the price's currency; `null` if the budget has no amount in that currency. */
  readonly figures: {
    readonly limit: string;
    readonly room: string;
    readonly held: string;
    readonly doubted: string;
  } | null;
  readonly refunds: Refunds;
  /** Currencies of the budget's amounts. */
  readonly currencies: readonly string[];
  readonly fit: CheaperOrder | null;
  /** Names of people who can raise it, as far as they are known; the caller is none of them. */
  readonly raisers: readonly string[];
  readonly mayRaise: boolean;
  /** Command, or variable of the environment, that raises it. */
  readonly command: string;
}

/** Explains that an order would exceed a budget: what is left, what would fit, when it resets and who can raise it. */
export function overBudgetSentence(shown: OverBudgetShown): string {
  const { figures, whose } = shown;
  if (figures === null) return missingCurrency(shown);
  const isHidden = whose === null && !shown.mayRaise;
  if (isHidden) return sentences('The budget of this installation is used up.', reset(shown), raise(shown));
  return sentences(excess(shown, figures), ...partsOf(shown, figures), fitSentence(shown), reset(shown), raise(shown));
}

type Figures = NonNullable<OverBudgetShown['figures']>;

function excess({ whose, period, price, ordered }: OverBudgetShown, { limit, room }: Figures): string {
  const { currency } = price;
  const show = (amount: string) => formatPrice({ amount, currency });
  const budget = `${whose ?? 'the installation’s'} ${monthName(period)} budget`;
  const cost = clipsCost(ordered, price);
  const left = microsOf(room);
  if (microsOf(limit) === 0n && left <= 0n) return `${capitalised(budget)} is ${show('0')}, ${cost}.`;
  if (left < 0n) return `${capitalised(budget)} of ${show(limit)} is over by ${show(amountOf(-left))}, ${cost}.`;
  return `This would exceed ${budget}: ${show(room)} of ${show(limit)} left, ${cost}.`;
}

function partsOf({ price: { currency }, refunds }: OverBudgetShown, { held, doubted }: Figures): readonly string[] {
  const isSome = (amount: string): boolean => microsOf(amount) > (0n satisfies Micros);
  return [
    ...(isSome(held) ? [`Includes ${formatPrice({ amount: held, currency })} for clips ${heldWords(refunds)}.`] : []),
    ...(isSome(doubted) ? [`${formatPrice({ amount: doubted, currency })} is unconfirmed.`] : []),
  ];
}

function fitSentence({ fit }: OverBudgetShown): string | null {
  return fit === null ? null : `${cheaperWords(fit)} for ${formatPrice(fit.price)} would fit.`;
}

export function cheaperButton(id: string, cheaper: CheaperOrder): CardButton {
  return { id, label: `Create ${cheaperWords(cheaper)} · ${formatPrice(cheaper.price)}`, style: 'primary' };
}

/** Names a cheaper form of an order: `6 s`, `1 take of 4 s with Sketch`. */
function cheaperWords({ takes, seconds, model }: CheaperOrder): string {
  const number = takes === null ? '' : `${count(takes, 'take')} of `;
  return `${number}${seconds} s${model === null ? '' : ` with ${shorten(model, 30)}`}`;
}

function reset({ figures, period, timeZone }: OverBudgetShown): string | null {
  if (figures !== null && microsOf(figures.limit) === 0n) return null;
  return `The budget resets on ${formatReset(period, timeZone)}.`;
}

function raise({ whose, raisers, mayRaise, command }: OverBudgetShown): string {
  if (whose === null)
    return mayRaise ? `${command} in the environment raises it.` : 'Only whoever runs this installation can raise it.';
  if (mayRaise) return `You can raise it: ${command}`;
  return raisers.length === 0 ? `An administrator can raise it with ${command}` : `${named(raisers)} can raise it.`;
}

/** Largest number of people that are named. */
const MAX_NAMED = 2;

function named(raisers: readonly string[]): string {
  return either(raisers.length > MAX_NAMED ? [...raisers.slice(0, MAX_NAMED), 'others'] : raisers);
}

function missingCurrency(shown: OverBudgetShown): string {
  const { whose, price, ordered, currencies } = shown;
  const { currency } = price;
  const others = either(currencies);
  const model = others === '' ? '' : `Choose a model priced in ${others}.`;
  const budget = whose === null ? 'The budget of this installation' : `${capitalised(whose)} budget`;
  return sentences(
    `${budget} has no amount in ${currency}, in which ${clipsCost(ordered, price)}; amounts are never converted.`,
    model,
    addition(shown),
  );
}

function addition({ whose, mayRaise, command, raisers }: OverBudgetShown): string {
  if (mayRaise) return `You can add one: ${command}`;
  if (whose === null) return 'Only whoever runs this installation can add one.';
  return raisers.length === 0 ? `An administrator can add one with ${command}` : `${named(raisers)} can add one.`;
}

function sentences(...all: readonly (string | null)[]): string {
  return all.filter((one) => one !== null && one !== '').join(' ');
}
