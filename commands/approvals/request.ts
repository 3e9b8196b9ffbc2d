import { type NewDraft, taskIdOf } from '#src/pipeline/index.ts';
import { type ApprovalRequest, type Approver, type Audience, formatPrice, type Price } from '#src/tasks/index.ts';
import { approversFor, whoDecides } from '#src/teams/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { isMemberHere } from '../input/membership.ts';
import { type BotPorts, refused, teamOf } from '../input/subcommand.ts';
import { approverNames } from '../sentences/cards/approval.ts';
import { capitalised } from '../sentences/format.ts';
import { clipsCost, type Ordered, ordersAbove } from '../sentences/ordered.ts';
import { DISCARDED } from '../sentences/refusals.ts';
import { button } from '../ui/buttons.ts';
import { type Card, textCard } from '../ui/card.ts';

interface Requested {
  readonly price: Price;
  readonly ordered: Ordered;
  /** The limit that the price exceeds; `null` where it exceeds a budget. */
  readonly above: Price | null;
  readonly audience: Audience;
  /** Whether approvers outside of the channel may see the prompt; `null`: not answered. */
  readonly isPromptShown: boolean | null;
}

/**
 * Returns the request for the approval of an order. Where only a channel may see the prompt, its requester first has to
 * decide whether approvers outside of it may see it, too.
 * @returns `null` if the requester has to be asked.
 */
export async function approvalRequest(
  ports: BotPorts,
  caller: Caller,
  { above, audience, isPromptShown }: Requested,
): Promise<ApprovalRequest | null> {
  if (audience === 'channel' && isPromptShown === null) return null;
  const askedOf = await deciders(ports, caller);
  return { above, askedOf, isPromptShown: isPromptShown === true };
}

/** Asks the requester whether approvers outside of the channel may see the prompt; the answer requests the approval. */
export async function askForPrompt(
  ports: BotPorts,
  caller: Caller,
  kept: NewDraft,
  { price, ordered, above }: Pick<Requested, 'price' | 'ordered' | 'above'>,
): Promise<Reply> {
  const { draft } = await ports.drafts.save(kept);
  if (draft.isDiscarded === true) return refused(DISCARDED);
  const askedOf = await deciders(ports, caller);
  const cost = formatPrice(price);
  const why = above === null ? 'That is over a budget' : `${capitalised(ordersAbove(ordered, above))} need an approval`;
  const it = ordered === null ? 'it' : 'them';
  const ask = { action: 'ask', draft: draft.id, price } as const;
  const card: Card = {
    ...textCard(
      [
        `${capitalised(clipsCost(ordered, price))}. ${why}, so `,
        ...approverNames(askedOf),
        ` would have to approve ${it}.`,
      ],
      ['This channel is private. May approvers who aren’t in it see the prompt and any pictures with it?'],
    ),
    buttons: [
      button({ ...ask, isPromptShown: true }, `Ask, with the prompt · ${cost}`, 'primary'),
      button({ ...ask, isPromptShown: false }, `Ask without the prompt · ${cost}`),
      button({ action: 'discard', draft: draft.id }, 'Discard'),
    ],
  };
  return { kind: 'offer', id: taskIdOf(`${draft.key}:ask`), card };
}

/** Returns those who decide on a request of the caller; also one who cannot be looked up now. */
async function deciders(ports: BotPorts, caller: Caller): Promise<readonly Approver[]> {
  const approvers = approversFor(await ports.approvers.list(teamOf(caller)), caller.user.id);
  return whoDecides(approvers, (id) => isMemberHere(ports, caller, id).catch(() => true));
}
