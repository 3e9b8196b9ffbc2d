import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { DailiesError } from '#src/errors.ts';

const PAGE = join(import.meta.dirname, 'page');

/** Libraries of the page, served from `node_modules`. */
const VENDOR = {
  'preact.js': 'preact/dist/preact.module.js',
  'hooks.js': 'preact/hooks/dist/hooks.module.js',
  'htm.js': 'htm/dist/htm.module.js',
} as const;

/** Serves the chat page, its modules and its libraries, under a content security policy that allows no other script. */
export async function servePage(http: FastifyInstance): Promise<void> {
  const html = readFileSync(join(PAGE, 'index.html'), 'utf8');
  const headers = pageHeaders(html);
  const vendor = Object.entries(VENDOR).map(([name, path]) => ({ name, path: installed(path) }));
  http.addHook('onSend', async (_request, reply) => {
    for (const [header, value] of Object.entries(headers)) if (!reply.hasHeader(header)) reply.header(header, value);
  });
  await http.register(fastifyStatic, { root: PAGE, prefix: '/playground/page/', index: false, cacheControl: false });
  http.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(html));
  for (const { name, path } of vendor) {
    http.get(`/playground/vendor/${name}`, (_request, reply) => reply.sendFile(path.file, path.folder));
  }
}

/**
 * Returns the headers of every response. The one inline script of the page is its import map, which browsers accept
 * inline only; the policy allows it by its hash.
 */
function pageHeaders(html: string): Readonly<Record<string, string>> {
  const importMap = /<script type="importmap">([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '';
  const hash = createHash('sha256').update(importMap).digest('base64');
  const policy = {
    'default-src': "'none'",
    'script-src': `'self' 'sha256-${hash}'`,
    'style-src': "'self'",
    'img-src': "'self'",
    'media-src': "'self'",
    'connect-src': "'self'",
    'manifest-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'",
  };
  return {
    'content-security-policy': Object.entries(policy)
      .map(([directive, sources]) => `${directive} ${sources}`)
      .join('; '),
    'cache-control': 'no-cache',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
}

/** Locates an installed file of a package; the packages' `exports` lead to the builds for Node, not for browsers. */
function installed(path: string): { readonly folder: string; readonly file: string } {
  const [name = '', ...rest] = path.split('/');
  const manifest = findPackageJSON(name, import.meta.url);
  if (manifest === undefined) throw new DailiesError(`serving the page: ${name} is not installed`, INTERNAL);
  return { folder: join(dirname(manifest), ...rest.slice(0, -1)), file: rest.at(-1) ?? '' };
}

const INTERNAL = { code: 'internal', retryable: false } as const;
