import { access, stat } from 'node:fs/promises';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { DailiesError } from '../errors.ts';
import { dispositionOf, sendFile } from '../http/index.ts';
import type { Logger } from '../logger.ts';
import type { Clips, TaskRepository } from '../pipeline/index.ts';
import type { TaskId } from '../tasks/index.ts';
import type { Clip } from '../videos/index.ts';
import { mayShowPoster, type SignedLinks } from './clip-links.ts';
import { fileNameOf } from './file-name.ts';
import { POSTER } from './old-files.ts';
import { isRelayed, type Relay } from './relay.ts';

/**
 * Returns the file that is served under an id, with its display name. Rejects where it is unavailable for now, or with
 * `gone` or `task_unknown` for good; it logs the failure itself.
 */
export type FindFile = (id: string) => Promise<(Clip & { readonly name: string }) | undefined>;

/** Options of {@link serveMedia}. */
interface MediaOptions {
  /** `null`: links are off, and the path answers 404. */
  readonly links: SignedLinks | null;
  readonly find: FindFile;
  /** As in `ClipLinks`. */
  readonly redirectFor: (id: string) => Promise<string | null>;
}

const RETRY_SECONDS = 10;
const NOT_NOW = 'This clip could not be brought here just now. Please try again in a moment.';

const GONE = 'This clip is not here any more, and the video service does not have it either.';

/** Serves `GET /media/{id}`: a clip by a signed and expiring link, with Range. Looks up signed ids only. */
export async function serveMedia(http: FastifyInstance, { links, find, redirectFor }: MediaOptions): Promise<void> {
  await http.register(async (scope) => {
    await scope.register(fastifyStatic, { root: process.cwd(), serve: false });
    scope.get<{ Params: { id: string }; Querystring: { expires?: string; signature?: string } }>(
      '/media/:id',
      async (request, reply) => {
        const { method, params, query } = request;
        const verdict = links?.verify(params.id, query.expires ?? '', query.signature ?? '') ?? 'forged';
        if (verdict === 'expired')
          return reply.code(410).send({ error: 'This link has expired. Ask for a new one in the chat.' });
        // The address is signed for GET.
        const elsewhere = verdict === 'valid' && method === 'GET' ? await redirectFor(params.id) : null;
        if (elsewhere !== null) return reply.header('cache-control', 'no-store').redirect(elsewhere, 302);
        const file = verdict === 'valid' ? await fileToSend(find(params.id)) : undefined;
        if (file === 'gone') return reply.code(410).send({ error: GONE });
        if (file === 'not_now') return reply.code(503).header('retry-after', RETRY_SECONDS).send({ error: NOT_NOW });
        if (file === undefined) return reply.code(404).send({ error: 'Not found.' });
        void reply
          .type(file.contentType)
          .header('content-disposition', dispositionOf(file.name, false))
          .header('cache-control', 'private, max-age=3600')
          // A relayed picture may be an SVG with scripts, and the playground has the same origin.
          .header('content-security-policy', 'sandbox')
          .header('x-content-type-options', 'nosniff');
        return sendFile(request, reply, file.path);
      },
    );
  });
}

/**
 * Waits for the file of a clip that a route is to send.
 * @returns `gone` where it is for good, `not_now` where it may be had later; `undefined` for none, also if it was cleaned up
 */
export async function fileToSend<File extends Clip>(
  found: Promise<File | undefined>,
): Promise<File | 'gone' | 'not_now' | undefined> {
  const file = await found.catch((thrown: unknown) => {
    const code = thrown instanceof DailiesError ? thrown.code : null;
    return code === 'gone' || code === 'task_unknown' ? 'gone' : 'not_now';
  });
  if (typeof file !== 'object') return file;
  return access(file.path).then(
    () => file,
    () => undefined,
  );
}

/** Dependencies of {@link createFileFinder}. */
interface FileFinderOptions {
  readonly relay: Relay;
  readonly repository: Pick<TaskRepository, 'get'>;
  readonly clips: Pick<Clips, 'find'>;
  /** Returns the file of a cut; `undefined` for any other id. */
  readonly findCut: FindFile;
  /** Returns the path of a picture by its id. */
  readonly posterOf: (id: string) => Promise<string | null>;
  readonly logger: Logger;
}

/** Creates the lookup of the files that are served by signed links: clips by their task's id, pictures, cuts, and relayed files. */
export function createFileFinder(options: FileFinderOptions): FindFile {
  const { relay, repository, clips, findCut, posterOf, logger } = options;
  /** The right to see it may have ended since the link was signed. */
  const findPoster: FindFile = async (name) => {
    const id = name.slice(0, -POSTER.length);
    const task = await repository.get(id.replace(/\..*/su, '') as TaskId);
    const isShown = isRelayed(id) || (task !== undefined && mayShowPoster(task));
    const path = isShown ? await posterOf(id) : null;
    return path === null ? undefined : { path, name, bytes: (await stat(path)).size, contentType: 'image/jpeg' };
  };
  return async (id) => {
    if (id.endsWith(POSTER)) return findPoster(id);
    if (isRelayed(id)) return relay.find(id);
    const cut = await findCut(id);
    if (cut !== undefined) return cut;
    const task = await repository.get(id as TaskId);
    const clip = await (task === undefined ? undefined : clips.find(task))?.catch((thrown: unknown) => {
      logger.warn({ event: 'clip_not_served', task: id, err: thrown }, 'failed to fetch a missing clip for a request');
      throw thrown;
    });
    return task === undefined || clip === undefined ? undefined : { ...clip, name: fileNameOf(task) };
  };
}
