import type { Order, SetOrder, Submission } from '#src/pipeline/index.ts';
import { type Audience, isAbove, isContentRemoved, type Origin, priceOf, type Task } from '#src/tasks/index.ts';
import { type Checked, checkRequest, MEDIA_KINDS, type RequestDraft, SETTINGS } from '#src/videos/index.ts';
import type { Caller, GivenOptions, Reply } from '../bot-port.ts';
import { optionValue } from '../input/options.ts';
import { type BotPorts, refused, teamOf } from '../input/subcommand.ts';
import { refusalSentences } from '../sentences/refusals.ts';
import { removedSentence } from '../sentences/removal.ts';
import { shotOf } from '../storyboard/chain.ts';
import { GATES, type Stop } from './gates.ts';
import { OrderContext, type Ordering } from './order-context.ts';
import { refuseOverBudget } from './over-budget.ts';
import {
  type Refusal,
  refuseOutdated,
  refuseOverLimit,
  refusePaused,
  refuseUnasked,
  refuseValues,
} from './refused-orders.ts';

/** Outcome of an order: its task (new or from an earlier delivery), or what stopped it, by a code. */
export type Placed =
  | { readonly ok: true; readonly task: Task; readonly isNew: boolean }
  | ({ readonly ok: false; readonly code: 'request' | (typeof GATES)[number]['name'] | 'claim' | 'outdated' } & Stop);

/**
 * Prices a checked request by the current catalog and submits it, once it has passed every gate. An order that was claimed
 * before is neither refused nor asked about: its claim returns the task.
 */
export async function placeOrder(
  ports: BotPorts,
  caller: Caller,
  given: Checked,
  ordering: Ordering = {},
): Promise<Placed> {
  if (!given.ok) return { ok: false, code: 'request', sentences: refusalSentences(given.refusals, caller.fields) };
  const { platform, channel } = caller;
  const settings = await ports.settings.get(teamOf(caller));
  const order = new OrderContext({ ports, caller, settings, checked: given, ordering });
  for (const { name, judge } of GATES) {
    const stop = await judge(order);
    if (stop === null || (await order.isClaimed())) continue;
    ports.logger.debug({ event: 'order_stopped', platform, channel, code: name }, 'order stopped by a gate');
    return { ok: false, code: name, ...(await stop()) };
  }
  const submission = await ports.tasks.submit(await submissionOf(order), settings);
  if (submission.ok) return submission;
  if ('outdated' in submission)
    return { ok: false, code: 'outdated', ...(await refuseOutdated(order.under(submission.outdated), submission)) };
  return { ok: false, code: 'claim', ...(await refusedBy(order, submission)) };
}

/** Submission that the claim refused by the settings that it was judged by. */
type RefusedClaim = Exclude<Extract<Submission, { readonly ok: false }>, { readonly outdated: unknown }>;

/** Returns why the claim refused an order, with the remedies. */
function refusedBy(order: OrderContext, submission: RefusedClaim): Promise<Refusal> {
  if ('over' in submission) return refuseOverBudget(order, submission.over);
  if ('paused' in submission) return refusePaused(order, submission.paused);
  if ('forbidden' in submission) return refuseValues(order, submission.forbidden);
  return 'isUnasked' in submission ? refuseUnasked(order) : refuseOverLimit(order, submission.limit);
}

/** Returns an order that has passed the gates as it is submitted. */
async function submissionOf(order: OrderContext): Promise<Order> {
  const { ports, caller, ordering, checked, approval, isUnasked } = order;
  const { retryOf, takeOf, press, replyTo } = ordering;
  const { audience, clips } = await order.surroundings();
  const [first = { request: checked.request, price: order.price }, ...more] = clips.map(({ request, model }) => ({
    request,
    price: priceOf(model, request.seconds),
  }));
  return {
    ...first,
    origin: originOf(caller, audience, replyTo),
    ...(more.length === 0 ? {} : { set: setOf(order, [first, ...more]) }),
    key: order.key,
    ...(approval === null ? {} : { approval }),
    ...(isUnasked ? { isUnasked } : {}),
    ...(retryOf === undefined ? {} : { retryOf, ...(await shotOf(ports, caller, retryOf)) }),
    ...(takeOf === undefined ? {} : { takeOf }),
    ...(press === undefined ? {} : { press }),
  };
}

/** Returns the set of an order; of a comparison with its highest price, which stands in place of each clip's own. */
function setOf({ ordered, ports, caller }: OrderContext, clips: SetOrder['more']): SetOrder {
  const kind = ordered?.kind ?? 'takes';
  const address = ports.chat.platform(caller.platform).channels.lastingAddress(caller.address);
  const [upTo] = clips.map(({ price }) => price).toSorted((one, other) => (isAbove(one, other) ? -1 : 1));
  return { kind, address, more: clips.slice(1), ...(kind === 'comparison' && upTo !== undefined ? { upTo } : {}) };
}

/** Orders a request as entered; the message of the task is the response. */
export async function orderDraft(
  ports: BotPorts,
  caller: Caller,
  draft: RequestDraft,
  identity: Ordering = {},
): Promise<Reply> {
  return placedReply(await placeOrder(ports, caller, checkRequest(ports.catalog(), draft), identity));
}

/** Returns the reply to the caller's own order: its task, an offer, or the reasons for a refusal. */
export function placedReply(placed: Placed): Reply {
  if (placed.ok) {
    const { task, isNew } = placed;
    if (isContentRemoved(task)) return refused(removedSentence(task));
    return { kind: 'task', task: task.id, ...(isNew ? { claimed: task } : {}) };
  }
  if ('offer' in placed) return placed.offer;
  const { sentences, buttons = [] } = placed;
  return { kind: 'refused', sentence: sentences.join('\n'), ...(buttons.length === 0 ? {} : { buttons }) };
}

/** Returns the origin of what a caller requests. @param replyTo the message that its own replies to. */
export function originOf(caller: Caller, audience: Audience, replyTo: string | undefined): Origin {
  const { platform, team, channel, parentChannel, user, interaction, uploadLimitBytes, address } = caller;
  return {
    platform,
    team,
    channel,
    user,
    interaction,
    address,
    audience,
    ...(parentChannel === undefined ? {} : { parentChannel }),
    ...(uploadLimitBytes === undefined ? {} : { uploadLimitBytes }),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

/** Options of `/video create` with one value. */
const SINGLE_OPTIONS = ['prompt', 'model', 'models', 'takes', 'style', ...SETTINGS.map(({ name }) => name)];

/** Builds a request from the options of `/video create`. */
export function requestDraft(given: GivenOptions): RequestDraft {
  const values = SINGLE_OPTIONS.map((name) => [name, optionValue(given, name)] as const);
  const media = MEDIA_KINDS.map((kind) => [kind, given[kind]] as const);
  return Object.fromEntries([...values, ...media]);
}
