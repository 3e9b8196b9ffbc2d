import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { addVendor, pageHeaders, SHARED_FOLDER } from '#src/http/static-page.ts';

const PAGE = join(import.meta.dirname, 'page');

/**
 * Serves the chat page, its modules and its libraries, under a content security policy that allows no other script.
 * @param mediaOrigin as in `pageHeaders`.
 */
export async function servePage(http: FastifyInstance, mediaOrigin: string | null): Promise<void> {
  const html = readFileSync(join(PAGE, 'index.html'), 'utf8');
  const headers = pageHeaders(html, mediaOrigin);
  http.addHook('onSend', async (_request, reply) => {
    for (const [header, value] of Object.entries(headers)) if (!reply.hasHeader(header)) reply.header(header, value);
  });
  const root = [PAGE, SHARED_FOLDER];
  await http.register(fastifyStatic, { root, prefix: '/playground/page/', index: false, cacheControl: false });
  http.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(html));
  addVendor(http, '/playground/vendor/');
}
