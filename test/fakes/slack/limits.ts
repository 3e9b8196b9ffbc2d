import type { Clock } from '#src/clock.ts';
import { limited } from './refusal.ts';

/** Rate limits of the methods. */
export interface Limits {
  /**
   * Calls per minute of one method in one workspace, by the method's tier.
   * @see docs.slack.dev/apis/web-api/rate-limits: Tier 1: 1+, Tier 2: 20+, Tier 3: 50+, Tier 4: 100+ per minute
   */
  readonly perMinute: Readonly<Record<Tier, number>>;
  /**
   * Burst size of messages in one channel, refilled by one a second.
   * @see docs.slack.dev/apis/web-api/rate-limits: "no more than one message per second per channel, whilst allowing
   * some short bursts"
   */
  readonly messageBurst: number;
}

/** Rate limit tier of a method. */
export type Tier = 1 | 2 | 3 | 4;

/**
 * Default limits. Tier 1 has "a small amount of burst behavior", without a figure: enough for occasional reconnects.
 */
export const LIMITS: Limits = { perMinute: { 1: 10, 2: 20, 3: 50, 4: 100 }, messageBurst: 3 };

const MINUTE_MS = 60_000;

interface Bucket {
  left: number;
  atMs: number;
  /** Time of the 429, and end of its Retry-After. */
  limitedAtMs: number;
  retryAtMs: number;
}

/** Grace period after a 429 for calls that may have been in flight already. */
export const ON_ITS_WAY_MS = 250;

/**
 * Returns the clock by which clients wait, in milliseconds: the sum of the test's clock and the machine's, since the
 * app waits by the one and a library by the other.
 */
export function waitingTime(clock: Clock, libraryClock: Clock): () => number {
  return clock === libraryClock ? () => clock.now() : () => libraryClock.now() + clock.now();
}

/** Rate limiter with token buckets that refill steadily. @see docs.slack.dev/apis/web-api/rate-limits */
export class RateLimits {
  readonly #limits: Limits;
  readonly #now: () => number;
  readonly #violate: (what: string) => void;
  readonly #buckets = new Map<string, Bucket>();
  /** Number of calls that were answered with 429. */
  refused = 0;

  constructor(limits: Limits, now: () => number, violate: (what: string) => void) {
    this.#limits = limits;
    this.#now = now;
    this.#violate = violate;
  }

  /** Counts a call of a method in a workspace. @throws Refusal 429 */
  takeCall(method: string, tier: Tier, teamId: string): void {
    const perMinute = this.#limits.perMinute[tier];
    this.#take(`${method} in ${teamId}`, { size: perMinute, everyMs: MINUTE_MS / perMinute });
  }

  /** Counts a message in a channel. @throws Refusal 429 */
  takeMessage(channelId: string): void {
    this.#take(`messages in ${channelId}`, { size: this.#limits.messageBurst, everyMs: 1000 });
  }

  #take(name: string, { size, everyMs }: { size: number; everyMs: number }): void {
    const now = this.#now();
    const bucket = this.#buckets.get(name) ?? { left: size, atMs: now, limitedAtMs: 0, retryAtMs: 0 };
    this.#buckets.set(name, bucket);
    bucket.left = Math.min(size, bucket.left + (now - bucket.atMs) / everyMs);
    bucket.atMs = now;
    const isTooEarly = now < bucket.retryAtMs && now > bucket.limitedAtMs + ON_ITS_WAY_MS;
    if (isTooEarly) this.#violate(`${name}: called again before Retry-After had passed`);
    if (bucket.left >= 1 && now >= bucket.retryAtMs) {
      bucket.left -= 1;
      return;
    }
    this.refused += 1;
    const waitMs = Math.max((1 - bucket.left) * everyMs, bucket.retryAtMs - now);
    if (now >= bucket.retryAtMs) bucket.limitedAtMs = now;
    bucket.retryAtMs = Math.max(bucket.retryAtMs, now + waitMs);
    throw limited(waitMs);
  }
}
