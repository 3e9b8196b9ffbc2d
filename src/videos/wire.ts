import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import { type Exchange, ExchangeError } from './exchange.ts';
import { failure, type Scrub } from './failures.ts';
import type { UpstreamId } from './service.ts';

/** Matches a token that is valid in a header. */
export const TOKEN = /^[\x21-\x7e]+$/;

/** Connection settings shared by all calls of the video service. */
export interface Wire {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path of `/v1/videos`, including the path of the base URL. */
  readonly videosPath: string;
  /** Value of the `authorization` header; for {@link Wire.origin} only. */
  readonly authorization: string;
  readonly scrub: Scrub;
  readonly clock: Clock;
}

/** Returns the path of a task; ids may contain any character. */
export function taskPath({ videosPath }: Wire, id: UpstreamId): string {
  return `${videosPath}/${encodeURIComponent(id)}`;
}

/** Returns an exchange with the service's own origin, including the token. */
export function authorised(
  { origin, authorization, clock }: Wire,
  dispatcher: Dispatcher,
  { headers, ...rest }: Omit<Exchange, 'origin' | 'dispatcher' | 'clock'>,
): Exchange {
  const usual = { authorization, accept: 'application/json', 'accept-encoding': 'identity' };
  return { origin, dispatcher, clock, headers: { ...usual, ...headers }, ...rest };
}

/** Converts a failed exchange, which got no response, to a retryable error. */
export function noAnswer({ scrub }: Wire, doing: string, thrown: unknown): DailiesError {
  if (thrown instanceof DailiesError) return thrown;
  const isTimeout = thrown instanceof ExchangeError && thrown.reason === 'timed_out';
  const cause = thrown instanceof ExchangeError ? (thrown.cause ?? thrown) : thrown;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = isTimeout ? 'timed_out' : 'unavailable';
  return failure(scrub, `${doing}: ${reason}`, { code, retryable: true, cause });
}
