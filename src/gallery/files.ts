import { access } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { DailiesError } from '../errors.ts';
import { type ClipLinks, fileNameOf } from '../media/index.ts';
import type { Cuts } from '../studio/index.ts';
import type { Clip } from '../videos/index.ts';
import type { ClipTask, GalleryClips } from './clips.ts';
import type { Posters } from './posters.ts';
import { GALLERY_PATH } from './requests.ts';
import type { EnteredRoute } from './session-scope.ts';
import type { GallerySets } from './sets/sets.ts';

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
export function addFiles(
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
