import type { Decision } from '#src/pipeline/task-service.ts';
import type { Task } from '#src/tasks/task.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused } from '../input/subcommand.ts';
import { type DecisionKind, decisionCard } from '../sentences/decisions.ts';
import { mayNot } from '../sentences/refusals.ts';
import { mayDecide } from '../ui/buttons.ts';

/**
 * Takes a decision on a task for its requester or a manager of its channel. The task service decides if it still
 * applies; the reply reports the outcome.
 */
export async function decide(
  caller: Caller,
  task: Task,
  kind: DecisionKind,
  take: () => Promise<Decision>,
): Promise<Reply> {
  if (!mayDecide(caller, task.origin)) return refused(mayNot(task.origin.user, null));
  return privately(decisionCard(kind, await take()));
}

/** Cancels a task and reports the actual outcome, including a possible charge. */
export function cancelTask({ tasks }: BotPorts, caller: Caller, task: Task): Promise<Reply> {
  return decide(caller, task, 'cancel', () => tasks.cancel(task.id, caller.user));
}
