import { formatPrice, isSamePrice, type Price, priceOf, spendChannel, type Task } from '#src/tasks/index.ts';
import { approversFor, refusedBy } from '#src/teams/index.ts';
import { checkAgain } from '#src/videos/index.ts';
import { approvableBy } from '../approvals/decide.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { forbiddenReply, mayNotDecideOn } from '../policy/rules-here.ts';
import { anyOf } from '../sentences/cards/approval.ts';
import { pausedSentence } from '../sentences/pause.ts';
import { refusalSentences } from '../sentences/refusals.ts';
import { button, type Press } from '../ui/buttons.ts';
import { type ResendReason, resendCard } from './offer-cards.ts';
import { decideSpending, type SpendingQuestion } from './spending.ts';
import { spendingSentences } from './spending-sentences.ts';
import { decide, decisionReply } from './task-actions.ts';

/**
 * Submits an uncertain task again: a purchase of its own, by the rules of the task's requester and channel. Asks once if
 * the button shows no price, or another one than the catalog has now, if the price exceeds a threshold or a soft limit,
 * or if the platform had already reported the press as failed. Above the threshold of approvals, only an approver may
 * send it again: the press is the approval.
 */
export async function sendAgain(
  ports: BotPorts,
  caller: Caller,
  task: Task,
  { afterSends, price: offered, isConfirmed }: Extract<Press, { readonly action: 'again' }>,
): Promise<Reply> {
  const { origin } = task;
  const refusal = await mayNotDecideOn(ports, caller, origin);
  const mayApprove = async (): Promise<boolean> => (await approvableBy(ports, caller, [[task]])).length > 0;
  if (refusal !== null && !(await mayApprove())) return refused(refusal);
  const isAccepted = caller.acknowledged === undefined || (await caller.acknowledged());
  if (task.state !== 'uncertain' || task.sends !== afterSends)
    return decide(ports, caller, task, 'again', async () => ({ done: false, task }));
  const checked = checkAgain(ports.catalog(), task.request);
  if (!checked.ok) return refused(...refusalSentences(checked.refusals, caller.fields));
  const settings = await ports.settings.get(origin);
  const forbidden = refusedBy(settings, origin, [task.request]);
  if (forbidden.length > 0) return forbiddenReply(caller, forbidden);
  const price = priceOf(checked.model, checked.request.seconds);
  const rules = await ports.spendingRules(origin, price.currency, settings);
  const needed = decideSpending(price, rules, true);
  if (needed.kind === 'paused') return refused(pausedSentence(needed.pause));
  if (needed.kind === 'request_approval') {
    const approvers = approversFor(await ports.approvers.list(origin), origin.user.id);
    const why = `Sending it again costs ${formatPrice(price)}, and clips above ${formatPrice(needed.above)} need an approval`;
    if (!(await mayApprove()))
      return refused(`${why}: only ${anyOf(approvers)} can press Send again. Nothing was bought.`);
  } else if (refusal !== null) return refused(refusal);
  const decision = decideSpending(price, { ...rules, approveAbove: undefined }, isConfirmed);
  const question = decision.kind === 'confirm' ? decision.question : null;
  const ask = (reason: ResendReason) => resendQuestion(caller, task, { reason, price, question });
  if (!isAccepted) return ask({ kind: 'late' });
  if (offered === null || !isSamePrice(offered, price)) return ask({ kind: 'price', before: offered });
  if (question !== null) return ask({ kind: 'spending', price });
  const decided = await ports.tasks.resubmit(task.id, caller.user, { afterSends, price }, settings);
  return decisionReply(ports, caller, task, 'again', decided);
}

/** Reason for a question, the present price, and what its button confirms; `null`: no threshold or soft limit. */
interface Asking {
  readonly reason: ResendReason;
  readonly price: Price;
  readonly question: SpendingQuestion | null;
}

/** Asks for the confirmation, privately; where others see the question, it names no budget. */
function resendQuestion(caller: Caller, task: Task, { reason, price, question }: Asking): Reply {
  const { id: of, sends, origin } = task;
  const again = { action: 'again', task: of, afterSends: sends, price, isConfirmed: true } as const;
  const confirm = button(again, `Send again · ${formatPrice(price)}`, 'danger');
  const owner = { isCaller: caller.user.id === origin.user.id, isHere: spendChannel(caller) === spendChannel(origin) };
  const notes = question === null ? [] : spendingSentences(question, owner);
  const card = resendCard({ confirm, reason, price, notes }, task);
  if (reason.kind !== 'late') return privately(card);
  return {
    kind: 'offer',
    id: confirm.id,
    card: resendCard({ confirm, reason, price, notes: [] }, task),
    private: card,
  };
}
