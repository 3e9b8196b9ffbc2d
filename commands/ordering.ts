import type { MissingRight } from '#src/chat/platform.ts';
import { asDailiesError } from '#src/errors.ts';
import { priceOf } from '#src/money/price.ts';
import type { Origin, Task, TaskId } from '#src/tasks/task.ts';
import { type Checked, checkRequest } from '#src/videos/check.ts';
import type { RequestDraft, VideoRequest } from '#src/videos/request.ts';
import type { Caller, Reply } from './command.ts';
import { limitSentence } from './sentences/limits.ts';
import { missingRightSentence, refusalSentence } from './sentences/refusals.ts';
import { type BotPorts, refused } from './subcommand.ts';

/** What makes an order one of a kind, and where it comes from. */
export interface OrderIdentity {
  /** As in `Order.key`. Default: this interaction's own. */
  readonly key?: string;
  readonly retryOf?: TaskId;
  /** The message the new one answers. */
  readonly replyTo?: string;
}

/** An order that was placed (now or by an earlier delivery of the same), or why it was not. */
export type Placed =
  | { readonly ok: true; readonly task: Task; readonly isNew: boolean }
  | { readonly ok: false; readonly sentences: readonly string[] };

/**
 * Prices a checked request by the catalog of now and submits it; nothing is bought where the clip could not be
 * posted afterwards.
 */
export async function placeOrder(
  ports: BotPorts,
  caller: Caller,
  checked: Checked,
  { key = `${caller.platform}:${caller.interaction}`, retryOf, replyTo }: OrderIdentity = {},
): Promise<Placed> {
  if (!checked.ok) return { ok: false, sentences: checked.refusals.map(refusalSentence) };
  const lacking = await missingRight(ports, caller);
  if (lacking !== null) return { ok: false, sentences: [missingRightSentence(lacking)] };
  const submission = await ports.tasks.submit({
    request: withFreshMedia(ports, checked.request),
    origin: originOf(caller, replyTo),
    price: priceOf(checked.model, checked.request.seconds),
    key,
    ...(retryOf === undefined ? {} : { retryOf }),
  });
  if (submission.ok) return submission;
  const { limit } = submission;
  ports.limitReached(limit);
  const { platform, channel, user } = caller;
  ports.logger.info({ platform, channel, user: user.id, limit }, 'a limit was reached');
  return { ok: false, sentences: [limitSentence(limit)] };
}

/** Orders what somebody typed; the task's own message is the answer. */
export async function orderDraft(
  ports: BotPorts,
  caller: Caller,
  draft: RequestDraft,
  identity: OrderIdentity = {},
): Promise<Reply> {
  return placedReply(await placeOrder(ports, caller, checkRequest(ports.catalog(), draft), identity));
}

/** The answer to an order of one's own: the task's message, or why there is none. */
export function placedReply(placed: Placed): Reply {
  return placed.ok ? { kind: 'task', task: placed.task.id } : refused(...placed.sentences);
}

/** What is ordered again may name files that were kept here under an address of then. */
function withFreshMedia({ renewed }: BotPorts, request: VideoRequest): VideoRequest {
  const { image, audio, video } = request.media;
  return { ...request, media: { image: image.map(renewed), audio: audio.map(renewed), video: video.map(renewed) } };
}

/** A check that cannot be made is no reason to refuse: delivery has its own retries. */
async function missingRight({ chat, logger }: BotPorts, caller: Caller): Promise<MissingRight | null> {
  const { platform, team, channel, address } = caller;
  try {
    return await chat.missingRight(platform, { team, channel, address });
  } catch (thrown) {
    const error = asDailiesError(thrown, 'looking for missing rights');
    logger.warn({ err: error, platform, channel }, 'could not look for missing rights');
    return null;
  }
}

function originOf(caller: Caller, replyTo: string | undefined): Origin {
  const { platform, team, channel, user, interaction, uploadLimitBytes, address } = caller;
  return {
    platform,
    team,
    channel,
    user,
    interaction,
    address,
    ...(uploadLimitBytes === undefined ? {} : { uploadLimitBytes }),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}
