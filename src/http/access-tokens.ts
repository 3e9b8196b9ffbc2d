import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type Clock, sleep } from '../clock.ts';
import type { Logger } from '../logger.ts';

/** HTTP routes that are protected by an access token. */
export type Entrance = 'playground' | 'board' | 'gallery';

/** Options of {@link WrongTokens}. */
interface WrongTokensOptions {
  readonly entrance: Entrance;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called for every wrong token. Default: nothing is counted. */
  readonly counted?: ((entrance: Entrance) => void) | undefined;
}

const WINDOW_MS = 60_000;
/** Attempts without a delay, for typos and for pages that were open while the token changed. */
const FREE_TRIES = 3;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;
/** Maximum number of log lines within {@link WINDOW_MS}; further wrong tokens are only counted. */
const MAX_LOGGED = 10;

/** Throttles guessing at one entrance: logs and counts wrong access tokens, and delays responses with backoff. */
export class WrongTokens {
  readonly #options: WrongTokensOptions;
  #recentMs: number[] = [];

  constructor(options: WrongTokensOptions) {
    this.#options = options;
  }

  /** Records a wrong token; resolves when the rejection may be sent, after 5 s at most. */
  async note(): Promise<void> {
    const { entrance, clock, logger, counted } = this.#options;
    const nowMs = clock.monotonic();
    this.#recentMs = [...this.#recentMs.filter((atMs) => nowMs - atMs < WINDOW_MS).slice(-MAX_LOGGED), nowMs];
    const tries = this.#recentMs.length;
    counted?.(entrance);
    if (tries <= MAX_LOGGED) logger.warn({ event: 'wrong_access_token', entrance, tries }, 'wrong access token');
    const delayMs = tries <= FREE_TRIES ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - FREE_TRIES - 1));
    if (delayMs > 0) await sleep(clock, delayMs);
  }
}

/** Compares a secret in constant time. @returns whether the given one is right. */
export function isSameSecret(given: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(right));
}

/** Returns the bearer token of a request; empty where it has none. */
export function bearerOf({ headers }: Pick<FastifyRequest, 'headers'>): string {
  return /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}
