import { SnowflakeUtil } from 'discord.js';
import type { Clock } from '#src/clock.ts';

/**
 * Lifetime of an interaction's token.
 * @see https://discord.com/developers/docs/interactions/receiving-and-responding
 */
const TOKEN_LIFETIME_MS = 15 * 60_000;
/** Deadline of the initial response to an interaction. */
export const FIRST_ANSWER_MS = 3_000;
/** Margin before the end of the lifetime, for the duration of a request. */
const TOKEN_MARGIN_MS = 20_000;
/** Age from which no initial response is in flight any more, on any replica. */
const MAX_RESPONSE_AGE_MS = 10_000;
/**
 * Maximum plausible age of an interaction: delivered within seconds, or minutes after an outage. Beyond it the id is no
 * snowflake.
 */
const MAX_AGE_MS = 10 * 60_000;
/** Maximum rounding error of an HTTP date, which has whole seconds. */
const ROUNDING_MS = 500;
/** Maximum clock difference that the `Date` headers do not reveal. */
const MAX_CLOCK_SKEW_MS = 2_000;

/** Estimate of Discord's clock: this machine's, corrected by the `Date` headers of Discord's responses. */
export class DiscordTime {
  readonly #clock: Clock;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Updates the estimate from the `Date` header of a response that just arrived. */
  observe(date: string | null): void {
    const theirsMs = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(theirsMs)) return;
    const aheadMs = this.#clock.now() - (theirsMs + ROUNDING_MS);
    // A difference within the precision of the header counts as none.
    this.#aheadMs = Math.abs(aheadMs) <= 2 * ROUNDING_MS ? 0 : aheadMs;
  }

  /** Returns the age of an interaction by its id, in milliseconds; 0 if the id yields no plausible time. */
  ageMs(interaction: string): number {
    const ageMs = this.#clock.now() - this.#aheadMs - SnowflakeUtil.timestampFrom(interaction);
    return ageMs >= 0 && ageMs <= MAX_AGE_MS ? ageMs : 0;
  }

  /** Returns whether an interaction that just arrived is at most 3 s old; false if the id yields no plausible time. */
  isFresh(interaction: string): boolean {
    const ageMs = this.#clock.now() - this.#aheadMs - SnowflakeUtil.timestampFrom(interaction);
    return ageMs >= -MAX_CLOCK_SKEW_MS && ageMs <= FIRST_ANSWER_MS;
  }

  /** Returns whether the initial response to an interaction, from any replica, may still be in flight. */
  mayBeAnsweredYet(interaction: string): boolean {
    return this.#clock.now() - this.#aheadMs - SnowflakeUtil.timestampFrom(interaction) < MAX_RESPONSE_AGE_MS;
  }

  /** Returns the expiry of the token of an interaction that just arrived, on this machine's clock. */
  tokenExpiryMs(interaction: string): number {
    return this.#clock.now() - this.ageMs(interaction) + TOKEN_LIFETIME_MS - TOKEN_MARGIN_MS;
  }
}
