import type { Draft } from '#src/pipeline/index.ts';
import { isSamePrice, type Price } from '#src/tasks/index.ts';
import { refusedBy } from '#src/teams/index.ts';
import { draftOfOrder, namesIn, orderDefaults, priceFingerprint, withNames } from '#src/videos/index.ts';
import { approvalRequest, askForPrompt } from '../approvals/request.ts';
import type { Reply } from '../bot-port.ts';
import { distance } from '../input/closest-match.ts';
import { mayNotCreateHere } from '../policy/rules-here.ts';
import { DISCARDED, missingRightSentence } from '../sentences/refusals.ts';
import { resolveChain } from '../storyboard/chain.ts';
import type { OfferReason } from './offer-cards.ts';
import { askToSpend, offerLate, offerRequest } from './offers.ts';
import { clipsOf, type OrderContext } from './order-context.ts';
import { keepRefused, type Refusal, refusePaused, refuseValues } from './refused-orders.ts';
import { decideSpending, isOverHardLimit } from './spending.ts';

/** What stops an order: a refusal, or a question whose answer places it. */
export type Stop = Refusal | { readonly offer: Reply };

/** Refuses or asks, for which it may save a draft. */
type Stopping = () => Promise<Stop>;

/** Judges an order. @returns `null` to let it pass */
type Judge = (order: OrderContext) => Promise<Stopping | null>;

/** A condition that an order has to meet before its claim. */
interface Gate {
  /** Code of its refusals and questions. */
  readonly name: string;
  /** What it refuses, and what it asks, for `docs/architecture.md`. Absent: nothing. */
  readonly refuses?: string;
  readonly asks?: string;
  readonly judge: Judge;
}

/** Largest edit distance between the name of an image and a misspelling of it; of a short name, half of its letters. */
const MAX_EDITS = 2;

/** Offers the order with the images that were probably meant, or with the words as they are, without their `@`. */
async function names({ ports, caller, checked, ordering }: OrderContext): Promise<Stopping | null> {
  const { draft: _draft, ask: _ask, ...identity } = ordering;
  const { references = [] } = ports.catalog();
  // A press repeats a clip as it was.
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
  const kept = withNames(request, (name) => (meant.has(name.toLowerCase()) ? name : undefined));
  const found = new Map([...meant].map(([typed, right]) => [typed, `@${right}`]));
  const alternative = withNames(request, (name) => found.get(name.toLowerCase()));
  const reason = { kind: 'names', typed: [...meant.keys()], meant: [...new Set(meant.values())] } as const;
  return async () => ({
    offer: await offerRequest(ports, caller, { ...identity, request: kept }, { reason, alternative }),
  });
}

/** Refuses several clips at once where the bot can post one message only. */
async function guests({ ordered, caller }: OrderContext): Promise<Stopping | null> {
  if (ordered === null || caller.isGuest !== true) return null;
  const sentence = 'takes: I’m not a member here, so each command can show one clip. Order them one at a time.';
  return async () => ({ sentences: [sentence] });
}

/** Checks the person and the values by the rules of the channel. The claim checks the values again. */
async function policy(order: OrderContext): Promise<Stopping | null> {
  const { ports, caller, checked } = order;
  const sentence = await mayNotCreateHere(ports, caller);
  if (sentence !== null) return async () => ({ sentences: [sentence] });
  const requests = clipsOf(checked).map(({ request }) => request);
  const refusals = refusedBy(order.settings, caller, requests);
  return refusals.length === 0 ? null : () => refuseValues(order, refusals);
}

async function rights(order: OrderContext): Promise<Stopping | null> {
  const { lacking } = await order.surroundings();
  if (lacking === null) return null;
  return async () => {
    const { sentences, buttons } = await keepRefused(order, 'again');
    const missing = missingRightSentence(lacking, { hasButton: buttons.length > 0, isHere: true });
    return { sentences: [missing, ...sentences], buttons };
  };
}

async function references(order: OrderContext): Promise<Stopping | null> {
  const { unreachable } = await order.surroundings();
  return unreachable.length === 0 ? null : () => refuseValues(order, unreachable);
}

/**
 * Refuses an order during a pause, asks about its price and length where they were not shown, requests the approval that it
 * needs, and asks for its confirmation. A draft that was just confirmed at this price is not asked about.
 */
async function spending(order: OrderContext): Promise<Stopping | null> {
  const { ports, caller, checked, price, ordered, ordering } = order;
  const isConfirmed = ordering.draft !== undefined;
  const rules = await ports.spendingRules(caller, price.currency, order.settings);
  const decision = decideSpending(price, rules, isConfirmed, ordered);
  const repriced = isConfirmed ? null : priceDifference(order);
  // The claim refuses it, without a question before; it must not buy if a budget is raised meanwhile.
  const isOver = decision.kind === 'buy' && !isConfirmed && isOverHardLimit(price, rules);
  order.isUnasked = isOver && repriced === null;
  if (decision.kind === 'paused') return () => refusePaused(order, decision.pause);
  // The price and the length of a storyboard are always shown first.
  const isShown = checked.storyboard === undefined || isConfirmed || isOver;
  if (!isShown) return () => offered(order, { kind: 'storyboard' });
  // A confirmation names the price, so it also asks about one that was not shown.
  if (repriced !== null && (repriced.before !== null || decision.kind !== 'confirm'))
    return () => offered(order, { kind: 'price', ...repriced });
  if (decision.kind === 'request_approval') return needApproval(order, decision.above);
  if (ordering.ask !== undefined) return needApproval(order, null);
  if (decision.kind === 'buy') return null;
  return async () => ({ offer: await askToSpend(ports, caller, order.draft, decision.question) });
}

async function offered({ ports, caller, draft }: OrderContext, reason: OfferReason): Promise<Stop> {
  return { offer: await offerRequest(ports, caller, draft, { reason }) };
}

/** Requests an approval. Asks before whether approvers outside of the channel may see the prompt. */
async function needApproval(order: OrderContext, above: Price | null): Promise<Stopping | null> {
  const { ports, caller, price, ordered, ordering } = order;
  const { audience } = await order.surroundings();
  const wanted = { price, ordered, above, audience, isPromptShown: ordering.ask?.isPromptShown ?? null };
  order.approval = await approvalRequest(ports, caller, wanted);
  if (order.approval !== null) return null;
  return async () => ({ offer: await askForPrompt(ports, caller, order.draft, wanted) });
}

/**
 * Returns the price that the caller's form or button showed, `null` if unknown; `null` in all if it is the present price, or the
 * choices showed the present prices: the form may not have shown that of the last choice yet. Choices show the price of one
 * take.
 */
function priceDifference({
  ports,
  caller: { shown },
  checked,
  price,
}: OrderContext): { readonly before: Price | null } | null {
  const offered = ports.catalog();
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
 * Offers an order whose earlier delivery was refused: a replica died after it had told the requester, and the reason may have
 * gone meanwhile. The requester was left with a button, so the order waits for it.
 */
async function redelivery(order: OrderContext): Promise<Stopping | null> {
  const { key, draft } = order.ordering;
  if (key !== undefined || draft !== undefined) return null;
  order.storedDraft = order.ports.drafts.get(order.draft.id);
  const earlier = await order.storedDraft;
  return earlier === undefined || earlier.interaction !== undefined ? null : () => offerDraft(order, earlier);
}

/**
 * Acknowledges the interaction to the platform. The draft by which a redelivery after a crash knows of an earlier one is saved
 * before, where the platform asks for it.
 */
async function acknowledgement(order: OrderContext): Promise<Stopping | null> {
  const { acknowledged, interaction } = order.caller;
  // What is only asked about, and refused, is not acknowledged where others see it.
  if (acknowledged === undefined || order.isUnasked) return null;
  const save = () => order.ports.drafts.save({ ...order.draft, interaction }, order.storedDraft);
  let saving: ReturnType<typeof save> | undefined;
  const isAccepted = await acknowledged(async () => {
    saving = save();
    const { before } = await saving;
    return before?.interaction === interaction && !(await order.isClaimed());
  });
  if (isAccepted) return null;
  const { draft } = await (saving ?? save());
  return () => offerDraft(order, draft);
}

async function offerDraft({ ports, caller }: OrderContext, draft: Draft): Promise<Stop> {
  return draft.isDiscarded === true ? { sentences: [DISCARDED] } : { offer: await offerLate(ports, caller, draft) };
}

/**
 * Conditions of an order, in the order in which they are judged. What refuses or asks comes before the acknowledgement,
 * since nothing is bought yet.
 */
export const GATES = [
  { name: 'chain', refuses: 'a shot whose first frame comes from a clip that is not there', judge: resolveChain },
  { name: 'names', asks: 'whether words are misspelt names of images', judge: names },
  { name: 'guests', refuses: 'several clips where the bot is no member', judge: guests },
  { name: 'policy', refuses: 'people and values that the policy does not allow here', judge: policy },
  { name: 'rights', refuses: 'clips that the bot may not post', judge: rights },
  { name: 'references', refuses: 'reference media that cannot be fetched', judge: references },
  {
    name: 'spending',
    refuses: 'every order during a pause',
    asks: 'about a price or a storyboard not shown yet, for a confirmation, and who may see the prompt to approve',
    judge: spending,
  },
  { name: 'redelivery', asks: 'about what was refused when it was first delivered', judge: redelivery },
  { name: 'acknowledgement', asks: 'about what the platform has reported as failed', judge: acknowledgement },
] as const satisfies readonly Gate[];
