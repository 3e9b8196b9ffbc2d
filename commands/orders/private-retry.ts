import type { Task } from '#src/tasks/task.ts';
import { draftOfRequest } from '#src/videos/check.ts';
import type { RequestDraft } from '#src/videos/request.ts';
import type { Caller, Reply } from '../bot-port.ts';
import type { BotPorts } from '../input/subcommand.ts';
import { offerRequest } from './offers.ts';

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
  if ((await ports.chat.audienceOf(origin)) === 'team') return null;
  return offerRequest(ports, caller, { request, retryOf: id }, { reason: { kind: 'private' } });
}
