import type { MissingRight } from '#src/chat/platform.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Draft } from '#src/pipeline/drafts.ts';
import { taskIdOf } from '#src/pipeline/task-service.ts';
import { priceOf } from '#src/tasks/price.ts';
import type { Audience, Origin, Task } from '#src/tasks/task.ts';
import { type Checked, checkRequest } from '#src/videos/check.ts';
import type { RequestDraft, VideoRequest } from '#src/videos/request.ts';
import type { Caller, GivenOptions, Reply } from '../bot-port.ts';
import { optionValue } from '../input/options.ts';
import type { BotPorts } from '../input/subcommand.ts';
import { DISCARDED } from '../sentences/offers.ts';
import { missingRightSentence, refusalSentence } from '../sentences/refusals.ts';
import type { CardButton } from '../ui/card.ts';
import { draftOf, type OrderIdentity, offerLate, orderKey } from './offers.ts';
import { keepRefused, refuseOverLimit } from './send-again.ts';

/** An order that was placed (now or by an earlier delivery of the same), or why it was not. */
export type Placed =
  | { readonly ok: true; readonly task: Task; readonly isNew: boolean }
  | {
      readonly ok: false;
      readonly sentences: readonly string[];
      /** Ways out, such as **Try again**: the request is kept. */
      readonly buttons?: readonly CardButton[];
    }
  /** The platform did not accept its acknowledgement, so it is only offered. */
  | { readonly ok: false; readonly offer: Reply };

/** An order's identity, and the draft that it confirms, if it does. */
export type Ordering = OrderIdentity & { readonly draft?: Draft };

/**
 * Prices a checked request by the catalog of now and submits it; nothing is bought where the clip could not be
 * posted afterwards.
 */
export async function placeOrder(
  ports: BotPorts,
  caller: Caller,
  checked: Checked,
  ordering: Ordering = {},
): Promise<Placed> {
  const { key = orderKey(caller), retryOf, replyTo } = ordering;
  if (!checked.ok)
    return { ok: false, sentences: checked.refusals.map((refusal) => refusalSentence(refusal, caller.fields)) };
  const { platform, team, channel, user, address } = caller;
  const place = { team, channel, address };
  const request = withFreshMedia(ports, checked.request);
  const [lacking, audience, unreachable] = await Promise.all([
    missingRight(ports, caller),
    ports.chat.audienceAt(platform, place),
    ports.checkReferences(request),
  ]);
  const order = { checked, ordering };
  if (lacking !== null) {
    const buttons = await keepRefused(ports, caller, order, 'again');
    return {
      ok: false,
      sentences: [missingRightSentence(lacking, { hasButton: buttons.length > 0, isHere: true })],
      buttons,
    };
  }
  if (unreachable.length > 0) {
    const sentences = unreachable.map((refusal) => refusalSentence(refusal, caller.fields));
    return { ok: false, sentences, buttons: await keepRefused(ports, caller, order, 'fix') };
  }
  const late = await lateOffer(ports, caller, checked.request, ordering);
  if (late !== null) return late;
  const submission = await ports.tasks.submit({
    request,
    origin: originOf(caller, audience, replyTo),
    price: priceOf(checked.model, checked.request.seconds),
    key,
    ...(retryOf === undefined ? {} : { retryOf }),
  });
  if (submission.ok) return submission;
  const { limit } = submission;
  ports.limitReached(limit);
  ports.logger.info({ platform, channel, user: user.id, limit }, 'a limit was reached');
  return { ok: false, ...(await refuseOverLimit(ports, caller, limit, order)) };
}

/** Orders what somebody typed; the task's own message is the answer. */
export async function orderDraft(
  ports: BotPorts,
  caller: Caller,
  draft: RequestDraft,
  identity: Ordering = {},
): Promise<Reply> {
  return placedReply(await placeOrder(ports, caller, checkRequest(ports.catalog(), draft), identity));
}

/** The answer to an order of one's own: the task's message, or why there is none. */
export function placedReply(placed: Placed): Reply {
  if (placed.ok) return { kind: 'task', task: placed.task.id };
  if ('offer' in placed) return placed.offer;
  const { sentences, buttons = [] } = placed;
  return { kind: 'refused', sentence: sentences.join('\n'), ...(buttons.length === 0 ? {} : { buttons }) };
}

/**
 * Has the platform accept the acknowledgement. The draft is stored before: a redelivery after a crash in between finds it,
 * and looks for the acknowledgement instead of repeating it.
 * @returns `null` where it was accepted, or there is nothing to accept; else what the order comes to.
 */
async function lateOffer(
  ports: BotPorts,
  caller: Caller,
  request: VideoRequest,
  { draft: confirmed, ...identity }: Ordering,
): Promise<Placed | null> {
  const { acknowledged, interaction } = caller;
  if (acknowledged === undefined) return null;
  const { aspectRatio: aspect, media, ...settings } = request;
  const kept = confirmed ?? draftOf(caller, { ...identity, request: { ...settings, aspect, ...media } });
  const { draft, before } = await ports.drafts.save({ ...kept, interaction });
  const isRepeated = before?.interaction === interaction;
  const claimed = isRepeated ? await ports.tasks.get(taskIdOf(draft.key)) : undefined;
  if (claimed !== undefined) return { ok: true, task: claimed, isNew: false };
  if (await acknowledged(isRepeated)) return null;
  const task = await ports.tasks.get(taskIdOf(draft.key));
  if (task !== undefined) return { ok: true, task, isNew: false };
  return draft.isDiscarded === true
    ? { ok: false, sentences: [DISCARDED] }
    : { ok: false, offer: await offerLate(ports, draft) };
}

/** What is ordered again may name files that were kept here under an address of then. */
function withFreshMedia({ renewed }: BotPorts, request: VideoRequest): VideoRequest {
  const { image, audio, video } = request.media;
  return { ...request, media: { image: image.map(renewed), audio: audio.map(renewed), video: video.map(renewed) } };
}

/**
 * A check that cannot be made just now is no reason to refuse: delivery has its own retries.
 * @throws DailiesError `unauthorised` where the platform does not accept the bot any more: nothing could be delivered
 */
async function missingRight({ chat, logger }: BotPorts, caller: Caller): Promise<MissingRight | null> {
  const { platform, team, channel, address } = caller;
  try {
    return await chat.missingRight(platform, { team, channel, address });
  } catch (thrown) {
    const error = asDailiesError(thrown, 'looking for missing rights');
    if (error.code === 'unauthorised') throw error;
    logger.warn({ err: error, platform, channel }, 'could not look for missing rights');
    return null;
  }
}

function originOf(caller: Caller, audience: Audience, replyTo: string | undefined): Origin {
  const { platform, team, channel, user, interaction, uploadLimitBytes, address } = caller;
  return {
    platform,
    team,
    channel,
    user,
    interaction,
    address,
    audience,
    ...(uploadLimitBytes === undefined ? {} : { uploadLimitBytes }),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

/** What was asked for, option by option, of the options of `/video create`. */
export function requestDraft(given: GivenOptions): RequestDraft {
  return {
    prompt: optionValue(given, 'prompt'),
    model: optionValue(given, 'model'),
    seconds: optionValue(given, 'seconds'),
    aspect: optionValue(given, 'aspect'),
    resolution: optionValue(given, 'resolution'),
    image: given['image'],
    audio: given['audio'],
    video: given['video'],
  };
}
