import type { Task } from '#src/tasks/task.ts';
import type { RequestDraft, VideoRequest } from '#src/videos/request.ts';
import type { Caller, Reply } from '../bot-port.ts';
import type { BotPorts } from '../input/subcommand.ts';
import { offerRequest } from './offers.ts';

/**
 * Asks before a request from a private channel is sent in another one, where its prompt would be shown to others.
 * @param request what would be sent. Default: the task's own request.
 * @returns the question with its buttons; `null` where nothing has to be asked.
 */
export async function askBeforeShowing(
  ports: BotPorts,
  caller: Caller,
  { id, origin, request: own }: Task,
  request: RequestDraft = draftOf(own),
): Promise<Reply | null> {
  if (origin.channel === caller.channel) return null;
  if ((await ports.chat.audienceOf(origin)) === 'team') return null;
  return offerRequest(ports, caller, { request, retryOf: id }, { reason: { kind: 'private' } });
}

function draftOf({ model, prompt, seconds, aspectRatio, resolution, media }: VideoRequest): RequestDraft {
  return { model, prompt, seconds: String(seconds), aspect: aspectRatio, resolution, ...media };
}
