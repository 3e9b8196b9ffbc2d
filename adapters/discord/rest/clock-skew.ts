import { SnowflakeUtil } from 'discord.js';
import type { Clock } from '#src/clock.ts';

/** How long an interaction's token works. @see https://discord.com/developers/docs/interactions/receiving-and-responding */
const TOKEN_LIFETIME_MS = 15 * 60_000;
/** How long after an interaction its first answer is taken. */
export const FIRST_ANSWER_MS = 3_000;
/** A little less than the lifetime: a request takes time too. */
const TOKEN_MARGIN_MS = 20_000;
/** After so long no first answer is on its way any more, whichever replica sent it. */
const FIRST_ANSWER_IS_OVER_MS = 10_000;
/** An interaction is handed over within seconds, or minutes after an outage; what seems older has an id of another kind. */
const OLDEST_MS = 10 * 60_000;
/** An HTTP date has whole seconds: half of one off at most. */
const HALF_A_SECOND_MS = 500;
/** The two clocks may be so far apart without the `Date` headers telling. */
const CLOCKS_DIFFER_MS = 2_000;

/** Discord's clock as far as it can be known: this machine's, corrected by the dates of Discord's answers. */
export class DiscordTime {
  readonly #clock: Clock;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes in the `Date` header of an answer that just came. */
  observe(date: string | null): void {
    const theirsMs = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(theirsMs)) return;
    const aheadMs = this.#clock.now() - (theirsMs + HALF_A_SECOND_MS);
    // Within the precision of the header the two agree.
    this.#aheadMs = Math.abs(aheadMs) <= 2 * HALF_A_SECOND_MS ? 0 : aheadMs;
  }

  /** How old an interaction is, by its id, in milliseconds; 0 where its id tells nothing sensible. */
  ageMs(interaction: string): number {
    const ageMs = this.#clock.now() - this.#aheadMs - SnowflakeUtil.timestampFrom(interaction);
    return ageMs >= 0 && ageMs <= OLDEST_MS ? ageMs : 0;
  }

  /** Whether an interaction that just came is at most 3 s old. Where its id does not tell, it is not. */
  isFresh(interaction: string): boolean {
    const ageMs = this.#clock.now() - this.#aheadMs - SnowflakeUtil.timestampFrom(interaction);
    return ageMs >= -CLOCKS_DIFFER_MS && ageMs <= FIRST_ANSWER_MS;
  }

  /** Whether the first answer to an interaction, which any replica may have sent, may still be on its way. */
  mayBeAnsweredYet(interaction: string): boolean {
    return this.#clock.now() - this.#aheadMs - SnowflakeUtil.timestampFrom(interaction) < FIRST_ANSWER_IS_OVER_MS;
  }

  /** Until when the token of an interaction that just came may be used, on this machine's clock. */
  tokenExpiryMs(interaction: string): number {
    return this.#clock.now() - this.ageMs(interaction) + TOKEN_LIFETIME_MS - TOKEN_MARGIN_MS;
  }
}
