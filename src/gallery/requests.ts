import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSameSecret } from '../http/index.ts';
import type { Viewer } from '../tasks/index.ts';
import { type GalleryAccess, type GallerySession, SESSION_TTL_MS } from './access.ts';
import type { ViewScope } from './clips.ts';

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

function hasToken(request: Pick<FastifyRequest, 'headers'>): boolean {
  const given = request.headers[TOKEN_HEADER];
  return typeof given === 'string' && isSameSecret(given, tokenOf(sessionKeyOf(request)));
}

export interface Entered {
  readonly session: GallerySession;
  readonly viewer: Viewer;
  readonly scope: ViewScope;
}

type EnteredHandler = (entered: Entered, request: FastifyRequest, reply: FastifyReply) => unknown;

export type EnteredRoute = (
  handler: EnteredHandler,
) => (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Refusal of a request without a session; the page asks for a new link. */
const NO_SESSION = 'Your visit has ended. Send /video gallery in the chat for a new link.';
const NO_TOKEN = 'Reload this page, then try again.';

/** Creates the wrapper of routes: admits requests with a session, and changes only with the token of the session's page. */
export function createEnteredRoute(access: GalleryAccess): EnteredRoute {
  return (handler) => async (request, reply) => {
    const session = await access.session(sessionKeyOf(request));
    if (session === null) return reply.code(401).send({ error: NO_SESSION });
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead && !hasToken(request)) return reply.code(403).send({ error: NO_TOKEN });
    const viewer = await access.viewerOf(session);
    const { platform, team } = session;
    return handler({ session, viewer, scope: { platform, team, viewer } }, request, reply);
  };
}
