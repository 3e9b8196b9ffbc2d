import { type Clock, systemClock } from '#src/clock.ts';
import { Refusal } from './refusal.ts';
import type { Bucket, Route } from './routes.ts';

/** Rate limits of each kind of endpoint. Discord publishes its own figures only in headers; these are similar. */
export type Limits = Readonly<Record<Route['bucket'], Bucket>> & {
  /** All requests by the bot's token. @see discord docs: topics/rate-limits, "Global Rate Limit" */
  readonly global: Bucket;
};

export const LIMITS: Limits = {
  send: { limit: 5, windowMs: 5_000 },
  edit: { limit: 5, windowMs: 5_000 },
  webhook: { limit: 5, windowMs: 2_000 },
  callback: { limit: 50, windowMs: 1_000 },
  reaction: { limit: 1, windowMs: 250 },
  other: { limit: 30, windowMs: 1_000 },
  global: { limit: 50, windowMs: 1_000 },
};

/** Limit of edits of messages older than an hour, in one channel. @see discord.md, point 3 */
const OLD_EDITS: Bucket = { limit: 3, windowMs: 6_000 };
const OLD_MS = 60 * 60_000;

interface Window {
  startMs: number;
  used: number;
  /** Time at which headers reported to the bot that this window is exhausted. */
  exhaustedReportedMs: number | null;
}

/** The request to count. */
export interface Arrived {
  /** The channel, server or token in its path. */
  readonly resource: string;
  /** Arrival time by the system's monotonic clock. */
  readonly arrivedMs: number;
}

/** State of a bucket, as reported by headers. */
export interface Standing {
  readonly headers: Readonly<Record<string, string>>;
  /** Called once the headers have been sent. */
  readonly onSent: () => void;
}

/**
 * Rate limiter. Always uses the system's monotonic clock, regardless of the fake's clock, since clients wait by it.
 * @see discord docs: topics/rate-limits
 */
export class RateLimits {
  readonly #clock: Clock = systemClock;
  readonly #limits: Limits;
  readonly #violate: (what: string) => void;
  readonly #windows = new Map<string, Window>();
  /** Number of requests that were answered with 429. */
  refused = 0;

  constructor(limits: Limits, violate: (what: string) => void) {
    this.#limits = limits;
    this.#violate = violate;
  }

  /**
   * Counts one request.
   * @throws Refusal 429; also records a violation if the limit had been reported to the bot before the request arrived
   */
  take(route: Route, name: string, { resource, arrivedMs }: Arrived): Standing {
    if (route.by === 'bot') this.#takeGlobal(name, arrivedMs);
    const bucket = this.#limits[route.bucket];
    const window = this.#window(`${name} ${resource}`, bucket);
    const leftMs = window.startMs + bucket.windowMs - this.#clock.monotonic();
    const headers = headersOf(bucket, bucket.limit - window.used - 1, leftMs, name);
    if (window.used >= bucket.limit) {
      this.#refuse(window, arrivedMs, name);
      throw limited(leftMs, { ...headersOf(bucket, 0, leftMs, name), 'X-RateLimit-Scope': 'user' });
    }
    window.used += 1;
    const isLast = window.used === bucket.limit;
    return {
      headers,
      onSent: () => {
        if (isLast) window.exhaustedReportedMs = this.#clock.monotonic();
      },
    };
  }

  /**
   * Counts an edit of a message posted `ageMs` ago.
   * @throws Refusal 429 with code 30046
   * @see github.com/aikaterna/aikaterna-cogs/issues/302: "429 Too Many Requests (error code: 30046)"
   */
  takeEdit(channelId: string, ageMs: number): void {
    if (ageMs <= OLD_MS) return;
    const window = this.#window(`old edits ${channelId}`, OLD_EDITS);
    window.used += 1;
    if (window.used <= OLD_EDITS.limit) return;
    this.refused += 1;
    const leftMs = window.startMs + OLD_EDITS.windowMs - this.#clock.monotonic();
    throw limited(leftMs, { 'X-RateLimit-Scope': 'shared' }, 30046);
  }

  /** Counts a rejection; a request after the limit was reported to the bot is a violation. */
  #refuse(window: Window, arrivedMs: number, name: string): void {
    this.refused += 1;
    const wasInformed = window.exhaustedReportedMs !== null && window.exhaustedReportedMs < arrivedMs;
    if (wasInformed) this.#violate(`rate limit of ${name} exceeded although the bot had been told`);
    window.exhaustedReportedMs ??= this.#clock.monotonic();
  }

  #takeGlobal(name: string, arrivedMs: number): void {
    const bucket = this.#limits.global;
    const window = this.#window('global', bucket);
    window.used += 1;
    if (window.used <= bucket.limit) return;
    this.#refuse(window, arrivedMs, `${name} (global)`);
    const leftMs = window.startMs + bucket.windowMs - this.#clock.monotonic();
    throw limited(leftMs, { 'X-RateLimit-Global': 'true', 'X-RateLimit-Scope': 'global' });
  }

  #window(key: string, { windowMs }: Bucket): Window {
    const now = this.#clock.monotonic();
    const open = this.#windows.get(key);
    if (open !== undefined && now < open.startMs + windowMs) return open;
    const fresh = { startMs: now, used: 0, exhaustedReportedMs: null };
    this.#windows.set(key, fresh);
    return fresh;
  }
}

/** @see discord docs: topics/rate-limits, "Exceeding A Rate Limit" */
export function limited(waitMs: number, headers: Readonly<Record<string, string>>, code = 0): Refusal {
  const seconds = Math.max(waitMs, 1) / 1000;
  const message = code === 0 ? { message: 'You are being rate limited.' } : {};
  return new Refusal(429, code, {
    headers: { ...headers, 'Retry-After': String(seconds) },
    body: { ...message, retry_after: seconds, global: headers['X-RateLimit-Global'] === 'true' },
  });
}

/** @see discord docs: topics/rate-limits, "Header Format" */
const headersOf = (
  { limit }: Bucket,
  left: number,
  resetMs: number,
  name: string,
): Readonly<Record<string, string>> => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(Math.max(left, 0)),
  'X-RateLimit-Reset': String((Date.now() + resetMs) / 1000),
  'X-RateLimit-Reset-After': String(resetMs / 1000),
  'X-RateLimit-Bucket': Buffer.from(name).toString('hex'),
});
