import type { IncomingHttpHeaders } from 'node:http';
import { DailiesError, type ErrorCode, type ErrorDetails } from '../errors.ts';
import type { Dialect, ErrorReading } from './dialects/dialect.ts';

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
