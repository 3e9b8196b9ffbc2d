import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import { servePage } from '#src/http/static-page.ts';

const TOP = join(import.meta.dirname, '../../..');
const SHARED = join(TOP, 'src/http/shared-page');

it.each(['adapters/playground/page', 'src/gallery/page'])(
  'preloads every module of %s, after the import map',
  async (name) => {
    const http = fastify();
    const folder = join(TOP, name);
    await servePage(http, { folder, path: '/', prefix: '/a/', mediaOrigin: null });
    const { body } = await http.inject('/');
    const preloaded = [...body.matchAll(/rel="modulepreload" href="\/a\/page\/([\w/-]+\.js)"/g)].map(
      ([, path]) => path,
    );
    const modules = [folder, SHARED].flatMap((cwd) => globSync('**/*.js', { cwd })).filter((path) => path !== 'app.js');
    expect(new Set(preloaded)).toEqual(new Set(modules));
    const { imports } = JSON.parse(/<script type="importmap">(.*)<\/script>/.exec(body)?.[1] ?? '{}');
    expect(body.indexOf('importmap')).toBeLessThan(body.indexOf('modulepreload'));
    for (const path of [...modules.map((module) => `/a/page/${module}`), ...Object.values<string>(imports)]) {
      if (!path.endsWith('/')) expect([path, (await http.inject(path)).statusCode]).toEqual([path, 200]);
    }
    await http.close();
  },
);
