import { createHash } from 'node:crypto';
import type { Clock } from '#src/clock.ts';

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
