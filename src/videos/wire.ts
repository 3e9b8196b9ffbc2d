import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import { type Exchange, ExchangeError } from './exchange.ts';
import { failure, type Scrub } from './failures.ts';
import type { UpstreamId } from './service.ts';

/** A token that a header can carry. */
export const TOKEN = /^[\x21-\x7e]+$/;

/** What every call of the video service needs to reach it. */
export interface Wire {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path of `/v1/videos`, with whatever the base address has before it. */
  readonly videosPath: string;
  /** The header that carries the token; for {@link Wire.origin} alone. */
  readonly authorization: string;
  readonly scrub: Scrub;
  readonly clock: Clock;
}

/** The path of a task; ids may hold any character. */
export function taskPath({ videosPath }: Wire, id: UpstreamId): string {
  return `${videosPath}/${encodeURIComponent(id)}`;
}

/** An exchange with the service's own origin, token included. */
export function authorised(
  { origin, authorization, clock }: Wire,
  dispatcher: Dispatcher,
  { headers, ...rest }: Omit<Exchange, 'origin' | 'dispatcher' | 'clock'>,
): Exchange {
  const usual = { authorization, accept: 'application/json', 'accept-encoding': 'identity' };
  return { origin, dispatcher, clock, headers: { ...usual, ...headers }, ...rest };
}

/** An exchange that brought no answer, as an error that may be tried again. */
export function noAnswer({ scrub }: Wire, doing: string, thrown: unknown): DailiesError {
  if (thrown instanceof DailiesError) return thrown;
  const isTimeout = thrown instanceof ExchangeError && thrown.reason === 'timed_out';
  const cause = thrown instanceof ExchangeError ? (thrown.cause ?? thrown) : thrown;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = isTimeout ? 'timed_out' : 'unavailable';
  return failure(scrub, `${doing}: ${reason}`, { code, retryable: true, cause });
}
