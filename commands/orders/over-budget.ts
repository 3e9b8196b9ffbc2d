import { type OverBudget, taskIdOf } from '#src/pipeline/index.ts';
import {
  amountOf,
  formatPrice,
  microsOf,
  type Origin,
  type Person,
  type Price,
  type Refunds,
  spendChannel,
} from '#src/tasks/index.ts';
import { BUILT_IN_ADMINS } from '#src/teams/index.ts';
import { draftOfRequest } from '#src/videos/index.ts';
import type { Caller } from '../bot-port.ts';
import { isMemberHere } from '../input/membership.ts';
import { knownPeople } from '../input/people.ts';
import { type BotPorts, isOperator, teamOf } from '../input/subcommand.ts';
import { heldWords } from '../sentences/amounts.ts';
import { formatReset, monthName } from '../sentences/dates.ts';
import { capitalised, count, either, shorten } from '../sentences/format.ts';
import { clipsCost, type Ordered } from '../sentences/ordered.ts';
import { button } from '../ui/buttons.ts';
import type { CardButton } from '../ui/card.ts';
import { type Optional, present } from '../ui/card.ts';
import { spendingNote } from './offers.ts';
import type { OrderContext } from './order-context.ts';
import { keepRefused, type Refusal } from './refused-orders.ts';
import { type Accepted, orderedBy, orderPrice, whatFits } from './what-fits.ts';

/**
 * Refuses an order over a budget; saves it and, under the same key, the cheaper form that would fit, each with a button
 * that buys it. Only one of the two becomes a task.
 */
export async function refuseOverBudget(order: OrderContext, over: OverBudget): Promise<Refusal> {
  const { ports, caller, checked, ordered } = order;
  const fit = fitOf(ports, over, checked);
  const again = await keepRefused(order, 'again');
  const cheaper = fit === null || again.buttons.length === 0 ? [] : await cheaperButtons(order, fit);
  const purchase = { origin: caller, model: checked.model.name, ordered, fit };
  const sentence = await overBudgetWords(ports, caller, over, purchase);
  const ask = again.buttons.length === 0 ? [] : askButtons(order, over);
  return { sentences: [sentence, ...again.sentences], buttons: [...cheaper, ...again.buttons, ...ask] };
}

/** Returns the button that asks for an approval; none for what an approver cannot grant. */
function askButtons({ draft, price }: OrderContext, { scope, missingCurrency }: OverBudget): readonly CardButton[] {
  if (scope === 'deployment' || missingCurrency === true) return [];
  const ask = { action: 'ask', draft: draft.id, price, isPromptShown: null } as const;
  return [button(ask, `Ask for approval · ${formatPrice(price)}`)];
}

/** Refused purchase: the place and person of its task, and the cheaper form of its request that would fit. */
interface RefusedPurchase {
  readonly origin: Pick<Origin, 'channel' | 'parentChannel' | 'user'>;
  readonly model: string;
  readonly ordered: Ordered;
  readonly fit: Accepted | null;
}

/** Counts a purchase over a budget, and explains it to a person as far as they may know its figures. */
export async function overBudgetWords(
  ports: BotPorts,
  caller: Caller,
  over: OverBudget,
  { origin, model, ordered, fit }: RefusedPurchase,
): Promise<string> {
  const [{ timeZone }, budget] = await Promise.all([
    ports.settings.get(teamOf(caller)),
    ports.budgets.named(over.budget),
  ]);
  ports.overBudget(over.scope);
  ports.logger.info(
    { event: 'order_over_budget', platform: caller.platform, scope: over.scope },
    'order over a budget',
  );
  const { currency, period, limit, room, held, doubted, missingCurrency } = over;
  const isDeployment = over.scope === 'deployment';
  const mayRaise = isDeployment ? isOperator(ports, caller) : caller.mayAdminister;
  return overBudgetSentence({
    whose: whoseBudget(caller, over, origin),
    period,
    timeZone,
    price: { amount: over.price, currency },
    ordered,
    figures: missingCurrency === true ? null : { limit, room, held, doubted },
    refunds: ports.refunds,
    currencies: Object.keys(budget?.hard ?? {}),
    fit: fit === null ? null : cheaperOrder(fit, { model, ordered }),
    raisers: mayRaise || isDeployment ? [] : await raisersOf(ports, caller, budget?.by),
    mayRaise,
    command: isDeployment ? 'BUDGET_PER_MONTH' : `${caller.fields?.administration ?? '/video'} budget`,
  });
}

/**
 * Returns the names of those who can raise a team's budget: the person who set it and those named in `ADMINS`, while they
 * are members and except the caller. The last name is `others` where some have no known name.
 */
async function raisersOf(ports: BotPorts, caller: Caller, setter: Person | undefined): Promise<readonly string[]> {
  const { platform, user } = caller;
  const admins = [...ports.admins, ...BUILT_IN_ADMINS].filter((one) => one.platform === platform);
  const ids = new Set([...(setter === undefined ? [] : [setter.id]), ...admins.map((one) => one.user)]);
  ids.delete(user.id);
  const isSetterOnly = [...ids].every((id) => id === setter?.id);
  const people = [...(isSetterOnly ? [] : await knownPeople(ports, caller)), ...(setter === undefined ? [] : [setter])];
  const nameOf = new Map(people.map(({ id, name }) => [id, name]));
  const areMembers = await Promise.all([...ids].map((id) => isMemberHere(ports, caller, id).catch(() => true)));
  const members = [...ids].filter((_, index) => areMembers[index]);
  // A user of the playground has no other name than the id.
  const names = members.flatMap((id) => nameOf.get(id) ?? (platform === 'playground' ? [id] : []));
  return names.length === 0 || names.length === members.length ? names : [...names, 'others'];
}

/** Returns the possessive of a budget's scope; `null` for the installation, whose figures are the operator's. */
function whoseBudget(caller: Caller, { scope }: OverBudget, origin: RefusedPurchase['origin']): string | null {
  switch (scope) {
    case 'deployment':
      return null;
    case 'team':
      return 'the team’s';
    case 'channel':
      return spendChannel(origin) === spendChannel(caller) ? 'this channel’s' : 'its channel’s';
    case 'person':
      return origin.user.id === caller.user.id ? 'your' : `${origin.user.name}’s`;
  }
}

/** Returns the cheaper form of an order that fits; none where that would reveal the figures of the deployment. */
function fitOf(ports: BotPorts, { scope, room, missingCurrency }: OverBudget, checked: Accepted): Accepted | null {
  if (scope === 'deployment' || missingCurrency === true) return null;
  return whatFits(ports.catalog(), checked, microsOf(room));
}

/** Returns what is shown of a cheaper form of an order. */
function cheaperOrder(fit: Accepted, { model, ordered }: Pick<RefusedPurchase, 'model' | 'ordered'>) {
  return {
    seconds: fit.request.seconds,
    takes: ordered === null ? null : fit.takes,
    model: fit.model.name === model ? null : fit.model.title,
    price: orderPrice(fit),
  };
}

/** Saves the cheaper form of a refused order, unless buying it takes a confirmation of its own. */
async function cheaperButtons(
  { ports, caller, checked, draft }: OrderContext,
  fit: Accepted,
): Promise<readonly CardButton[]> {
  const price = orderPrice(fit);
  if ((await spendingNote(ports, caller, { price, ordered: orderedBy(fit) })).length > 0) return [];
  const request = draftOfRequest(fit.request, fit.takes);
  const id = taskIdOf(`${draft.key}#fit`);
  await ports.drafts.save({ ...draft, id, request });
  const cheaper = cheaperOrder(fit, { model: checked.model.name, ordered: orderedBy(checked) });
  const label = `Create ${cheaperWords(cheaper)} · ${formatPrice(price)}`;
  return [button({ action: 'order', draft: id, price }, label, 'primary')];
}

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
function overBudgetSentence(shown: OverBudgetShown): string {
  const { figures, whose, fit } = shown;
  if (figures === null) return missingCurrency(shown);
  const isHidden = whose === null && !shown.mayRaise;
  if (isHidden)
    return sentences('The budget of this installation is used up.', reset(shown), remedy(shown, 'raise it'));
  return sentences(
    excess(shown, figures),
    ...partsOf(shown, figures),
    fit && `${cheaperWords(fit)} for ${formatPrice(fit.price)} would fit.`,
    reset(shown),
    remedy(shown, 'raise it'),
  );
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
  return present([
    microsOf(held) > 0n && `Includes ${formatPrice({ amount: held, currency })} for clips ${heldWords(refunds)}.`,
    microsOf(doubted) > 0n && `${formatPrice({ amount: doubted, currency })} is unconfirmed.`,
  ]);
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

/** Largest number of people that are named. */
const MAX_NAMED = 2;

/** Says who can change a budget, and with which command. */
function remedy({ whose, raisers, mayRaise, command }: OverBudgetShown, change: 'raise it' | 'add one'): string {
  if (mayRaise && whose === null && change === 'raise it') return `${command} in the environment raises it.`;
  if (mayRaise) return `You can ${change}: ${command}`;
  if (whose === null) return `Only whoever runs this installation can ${change}.`;
  if (raisers.length === 0) return `An administrator can ${change} with ${command}`;
  const named = raisers.length > MAX_NAMED ? [...raisers.slice(0, MAX_NAMED), 'others'] : raisers;
  return `${either(named)} can ${change}.`;
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
    remedy(shown, 'add one'),
  );
}

function sentences(...all: readonly Optional<string>[]): string {
  return present(all).join(' ');
}
