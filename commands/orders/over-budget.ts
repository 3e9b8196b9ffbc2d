import { type OverBudget, taskIdOf } from '#src/pipeline/index.ts';
import { microsOf, type Origin, type Person, spendChannel } from '#src/tasks/index.ts';
import { BUILT_IN_ADMINS } from '#src/teams/index.ts';
import { draftOfRequest } from '#src/videos/index.ts';
import type { Caller } from '../bot-port.ts';
import { knownPeople } from '../input/people.ts';
import { type BotPorts, isOperator, teamOf } from '../input/subcommand.ts';
import { askButton } from '../sentences/approvals/requests.ts';
import { cheaperButton, overBudgetSentence } from '../sentences/money/over-budget.ts';
import type { Ordered } from '../sentences/ordered.ts';
import { askButtonId, orderButtonId } from '../ui/buttons.ts';
import type { CardButton } from '../ui/card.ts';
import { draftOf, orderKey, spendingNote } from './offers.ts';
import { keepRefused, type Refusal, type RefusedOrder } from './send-again.ts';
import { type Accepted, orderedBy, orderPrice, whatFits } from './what-fits.ts';

/**
 * Refuses an order over a budget; saves it and, under the same key, the cheaper form that would fit, each with a button
 * that buys it. Only one of the two becomes a task.
 */
export async function refuseOverBudget(
  ports: BotPorts,
  caller: Caller,
  over: OverBudget,
  order: RefusedOrder,
): Promise<Refusal> {
  const fit = fitOf(ports, over, order.checked);
  const again = await keepRefused(ports, caller, order, 'again');
  const cheaper = fit === null || again.buttons.length === 0 ? [] : await cheaperButtons(ports, caller, fit, order);
  const { checked } = order;
  const purchase = { origin: caller, model: checked.model.name, ordered: orderedBy(checked), fit };
  const sentence = await overBudgetWords(ports, caller, over, purchase);
  const ask = again.buttons.length === 0 ? [] : askButtons(caller, over, order);
  return { sentences: [sentence, ...again.sentences], buttons: [...cheaper, ...again.buttons, ...ask] };
}

/** Returns the button that asks for an approval; none for what an approver cannot grant. */
function askButtons(
  caller: Caller,
  { scope, missingCurrency }: OverBudget,
  { checked, ordering: { draft, key = orderKey(caller) } }: RefusedOrder,
): readonly CardButton[] {
  if (scope === 'deployment' || missingCurrency === true) return [];
  const price = orderPrice(checked);
  return [askButton(askButtonId(draft?.id ?? taskIdOf(key), price), price)];
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
  const { platform, team, channel, address, user } = caller;
  const admins = [...ports.admins, ...BUILT_IN_ADMINS].filter((one) => one.platform === platform);
  const ids = new Set([...(setter === undefined ? [] : [setter.id]), ...admins.map((one) => one.user)]);
  ids.delete(user.id);
  const isSetterOnly = [...ids].every((id) => id === setter?.id);
  const people = [...(isSetterOnly ? [] : await knownPeople(ports, caller)), ...(setter === undefined ? [] : [setter])];
  const nameOf = new Map(people.map(({ id, name }) => [id, name]));
  const place = { team, channel, address };
  const isMember = (id: string): Promise<boolean> => ports.chat.isMember(platform, place, id).catch(() => true);
  const areMembers = await Promise.all([...ids].map(isMember));
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
  ports: BotPorts,
  caller: Caller,
  fit: Accepted,
  { checked, ordering: { draft: confirmed, ...identity } }: RefusedOrder,
): Promise<readonly CardButton[]> {
  const price = orderPrice(fit);
  if ((await spendingNote(ports, caller, { price, ordered: orderedBy(fit) })).length > 0) return [];
  const request = draftOfRequest(fit.request, fit.takes);
  const whole = confirmed ?? draftOf(caller, { ...identity, request });
  const id = taskIdOf(`${whole.key}#fit`);
  await ports.drafts.save({ ...whole, id, request });
  const cheaper = cheaperOrder(fit, { model: checked.model.name, ordered: orderedBy(checked) });
  return [cheaperButton(orderButtonId(id, price), cheaper)];
}
