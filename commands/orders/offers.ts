import { type Draft, type NewDraft, taskIdOf } from '#src/pipeline/index.ts';
import { type SetPlace, type Task, type TaskId, typedPrompt } from '#src/tasks/index.ts';
import { checkRequest, draftOfRequest, namesIn, type RequestDraft, withStyle } from '#src/videos/index.ts';
import type { Caller, FieldProblem, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused, refusedWith, teamOf } from '../input/subcommand.ts';
import { pausedSentence } from '../sentences/pause.ts';
import { DISCARDED } from '../sentences/refusals.ts';
import { COMMENT } from '../storyboard/comments.ts';
import { type Card, type Line, withText } from '../ui/card.ts';
import {
  fixButton,
  noSuchImage,
  type OfferedClip,
  type OfferedShots,
  type OfferReason,
  offerCard,
} from './offer-cards.ts';
import { decideSpending, type SpendingQuestion, type SpendingRules } from './spending.ts';
import { spendingSentences } from './spending-sentences.ts';
import { orderedBy, orderPrice } from './what-fits.ts';

/** Identity of an order: its idempotency key and the task or message that it refers to. */
export interface OrderIdentity {
  /** Idempotency key, as in `Order.key`. Default: the key of this interaction. */
  readonly key?: string;
  readonly retryOf?: TaskId;
  /** As in `Task.takeOf`. */
  readonly takeOf?: SetPlace;
  /** As in `Task.press`. */
  readonly press?: string;
  /** Message that the new task's message replies to. */
  readonly replyTo?: string;
}

/** Returns the idempotency key of an interaction's own order. */
export function orderKey({ platform, interaction }: Pick<Caller, 'platform' | 'interaction'>): string {
  return `${platform}:${interaction}`;
}

/** Request to save as a draft, with the key under which it is claimed once confirmed. */
export interface Kept extends OrderIdentity {
  readonly request: RequestDraft;
}

/** Reason for a confirmation, with an alternative interpretation of the request, if there is one. */
export interface Question {
  readonly reason: OfferReason;
  /** Can be confirmed instead, under the same key. */
  readonly alternative?: RequestDraft;
}

/**
 * Saves an unconfirmed request as a draft and asks for a confirmation: **Create · $0.20**, **Discard**, and a button
 * for the command that was probably meant, if any. Nothing is sent; the confirmation claims under the key of this
 * request, so that no button creates a second task from it.
 */
export async function offerRequest(
  ports: BotPorts,
  caller: Caller,
  kept: Kept,
  { reason, alternative }: Question,
): Promise<Reply> {
  const command = reason.kind === 'slip' && reason.run !== null ? { command: reason.run } : {};
  // As it is asked: the style may change before the answer.
  const styled = (request: RequestDraft) => withStyle(ports.catalog(), request);
  const whole = draftOf(caller, { ...kept, request: styled(kept.request) });
  const other =
    alternative === undefined ? null : { ...whole, id: taskIdOf(`${whole.key}#2`), request: styled(alternative) };
  if (other !== null) await ports.drafts.save(other);
  const link = other === null ? {} : { alternative: other.id };
  const { draft } = await ports.drafts.save({ ...whole, ...command, ...link });
  return privately(await offerOf(ports, caller, draft, { reason, other }));
}

/** Asks for the confirmation of an order that exceeds a threshold or a soft limit, under the key of the order. */
export async function askToSpend(
  ports: BotPorts,
  caller: Caller,
  kept: NewDraft,
  question: SpendingQuestion,
): Promise<Reply> {
  const { draft } = await ports.drafts.save(kept);
  if (draft.isDiscarded === true) return refused(DISCARDED);
  const reason = { kind: 'spending', price: question.price, ordered: question.ordered } as const;
  return offerToAll(caller, cardOf(ports, draft, reason), cardOf(ports, draft, { ...reason, question }));
}

/** @param own the card where only the caller sees it */
function offerToAll(caller: Caller, card: Card, own: Card): Reply {
  return { kind: 'offer', id: taskIdOf(`${orderKey(caller)}:confirm`), card, private: own };
}

/** Offers the clips of a set again, under the key of the order; shown also in answer to a reaction. */
export async function offerSet(ports: BotPorts, caller: Caller, kept: Kept): Promise<Reply> {
  const { draft } = await ports.drafts.save(draftOf(caller, kept));
  const reason = { kind: 'price', before: null } as const;
  return offerToAll(caller, cardOf(ports, draft, reason), await offerOf(ports, caller, draft, { reason }));
}

/** Refuses a request with invalid options, with **Fix it**: a form prefilled with the valid ones. */
export async function refuseRequest(
  ports: BotPorts,
  caller: Caller,
  kept: Kept,
  problems: readonly FieldProblem[],
): Promise<Reply> {
  const reply = refusedWith(problems);
  try {
    const { draft } = await ports.drafts.save(draftOf(caller, kept));
    return { ...reply, buttons: [fixButton(draft.id)] };
  } catch (thrown) {
    const { platform } = caller;
    ports.logger.warn(
      { event: 'refused_request_not_saved', err: thrown, platform },
      'failed to save a refused request',
    );
    return reply;
  }
}

/**
 * Offers a request that the platform had reported as failed before it could be acknowledged. Deduplicates equal
 * requests of one user in a channel into one offer.
 */
export async function offerLate(ports: BotPorts, caller: Caller, draft: Draft): Promise<Reply> {
  const isOpen = async ({ key }: Draft): Promise<boolean> => (await ports.tasks.get(taskIdOf(key))) === undefined;
  const standing = await ports.drafts.standingFor(draft, isOpen);
  const reason = { kind: 'late' } as const;
  const card = cardOf(ports, standing, reason);
  return { kind: 'offer', id: standing.id, card, private: await offerOf(ports, caller, standing, { reason }) };
}

export function draftOf(caller: Caller, { request, key, retryOf, takeOf, press, replyTo }: Kept): NewDraft {
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
    ...(takeOf === undefined ? {} : { takeOf }),
    ...(press === undefined ? {} : { press }),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

/** Reason of an offer, with an alternative interpretation of its request. */
interface OfferContext {
  readonly reason: OfferReason;
  readonly other?: Pick<Draft, 'id' | 'request'> | null;
}

/**
 * Renders a private offer of a draft. Above a threshold it also names what the clip costs and what is left, so that its
 * button is the confirmation. During a pause it says so: its button is refused until the pause ends.
 */
export async function offerOf(
  ports: BotPorts,
  caller: Caller,
  draft: Draft,
  { reason, other = null }: OfferContext,
): Promise<Card> {
  const card = cardOf(ports, draft, reason, other);
  const clips = [other, draft].flatMap((one) => (one === null ? [] : (clipOf(ports, one) ?? [])));
  const notes = await Promise.all(clips.map((clip) => offerNote(ports, caller, clip)));
  const note = [...unknownNames(ports, draft, reason), ...(notes.find(({ length }) => length > 0) ?? [])];
  return note.length === 0 ? card : withText(card, ...note);
}

/** Names the words that are written as names of images and are none, unless the offer asks about them. */
function unknownNames(ports: BotPorts, { request }: Draft, { kind }: OfferReason): readonly Line[] {
  const { references = [] } = ports.catalog();
  if (references.length === 0 || kind === 'names') return [];
  const unknown = namesIn(request).filter((name) => references.every((one) => one.name !== name));
  return unknown.length === 0 ? [] : [noSuchImage(unknown)];
}

type Priced = Pick<OfferedClip, 'price' | 'ordered'>;

async function offerNote(ports: BotPorts, caller: Caller, order: Priced): Promise<readonly Line[]> {
  const { paused, ...rules } = await rulesFor(ports, caller, order.price.currency);
  const pause: readonly Line[] = paused === undefined ? [] : [[{ untrusted: pausedSentence(paused) }]];
  return [...pause, ...noteOf(order, rules).map((sentence) => [sentence])];
}

/**
 * Returns the sentences of the confirmation that an order of this price needs, during a pause also; empty if it needs
 * none.
 */
export async function spendingNote(ports: BotPorts, caller: Caller, order: Priced): Promise<readonly string[]> {
  const { paused: _, ...rules } = await rulesFor(ports, caller, order.price.currency);
  return noteOf(order, rules);
}

async function rulesFor(ports: BotPorts, caller: Caller, currency: string): Promise<SpendingRules> {
  return ports.spendingRules(caller, currency, await ports.settings.get(teamOf(caller)));
}

function noteOf({ price, ordered }: Priced, rules: Omit<SpendingRules, 'paused'>): readonly string[] {
  const decision = decideSpending(price, rules, false, ordered);
  return decision.kind === 'confirm' ? spendingSentences(decision.question) : [];
}

/** Renders the offer of a draft. @param other alternative interpretation of the request */
function cardOf(
  ports: BotPorts,
  draft: Draft,
  reason: OfferReason,
  other: Pick<Draft, 'id' | 'request'> | null = null,
): Card {
  const { id, request, command } = draft;
  const clips = [...(other === null ? [] : [other]), draft].map((one) => clipOf(ports, one));
  const isUsual = clips.every((clip) => clip === null) || reason.kind === 'option' || reason.kind === 'improved';
  // A comparison has no form.
  const isFixable = request.models === undefined && (isUsual || (request.script !== undefined && isOwn(reason)));
  return offerCard({
    reason,
    prompt: request.typed ?? request.prompt ?? '',
    ...(request.shots === undefined ? {} : { shots: boardOf(ports, draft) }),
    comments: commentsIn(request.script ?? ''),
    clips: clips.filter((clip) => clip !== null),
    draft: id,
    hasRun: command !== undefined,
    fix: isFixable ? (reason.kind === 'improved' ? (other?.id ?? id) : id) : null,
    isImprovable: isImprovable(ports, draft, reason),
  });
}

function commentsIn(script: string): number {
  return script.split('\n').filter((line) => COMMENT.test(line)).length;
}

/** Returns whether a request has a prompt of its own, for one model; a storyboard has lines, and a comparison models. */
export function hasOnePrompt({ prompt = '', shots, script, models }: RequestDraft): boolean {
  return prompt.trim() !== '' && shots === undefined && script === undefined && models === undefined;
}

/** Reasons of offers whose prompt is meant as one. */
const WITH_IMPROVE: ReadonlySet<OfferReason['kind']> = new Set(['talk', 'late', 'private', 'price', 'spending']);

/** Returns whether an offer has **Improve**: an order of one prompt, which the catalog accepts, where prompts can be improved. */
function isImprovable(ports: BotPorts, draft: Draft, { kind }: OfferReason): boolean {
  const isOne = hasOnePrompt(draft.request) && draft.alternative === undefined;
  return ports.enhancer !== null && isOne && WITH_IMPROVE.has(kind) && clipOf(ports, draft) !== null;
}

/** Returns whether a question is one that a storyboard’s form can be opened from. */
function isOwn({ kind }: OfferReason): boolean {
  return kind === 'storyboard' || kind === 'price' || kind === 'names';
}

/** Returns the shots of a storyboard; `null` if the catalog does not accept it as it is. */
function boardOf(ports: BotPorts, { request }: Pick<Draft, 'request'>): OfferedShots | null {
  const checked = checkRequest(ports.catalog(), request);
  return checked.ok && checked.storyboard !== undefined ? checked.storyboard.shots : null;
}

/** Returns a draft with its button; `null` if the catalog does not accept it as it is. */
function clipOf(ports: BotPorts, { id, request }: Pick<Draft, 'id' | 'request'>): OfferedClip | null {
  const checked = checkRequest(ports.catalog(), request);
  if (!checked.ok) return null;
  const price = orderPrice(checked);
  return { draft: id, prompt: typedPrompt(checked.request), price, ordered: orderedBy(checked) };
}

/**
 * Asks for a confirmation before a request from a private channel is sent in another one, where others would see its
 * prompt.
 * @param request request to send. Default: the task's own request.
 * @returns the question with its buttons; `null` if no confirmation is needed.
 */
export async function askBeforeShowing(
  ports: BotPorts,
  caller: Caller,
  { id, origin, request: own }: Task,
  request: RequestDraft = draftOfRequest(own),
): Promise<Reply | null> {
  if (origin.channel === caller.channel) return null;
  if (origin.audience === 'team') return null;
  return offerRequest(ports, caller, { request, retryOf: id }, { reason: { kind: 'private' } });
}
