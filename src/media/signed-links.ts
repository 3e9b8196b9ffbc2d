import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';

/** How long a link to a clip works: a week, so that one sent on a Friday works on Monday. */
export const LINK_LIFETIME_MS = 7 * 24 * 3_600_000;

/** HMAC-SHA256 in base64url. */
const SIGNATURE = /^[\w-]{43}$/;

/** Makes and checks addresses of our own that work for a while: `/media/{id}?expires=…&signature=…`. */
export interface SignedLinks {
  /** @returns the address, and when it stops working (ms since the epoch). */
  sign(id: string, lifetimeMs?: number): { readonly url: string; readonly expiresAtMs: number };
  /** Whether a signature is ours, for just that id and time, and the time is not over. */
  verify(id: string, expires: string, signature: string): 'valid' | 'expired' | 'forged';
}

/** Collaborators of {@link createSignedLinks}. */
export interface SignedLinksOptions {
  /** Without a slash at the end. */
  readonly publicUrl: string;
  /** The HMAC-SHA256 key. */
  readonly secret: string;
  readonly clock: Clock;
}

/** Signed links; times in an address are seconds since the epoch. */
export function createSignedLinks({ publicUrl, secret, clock }: SignedLinksOptions): SignedLinks {
  const signatureOf = (id: string, expires: string): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify([id, expires]))
      .digest();
  return {
    sign(id, lifetimeMs = LINK_LIFETIME_MS) {
      const expires = Math.floor((clock.now() + lifetimeMs) / 1_000);
      const signature = signatureOf(id, `${expires}`).toString('base64url');
      const url = `${publicUrl}/media/${encodeURIComponent(id)}?expires=${expires}&signature=${signature}`;
      return { url, expiresAtMs: expires * 1_000 };
    },
    verify(id, expires, signature) {
      // Base64 decoders skip what is none of theirs: only one spelling of a signature is valid.
      if (!SIGNATURE.test(signature)) return 'forged';
      const given = Buffer.from(signature, 'base64url');
      const ours = signatureOf(id, expires);
      if (given.length !== ours.length || !timingSafeEqual(given, ours)) return 'forged';
      return Number(expires) * 1_000 > clock.now() ? 'valid' : 'expired';
    },
  };
}
