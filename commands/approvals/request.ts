import { approversFor } from '#src/money/approvers.ts';
import type { NewDraft } from '#src/pipeline/drafts.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { ApprovalRequest } from '#src/tasks/approval.ts';
import type { Audience, Price } from '#src/tasks/task.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, refused, teamOf } from '../input/subcommand.ts';
import { askCard } from '../sentences/approvals/requests.ts';
import { DISCARDED } from '../sentences/offers.ts';
import type { Ordered } from '../sentences/ordered.ts';
import { askButtonId, draftButtonId } from '../ui/buttons.ts';

/** Order that needs an approval. */
export interface Requested {
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
  const askedOf = approversFor(await ports.approvers.list(teamOf(caller)), caller.user.id);
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
  const askedOf = approversFor(await ports.approvers.list(teamOf(caller)), caller.user.id);
  const card = askCard(
    { price, ordered, above, askedOf },
    {
      shown: askButtonId(draft.id, price, true),
      hidden: askButtonId(draft.id, price, false),
      discard: draftButtonId('discard', draft.id),
    },
  );
  return { kind: 'offer', id: taskIdOf(`${draft.key}:ask`), card };
}
