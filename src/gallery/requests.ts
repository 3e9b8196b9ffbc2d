import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieOf, isRead, isSameSecret, setCookie } from '../http/index.ts';
import type { Viewer } from '../tasks/index.ts';
import { type GalleryAccess, type GallerySession, SESSION_TTL_MS } from './access.ts';
import type { ViewScope } from './clips.ts';

/** Path under which everything of the gallery is served, and to which its cookie is sent. */
export const GALLERY_PATH = '/gallery';
/** Path of a link, and of its redemption. */
export const OPEN_PATH = `${GALLERY_PATH}/open`;
/** Request header with the token of {@link tokenOf}. */
const TOKEN_HEADER = 'x-gallery-token';
const COOKIE = 'dailies_gallery';

/** Returns the key of the session in a request's cookie; empty without one. */
export function sessionKeyOf(request: Pick<FastifyRequest, 'headers'>): string {
  return cookieOf(request, COOKIE) ?? '';
}

/** Sets the cookie of a session; with an empty key, removes it. @param isSecure whether the gallery is served by HTTPS */
export function setSession(reply: FastifyReply, key: string, isSecure: boolean): FastifyReply {
  const maxAgeSeconds = key === '' ? 0 : SESSION_TTL_MS / 1_000;
  return setCookie(reply, { name: COOKIE, value: key, path: GALLERY_PATH, maxAgeSeconds, sameSite: 'Lax', isSecure });
}

/**
 * Returns the token that a page of this session sends with every change (protection against CSRF). Derived from the
 * session's key, which no other page can read.
 */
export function tokenOf(sessionKey: string): string {
  return createHash('sha256').update(`gallery-token:${sessionKey}`).digest('base64url');
}

/** Returns the id in the path of a request. */
export function idOf({ params }: Pick<FastifyRequest, 'params'>): string {
  return (params as { readonly id: string }).id;
}

/** Returns whether a request asks for a file to save, not to show. */
export function isDownload({ query }: Pick<FastifyRequest, 'query'>): boolean {
  return (query as { readonly download?: string }).download !== undefined;
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
    if (!isRead(request) && !hasToken(request)) return reply.code(403).send({ error: NO_TOKEN });
    const viewer = await access.viewerOf(session);
    const { platform, team } = session;
    return handler({ session, viewer, scope: { platform, team, viewer } }, request, reply);
  };
}
