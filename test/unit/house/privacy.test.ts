import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BUDGETS } from '#src/engine/store/store.ts';
import { recordTable } from '#test/docs/privacy.ts';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Every kind of record that the product defines, by its name. */
const DEFINED = ['src', 'adapters', 'commands'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => [...read(join(folder, path)).matchAll(/= collection<[\s\S]*?\bname: (?:'([a-z_]+)'|BUDGETS)/g)])
    .map(([, name = BUDGETS]) => name),
);

it('knows every kind of record, each under a name of its own', () => {
  expect(DEFINED.length).toBeGreaterThan(50);
  expect(recordTable().match(/(?<=^\| `)[a-z_]+/gmu)).toEqual(DEFINED.toSorted());
});

it('reads and writes records by their kind alone', () => {
  const byName = /\bkeyv\('|\bnamespace: '|contents\.records\('/;
  for (const folder of ['src', 'adapters', 'commands']) {
    const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    // The mark of a migration is no record of a feature.
    const those = paths.filter((path) => path.endsWith('.ts') && byName.test(read(join(folder, path))));
    expect(those.filter((path) => path !== 'engine/store/migrate/migration.ts')).toEqual([]);
  }
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
