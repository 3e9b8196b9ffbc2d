import { createHash } from 'node:crypto';
import { BoundedMap } from '#src/bounded-map.ts';
import { type Clock, sleep } from '#src/clock.ts';
import type { Leases } from '#src/engine/index.ts';
import { rateLimited } from './errors.ts';

const MINUTE_MS = 60_000;

/** Counts this replica's calls in the last minute, by key; rejects instead of waiting. */
export class RateLimits {
  readonly #clock: Clock;
  readonly #calls = new BoundedMap<string, number[]>(MOST_KEYS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes one of `perMinute` calls, if one is left. @returns 0, or the milliseconds until one will be. */
  take(key: string, perMinute: number): number {
    const nowMs = this.#clock.monotonic();
    const recent = (this.#calls.get(key) ?? []).filter((atMs) => atMs > nowMs - MINUTE_MS);
    this.#calls.set(key, recent);
    if (recent.length < perMinute) {
      recent.push(nowMs);
      return 0;
    }
    const freeing = recent[recent.length - perMinute] ?? nowMs;
    return Math.max(1, freeing + MINUTE_MS - nowMs);
  }
}

/** Options of {@link RateLimiter}. */
interface RateLimiterOptions {
  readonly clock: Clock;
  /** Serialises the turns of all replicas; `null`: there is only one replica. */
  readonly leases: Leases | null;
  /** Minimum time between two calls, in milliseconds. */
  readonly intervalMs: number;
}

/** Interval for polling the lease while another replica holds the turn. */
const POLL_INTERVAL_MS = 100;
/** Longest wait for a turn: a longer delay rejects at once, so that the caller retries without blocking the queue. */
const MAX_WAIT_MS = 5_000;
const MOST_KEYS = 1_000;

/** Throttles calls by key to one per interval, across all replicas. */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  /** The tail of each key's queue in this process. */
  readonly #last = new Map<string, Promise<void>>();
  readonly #notBeforeMs = new Map<string, number>();

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Resolves when it is the caller's turn. @throws `rate_limited` at once if that would take more than 5 s. */
  async turn(key: string): Promise<void> {
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(() => this.#next(key));
    const settled = turn.catch(() => undefined);
    this.#last.set(key, settled);
    await turn.finally(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
  }

  /** Pauses a key on this replica, as the platform's `Retry-After` requires. */
  pause(key: string, ms: number): void {
    const nowMs = this.#options.clock.monotonic();
    this.#notBeforeMs.set(key, Math.max(this.#notBeforeMs.get(key) ?? 0, nowMs + ms));
    if (this.#notBeforeMs.size <= MOST_KEYS) return;
    for (const [each, atMs] of this.#notBeforeMs) if (atMs <= nowMs) this.#notBeforeMs.delete(each);
  }

  async #next(key: string): Promise<void> {
    const { clock, leases, intervalMs } = this.#options;
    for (;;) {
      const waitMs = (this.#notBeforeMs.get(key) ?? 0) - clock.monotonic();
      if (waitMs > MAX_WAIT_MS) throw rateLimited('waiting for a turn', waitMs);
      if (waitMs > 0) await sleep(clock, waitMs);
      else if (leases === null || (await leases.take(`slack:turn:${key}`, intervalMs, { isRenewed: false }))) break;
      else await sleep(clock, POLL_INTERVAL_MS);
    }
    this.pause(key, intervalMs);
  }
}

/** Matches the method that is rate-limited per channel, by {@link RateLimiter}, and not as a whole. */
const BY_CHANNEL = /\/chat\.postMessage$/u;

/** Methods that Slack has rate-limited, by token, as far as this replica was told. @see https://docs.slack.dev/apis/web-api/rate-limits */
export class RetryAfter {
  readonly #clock: Clock;
  readonly #deferredUntilMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns a `fetch` for a token that does not call rate-limited methods: until a `Retry-After` is over, it responds
   * with a 429 and the remaining time itself.
   */
  fetchFor(token: string): typeof fetch {
    const bearer = createHash('sha256').update(token).digest('base64url').slice(0, 16);
    return async (input, init) => {
      const method = new URL(input instanceof Request ? input.url : input).pathname;
      const key = `${bearer}:${method}`;
      const leftMs = (this.#deferredUntilMs.get(key) ?? 0) - this.#clock.monotonic();
      if (leftMs > 0) return tooManyRequests(leftMs);
      const response = await fetch(input, init);
      const seconds = Number.parseInt(response.headers.get('retry-after') ?? '', 10);
      if (response.status !== 429 || !Number.isFinite(seconds) || BY_CHANNEL.test(method)) return response;
      const untilMs = this.#clock.monotonic() + seconds * 1000;
      this.#deferredUntilMs.set(key, Math.max(this.#deferredUntilMs.get(key) ?? 0, untilMs));
      return response;
    };
  }
}

function tooManyRequests(leftMs: number): Response {
  return new Response(null, { status: 429, headers: { 'retry-after': String(Math.max(1, Math.ceil(leftMs / 1000))) } });
}
