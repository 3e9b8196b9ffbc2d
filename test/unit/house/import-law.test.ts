import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { breaches } from './import-law.ts';
import { readImports } from './imports.ts';

const TOP = join(import.meta.dirname, '../../..');

/** Minimum numbers in this repository: with fewer, the parser is broken and would find no violations. */
const LEAST = { files: 150, imports: 400 };

const check = (files: Readonly<Record<string, string>>): readonly string[] =>
  breaches(Object.entries(files).flatMap(([path, source]) => readImports(path, source)));

describe('import rules', () => {
  it('hold for every file of the repository', () => {
    const files = globSync('{src,commands,adapters,test}/**/*.{ts,js}', { cwd: TOP });
    const imports = files.flatMap((file) => readImports(file, readFileSync(join(TOP, file), 'utf8')));
    expect(files.length).toBeGreaterThanOrEqual(LEAST.files);
    expect(imports.filter(({ to }) => to !== null).length).toBeGreaterThanOrEqual(LEAST.imports);
    expect(breaches(imports)).toEqual([]);
  });

  it.each([
    ['src → commands', 'src/chat/a.ts', `import '#commands/b.ts';`, 'src may import src alone'],
    ['src → adapters', 'src/config.ts', `import type { A } from '#adapters/x/a.ts';`, 'src may import src alone'],
    ['a type by import()', 'src/config.ts', `type A = import('#adapters/x/a.ts').A;`, 'src may import src alone'],
    ['commands → adapters', 'commands/a.ts', `export * from '#adapters/x/a.ts';`, 'commands may import commands, src'],
    ['src → test', 'src/main.ts', `await import('#test/fakes/a.ts');`, 'src may import src, adapters alone'],
    ['adapter → adapter', 'adapters/slack/a.ts', `import '../discord/a.ts';`, 'an adapter knows no other adapter'],
    [
      'a relative path to another top-level folder',
      'commands/a.ts',
      `import '../src/errors.ts';`,
      'is written #src/errors.ts',
    ],
    [
      'a subpath import within a top-level folder',
      'src/chat/a.ts',
      `import '#src/errors.ts';`,
      'within a top-level folder, paths are relative',
    ],
    ['tasks → chat', 'src/tasks/a.ts', `import '../chat/index.ts';`, 'tasks is pure'],
    ['pipeline → chat', 'src/pipeline/a.ts', `import '../chat/index.ts';`, 'pipeline must not import chat'],
    ['chat → videos', 'src/chat/a.ts', `import { type A } from '../videos/index.ts';`, 'except by import type'],
    ['videos → tasks', 'src/videos/a.ts', `import '../tasks/index.ts';`, 'videos must not import tasks'],
    ['videos → chat', 'src/videos/a.ts', `export type { A } from '../chat/index.ts';`, 'videos must not import chat'],
    ['videos → engine', 'src/videos/a.ts', `import '../engine/index.ts';`, 'videos must not import engine'],
    ['sandbox → pipeline', 'src/sandbox/a.ts', `import '../pipeline/index.ts';`, 'sandbox must not import pipeline'],
    ['sandbox → chat', 'src/sandbox/a.ts', `import '../chat/index.ts';`, 'sandbox must not import chat'],
    ['engine → config', 'src/engine/a.ts', `import type { A } from '../config.ts';`, 'engine may import'],
    [
      'a file of another folder',
      'src/chat/a.ts',
      `import '../pipeline/a.ts';`,
      'others import src/pipeline/index.ts alone',
    ],
    [
      'a file of a folder',
      'commands/a.ts',
      `import type { A } from '#src/chat/b.ts';`,
      'others import src/chat/index.ts',
    ],
    [
      'a file behind an inner door',
      'src/doctor/a.ts',
      `import '../engine/store/redis/a.ts';`,
      'others import src/engine/store/redis/index.ts alone',
    ],
    ['tasks → clock', 'src/tasks/a.ts', `import { a } from '../clock.ts';`, 'tasks is pure'],
    ['tasks → Node', 'src/tasks/a.ts', `import { a } from 'node:fs';`, 'tasks is pure'],
  ])('refuse %s', (_rule, path, source, expected) => {
    const found = check({ [path]: source });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  it('report a cycle once, with its path', () => {
    const found = check({
      'src/c.ts': `import './a.ts';`,
      'src/a.ts': `export { b } from './b.ts';`,
      'src/b.ts': `import { a } from './a.ts';`,
    });
    expect(found).toEqual(['src/a.ts → src/b.ts → src/a.ts: import cycle']);
  });

  it('report folders that import each other at run time', () => {
    const found = check({
      'src/chat/a.ts': `import '../pipeline/index.ts';`,
      'src/pipeline/index.ts': `export { b } from './b.ts';`,
      'src/pipeline/b.ts': `import { c } from '../tasks/index.ts';`,
      'src/pipeline/d.ts': `import type { A } from '../chat/index.ts';`,
      'src/tasks/index.ts': `import { z } from 'zod';`,
    });
    expect(found).toEqual([]);
    expect(
      check({ 'src/media/a.ts': `import '../http/index.ts';`, 'src/http/b.ts': `import '../media/index.ts';` }),
    ).toEqual(['src/http → src/media → src/http: folders that import each other']);
  });

  it.each([
    ['main loading the platforms', 'src/main.ts', `import '#adapters/registry.ts'; import './app.ts';`],
    ['the app wiring everything', 'src/app.ts', `import '#commands/bot.ts'; import './a.ts';`],
    ['the registry listing the adapters', 'adapters/registry.ts', `import './x/a.ts'; import './y/a.ts';`],
    ['an adapter using commands', 'adapters/x/a.ts', `import './b.ts'; import '#commands/a.ts';`],
    ['chat naming a type of videos', 'src/chat/a.ts', `import type { A } from '../videos/index.ts';`],
    ['tasks naming a type and adding decimals', 'src/tasks/a.ts', `import { Big } from 'big.js'; import './b.ts';`],
    ['the engine reporting errors', 'src/engine/a.ts', `import { Keyv } from 'keyv'; import '../errors.ts';`],
    ['the queue using the store', 'src/engine/queue/a.ts', `import '../store/redis/b.ts';`],
    ['an inner door', 'src/doctor/a.ts', `import '../engine/store/redis/index.ts';`],
    ['tests using each other', 'test/unit/a.test.ts', `import '#test/fakes/a.ts'; import '../fakes/b.ts';`],
    ['a page script using what pages share', 'src/x/page/a.js', `import '#src/http/shared-page/b.js';`],
    ['a page script', 'adapters/x/page/a.js', `import { h } from 'preact'; import './b.js'; import('/c.js');`],
  ])('allow %s', (_what, path, source) => {
    expect(check({ [path]: source })).toEqual([]);
  });

  it('allow a cycle of type imports, which do not exist at run time', () => {
    expect(check({ 'src/a.ts': `import type { B } from './b.ts';`, 'src/b.ts': `import './a.ts';` })).toEqual([]);
  });

  it('reject an import that cannot be analysed', () => {
    expect(() => check({ 'src/a.ts': `await import(name);` })).toThrow('import() of something other than');
    expect(() => check({ 'src/a.ts': `import {` })).toThrow('parsing src/a.ts');
  });
});
