import { access } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { DailiesError } from '../errors.ts';
import type { Clip } from '../videos/service.ts';
import type { SignedLinks } from './signed-links.ts';

/** Collaborators of {@link serveMedia}. */
export interface MediaOptions {
  /** `null`: links are off, and the path answers 404. */
  readonly links: SignedLinks | null;
  /** The file behind an id, and what it is called for people. Rejects where it cannot be had now, or with `gone` or `task_unknown` never again; that is logged. */
  readonly find: (id: string) => Promise<(Clip & { readonly name: string }) | undefined>;
}

const RETRY_SECONDS = 10;
const NOT_NOW = 'This clip could not be brought here just now. Please try again in a moment.';

const GONE = 'This clip is not here any more, and the video service does not have it either.';

/** `GET /media/{id}`: a clip by signed and expiring link, with Range. Only what was signed is ever looked for. */
export async function serveMedia(http: FastifyInstance, { links, find }: MediaOptions): Promise<void> {
  await http.register(async (room) => {
    await room.register(fastifyStatic, { root: process.cwd(), serve: false });
    room.get<{ Params: { id: string }; Querystring: { expires?: string; signature?: string } }>(
      '/media/:id',
      async ({ params, query }, reply) => {
        const verdict = links?.verify(params.id, query.expires ?? '', query.signature ?? '') ?? 'forged';
        if (verdict === 'expired')
          return reply.code(410).send({ error: 'This link has expired. Ask for a new one in the chat.' });
        const file = verdict === 'valid' ? await find(params.id).catch(whyNot) : undefined;
        if (file === 'gone') return reply.code(410).send({ error: GONE });
        if (file === 'not_now') return reply.code(503).header('retry-after', RETRY_SECONDS).send({ error: NOT_NOW });
        if (file === undefined || !(await isThere(file.path)))
          return reply.code(404).send({ error: 'There is nothing at this address.' });
        void reply
          .type(file.contentType)
          .header('content-disposition', `inline; filename*=UTF-8''${encodeURIComponent(file.name.toWellFormed())}`)
          .header('cache-control', 'private, max-age=3600')
          // A relayed picture may be SVG, and the chat page is at the same address.
          .header('content-security-policy', 'sandbox')
          .header('x-content-type-options', 'nosniff');
        return reply.sendFile(basename(file.path), dirname(file.path), { contentType: false, cacheControl: false });
      },
    );
  });
}

function whyNot(thrown: unknown): 'gone' | 'not_now' {
  const code = thrown instanceof DailiesError ? thrown.code : null;
  return code === 'gone' || code === 'task_unknown' ? 'gone' : 'not_now';
}

/** Whether nobody has tidied the file away. */
function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
