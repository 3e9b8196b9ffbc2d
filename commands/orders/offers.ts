import type { Draft, NewDraft } from '#src/pipeline/drafts.ts';
import { taskIdOf } from '#src/pipeline/task-service.ts';
import { priceOf } from '#src/tasks/price.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { checkRequest } from '#src/videos/check.ts';
import type { RequestDraft } from '#src/videos/request.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { fixButton, type OfferedClip, type OfferReason, offerCard } from '../sentences/offers.ts';
import { draftButtonId, orderButtonId } from '../ui/buttons.ts';
import type { Card } from '../ui/card.ts';

/** What makes an order one of a kind, and where it comes from. */
export interface OrderIdentity {
  /** As in `Order.key`. Default: this interaction's own. */
  readonly key?: string;
  readonly retryOf?: TaskId;
  /** The message the new one answers. */
  readonly replyTo?: string;
}

/** The key of an interaction's own order. */
export function orderKey({ platform, interaction }: Pick<Caller, 'platform' | 'interaction'>): string {
  return `${platform}:${interaction}`;
}

/** A request to keep, and under which key it is claimed once it is confirmed. */
export interface Kept extends OrderIdentity {
  readonly request: RequestDraft;
}

/** What is asked about a request, and the other reading of it, if there is one. */
export interface Question {
  readonly reason: OfferReason;
  /** Confirmed instead, under the same key. */
  readonly alternative?: RequestDraft;
}

/**
 * Keeps a request that nobody confirmed, and asks: **Create · $0.20**, **Discard**, and where a command was probably
 * meant, a button for that. Nothing is sent; the confirmation claims under the key of this very request, so that no
 * button makes a second task of it.
 */
export async function offerRequest(
  ports: BotPorts,
  caller: Caller,
  kept: Kept,
  { reason, alternative }: Question,
): Promise<Reply> {
  const command = reason.kind === 'slip' && reason.run !== null ? { command: reason.run } : {};
  const whole = draftOf(caller, kept);
  const other = alternative === undefined ? null : { ...whole, id: taskIdOf(`${whole.key}#2`), request: alternative };
  if (other !== null) await ports.drafts.save(other);
  const link = other === null ? {} : { alternative: other.id };
  const { draft } = await ports.drafts.save({ ...whole, ...command, ...link });
  return privately(cardOf(ports, draft, reason, other));
}

/** Refuses a request whose options are wrong, with **Fix it**: a form with everything that is right filled in. */
export async function refuseRequest(
  ports: BotPorts,
  caller: Caller,
  kept: Kept,
  sentences: readonly string[],
): Promise<Reply> {
  try {
    const { draft } = await ports.drafts.save(draftOf(caller, kept));
    const buttons = [fixButton(draftButtonId('fix', draft.id))];
    return { kind: 'refused', sentence: sentences.join('\n'), buttons };
  } catch (thrown) {
    ports.logger.warn({ err: thrown, platform: caller.platform }, 'a refused request could not be kept');
    return refused(...sentences);
  }
}

/**
 * Offers a request that the platform had reported as failed before it could be acknowledged. Equal ones of one person in a
 * channel are one offer.
 */
export async function offerLate(ports: BotPorts, draft: Draft): Promise<Reply> {
  const isOpen = async ({ key }: Draft): Promise<boolean> => (await ports.tasks.get(taskIdOf(key))) === undefined;
  const standing = await ports.drafts.standingFor(draft, isOpen);
  return { kind: 'offer', id: standing.id, card: cardOf(ports, standing, { kind: 'late' }) };
}

/** The draft of a request, as its requester's. */
export function draftOf(caller: Caller, { request, key, retryOf, replyTo }: Kept): NewDraft {
  const { platform, team, channel, user } = caller;
  const own = key ?? orderKey(caller);
  return {
    id: taskIdOf(own),
    key: own,
    platform,
    team,
    channel,
    by: user,
    request,
    ...(retryOf === undefined ? {} : { retryOf }),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

/** What is asked about a draft. @param other another reading of it */
export function cardOf(
  ports: BotPorts,
  draft: Draft,
  reason: OfferReason,
  other: Pick<Draft, 'id' | 'request'> | null = null,
): Card {
  const { id, request, command } = draft;
  const clips = [...(other === null ? [] : [other]), draft].map((one) => clipOf(ports, one));
  const isFixable = clips.every((clip) => clip === null) || reason.kind === 'option';
  return offerCard({
    reason,
    prompt: request.prompt ?? '',
    clips: clips.filter((clip) => clip !== null),
    run: command === undefined ? null : draftButtonId('run', id),
    fix: isFixable ? draftButtonId('fix', id) : null,
    discard: draftButtonId('discard', id),
  });
}

/** A draft as a button; `null` where the catalog does not take it as it is. */
function clipOf(ports: BotPorts, { id, request }: Pick<Draft, 'id' | 'request'>): OfferedClip | null {
  const checked = checkRequest(ports.catalog(), request);
  if (!checked.ok) return null;
  const price = priceOf(checked.model, checked.request.seconds);
  return { button: orderButtonId(id, price), prompt: checked.request.prompt, price };
}
