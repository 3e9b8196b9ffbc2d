import { createHash } from 'node:crypto';
import type { Clock } from '#src/clock.ts';
import type { RateLimitTopic } from './rate-limit-topic.ts';

/** Messages are limited by channel: what one channel takes no more, the others do. They are paced one by one. */
const BY_CHANNEL = /\/chat\.postMessage$/u;

/** What Slack has put off, by method and token, on all replicas. @see https://docs.slack.dev/apis/web-api/rate-limits */
export class RetryAfter {
  readonly #clock: Clock;
  readonly #news: RateLimitTopic;
  readonly #closedUntilMs = new Map<string, number>();

  constructor(clock: Clock, news: RateLimitTopic) {
    this.#clock = clock;
    this.#news = news;
    news.hear('method', ({ key, ms = 0 }) => this.#close(key, ms));
  }

  /**
   * `fetch` for the bearer of a token that asks for nothing that is put off: until the time of a Retry-After is over,
   * the same method is answered here with what is left of it.
   */
  fetchFor(token: string): typeof fetch {
    const bearer = createHash('sha256').update(token).digest('base64url').slice(0, 16);
    return async (input, init) => {
      const method = new URL(input instanceof Request ? input.url : input).pathname;
      const key = `${bearer}:${method}`;
      const leftMs = (this.#closedUntilMs.get(key) ?? 0) - this.#clock.monotonic();
      if (leftMs > 0) return defer(leftMs);
      const answer = await fetch(input, init);
      const seconds = Number.parseInt(answer.headers.get('retry-after') ?? '', 10);
      if (answer.status !== 429 || !Number.isFinite(seconds) || BY_CHANNEL.test(method)) return answer;
      this.#close(key, seconds * 1000);
      this.#news.tell({ kind: 'method', key, ms: seconds * 1000 });
      return answer;
    };
  }

  #close(key: string, ms: number): void {
    this.#closedUntilMs.set(key, Math.max(this.#closedUntilMs.get(key) ?? 0, this.#clock.monotonic() + ms));
  }
}

function defer(leftMs: number): Response {
  return new Response(null, { status: 429, headers: { 'retry-after': String(Math.max(1, Math.ceil(leftMs / 1000))) } });
}
