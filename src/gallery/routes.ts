import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import {
  acceptForms,
  dispositionOf,
  escapeHtml,
  isFromOtherOrigin,
  isFromOtherSite,
  isRead,
  sendFile,
  sendNotePage,
  servePage,
  WrongTokens,
} from '../http/index.ts';
import type { Logger } from '../logger.ts';
import { type ClipLinks, fileNameOf, fileToSend } from '../media/index.ts';
import { type Cut, clipsOf, cutIdOf, type Shot } from '../orders/index.ts';
import type { Cuts } from '../studio/index.ts';
import { phaseAtEnd, type Task, type TaskId, typedPrompt } from '../tasks/index.ts';
import type { MemberKey, PersonalDefaults } from '../teams/index.ts';
import {
  ASPECT_RATIOS,
  type Catalog,
  type Clip,
  checkDefaults,
  type Defaults,
  listed,
  type Model,
  SETTINGS,
  titleOf,
} from '../videos/index.ts';
import type { GalleryAccess, GallerySession } from './access.ts';
import { addApi } from './api.ts';
import { addBulk } from './bulk.ts';
import { type ClipTask, type GalleryClips, isClip } from './clips.ts';
import type { Posters } from './posters.ts';
import {
  createEnteredRoute,
  type EnteredRoute,
  GALLERY_PATH,
  idOf,
  isDownload,
  OPEN_PATH,
  sessionKeyOf,
  setSession,
} from './requests.ts';
import type { GallerySets, VisibleSet } from './sets.ts';

/** Parts behind the routes of the gallery. */
export interface GalleryOptions {
  readonly access: GalleryAccess;
  readonly clips: GalleryClips;
  readonly sets: GallerySets;
  readonly catalog: () => Catalog;
  readonly defaults: Pick<PersonalDefaults, 'get' | 'change'>;
  /** Returns the file of a task's clip; rejects where it cannot be had, and logs why. */
  readonly fileOf: (task: ClipTask) => Promise<Clip | undefined>;
  /** Returns the file of a cut; rejects with a retryable error while it is made again. */
  readonly cutFileOf: Cuts['find'];
  readonly posters: Posters;
  readonly clipLinks: Pick<ClipLinks, 'redirectFor' | 'origin'>;
  readonly press: PressInGallery;
  /** Address of the HTTP server from outside; `null`: none. */
  readonly publicUrl: URL | null;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called for every wrong link. Default: nothing is counted. */
  readonly countWrongToken?: ConstructorParameters<typeof WrongTokens>[0]['counted'];
}

/** Headers of every response besides those of the page: nothing of the gallery is indexed, or stored by a cache. */
const HEADERS = { 'cache-control': 'private, no-store', 'x-robots-tag': 'noindex, nofollow' } as const;

const TITLE = 'Dailies gallery';
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
      const isForeign = isFromOtherSite(request) || isFromOtherOrigin(request, options.publicUrl);
      if (isForeign && !isRead(request)) return reply.code(403).send({ error: FOREIGN });
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
  acceptForms(http);
  http.get(OPEN_PATH, async (request, reply) => {
    const { key } = openQuery.parse(request.query);
    const opener = await access.openerOf(key);
    return opener === null ? sendEnded(reply) : sendOpenPage(reply, key, opener.user.name);
  });
  http.post(OPEN_PATH, { bodyLimit: 4_096 }, async (request, reply) => {
    const session = await access.redeem(openQuery.parse(request.body ?? {}).key);
    if (session === null) {
      await wrongLinks.note();
      return sendEnded(reply);
    }
    await access.end(sessionKeyOf(request));
    return setSession(reply, session, isSecure).redirect(GALLERY_PATH, 303);
  });
}

/**
 * Sends the page of a link: a button, because the previews of chats open links as well, and would use it up.
 * @param name of the person who requested it, so that no one opens another one's gallery unawares
 */
function sendOpenPage(reply: FastifyReply, key: string, name: string): FastifyReply {
  const sentence = `This opens the clips that ${name} may see, for 12 hours. The link works once.`;
  const form = `
<form method="post" action="${OPEN_PATH}">
<input type="hidden" name="key" value="${escapeHtml(key)}">
<button>Open the gallery as ${escapeHtml(name)}</button>
</form>`;
  return sendNotePage(reply, { title: TITLE, sentence, form });
}

function sendEnded(reply: FastifyReply): FastifyReply {
  return sendNotePage(reply.code(410), { title: TITLE, sentence: ENDED });
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

/** Adds what the page shows above the clips of a set: takes and compared clips side by side, a board's order and its cuts. */
function addSets(http: FastifyInstance, route: EnteredRoute, { access, sets, catalog }: GalleryOptions): void {
  http.get(
    `${GALLERY_PATH}/api/sets/:id`,
    route(async ({ scope, session }, request, reply) => {
      const set = await sets.find(scope, idOf(request));
      if (set === undefined) return reply.code(404).send({ error: 'There are no clips of this order.' });
      const { board } = set;
      const { kind, of } = board.place;
      const isBoard = kind === 'storyboard';
      const current = cutIdOf(clipsOf(board).map((task) => task.id));
      const cuts = isBoard ? await sets.cutsOf(scope, set) : [];
      // The first shot as it was ordered, wherever it stands now: it alone tells whose the board is.
      const first = set.tasks.get(board.place.id);
      return {
        kind,
        of: isBoard ? board.shots.length : of,
        revision: board.revision,
        mayChange: isBoard && first !== undefined && (await access.mayDelete(session, first.origin)),
        shots: board.shots.map((shot) => shotOf(shot, set, catalog())),
        cuts: cuts.map((cut) => ({ ...cutOf(cut), isCurrent: cut.id === current })),
      };
    }),
  );
}

/** Returns a shot, a take or a compared clip, of a board in the order of the cut, with the clip that is in it. */
function shotOf({ at, isSkipped, chosen, takes }: Shot, { tasks }: VisibleSet, catalog: Catalog) {
  const task = tasks.get(chosen.id);
  const seconds = (task ?? takes.find(({ id }) => tasks.has(id)))?.request.seconds ?? 1;
  if (task === undefined || !isClip(task))
    return { at, isSkipped, seconds, phase: task === undefined ? null : phaseAtEnd(task), clip: null };
  const { id, request } = task;
  const clip = { id, prompt: typedPrompt(request), model: titleOf(catalog, request.model) };
  return { at, isSkipped, seconds, phase: 'done', clip };
}

function cutOf({ id, tasks, file, origin, requestedAtMs }: Cut) {
  const { bytes = 0, seconds = 0 } = file ?? {};
  return { id, shots: tasks.length, bytes, seconds, by: origin.user.name, requestedAtMs };
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

/** Press on the page of a clip. */
export interface GalleryPress {
  readonly session: GallerySession;
  /** The clip, which the person may see. */
  readonly task: Task;
  /** Idempotency key that the page chose. */
  readonly id: string;
  /** Another take for the price that the page shows, the deletion of the clip, or a button of an earlier reply. */
  readonly action: z.output<typeof pressBody>['action'];
}

/** Reply to a press. */
export type GalleryReply =
  /** A task was ordered, now or by an earlier press; its message is in the clip's channel. */
  | { readonly kind: 'ordered'; readonly task: TaskId }
  /** The clip was deleted; text, one line each. */
  | { readonly kind: 'deleted'; readonly lines: readonly string[] }
  /** Text, one line each, with the buttons that can be pressed here. */
  | {
      readonly kind: 'text';
      readonly lines: readonly string[];
      readonly buttons: readonly { readonly id: string; readonly label: string }[];
      /** Absent: it was done, or a question. */
      readonly isRefused?: true;
    };

/** Handles a press as the chat does: with the same prices, questions and limits. */
export type PressInGallery = (press: GalleryPress) => Promise<GalleryReply>;

/** Adds the changes: a press on the page of a clip, and the end of the session. */
function addPresses(http: FastifyInstance, route: EnteredRoute, { access, clips, press }: GalleryOptions): void {
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
      return setSession(reply, '', false).send({ ended: true });
    }),
  );
}

/** Changed values; `null` removes one. */
const patchBody = z.strictObject({
  model: z.string().min(1).max(200).nullable().optional(),
  seconds: z.number().int().min(1).nullable().optional(),
  aspect: z.enum(ASPECT_RATIOS).nullable().optional(),
});

const NOT_OFFERED = 'This is not offered any more. Reload the page.';

/** Adds the person's defaults: model, length and aspect ratio of their orders that name none, with the choices for them. */
function addDefaults(http: FastifyInstance, route: EnteredRoute, { defaults, catalog }: GalleryOptions): void {
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

const GONE = 'This clip is not here any more.';
const NOT_NOW = 'This clip could not be brought here just now. Try again in a moment.';

/** Adds the files of clips and cuts (with Range) and the pictures of clips, for the session's person only. */
function addFiles(
  http: FastifyInstance,
  route: EnteredRoute,
  { clips, sets, fileOf, cutFileOf, posters, clipLinks }: GalleryOptions,
): void {
  http.get(
    `${GALLERY_PATH}/clips/:id`,
    route(async ({ scope }, request, reply) => {
      const task = await clips.findClip(scope, idOf(request));
      if (task === undefined) return sendClip(request, reply, undefined);
      const elsewhere = await clipLinks.redirectFor(task.id, isDownload(request));
      if (elsewhere !== null) return reply.redirect(elsewhere, 302);
      const file = await fileToSend(fileOf(task));
      return sendClip(request, reply, typeof file === 'object' ? { ...file, name: fileNameOf(task) } : file);
    }),
  );
  http.get(
    `${GALLERY_PATH}/cuts/:id`,
    route(async ({ scope }, request, reply) => {
      const cut = await sets.findCut(scope, idOf(request));
      return sendClip(request, reply, cut === undefined ? undefined : await fileToSend(cutFileOf(cut.id)));
    }),
  );
  http.get(
    `${GALLERY_PATH}/posters/:id`,
    route(async ({ scope }, request, reply) => {
      const task = await clips.findClip(scope, idOf(request));
      const path = task === undefined ? null : await posters.of(task.id, () => fileOf(task).catch(() => undefined));
      if (path === null) return reply.code(404).send({ error: 'There is no picture of this clip.' });
      return sendFile(request, reply.type('image/jpeg').headers(UNTRUSTED), path);
    }),
  );
}

/** Headers of a file: its content never runs as a page of this origin. */
const UNTRUSTED = { 'content-security-policy': 'sandbox' } as const;

/** Sends a clip or a cut, or why it is not sent. */
async function sendClip(
  request: FastifyRequest,
  reply: FastifyReply,
  file: (Clip & { readonly name: string }) | 'gone' | 'not_now' | undefined,
): Promise<FastifyReply> {
  if (file === 'not_now') return reply.code(503).header('retry-after', '10').send({ error: NOT_NOW });
  if (file === undefined || file === 'gone') return reply.code(404).send({ error: GONE });
  const disposition = dispositionOf(file.name, isDownload(request));
  void reply.type(file.contentType).header('content-disposition', disposition).headers(UNTRUSTED);
  return sendFile(request, reply, file.path);
}
