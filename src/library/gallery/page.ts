import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { addVendor, pageHeaders, SHARED_FOLDER } from '../../http/static-page.ts';
import { GALLERY_PATH } from './requests.ts';

const PAGE = join(import.meta.dirname, 'page');

/** Adds the page, which shows nothing by itself: what it loads needs a session. @param mediaOrigin as in `pageHeaders`. */
export async function addPage(http: FastifyInstance, mediaOrigin: string | null): Promise<void> {
  const html = readFileSync(join(PAGE, 'index.html'), 'utf8');
  const { 'cache-control': _, ...headers } = pageHeaders(html, mediaOrigin);
  http.addHook('onSend', async (_request, reply) => {
    for (const [header, value] of Object.entries(headers)) if (!reply.hasHeader(header)) reply.header(header, value);
  });
  const root = [PAGE, SHARED_FOLDER];
  await http.register(fastifyStatic, { root, prefix: `${GALLERY_PATH}/page/`, index: false, cacheControl: false });
  addVendor(http, `${GALLERY_PATH}/vendor/`);
  http.get(GALLERY_PATH, (_request, reply) => reply.type('text/html; charset=utf-8').send(html));
}
