import type { MissingRight } from '#src/chat/index.ts';
import { asDailiesError } from '#src/errors.ts';
import { type Draft, type Order, type SetOrder, type Submission, taskIdOf } from '#src/pipeline/index.ts';
import {
  type Audience,
  isAbove,
  isContentRemoved,
  isSamePrice,
  type Origin,
  type Price,
  priceOf,
  type Task,
} from '#src/tasks/index.ts';
import {
  type Checked,
  type CheckedStoryboard,
  checkRequest,
  draftOfOrder,
  MEDIA_KINDS,
  namesIn,
  orderDefaults,
  priceFingerprint,
  type Refusal,
  type RequestDraft,
  SETTINGS,
  type VideoRequest,
  withNames,
} from '#src/videos/index.ts';
import { approvalRequest, askForPrompt } from '../approvals/request.ts';
import type { Caller, GivenOptions, Reply } from '../bot-port.ts';
import { distance } from '../input/closest-match.ts';
import { optionValue } from '../input/options.ts';
import { type BotPorts, refused } from '../input/subcommand.ts';
import { type Forbidden, forbiddenOrder } from '../policy/rules-here.ts';
import { DISCARDED, missingRightSentence, refusalSentences } from '../sentences/refusals.ts';
import { removedSentence } from '../sentences/removal.ts';
import { resolveChain, shotOf } from '../storyboard/chain.ts';
import type { CardButton } from '../ui/card.ts';
import { askToSpend, draftOf, type OrderIdentity, offerLate, offerRequest, orderKey } from './offers.ts';
import { refuseOverBudget } from './over-budget.ts';
import { keepRefused, type RefusedOrder, refuseOverLimit, refusePaused, refuseUnasked } from './send-again.ts';
import { decideSpending, isOverHardLimit } from './spending.ts';
import { type Accepted, orderedBy, orderPrice } from './what-fits.ts';

/** Outcome of an order: its task (new or from an earlier delivery), or the reasons for a refusal. */
type Placed =
  | { readonly ok: true; readonly task: Task; readonly isNew: boolean }
  | {
      readonly ok: false;
      readonly sentences: readonly string[];
      /** Remedies, such as **Try again**: the request is saved as a draft. */
      readonly buttons?: readonly CardButton[];
    }
  /** The order is only offered: it needs a confirmation, or the platform did not accept the acknowledgement. */
  | { readonly ok: false; readonly offer: Reply };

/** Press that asks for an approval. `isPromptShown`: the requester's answer; `null` if not asked. */
export interface Asked {
  readonly isPromptShown: boolean | null;
}

/** Identity of an order, with the draft that it confirms and the approval that it asks for, if any. */
export type Ordering = OrderIdentity & { readonly draft?: Draft; readonly ask?: Asked };

/**
 * Prices a checked request by the current catalog and submits it. Buys nothing if the bot lacks the right to post the
 * clip afterwards.
 */
export async function placeOrder(
  ports: BotPorts,
  caller: Caller,
  given: Checked,
  ordering: Ordering = {},
): Promise<Placed> {
  const { key = orderKey(caller), retryOf } = ordering;
  if (!given.ok) return { ok: false, sentences: refusalSentences(given.refusals, caller.fields) };
  const chained = await resolveChain(ports, caller, given, { key, retryOf });
  if ('refusal' in chained) return { ok: false, sentences: [chained.refusal] };
  const offer = await askAboutNames(ports, caller, chained.checked, ordering);
  return offer === null ? placeAccepted(ports, caller, chained.checked, ordering) : { ok: false, offer };
}

/** Largest edit distance between the name of an image and a misspelling of it; of a short name, half of its letters. */
const MAX_EDITS = 2;

/**
 * Asks about words of a prompt that are probably misspelt names of library images: with the images, or with the words as
 * they are, without their `@`. Does not ask where a press repeats a clip as it was.
 * @returns `null` if there are none, or the order was claimed before.
 */
async function askAboutNames(
  ports: BotPorts,
  caller: Caller,
  checked: Extract<Checked, { readonly ok: true }>,
  { draft: _draft, ask: _ask, ...identity }: Ordering,
): Promise<Reply | null> {
  const { references = [] } = ports.catalog();
  if (references.length === 0 || identity.press !== undefined) return null;
  const request = draftOfOrder(checked);
  const meant = new Map<string, string>();
  for (const typed of namesIn(request)) {
    const [near] = references
      .map(({ name }) => ({ name, edits: distance(typed, name) }))
      .filter(({ name, edits }) => edits > 0 && edits <= Math.min(MAX_EDITS, name.length / 2))
      .toSorted((one, other) => one.edits - other.edits);
    if (near !== undefined) meant.set(typed, near.name);
  }
  if (meant.size === 0) return null;
  if ((await ports.tasks.get(taskIdOf(identity.key ?? orderKey(caller)))) !== undefined) return null;
  const kept = withNames(request, (name) => (meant.has(name.toLowerCase()) ? name : undefined));
  const names = new Map([...meant].map(([typed, right]) => [typed, `@${right}`]));
  const alternative = withNames(request, (name) => names.get(name.toLowerCase()));
  const reason = { kind: 'names', typed: [...meant.keys()], meant: [...new Set(meant.values())] } as const;
  return offerRequest(ports, caller, { ...identity, request: kept }, { reason, alternative });
}

/** Refuses several clips at once where the bot can post one message only. */
const SETS_NEED_MEMBER = 'takes: I’m not a member here, so each command can show one clip. Order them one at a time.';

async function placeAccepted(ports: BotPorts, caller: Caller, checked: Accepted, ordering: Ordering): Promise<Placed> {
  const { key = orderKey(caller), replyTo } = ordering;
  const { platform, team, channel, address } = caller;
  const { chat } = ports;
  if (orderedBy(checked) !== null && caller.isGuest === true) return { ok: false, sentences: [SETS_NEED_MEMBER] };
  const forbidden = await refuseForbidden(ports, caller, { checked, ordering });
  if (forbidden !== null) return forbidden;
  const place = { team, channel, address };
  const clips = (await labelled(ports, checked, key)).map((clip) => ({
    ...clip,
    request: withRenewedMedia(ports, clip.request),
  }));
  const [lacking, audience, unreachable] = await Promise.all([
    missingRight(ports, caller),
    ports.chat.audienceAt(platform, place),
    unreachableIn(ports, clips),
  ]);
  const order = { checked, ordering };
  if (lacking !== null) {
    const { sentences, buttons } = await keepRefused(ports, caller, order, 'again');
    const missing = missingRightSentence(lacking, { hasButton: buttons.length > 0, isHere: true });
    return { ok: false, sentences: [missing, ...sentences], buttons };
  }
  if (unreachable.length > 0) {
    const sentences = refusalSentences(unreachable, caller.fields);
    const { buttons } = await keepRefused(ports, caller, order, 'fix');
    return { ok: false, sentences, buttons };
  }
  const price = orderPrice(checked);
  const spending = await decideOn(ports, caller, { checked, price, ordering, audience });
  if ('placed' in spending) return spending.placed;
  const isUnasked = 'isUnasked' in spending && spending.isUnasked;
  // What is only asked about, and refused, is not acknowledged where others see it.
  const offer =
    (await refusedEarlier(ports, caller, ordering)) ??
    (isUnasked ? null : await lateOffer(ports, caller, checked, ordering));
  if (offer !== null) return offer;
  const [first = { request: checked.request, price }, ...more] = clips.map(({ request, model }) => ({
    request,
    price: priceOf(model, request.seconds),
  }));
  const submission = await ports.tasks.submit({
    ...first,
    origin: originOf(caller, audience, replyTo),
    ...(more.length === 0
      ? {}
      : { set: { ...setOf(checked, [first, ...more]), address: chat.lastingAddress(platform, address) } }),
    key,
    ...spending,
    ...(await retryPartsOf(ports, caller, ordering)),
  });
  if (submission.ok) return submission;
  return refusedSubmission(ports, caller, submission, order);
}

async function refusedSubmission(
  ports: BotPorts,
  caller: Caller,
  submission: Extract<Submission, { readonly ok: false }>,
  order: RefusedOrder,
): Promise<Placed> {
  const { platform, channel } = caller;
  if ('over' in submission) return { ok: false, ...(await refuseOverBudget(ports, caller, submission.over, order)) };
  if ('paused' in submission) return { ok: false, ...(await refusePaused(ports, caller, submission.paused, order)) };
  if ('forbidden' in submission) return refuseByPolicy(ports, caller, { refusals: submission.forbidden }, order);
  if ('isUnasked' in submission) return { ok: false, ...(await refuseUnasked(ports, caller, order)) };
  const { limit } = submission;
  ports.limitReached(limit);
  ports.logger.info({ event: 'order_limit_reached', platform, channel, limit }, 'order limit reached');
  return { ok: false, ...(await refuseOverLimit(ports, caller, limit, order)) };
}

/** Returns what an order repeats, and as what. */
async function retryPartsOf(
  ports: BotPorts,
  caller: Caller,
  { retryOf, takeOf, press }: OrderIdentity,
): Promise<Pick<Order, 'retryOf' | 'takeOf' | 'press'>> {
  return {
    ...(retryOf === undefined ? {} : { retryOf, ...(await shotOf(ports, caller, retryOf)) }),
    ...(takeOf === undefined ? {} : { takeOf }),
    ...(press === undefined ? {} : { press }),
  };
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
  if (placed.ok)
    return isContentRemoved(placed.task)
      ? refused(removedSentence(placed.task))
      : { kind: 'task', task: placed.task.id };
  if ('offer' in placed) return placed.offer;
  const { sentences, buttons = [] } = placed;
  return { kind: 'refused', sentence: sentences.join('\n'), ...(buttons.length === 0 ? {} : { buttons }) };
}

/** Checked order with its price. */
interface PricedOrder extends RefusedOrder {
  readonly price: Price;
  readonly ordering: Ordering;
  readonly audience: Audience;
}

/**
 * Refuses an order during a pause of spending, offers the price of one whose form or button showed another one, and asks
 * for the confirmation that the order needs, unless its draft was just confirmed at this price, or the order was claimed
 * before. Asks before the interaction is acknowledged, since nothing is bought yet.
 * @returns the refusal or question, or what the order needs besides: the approval to request.
 */
async function decideOn(
  ports: BotPorts,
  caller: Caller,
  { checked, price, ordering, audience }: PricedOrder,
): Promise<{ readonly placed: Placed } | Pick<Order, 'approval' | 'isUnasked'>> {
  const { draft: confirmed, ask, ...identity } = ordering;
  const isConfirmed = confirmed !== undefined;
  const rules = await ports.spendingRules(caller, price.currency);
  const decision = decideSpending(price, rules, isConfirmed, orderedBy(checked));
  const repriced = isConfirmed ? null : priceDifference(ports, caller, { price, checked });
  // The claim refuses it, without a question before; it must not buy if a budget is raised meanwhile.
  const isUnasked = decision.kind === 'buy' && !isConfirmed && isOverHardLimit(price, rules);
  // The price and the length of a storyboard are always shown first.
  const isShown = checked.storyboard === undefined || isConfirmed || isUnasked;
  if (decision.kind === 'buy' && repriced === null && ask === undefined && isShown)
    return isUnasked ? { isUnasked } : {};
  const kept = draftOf(caller, { ...identity, request: draftOfOrder(checked) });
  if ((await ports.tasks.get(taskIdOf(kept.key))) !== undefined) return {};
  if (decision.kind === 'paused')
    return { placed: { ok: false, ...(await refusePaused(ports, caller, decision.pause, { checked, ordering })) } };
  const offered = (offer: Reply) => ({ placed: { ok: false, offer } as const });
  if (!isShown) return offered(await offerRequest(ports, caller, kept, { reason: { kind: 'storyboard' } }));
  // A confirmation names the price, so it also asks about one that was not shown.
  if (repriced !== null && (repriced.before !== null || decision.kind !== 'confirm')) {
    const reason = { kind: 'price', ...repriced } as const;
    return offered(await offerRequest(ports, caller, kept, { reason }));
  }
  if (decision.kind === 'request_approval' || ask !== undefined) {
    const above = decision.kind === 'request_approval' ? decision.above : null;
    const ordered = orderedBy(checked);
    const wanted = { price, ordered, above, audience, isPromptShown: ask?.isPromptShown ?? null };
    const approval = await approvalRequest(ports, caller, wanted);
    return approval === null ? offered(await askForPrompt(ports, caller, confirmed ?? kept, wanted)) : { approval };
  }
  return decision.kind === 'buy' ? {} : offered(await askToSpend(ports, caller, kept, decision.question));
}

/**
 * Returns the price that the caller's form or button showed, `null` if unknown; `null` in all if it is the present price, or the
 * choices showed the present prices: the form may not have shown that of the last choice yet. Choices show the price of one
 * take.
 */
function priceDifference(
  { catalog }: BotPorts,
  { shown }: Caller,
  { price, checked }: Pick<PricedOrder, 'price' | 'checked'>,
): { readonly before: Price | null } | null {
  const offered = catalog();
  const { style } = checked.request;
  // A form with a choice of styles shows the catalog's defaults, not those of the style.
  const { model, seconds } =
    style === undefined || style === offered.policy?.style ? {} : orderDefaults(offered, style);
  const isAsShown = checked.takes === 1 && model === undefined && seconds === undefined;
  if (shown === undefined || (isAsShown && shown.prices === priceFingerprint(offered))) return null;
  const { price: before = null } = shown;
  return before !== null && isSamePrice(before, price) ? null : { before };
}

/**
 * Returns the offer of an order whose earlier delivery was refused: a replica died after it had told the requester, and
 * the reason may have gone meanwhile. The requester was left with a button, so the order waits for it.
 */
async function refusedEarlier(ports: BotPorts, caller: Caller, { key, draft }: Ordering): Promise<Placed | null> {
  if (key !== undefined || draft !== undefined) return null;
  const earlier = await ports.drafts.get(taskIdOf(orderKey(caller)));
  if (earlier === undefined || earlier.interaction !== undefined) return null;
  if ((await ports.tasks.get(earlier.id)) !== undefined) return null;
  return offerDraft(ports, caller, earlier);
}

/** Refuses an order that the policy does not allow here, unless it was claimed before; `null` if it is allowed. */
async function refuseForbidden(ports: BotPorts, caller: Caller, order: RefusedOrder): Promise<Placed | null> {
  const requests = clipsOf(order.checked).map(({ request }) => request);
  const forbidden = await forbiddenOrder(ports, caller, requests);
  if (forbidden === null) return null;
  const claimed = await ports.tasks.get(taskIdOf(order.ordering.key ?? orderKey(caller)));
  return claimed === undefined ? refuseByPolicy(ports, caller, forbidden, order) : null;
}

/** Refuses an order by the rules that it breaks, with **Fix it** where other values may be allowed. */
async function refuseByPolicy(
  ports: BotPorts,
  caller: Caller,
  { refusals, sentence }: Forbidden,
  order: RefusedOrder,
): Promise<Placed> {
  if (sentence !== undefined) return { ok: false, sentences: [sentence] };
  const { buttons } = await keepRefused(ports, caller, order, 'fix');
  return { ok: false, sentences: refusalSentences(refusals, caller.fields), buttons };
}

/**
 * Acknowledges the interaction to the platform. Saves the draft before: a redelivery after a crash in between finds it
 * and checks for the acknowledgement instead of repeating it.
 * @returns `null` if the acknowledgement was accepted or none is needed; otherwise the outcome of the order.
 */
async function lateOffer(
  ports: BotPorts,
  caller: Caller,
  checked: Accepted,
  { draft: confirmed, ...identity }: Ordering,
): Promise<Placed | null> {
  const { acknowledged, interaction } = caller;
  if (acknowledged === undefined) return null;
  const kept = confirmed ?? draftOf(caller, { ...identity, request: draftOfOrder(checked) });
  const { draft, before } = await ports.drafts.save({ ...kept, interaction });
  const isRepeated = before?.interaction === interaction;
  const claimed = isRepeated ? await ports.tasks.get(taskIdOf(draft.key)) : undefined;
  if (claimed !== undefined) return { ok: true, task: claimed, isNew: false };
  if (await acknowledged(isRepeated)) return null;
  const task = await ports.tasks.get(taskIdOf(draft.key));
  if (task !== undefined) return { ok: true, task, isNew: false };
  return offerDraft(ports, caller, draft);
}

async function offerDraft(ports: BotPorts, caller: Caller, draft: Draft): Promise<Placed> {
  return draft.isDiscarded === true
    ? { ok: false, sentences: [DISCARDED] }
    : { ok: false, offer: await offerLate(ports, caller, draft) };
}

type OrderedClip = CheckedStoryboard['shots'][number];

function clipsOf({ request, model, takes, storyboard, compared }: Accepted): readonly OrderedClip[] {
  return compared ?? storyboard?.shots ?? Array.from({ length: takes }, () => ({ request, model }));
}

/** Returns the clips of an order; those of a comparison in the order of their labels. */
async function labelled({ chat }: BotPorts, checked: Accepted, key: string): Promise<readonly OrderedClip[]> {
  const clips = clipsOf(checked);
  if (checked.compared === undefined) return clips;
  return chat.comparisons.inBlindOrder(taskIdOf(key), clips, ({ model }) => model.name);
}

/** Returns the set of an order; of a comparison with its highest price, which stands in place of each clip's own. */
function setOf(checked: Accepted, clips: SetOrder['more']): Pick<SetOrder, 'kind' | 'upTo' | 'more'> {
  const kind = orderedBy(checked)?.kind ?? 'takes';
  const [upTo] = clips.map(({ price }) => price).toSorted((one, other) => (isAbove(one, other) ? -1 : 1));
  return { kind, more: clips.slice(1), ...(kind === 'comparison' && upTo !== undefined ? { upTo } : {}) };
}

/** Checks the hosts of the reference media of all clips; each problem names its line. */
async function unreachableIn(
  { checkReferences }: BotPorts,
  clips: readonly OrderedClip[],
): Promise<readonly Refusal[]> {
  const isRepeated = clips.every(({ line }) => line === undefined);
  const found = await Promise.all(
    (isRepeated ? clips.slice(0, 1) : clips).map(async ({ request, line }) =>
      (await checkReferences(request)).map((refusal) => (line === undefined ? refusal : { ...refusal, line })),
    ),
  );
  return found.flat();
}

/** Signs the addresses of relayed reference media anew, which may have expired since an earlier order. */
function withRenewedMedia({ renewed }: BotPorts, request: VideoRequest): VideoRequest {
  const { image, audio, video } = request.media;
  return { ...request, media: { image: image.map(renewed), audio: audio.map(renewed), video: video.map(renewed) } };
}

/**
 * Returns the right that the bot lacks to post the clip; `null` also if the check fails, since delivery has its own
 * retries.
 * @throws DailiesError `unauthorised` if the platform no longer accepts the bot's token: nothing could be delivered
 */
async function missingRight({ chat, logger }: BotPorts, caller: Caller): Promise<MissingRight | null> {
  const { platform, team, channel, address } = caller;
  try {
    return await chat.missingRight(platform, { team, channel, address });
  } catch (thrown) {
    const error = asDailiesError(thrown, 'looking for missing rights');
    if (error.code === 'unauthorised') throw error;
    logger.warn(
      { event: 'missing_right_check_failed', err: error, platform, channel },
      'failed to check for missing rights',
    );
    return null;
  }
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

/** Builds a request from the options of `/video create`. */
export function requestDraft(given: GivenOptions): RequestDraft {
  const names = ['prompt', 'model', 'models', 'takes', 'style', ...SETTINGS.map(({ name }) => name)];
  const values = names.map((name) => [name, optionValue(given, name)] as const);
  const media = MEDIA_KINDS.map((kind) => [kind, given[kind]] as const);
  return Object.fromEntries([...values, ...media]);
}
