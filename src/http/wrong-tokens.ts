import { type Clock, sleep } from '../clock.ts';
import type { Logger } from '../logger.ts';

/** An entrance that asks for an access token. */
export type Entrance = 'playground' | 'board';

/** Dependencies of {@link WrongTokens}. */
export interface WrongTokensOptions {
  readonly entrance: Entrance;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called for every wrong token. Default: nothing is counted. */
  readonly counted?: ((entrance: Entrance) => void) | undefined;
}

const WINDOW_MS = 60_000;
/** A typo, and a page that was open while the token changed, cost nobody any time. */
const FREE_TRIES = 3;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;
/** Beyond this many within {@link WINDOW_MS}, wrong tokens are only counted. */
const MOST_LOGGED = 10;

/** Wrong access tokens at one entrance: logs them, counts them, and delays the answers to those who go on guessing. */
export class WrongTokens {
  readonly #options: WrongTokensOptions;
  #recentMs: number[] = [];

  constructor(options: WrongTokensOptions) {
    this.#options = options;
  }

  /** Notes a wrong token; resolves when its refusal may be sent, after 5 s at most. */
  async note(): Promise<void> {
    const { entrance, clock, logger, counted } = this.#options;
    const nowMs = clock.monotonic();
    this.#recentMs = [...this.#recentMs.filter((atMs) => nowMs - atMs < WINDOW_MS).slice(-MOST_LOGGED), nowMs];
    const tries = this.#recentMs.length;
    counted?.(entrance);
    if (tries <= MOST_LOGGED) logger.warn({ event: 'wrong_access_token', entrance, tries }, 'wrong access token');
    const delayMs = tries <= FREE_TRIES ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - FREE_TRIES - 1));
    if (delayMs > 0) await sleep(clock, delayMs);
  }
}
