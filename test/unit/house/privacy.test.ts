import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { NAMESPACES } from '#src/engine/store/store.ts';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

it('has every namespace of the store in docs/privacy.md, and no other', () => {
  const [, store = ''] = /^## The store\n([\s\S]*?)^## /m.exec(read('docs/privacy.md')) ?? [];
  const named = [...store.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, name]) => name);
  expect(named).toHaveLength(NAMESPACES.length);
  expect(new Set(named)).toEqual(new Set(NAMESPACES));
});

it('has every folder of the data folder in docs/privacy.md', () => {
  const sources = ['src', 'adapters', 'commands'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => read(join(folder, path))),
  );
  const folders = sources.flatMap((text) =>
    [...text.matchAll(/join\([\w.]*dataDir, '([a-z]+)'\)/g)].map(([, name]) => name),
  );
  expect(new Set(folders)).toContain('clips');
  for (const folder of new Set(folders)) expect(read('docs/privacy.md')).toContain(`| \`${folder}/\` |`);
});

it('logs no id of a user', () => {
  const isLogged = /logger\.\w+\(\s*\{[^}]*\b(?:user|by|person)(?:Name|Id)?(?:: [\w.]+)?[,\s}]/;
  expect(isLogged.test("logger.info({ event: 'x', by: by.id }, 'y')")).toBe(true);
  for (const folder of ['src', 'adapters', 'commands']) {
    const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    const those = paths.filter((path) => path.endsWith('.ts') && isLogged.test(read(join(folder, path))));
    expect(those).toEqual([]);
  }
});
