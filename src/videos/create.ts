import type { DailiesError } from '../errors.ts';
import { checkAgain } from './check.ts';
import { isOutage } from './dialects/tolerant.ts';
import { ExchangeError, exchange, noAnswer, type Wire } from './exchange.ts';
import {
  type Answer,
  definiteRefusal,
  type FailureParts,
  failure,
  isRateLimit,
  jsonOf,
  namedRefusal,
  reasonOf,
  refusalOf,
  retryAfterMs,
} from './failures.ts';
import type { VideoRequest } from './request.ts';
import type { CreateOptions, CreateOutcome, UpstreamId } from './service.ts';

/**
 * Sends at most one POST and returns its outcome.
 *
 * | response | outcome |
 * | --- | --- |
 * | no byte left this machine; 429, or a rate limit by code | `unsent` |
 * | 2xx with an id that is not an error's own | `accepted` |
 * | other 4xx; any status with a {@link definiteRefusal}; 2xx with `success: false` that names no outage | `refused` |
 * | 408, 409, 499, 3xx, other 5xx, no response, a truncated response, 2xx without a result | `lost` |
 *
 * @see docs/video-service.md "Sending the POST"
 */
export async function create(
  wire: Wire,
  request: VideoRequest,
  { key, mayStillSend }: CreateOptions,
): Promise<CreateOutcome> {
  const checked = checkAgain(wire.catalog(), request);
  if (!checked.ok) return { kind: 'refused', error: noLongerOffered(wire, checked.refusals[0]?.reason) };
  try {
    const answer = await exchange(wire, {
      agent: wire.agents.create,
      method: 'POST',
      path: wire.dialect.paths.create,
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(wire.dialect.encodeCreate(request, checked.model)),
      timeoutMs: wire.createTimeoutMs,
      mayStart: mayStillSend,
    });
    return outcomeOf(wire, answer);
  } catch (error) {
    const isUnsent = error instanceof ExchangeError && !error.mayHaveLeft;
    if (isUnsent) return { kind: 'unsent', error: noAnswer(wire, 'creating a task', error) };
    return { kind: 'lost', error: lost(wire, 'no whole answer', { cause: error }) };
  }
}

function outcomeOf(wire: Wire, answer: Answer): CreateOutcome {
  const { status, headers } = answer;
  const reading = reasonOf(answer, wire);
  const { words } = reading;
  const isSuccess = status >= 200 && status < 300;
  const json = isSuccess ? jsonOf(answer) : undefined;
  const task = wire.dialect.decodeTask(json);
  const saysNo = reading.success === false && (task === null || task.status === 'unknown');
  const id = saysNo ? null : wire.dialect.acceptedId(json);
  if (id !== null) {
    const { status: said, progress, failure: failed } = task ?? { status: 'unknown', progress: null, failure: null };
    return { kind: 'accepted', task: { id: id as UpstreamId, status: said, progress, failure: failed } };
  }
  const doing = `creating a task: HTTP ${status}`;
  const isDefinite = isSuccess ? saysNo && !isOutage(reading) : isRefusal(status);
  const named = isDefinite ? namedRefusal(reading) : definiteRefusal(reading);
  if (named === null && !isDefinite) return { kind: 'lost', error: lost(wire, `HTTP ${status}`, { words }) };
  if (named === null && (status === 429 || isRateLimit(reading))) {
    const waitMs = retryAfterMs(headers, wire.clock.now());
    const parts = { code: 'rate_limited', retryable: true, retryAfterMs: waitMs, words } as const;
    return { kind: 'unsent', error: failure(wire, doing, parts) };
  }
  const code = named ?? refusalOf(isSuccess ? 400 : status, reading);
  return { kind: 'refused', error: failure(wire, doing, { code, retryable: false, words }) };
}

/**
 * Returns whether a status proves that no task exists: any 4xx except a timeout (408), a conflict with a create of the
 * same `Idempotency-Key` (409), and a proxy that gave up on its upstream (499). The caller handles rate limits.
 */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && ![408, 409, 499].includes(status);
}

function lost(wire: Wire, what: string, parts: Pick<FailureParts, 'words' | 'cause'>): DailiesError {
  return failure(wire, `creating a task: ${what}`, { ...parts, code: 'lost_answer', retryable: false });
}

/** Returns the error of a request that the catalog stopped offering between the order and its submission. */
function noLongerOffered(wire: Wire, reason: string | undefined): DailiesError {
  const code = reason === 'unknown_model' ? 'unknown_model' : 'bad_request';
  const doing = `creating a task: the catalog does not offer it any more (${reason ?? 'unknown'})`;
  return failure(wire, doing, { code, retryable: false });
}
