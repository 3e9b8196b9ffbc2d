import type { DailiesError, ErrorCode } from '../errors.ts';
import { exchange, noAnswer, type Wire } from './exchange.ts';
import { type Answer, failure, isPassing, jsonOf, reasonOf, retryAfterMs } from './failures.ts';
import type { UpstreamId, UpstreamTask } from './service.ts';

const DOING = 'retrieving a task';

/** Time for which a temporary service error has to be repeated before it fails a task. */
const PASSING_MS = 60_000;

/** Sends one GET of a task's state. @throws DailiesError as documented at `VideoService.retrieve`. */
export async function retrieve(wire: Wire, id: UpstreamId, signal?: AbortSignal): Promise<UpstreamTask> {
  let answer: Answer;
  try {
    const { agents, dialect, requestTimeoutMs: timeoutMs } = wire;
    answer = await exchange(wire, {
      agent: agents.retrieve,
      method: 'GET',
      path: dialect.paths.task(id),
      timeoutMs,
      signal,
    });
  } catch (error) {
    throw noAnswer(wire, DOING, error);
  }
  const task = answer.status >= 200 && answer.status < 300 ? wire.dialect.decodeTask(jsonOf(answer)) : null;
  if (task === null || task.isUnreadable || (task.status === 'failed' && isDoubtful(wire, id, answer)))
    throw refusal(wire, answer);
  if (task.status !== 'failed') wire.doubtedSinceMs.delete(id);
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
function isDoubtful(wire: Wire, id: UpstreamId, answer: Answer): boolean {
  if (wire.dialect.describesTask(jsonOf(answer), id)) return false;
  const { clock, doubtedSinceMs } = wire;
  const nowMs = clock.monotonic();
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
  const verdict = verdictOf(status, reading.codes);
  const hasNoWait = verdict.code === 'task_unknown' || verdict.code === 'unauthorised';
  return failure(wire, `${DOING}: HTTP ${status}`, {
    ...verdict,
    retryAfterMs: hasNoWait ? undefined : retryAfterMs(headers, wire.clock.now()),
    words: reading.words,
  });
}

function verdictOf(
  status: number,
  codes: readonly string[],
): { readonly code: ErrorCode; readonly retryable: boolean } {
  if (codes.some((code) => /^task_not_(exists?|found)$/.test(code))) return { code: 'task_unknown', retryable: false };
  // Without the error code it may be a proxy's page, or a service that is slow to list its own tasks.
  if (status === 404 || status === 410) return { code: 'task_unknown', retryable: true };
  if (status === 401 || status === 403) return { code: 'unauthorised', retryable: false };
  if (status === 429) return { code: 'rate_limited', retryable: true };
  return { code: status === 408 || status >= 500 ? 'unavailable' : 'bad_answer', retryable: true };
}
