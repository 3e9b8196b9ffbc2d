import { join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import { servePage, WrongTokens } from '../http/index.ts';
import type { Logger } from '../logger.ts';
import type { GalleryAccess } from './access.ts';
import { type ApiOptions, addApi } from './api.ts';
import { addBulk } from './bulk.ts';
import { addPresses, type PressOptions } from './changes.ts';
import { addDefaults, type DefaultsOptions } from './defaults.ts';
import { addFiles, type FileOptions } from './files.ts';
import { OPEN_PATH, sendNote, sendOpenPage } from './open-page.ts';
import { GALLERY_PATH, isForeign, sessionKeyOf, setCookie } from './requests.ts';
import { createEnteredRoute } from './session-scope.ts';
import { addSets, type SetRouteOptions } from './sets/routes.ts';
import type { GallerySets } from './sets/sets.ts';

/** Options of {@link serveGallery}. */
export interface GalleryOptions extends ApiOptions, FileOptions, PressOptions, DefaultsOptions, SetRouteOptions {
  readonly access: GalleryAccess;
  readonly sets: GallerySets;
  /** Address of the HTTP server from outside; `null`: none. */
  readonly publicUrl: URL | null;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called for every wrong link. Default: nothing is counted. */
  readonly countWrongToken?: ConstructorParameters<typeof WrongTokens>[0]['counted'];
}

/** Headers of every response: nothing of the gallery is indexed, stored by a cache, or embedded by another site. */
const HEADERS = {
  'cache-control': 'private, no-store',
  'x-robots-tag': 'noindex, nofollow',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const ENDED = 'This link has been used, or is older than 10 minutes. Send /video gallery in the chat for a new one.';
const FOREIGN = 'The gallery takes requests from its own pages only.';

const PAGE = join(import.meta.dirname, 'page');

const openQuery = z.object({ key: z.string().max(200).default('') });

/** Serves the gallery: the redemption of its links, its page, clips and API, under {@link GALLERY_PATH}. */
export async function serveGallery(http: FastifyInstance, options: GalleryOptions): Promise<void> {
  await http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', { parseAs: 'string' }, scope.getDefaultJsonParser('error', 'error'));
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(HEADERS);
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (!isRead && isForeign(request, options.publicUrl)) return reply.code(403).send({ error: FOREIGN });
      return undefined;
    });
    scope.setErrorHandler((thrown, _request, reply) => sendError(thrown, reply, options.logger));
    addOpening(scope, options);
    const { origin: mediaOrigin } = options.clipLinks;
    // It shows nothing by itself: what it loads needs a session.
    await servePage(scope, { folder: PAGE, path: GALLERY_PATH, prefix: `${GALLERY_PATH}/`, mediaOrigin });
    const route = createEnteredRoute(options.access);
    addApi(scope, route, options);
    addSets(scope, route, options);
    addFiles(scope, route, options);
    addBulk(scope, route, options);
    addPresses(scope, route, options);
    addDefaults(scope, route, options);
  });
}

/** Adds the page of a link, and its redemption. */
function addOpening(http: FastifyInstance, options: GalleryOptions): void {
  const { access, publicUrl, clock, logger, countWrongToken } = options;
  const wrongLinks = new WrongTokens({ entrance: 'gallery', clock, logger, counted: countWrongToken });
  const isSecure = publicUrl?.protocol === 'https:';
  http.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body.toString()))),
  );
  http.get(OPEN_PATH, async (request, reply) => {
    const { key } = openQuery.parse(request.query);
    const opener = await access.openerOf(key);
    return opener === null ? sendNote(reply.code(410), ENDED) : sendOpenPage(reply, key, opener.user.name);
  });
  http.post(OPEN_PATH, { bodyLimit: 4_096 }, async (request, reply) => {
    const session = await access.redeem(openQuery.parse(request.body ?? {}).key);
    if (session === null) {
      await wrongLinks.note();
      return sendNote(reply.code(410), ENDED);
    }
    await access.end(sessionKeyOf(request));
    return setCookie(reply, session, isSecure).redirect(GALLERY_PATH, 303);
  });
}

function sendError(thrown: unknown, reply: FastifyReply, logger: Logger): FastifyReply {
  if (thrown instanceof z.ZodError) return reply.code(400).send({ error: 'The request is wrong.' });
  if (thrown instanceof DailiesError && thrown.retryable)
    return reply
      .code(503)
      .header('retry-after', '5')
      .send({ error: 'That isn’t possible just now. Try again in a moment.' });
  const status = thrown instanceof Error && 'statusCode' in thrown ? Number(thrown.statusCode) : 500;
  if (status >= 400 && status < 500) return reply.code(status).send({ error: 'The request is wrong.' });
  logger.error({ event: 'gallery_request_failed', err: thrown }, 'a request of the gallery failed');
  return reply.code(500).send({ error: 'Something went wrong here. The log of the bot says what.' });
}
