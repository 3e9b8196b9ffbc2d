import { access } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import { servePage, WrongTokens } from '../http/index.ts';
import type { Logger } from '../logger.ts';
import { type ClipLinks, fileNameOf } from '../media/index.ts';
import type { Cut, Shot } from '../orders/index.ts';
import type { Cuts } from '../studio/index.ts';
import { typedPrompt } from '../tasks/index.ts';
import type { MemberKey, PersonalDefaults } from '../teams/index.ts';
import {
  ASPECT_RATIOS,
  type Clip,
  checkDefaults,
  type Defaults,
  listed,
  type Model,
  SETTINGS,
} from '../videos/index.ts';
import type { GalleryAccess, GallerySession } from './access.ts';
import { type ApiOptions, addApi } from './api.ts';
import { addBulk } from './bulk.ts';
import { type ClipTask, type GalleryClips, isClip } from './clips.ts';
import { OPEN_PATH, sendNote, sendOpenPage } from './open-page.ts';
import type { PressInGallery } from './orders.ts';
import type { Posters } from './posters.ts';
import { createEnteredRoute, type EnteredRoute, GALLERY_PATH, sessionKeyOf, setCookie } from './requests.ts';
import type { GallerySets, VisibleSet } from './sets.ts';

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

/**
 * Returns whether a request comes from a page of another origin, by the headers that browsers add themselves.
 * @param publicUrl address of this server from outside, whose proxy may not pass its Host on; `null`: none
 * @see https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site
 */
function isForeign({ headers }: Pick<FastifyRequest, 'headers'>, publicUrl: URL | null): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  const from = URL.canParse(origin) ? new URL(origin).host : '';
  return from === '' || (from !== host?.toLowerCase() && from !== publicUrl?.host);
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

/** Options of {@link addSets}. */
interface SetRouteOptions {
  readonly sets: GallerySets;
}

/** Adds what the page shows above the clips of a set: a board's order, and its cuts. */
function addSets(http: FastifyInstance, route: EnteredRoute, { sets }: SetRouteOptions): void {
  http.get<{ Params: { id: string } }>(
    `${GALLERY_PATH}/api/sets/:id`,
    route(async ({ scope }, request, reply) => {
      const { id } = request.params as { readonly id: string };
      const set = await sets.find(scope, id);
      if (set === undefined) return reply.code(404).send({ error: 'There are no clips of this order.' });
      const { kind, of } = set.board.place;
      const isBoard = kind === 'storyboard';
      return {
        id,
        kind,
        of,
        shots: isBoard ? set.board.shots.map((shot) => shotOf(shot, set)) : null,
        cuts: isBoard ? (await sets.cutsOf(scope, set)).map(cutOf) : [],
      };
    }),
  );
}

/** Returns a shot of a board in the order of the cut, with the clip that is in it. */
function shotOf({ at, isSkipped, chosen }: Shot, { tasks }: VisibleSet) {
  const task = tasks.get(chosen.id);
  const clip = task !== undefined && isClip(task) ? { id: task.id, prompt: typedPrompt(task.request) } : null;
  return { at, isSkipped, clip };
}

function cutOf({ id, tasks, file, origin, requestedAtMs }: Cut) {
  const { bytes = 0, seconds = 0 } = file ?? {};
  return { id, shots: tasks.length, bytes, seconds, by: origin.user.name, requestedAtMs };
}

/** Options of {@link addPresses}. */
interface PressOptions {
  readonly access: GalleryAccess;
  readonly clips: GalleryClips;
  readonly press: PressInGallery;
}

const pressBody = z.object({
  id: z.string().regex(/^[0-9a-f]{32}$/),
  task: z.string().max(100),
  action: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('retry'),
      price: z.object({
        amount: z.string().regex(/^\d{1,20}(\.\d{1,20})?$/),
        currency: z.string().regex(/^[A-Z]{3}$/),
      }),
    }),
    z.object({ kind: z.literal('delete') }),
    z.object({ kind: z.literal('button'), button: z.string().min(1).max(100) }),
  ]),
});

/** Adds the changes: a press on the page of a clip, and the end of the session. */
function addPresses(http: FastifyInstance, route: EnteredRoute, { access, clips, press }: PressOptions): void {
  http.post(
    `${GALLERY_PATH}/api/presses`,
    { bodyLimit: 4_096 },
    route(async ({ session, scope }, request, reply) => {
      const { id, task: of, action } = pressBody.parse(request.body);
      const task = await clips.find(scope, of);
      if (task === undefined) return reply.code(404).send({ error: 'There is no such clip.' });
      return press({ session, task, id, action });
    }),
  );
  http.post(
    `${GALLERY_PATH}/api/end`,
    { bodyLimit: 4_096 },
    route(async (_entered, request, reply) => {
      await access.end(sessionKeyOf(request));
      return setCookie(reply, '', false).send({ ended: true });
    }),
  );
}

/** Options of {@link addDefaults}. */
interface DefaultsOptions extends Pick<ApiOptions, 'catalog'> {
  readonly defaults: Pick<PersonalDefaults, 'get' | 'change'>;
}

/** Changed values; `null` removes one. */
const patchBody = z.strictObject({
  model: z.string().min(1).max(200).nullable().optional(),
  seconds: z.number().int().min(1).nullable().optional(),
  aspect: z.enum(ASPECT_RATIOS).nullable().optional(),
});

const NOT_OFFERED = 'This is not offered any more. Reload the page.';

/** Adds the person's defaults: model, length and aspect ratio of their orders that name none, with the choices for them. */
function addDefaults(http: FastifyInstance, route: EnteredRoute, { defaults, catalog }: DefaultsOptions): void {
  const path = `${GALLERY_PATH}/api/defaults`;
  http.get(
    path,
    route(async ({ session }) => {
      const { models, defaultModel } = catalog();
      const values = valuesOf(await defaults.get(memberOf(session)));
      return { values, standard: defaultModel.name, models: models.map(choicesOf) };
    }),
  );
  http.post(
    path,
    { bodyLimit: 4_096 },
    route(async ({ session }, request, reply) => {
      const patch = patchBody.parse(request.body);
      const member = memberOf(session);
      const stored = patch.model === undefined ? (await defaults.get(member)).model : patch.model;
      // A default model that is not in the catalog any more has no effect; one that was just chosen is refused.
      const isKnown = catalog().models.some(({ name }) => name === stored) || typeof patch.model === 'string';
      const model = isKnown ? (stored ?? undefined) : undefined;
      const { seconds, aspect } = patch;
      const checked = checkDefaults(catalog(), { model, seconds: seconds ?? undefined, aspect: aspect ?? undefined });
      if (!checked.ok) return reply.code(409).send({ error: NOT_OFFERED });
      return { values: valuesOf(await defaults.change(member, patch)) };
    }),
  );
}

function memberOf({ platform, team, user }: GallerySession): MemberKey {
  return { platform, team, user: user.id };
}

function valuesOf({ model, seconds, aspect }: Defaults) {
  return { model: model ?? null, seconds: seconds ?? null, aspect: aspect ?? null };
}

/** Returns what a model offers for each default. `choices`: `null` for too many to list; `usual`: its own. */
function choicesOf(model: Model) {
  const settings = SETTINGS.filter(({ name }) => name !== 'resolution').map((setting) => {
    const usual = setting.defaultOf(model) ?? null;
    return [setting.name, { choices: listed(setting.offerOf(model)), usual }] as const;
  });
  return { name: model.name, title: model.title, ...Object.fromEntries(settings) };
}

/** Options of {@link addFiles}. */
export interface FileOptions {
  readonly clips: GalleryClips;
  /** Returns the file of a task's clip; rejects where it cannot be had, and logs why. */
  readonly fileOf: (task: ClipTask) => Promise<Clip | undefined>;
  readonly sets: Pick<GallerySets, 'findCut'>;
  /** Returns the file of a cut; rejects with a retryable error while it is made again. */
  readonly cutFileOf: Cuts['find'];
  readonly posters: Posters;
  readonly clipLinks: Pick<ClipLinks, 'redirectFor' | 'origin'>;
}

const GONE = 'This clip is not here any more.';
const NOT_NOW = 'This clip could not be brought here just now. Try again in a moment.';

/** Adds the files of clips and cuts (with Range) and the pictures of clips, for the session's person only. */
function addFiles(
  http: FastifyInstance,
  route: EnteredRoute,
  { clips, sets, fileOf, cutFileOf, posters, clipLinks }: FileOptions,
): void {
  http.get<{ Params: { id: string }; Querystring: { download?: string } }>(
    `${GALLERY_PATH}/clips/:id`,
    route(async ({ scope }, request, reply) => {
      const task = await clips.findClip(scope, idOf(request.params));
      const isDownload = (request.query as { readonly download?: string }).download !== undefined;
      const elsewhere = task === undefined ? null : await clipLinks.redirectFor(task.id, isDownload);
      if (elsewhere !== null) return reply.redirect(elsewhere, 302);
      const file = task === undefined ? undefined : await fileOf(task).catch(failureOf);
      const name = task === undefined ? '' : fileNameOf(task);
      return sendClip(reply, typeof file === 'object' ? { ...file, name } : file, isDownload);
    }),
  );
  http.get<{ Params: { id: string }; Querystring: { download?: string } }>(
    `${GALLERY_PATH}/cuts/:id`,
    route(async ({ scope }, request, reply) => {
      const cut = await sets.findCut(scope, idOf(request.params));
      const file = cut === undefined ? undefined : await cutFileOf(cut.id).catch(failureOf);
      return sendClip(reply, file, (request.query as { readonly download?: string }).download !== undefined);
    }),
  );
  http.get<{ Params: { id: string } }>(
    `${GALLERY_PATH}/posters/:id`,
    route(async ({ scope }, request, reply) => {
      const task = await clips.findClip(scope, idOf(request.params));
      const path = task === undefined ? null : await posters.of(task.id, () => fileOf(task).catch(() => undefined));
      if (path === null) return reply.code(404).send({ error: 'There is no picture of this clip.' });
      return sendFile(reply.type('image/jpeg'), path);
    }),
  );
}

/** Sends a clip or a cut, or why it is not sent. */
async function sendClip(
  reply: FastifyReply,
  file: (Clip & { readonly name: string }) | 'gone' | 'not_now' | undefined,
  isDownload: boolean,
): Promise<FastifyReply> {
  if (file === 'not_now') return reply.code(503).header('retry-after', '10').send({ error: NOT_NOW });
  if (file === undefined || file === 'gone' || !(await exists(file.path))) return reply.code(404).send({ error: GONE });
  const name = encodeURIComponent(file.name.toWellFormed());
  void reply
    .type(file.contentType)
    .header('content-disposition', `${isDownload ? 'attachment' : 'inline'}; filename*=UTF-8''${name}`);
  return sendFile(reply, file.path);
}

/** Sends a file as it is; its content never runs as a page of this origin. */
function sendFile(reply: FastifyReply, path: string): FastifyReply {
  void reply.header('content-security-policy', 'sandbox');
  return reply.sendFile(basename(path), dirname(path), { contentType: false, cacheControl: false });
}

function idOf(params: unknown): string {
  return (params as { readonly id: string }).id;
}

function failureOf(thrown: unknown): 'gone' | 'not_now' {
  const code = thrown instanceof DailiesError ? thrown.code : null;
  return code === 'gone' || code === 'task_unknown' ? 'gone' : 'not_now';
}

/** Returns whether a file still exists; it may have been cleaned up. */
function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
