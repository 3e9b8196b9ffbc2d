import type { IncomingHttpHeaders } from 'node:http';
import { DailiesError, type ErrorCode, type ErrorDetails } from '../errors.ts';
import type { Dialect, ErrorReading } from './dialects/dialect.ts';
import { isModeration, isOutage, says } from './dialects/tolerant.ts';

/** Response of the service, read completely. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Redacts the token in external text. */
export type Scrub = (text: string) => string;

/** Creates a {@link Scrub} for text that is shown or logged, in case a service echoes `token`. */
export function scrubber(token: string): Scrub {
  return (text) => text.replaceAll(token, '[hidden]');
}

/**
 * Parses a response as JSON; undefined where it is invalid. Skips a byte order mark, and returns unsafe integers as
 * strings of digits: a rounded id would be another task's.
 */
export function jsonOf({ text }: Pick<Answer, 'text'>): unknown {
  const body = text.replace(/^\uFEFF/, '');
  try {
    return /\d{16}/.test(body) ? JSON.parse(body, exactInteger) : JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** @see https://tc39.es/proposal-json-parse-with-source/ */
function exactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isUnsafe = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isUnsafe ? (context?.source ?? value) : value;
}

/** Reads the error of a response from its JSON, or from the start of a plain text. */
export function reasonOf(
  answer: Answer,
  { scrub, dialect }: { readonly scrub: Scrub; readonly dialect: Pick<Dialect, 'decodeError'> },
): ErrorReading {
  const json = jsonOf(answer);
  if (json !== undefined) return dialect.decodeError(json);
  const plain = answer.text.trim();
  // Redacts before truncating: part of a token would not be recognised.
  const words = plain === '' || plain.startsWith('<') || !isPlain(answer) ? null : scrub(plain).slice(0, 200);
  return { codes: [], words, success: undefined };
}

/**
 * Returns the refusal of a code that counts with any status, 5xx included: proof that the service created no task. The
 * codes match exactly, and none counts if the response also names an outage: `moderation_timeout` is not a refusal.
 * @see docs/video-service.md "Dialects": refusals
 */
export function definiteRefusal(reading: ErrorReading): ErrorCode | null {
  if (isOutage(reading)) return null;
  for (const [name, code] of DEFINITE_REFUSALS) if (reading.codes.includes(name)) return code;
  return null;
}

const DEFINITE_REFUSALS: readonly (readonly [string, ErrorCode])[] = [
  ['model_not_found', 'unknown_model'],
  ['insufficient_user_quota', 'no_balance'],
  ['content_policy_violation', 'moderated'],
];

/** Returns the refusal that a code names, in a response whose status is a refusal already. */
export function namedRefusal(reading: ErrorReading): ErrorCode | null {
  if (reading.codes.some((code) => UNKNOWN_MODEL_CODE.test(code))) return 'unknown_model';
  if (reading.codes.some((code) => NO_BALANCE_CODE.test(code))) return 'no_balance';
  if (isModeration({ ...reading, words: null })) return 'moderated';
  return null;
}

/** Returns the refusal of a 4xx response to a create. Not for a 429 without a {@link namedRefusal}. */
export function refusalOf(status: number, reading: ErrorReading): ErrorCode {
  const named = namedRefusal(reading);
  if (named !== null) return named;
  if (status === 401 || reading.codes.some((code) => BAD_TOKEN_CODE.test(code))) return 'unauthorised';
  if (status === 402) return 'no_balance';
  if (isModeration(reading)) return 'moderated';
  if (status === 403) return says(reading.words, NO_BALANCE_WORDS) ? 'no_balance' : 'forbidden';
  return says(reading.words, UNKNOWN_MODEL_WORDS) ? 'unknown_model' : 'bad_request';
}

/** Returns whether an error code names a rate limit, regardless of the status. */
export function isRateLimit({ codes }: ErrorReading): boolean {
  return codes.some((code) => /^(rate_limit(ed|_exceeded|_error)?|too_many_requests)$/.test(code));
}

/** Returns whether an error is a temporary problem of the service rather than of a task. */
export function isPassing(reading: ErrorReading): boolean {
  return (
    isOutage(reading) ||
    isRateLimit(reading) ||
    says(reading.words, /rate.?limit|too many requests|try (again )?later/i)
  );
}

const UNKNOWN_MODEL_CODE =
  /^(model_not_(found|exists?|available|supported)|(unknown|invalid|unsupported)_model|no_such_model)$/;
const NO_BALANCE_CODE =
  /^(insufficient_(user_)?(quota|balance|credits?|funds)|(no|low)_balance|balance_not_enough|payment_required)$/;
const BAD_TOKEN_CODE = /^(invalid|incorrect|expired)_(api_)?(key|token)$|^unauthori[sz]ed$/;
const UNKNOWN_MODEL_WORDS =
  /\bmodel\b.*(not (found|exist|available|supported)|(doesn't|does not) exist|unknown)|(unknown|unsupported|invalid|no such) model/i;
const NO_BALANCE_WORDS = /balance|quota|credit/i;

/** Upper bound on `Retry-After`: one hour. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Parses `Retry-After`, seconds or an HTTP date, to milliseconds from `nowMs`; undefined where it is missing or
 * invalid.
 */
export function retryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | undefined {
  const value = headers['retry-after'];
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const seconds = Number(value);
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(waitMs) ? Math.min(MAX_RETRY_AFTER_MS, Math.max(0, waitMs)) : undefined;
}

/** Details of a failed call; {@link failure} redacts `words` and `cause`. */
export interface FailureParts {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly words?: string | null;
  readonly cause?: unknown;
}

/** Creates the error of a failed call of the service, with the token redacted. */
export function failure({ scrub }: { readonly scrub: Scrub }, doing: string, parts: FailureParts): DailiesError {
  const { code, retryable, retryAfterMs: waitMs, words } = parts;
  const details: ErrorDetails = {
    code,
    retryable,
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    ...(words === undefined || words === null ? {} : { words: scrub(words) }),
    ...(parts.cause === undefined ? {} : { cause: cleaned(scrub, parts.cause) }),
  };
  return new DailiesError(scrub(doing), details);
}

/** Copies the error of a library without its details: parser errors hold the raw bytes, which may echo the token. */
function cleaned(scrub: Scrub, thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error(scrub(String(thrown)));
  const copy = new Error(scrub(thrown.message));
  copy.name = thrown.name;
  if ('code' in thrown && typeof thrown.code === 'string') Object.assign(copy, { code: thrown.code });
  return copy;
}

function isPlain({ headers }: Answer): boolean {
  const type = headers['content-type'];
  return type === undefined || type.startsWith('text/plain');
}
