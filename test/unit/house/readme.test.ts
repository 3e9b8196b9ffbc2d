import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '#src/config.ts';

const TOP = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(TOP, path), 'utf8');
const README = read('README.md');
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'docs/operations.md', 'docs/capacity.md'];

/** What a pattern's first group finds, each once, sorted. */
const found = (text: string, pattern: RegExp): readonly string[] =>
  [...new Set([...text.matchAll(pattern)].flatMap(([, name]) => (name === undefined ? [] : [name])))].sort();

/** Variables of `npm run sandbox`, which reads them itself. */
const isSandbox = (name: string): boolean => name.startsWith('SANDBOX_');

describe('the documents', () => {
  it('name scripts at all', () => {
    expect(found(README, /npm (?:run )?(start|test|(?<=run )[\w:-]+)/g).length).toBeGreaterThan(1);
  });

  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };

  it.each(DOCUMENTS)('%s names scripts that exist', (path) => {
    const named = found(read(path), /npm (?:run )?(start|test|(?<=run )[\w:-]+)/g);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it.each(DOCUMENTS)('%s leads to files that exist', (path) => {
    const links = found(read(path), /\]\((?!https?:|#)([^)\s]+)\)/g);
    expect(links.filter((link) => !existsSync(join(TOP, dirname(path), link)))).toEqual([]);
  });

  it('have scripts whose programs exist', () => {
    const programs = Object.values(scripts).flatMap((script) => found(script, /((?:src|test|adapters)\/\S+\.ts)/g));
    expect(programs.length).toBeGreaterThan(0);
    expect(programs.filter((program) => !existsSync(join(TOP, program)))).toEqual([]);
  });
});

describe('the environment', () => {
  const known = found(read('src/config.ts'), /^ {2}([A-Z][A-Z_]+):/gm);
  const example = read('.env.example');

  it('is in the README, variable by variable', () => {
    const rows = README.split('\n').filter((line) => /^\| `[A-Z]/.test(line));
    expect(known.length).toBeGreaterThan(20);
    expect(found(rows.map((row) => row.split('|')[1]).join(), /`([A-Z_]+)`/g)).toEqual(known);
  });

  it('is in .env.example, where nothing is set', () => {
    const lines = example.split('\n').filter((line) => line !== '' && !line.startsWith('# '));
    expect(lines.filter((line) => !/^#[A-Z_]+=/.test(line))).toEqual([]);
    expect(found(example, /^#([A-Z_]+)=/gm).filter((name) => !isSandbox(name))).toEqual(known);
  });

  it('has the defaults that .env.example and the README say', () => {
    // With the embedded sandbox, polls have defaults of their own.
    const service = { VIDEO_API_BASE_URL: 'https://videos.example', VIDEO_API_TOKEN: 'token' };
    const defaults = readConfig(service);
    const numbers = /^#((?:POLL|TASK|CREATE|REQUEST|PROGRESS|MAX)_\w+|HOST|PORT|STORE_URL|LOG_LEVEL)=(.+)$/gm;
    const said = [...example.matchAll(numbers)].map(([, name = '', value = '']) => ({ name, value }));
    expect(said.length).toBeGreaterThan(12);
    const given = Object.fromEntries(said.map(({ name, value }) => [name, value]));
    expect(readConfig({ ...service, ...given })).toEqual(defaults);
    for (const { name, value } of said) {
      const row = README.split('\n').find((line) => line.startsWith('| `') && line.includes(`\`${name}\``));
      expect(row, name).toContain(`\`${value}\``);
    }
  });
});

it('the metrics of docs/operations.md are those of the program', () => {
  const sources = globSync('src/metrics/*.ts', { cwd: TOP }).map(read).join('\n');
  const names = found(sources, /name: '(dailies_\w+)'/g);
  expect(names.length).toBeGreaterThan(20);
  expect(found(read('docs/operations.md'), /^\| `(dailies_\w+)/gm)).toEqual(names);
});
