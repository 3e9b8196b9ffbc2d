import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSameSecret } from '../http/index.ts';
import { SESSION_TTL_MS } from './access.ts';

/** Path under which everything of the gallery is served, and to which its cookie is sent. */
export const GALLERY_PATH = '/gallery';
/** Request header with the token of {@link tokenOf}. */
const TOKEN_HEADER = 'x-gallery-token';
const COOKIE = 'dailies_gallery';

/** Returns the key of the session in a request's cookie; empty without one. */
export function sessionKeyOf({ headers }: Pick<FastifyRequest, 'headers'>): string {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1) ?? '';
}

/** Sets the cookie of a session; with an empty key, removes it. @param isSecure whether the gallery is served by HTTPS */
export function setCookie(reply: FastifyReply, key: string, isSecure: boolean): FastifyReply {
  const seconds = key === '' ? 0 : SESSION_TTL_MS / 1_000;
  const attributes = `Path=${GALLERY_PATH}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return reply.header('set-cookie', `${COOKIE}=${key}; ${attributes}`);
}

/**
 * Returns the token that a page of this session sends with every change (protection against CSRF). Derived from the
 * session's key, which no other page can read.
 */
export function tokenOf(sessionKey: string): string {
  return createHash('sha256').update(`gallery-token:${sessionKey}`).digest('base64url');
}

export function hasToken(request: Pick<FastifyRequest, 'headers'>): boolean {
  const given = request.headers[TOKEN_HEADER];
  return typeof given === 'string' && isSameSecret(given, tokenOf(sessionKeyOf(request)));
}

/**
 * Returns whether a request comes from a page of another origin, by the headers that browsers add themselves.
 * @param publicUrl address of this server from outside, whose proxy may not pass its Host on; `null`: none
 * @see https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site
 */
export function isForeign({ headers }: Pick<FastifyRequest, 'headers'>, publicUrl: URL | null): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  const from = URL.canParse(origin) ? new URL(origin).host : '';
  return from === '' || (from !== host?.toLowerCase() && from !== publicUrl?.host);
}
