import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';

/** Lifetime of a link to a clip: a week, so that a link sent on a Friday works on Monday. */
export const LINK_LIFETIME_MS = 7 * 24 * 3_600_000;

/** HMAC-SHA256 in base64url. */
const SIGNATURE = /^[\w-]{43}$/;

/** Options of {@link SignedLinks}. */
interface SignedLinksOptions {
  /** Without a trailing slash. */
  readonly publicUrl: string;
  /** The HMAC-SHA256 key. */
  readonly secret: string;
  readonly clock: Clock;
}

/** Signs and verifies expiring URLs of our own: `/media/{id}?expires=…&signature=…`, in seconds since the epoch. */
export class SignedLinks {
  readonly #options: SignedLinksOptions;

  constructor(options: SignedLinksOptions) {
    this.#options = options;
  }

  /**
   * Signs a URL.
   * @param lifetimeMs default {@link LINK_LIFETIME_MS}.
   * @returns the URL and its expiry (ms since the epoch).
   */
  sign(id: string, lifetimeMs = LINK_LIFETIME_MS): { readonly url: string; readonly expiresAtMs: number } {
    const { publicUrl, clock } = this.#options;
    const expires = Math.floor((clock.now() + lifetimeMs) / 1_000);
    const signature = this.#signatureOf(id, `${expires}`).toString('base64url');
    const url = `${publicUrl}/media/${encodeURIComponent(id)}?expires=${expires}&signature=${signature}`;
    return { url, expiresAtMs: expires * 1_000 };
  }

  /** Checks that a signature is ours, for exactly this id and expiry, and that the link has not expired. */
  verify(id: string, expires: string, signature: string): 'valid' | 'expired' | 'forged' {
    // Base64 decoders skip invalid characters: without the check, a signature would have several valid spellings.
    if (!SIGNATURE.test(signature)) return 'forged';
    const given = Buffer.from(signature, 'base64url');
    const ours = this.#signatureOf(id, expires);
    if (given.length !== ours.length || !timingSafeEqual(given, ours)) return 'forged';
    return Number(expires) * 1_000 > this.#options.clock.now() ? 'valid' : 'expired';
  }

  #signatureOf(id: string, expires: string): Buffer {
    return createHmac('sha256', this.#options.secret)
      .update(JSON.stringify([id, expires]))
      .digest();
  }
}
