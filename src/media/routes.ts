import { access } from 'node:fs/promises';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { DailiesError } from '../errors.ts';
import { dispositionOf, sendFile } from '../http/index.ts';
import type { Clip } from '../videos/index.ts';
import type { SignedLinks } from './clip-links.ts';

/** Options of {@link serveMedia}. */
interface MediaOptions {
  /** `null`: links are off, and the path answers 404. */
  readonly links: SignedLinks | null;
  /**
   * Returns the file of an id, with its display name. Rejects where it is unavailable for now, or with `gone` or
   * `task_unknown` for good; it logs the failure itself.
   */
  readonly find: (id: string) => Promise<(Clip & { readonly name: string }) | undefined>;
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
