import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { DailiesError } from '../errors.ts';

/** Libraries of the pages as their scripts import them, and where they are in `node_modules`. */
const VENDOR = {
  preact: 'preact/dist/preact.module.js',
  'preact/hooks': 'preact/hooks/dist/hooks.module.js',
  htm: 'htm/dist/htm.module.js',
  'htm/preact': 'htm/preact/index.module.js',
} as const;

/** Files that the pages share: the style of colours and elements, and scripts, which are imported by the name below. */
const SHARED_FOLDER = join(import.meta.dirname, 'shared-page');
const SHARED_NAME = '#src/http/shared-page/';

interface StaticPage {
  /** Absolute path of its files. `index.html` is the page, to whose head its scripts are added; `app.js` is their start. */
  readonly folder: string;
  readonly path: string;
  /** Path below which its files are, in `page/`, and its libraries, in `vendor/`; such as `/playground/`. */
  readonly prefix: string;
  /** Origin that its videos come from besides its own; `null`: none. */
  readonly mediaOrigin: string | null;
}

/** Serves a page, its files and its libraries, under a content security policy that allows no other script. */
export async function servePage(http: FastifyInstance, page: StaticPage): Promise<void> {
  const { folder, path, prefix, mediaOrigin } = page;
  const importMap = importMapOf(prefix);
  const scripts = scriptsOf(folder, prefix, importMap);
  const html = readFileSync(join(folder, 'index.html'), 'utf8').replace('</head>', `${scripts}\n</head>`);
  const headers = pageHeaders(importMap, mediaOrigin);
  http.addHook('onSend', async (_request, reply) => {
    for (const [header, value] of Object.entries(headers)) if (!reply.hasHeader(header)) reply.header(header, value);
  });
  const root = [folder, SHARED_FOLDER];
  await http.register(fastifyStatic, { root, prefix: `${prefix}page/`, index: false, cacheControl: false });
  http.get(path, (_request, reply) => reply.type('text/html; charset=utf-8').send(html));
  for (const [name, module] of Object.entries(VENDOR)) {
    const { folder: home, file } = installed(module);
    http.get(vendorPath(prefix, name), (_request, reply) => reply.sendFile(file, home));
  }
}

function vendorPath(prefix: string, name: string): string {
  return `${prefix}vendor/${name.replace('/', '-')}.js`;
}

function importMapOf(prefix: string): string {
  const vendor = Object.keys(VENDOR).map((name) => [name, vendorPath(prefix, name)]);
  return JSON.stringify({ imports: { ...Object.fromEntries(vendor), [SHARED_NAME]: `${prefix}page/` } });
}

/** Returns the elements that load the scripts of a page: all at once, since each would be found in the one before. */
function scriptsOf(folder: string, prefix: string, importMap: string): string {
  const own = [folder, SHARED_FOLDER].flatMap((cwd) => globSync('**/*.js', { cwd }));
  const paths = own.filter((name) => name !== 'app.js').map((name) => `${prefix}page/${name.split(sep).join('/')}`);
  const vendor = Object.keys(VENDOR).map((name) => vendorPath(prefix, name));
  return [
    `<script type="importmap">${importMap}</script>`,
    ...[...paths, ...vendor].map((path) => `<link rel="modulepreload" href="${path}" />`),
    `<script type="module" src="${prefix}page/app.js"></script>`,
  ].join('\n');
}

/**
 * Returns the headers of a page's responses. The one inline script of the page is its import map, which browsers accept
 * inline only; the policy allows it by its hash, and no other script.
 */
function pageHeaders(importMap: string, mediaOrigin: string | null): Readonly<Record<string, string>> {
  const hash = createHash('sha256').update(importMap).digest('base64');
  const policy = {
    'default-src': "'none'",
    'script-src': `'self' 'sha256-${hash}'`,
    'style-src': "'self'",
    'img-src': "'self'",
    'media-src': ["'self'", ...(mediaOrigin === null ? [] : [mediaOrigin])].join(' '),
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
