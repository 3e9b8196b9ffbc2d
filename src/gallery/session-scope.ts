import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Viewer } from '../tasks/index.ts';
import type { GalleryAccess, GallerySession } from './access.ts';
import type { ViewScope } from './clips.ts';
import { hasToken, sessionKeyOf } from './requests.ts';

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
