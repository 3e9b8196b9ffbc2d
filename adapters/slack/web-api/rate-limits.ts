import { BoundedMap } from '#src/bounded-map.ts';
import { type Clock, sleep } from '#src/clock.ts';
import type { Leases } from '#src/cluster/leases.ts';
import { rateLimited } from './errors.ts';
import type { RateLimitTopic } from './rate-limit-topic.ts';

/** How often something may be done. */
export interface RateLimit {
  /** Most calls in any minute. */
  readonly perMinute: number;
}

const MINUTE_MS = 60_000;

/** Counts calls over the last minute, by key, those of the other replicas too; nobody waits here. */
export class RateLimits {
  readonly #clock: Clock;
  readonly #news: RateLimitTopic;
  readonly #calls = new BoundedMap<string, number[]>(MOST_KEYS);

  constructor(clock: Clock, news: RateLimitTopic) {
    this.#clock = clock;
    this.#news = news;
    news.hear('update', ({ key }) => this.#recent(key).push(clock.monotonic()));
  }

  /** Takes a place, if one of `perMinute` is free. @returns 0, or after how many milliseconds one will be. */
  take(key: string, { perMinute }: RateLimit): number {
    const nowMs = this.#clock.monotonic();
    const recent = this.#recent(key);
    if (recent.length < perMinute) {
      recent.push(nowMs);
      this.#news.tell({ kind: 'update', key });
      return 0;
    }
    const freeing = recent[recent.length - perMinute] ?? nowMs;
    return Math.max(1, freeing + MINUTE_MS - nowMs);
  }

  #recent(key: string): number[] {
    const sinceMs = this.#clock.monotonic() - MINUTE_MS;
    const recent = (this.#calls.get(key) ?? []).filter((atMs) => atMs > sinceMs);
    this.#calls.set(key, recent);
    return recent;
  }
}

/** Collaborators of {@link RateLimiter}. */
export interface RateLimiterOptions {
  readonly clock: Clock;
  readonly news: RateLimitTopic;
  /** Where the other replicas take their turns; `null`: there are none. */
  readonly leases: Leases | null;
  /** Least time between two beginnings. */
  readonly intervalMs: number;
}

/** How often it is looked whether the other replicas have had their turn. */
const LOOK_AGAIN_MS = 100;
/** What is put off for longer is not waited for: whoever wants it comes again, and keeps nobody waiting meanwhile. */
const PATIENCE_MS = 5_000;
const MOST_KEYS = 1_000;

/** One after the other, with a least time between two beginnings, by key; all replicas together. */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  /** The end of each key's queue in this process. */
  readonly #last = new Map<string, Promise<void>>();
  readonly #notBeforeMs = new Map<string, number>();

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    options.news.hear('channel', ({ key, ms = 0 }) => this.#close(key, ms));
  }

  /** Resolves when it is this caller's turn. @throws `rate_limited` at once where that would take long. */
  async turn(key: string): Promise<void> {
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(() => this.#next(key));
    const settled = turn.catch(() => undefined);
    this.#last.set(key, settled);
    await turn.finally(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
  }

  /** Lets nobody begin for a while, on any replica: the platform said so. */
  pause(key: string, ms: number): void {
    this.#close(key, ms);
    this.#options.news.tell({ kind: 'channel', key, ms });
  }

  async #next(key: string): Promise<void> {
    const { clock, leases, intervalMs } = this.#options;
    for (;;) {
      const waitMs = (this.#notBeforeMs.get(key) ?? 0) - clock.monotonic();
      if (waitMs > PATIENCE_MS) throw rateLimited('waiting for a turn', waitMs);
      if (waitMs > 0) await sleep(clock, waitMs);
      else if (leases === null || (await leases.take(`slack:turn:${key}`, intervalMs, { isRenewed: false }))) break;
      else await sleep(clock, LOOK_AGAIN_MS);
    }
    this.#close(key, intervalMs);
  }

  #close(key: string, ms: number): void {
    const nowMs = this.#options.clock.monotonic();
    this.#notBeforeMs.set(key, Math.max(this.#notBeforeMs.get(key) ?? 0, nowMs + ms));
    if (this.#notBeforeMs.size <= MOST_KEYS) return;
    for (const [each, atMs] of this.#notBeforeMs) if (atMs <= nowMs) this.#notBeforeMs.delete(each);
  }
}
