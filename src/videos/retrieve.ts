import type { Dispatcher } from 'undici';
import type { BoundedMap } from '../bounded-map.ts';
import type { DailiesError } from '../errors.ts';
import { authorised, exchange, noAnswer, type Wire } from './exchange.ts';
import { type Answer, failure, isPassing, jsonOf, reasonOf, retryAfterMs } from './failures.ts';
import type { UpstreamId, UpstreamTask } from './service.ts';

const DOING = 'retrieving a task';

/** Parameters of one GET of a task. */
export interface Retrieve {
  readonly id: UpstreamId;
  readonly timeoutMs: number;
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal | undefined;
  /** Time of the first `failed` response that describes no task otherwise, by task, in monotonic milliseconds. */
  readonly doubtedSinceMs: BoundedMap<UpstreamId, number>;
}

/** Time for which a temporary service error has to be repeated before it fails a task. */
const PASSING_MS = 60_000;

/** Sends one GET of a task's state. @throws DailiesError as documented at `VideoService.retrieve`. */
export async function retrieve(wire: Wire, order: Retrieve): Promise<UpstreamTask> {
  const { id, timeoutMs, dispatcher, signal } = order;
  let answer: Answer;
  try {
    const path = wire.basePath + wire.dialect.paths.task(id);
    answer = await exchange(authorised(wire, dispatcher, { method: 'GET', path, headers: {}, timeoutMs, signal }));
  } catch (error) {
    throw noAnswer(wire, DOING, error);
  }
  const task = answer.status >= 200 && answer.status < 300 ? wire.dialect.decodeTask(jsonOf(answer)) : null;
  if (task === null || (task.status === 'failed' && isDoubtful(wire, order, answer))) throw refusal(wire, answer);
  if (task.status !== 'failed') order.doubtedSinceMs.delete(id);
  const words = task.failure?.words ?? null;
  const isClean = task.failure === null || words === null;
  // The requested id is the stored one; the id in the response may be another layer's.
  return { ...task, id, failure: isClean ? task.failure : { ...task.failure, words: cut(wire.scrub(words)) } };
}

/**
 * Returns whether a `failed` response may be a temporary error in an envelope
 * (`{"status": "error", "message": "rate limit"}`): it describes no task, and no earlier poll returned the same, or the
 * error names a temporary cause and has not been repeated for {@link PASSING_MS} yet.
 */
function isDoubtful(wire: Wire, { id, doubtedSinceMs }: Retrieve, answer: Answer): boolean {
  if (wire.dialect.describesTask(jsonOf(answer), id)) return false;
  const nowMs = wire.clock.monotonic();
  const sinceMs = doubtedSinceMs.get(id);
  if (sinceMs === undefined) doubtedSinceMs.set(id, nowMs);
  if (sinceMs === undefined) return true;
  return isPassing(reasonOf(answer, wire)) && nowMs - sinceMs < PASSING_MS;
}

/** Truncates text as in the `words` of a `DailiesError`. */
function cut(words: string): string {
  return words.slice(0, 500).toWellFormed();
}

function refusal(wire: Wire, answer: Answer): DailiesError {
  const { status, headers } = answer;
  const reading = reasonOf(answer, wire);
  const { words } = reading;
  const doing = `${DOING}: HTTP ${status}`;
  const waitMs = retryAfterMs(headers, wire.clock.now());
  const isNamedUnknown = reading.codes.some((code) => /^task_not_(exists?|found)$/.test(code));
  if (isNamedUnknown) return failure(wire.scrub, doing, { code: 'task_unknown', retryable: false, words });
  // Without the error code it may be a proxy's page, or a service that is slow to list its own tasks.
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
