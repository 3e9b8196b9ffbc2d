import type { Dispatcher } from 'undici';
import type { DailiesError } from '../errors.ts';
import { readTask } from './dialect.ts';
import { exchange } from './exchange.ts';
import { type Answer, failure, jsonOf, reasonOf, retryAfterMs } from './failures.ts';
import type { UpstreamId, UpstreamTask } from './service.ts';
import { authorised, noAnswer, taskPath, type Wire } from './wire.ts';

const DOING = 'retrieving a task';

/** One look at a task. */
export interface Retrieve {
  readonly id: UpstreamId;
  readonly timeoutMs: number;
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal | undefined;
}

/** One GET of a task's state. @throws DailiesError as `VideoService.retrieve` says. */
export async function retrieve(wire: Wire, { id, timeoutMs, dispatcher, signal }: Retrieve): Promise<UpstreamTask> {
  let answer: Answer;
  try {
    const path = taskPath(wire, id);
    answer = await exchange(authorised(wire, dispatcher, { method: 'GET', path, headers: {}, timeoutMs, signal }));
  } catch (error) {
    throw noAnswer(wire, DOING, error);
  }
  const task = answer.status >= 200 && answer.status < 300 ? readTask(jsonOf(answer)) : null;
  if (task === null) throw refusal(wire, answer);
  const words = task.failure?.words ?? null;
  const isClean = task.failure === null || words === null;
  // The id asked for is the one that is stored; what an answer calls itself may be another layer's id.
  return { ...task, id, failure: isClean ? task.failure : { ...task.failure, words: cut(wire.scrub(words)) } };
}

/** As the words of a `DailiesError` are. */
function cut(words: string): string {
  return words.slice(0, 500).toWellFormed();
}

function refusal(wire: Wire, answer: Answer): DailiesError {
  const { status, headers } = answer;
  const reading = reasonOf(answer, wire.scrub);
  const { words } = reading;
  const doing = `${DOING}: HTTP ${status}`;
  const waitMs = retryAfterMs(headers, wire.clock.now());
  const isNamedUnknown = reading.codes.some((code) => /^task_not_(exists?|found)$/.test(code));
  if (isNamedUnknown) return failure(wire.scrub, doing, { code: 'task_unknown', retryable: false, words });
  // Without the name it may be a front's page, or a service that is slow to know its own tasks.
  if (status === 404 || status === 410)
    return failure(wire.scrub, doing, { code: 'task_unknown', retryable: true, words });
  if (status === 401 || status === 403)
    return failure(wire.scrub, doing, { code: 'unauthorised', retryable: false, words });
  if (status === 429) {
    return failure(wire.scrub, doing, { code: 'rate_limited', retryable: true, retryAfterMs: waitMs, words });
  }
  const code = status === 408 || status >= 500 ? 'unavailable' : 'bad_answer';
  return failure(wire.scrub, doing, { code, retryable: true, retryAfterMs: waitMs, words });
}
