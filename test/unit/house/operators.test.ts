import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { readConfig } from '#src/config/config.ts';

const TOP = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(TOP, path), 'utf8');
const README = read('README.md');
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/architecture.md',
  'docs/capacity.md',
  'docs/glossary.md',
  'docs/operations.md',
];

/** Returns the distinct matches of a pattern's first group, sorted. */
const found = (text: string, pattern: RegExp): readonly string[] =>
  [...new Set([...text.matchAll(pattern)].flatMap(([, name]) => (name === undefined ? [] : [name])))].sort();

/** Returns true for a variable that only `npm run sandbox` reads. */
const isSandbox = (name: string): boolean => name.startsWith('SANDBOX_');

describe('documents', () => {
  it('mention scripts', () => {
    expect(found(README, /npm (?:run )?(start|test|(?<=run )[\w:-]+)/g).length).toBeGreaterThan(1);
  });

  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };

  it.each(DOCUMENTS)('%s mentions only existing scripts', (path) => {
    const named = found(read(path), /npm (?:run )?(start|test|(?<=run )[\w:-]+)/g);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it.each(DOCUMENTS)('%s links only existing files', (path) => {
    const links = found(read(path), /\]\((?!https?:|#)([^)\s#]+)(?:#[^)\s]*)?\)/g);
    expect(links.filter((link) => !existsSync(join(TOP, dirname(path), link)))).toEqual([]);
  });

  it('mention scripts with existing programs', () => {
    const programs = Object.values(scripts).flatMap((script) => found(script, /((?:src|test|adapters)\/\S+\.ts)/g));
    expect(programs.length).toBeGreaterThan(0);
    expect(programs.filter((program) => !existsSync(join(TOP, program)))).toEqual([]);
  });
});

it.each(['discord', 'slack'])(
  '%s is set up in six steps at most, each with what one sees, and then checked',
  (platform) => {
    const [, setup = ''] = read(`adapters/${platform}/readme.md`).split('## Setting up');
    const [list = ''] = setup.trim().split('\n\n');
    const steps = list.split(/^\d\. /m).slice(1);
    expect(steps.length).toBeGreaterThan(2);
    expect(steps.length).toBeLessThanOrEqual(6);
    expect(steps.filter((step) => !step.includes('*You see*'))).toEqual([]);
    expect(steps.at(-1)).toContain('`npm run doctor`');
  },
);

describe('environment', () => {
  const sources = ['src/config/config.ts', 'src/config/media.ts', ...globSync('adapters/*/config.ts', { cwd: TOP })]
    .map(read)
    .join('\n');
  const known = found(sources, /^ {2,4}([A-Z][A-Z0-9_]+):/gm);
  const example = read('.env.example');

  it('has a row per variable in the README', () => {
    const rows = README.split('\n').filter((line) => /^\| `[A-Z]/.test(line));
    expect(known.length).toBeGreaterThan(20);
    expect(found(rows.map((row) => row.split('|')[1]).join(), /`([A-Z0-9_]+)`/g)).toEqual(known);
  });

  it('is listed in .env.example with all variables commented out', () => {
    const lines = example.split('\n').filter((line) => line !== '' && !line.startsWith('# '));
    expect(lines.filter((line) => !/^#[A-Z0-9_]+=/.test(line))).toEqual([]);
    expect(found(example, /^#([A-Z0-9_]+)=/gm).filter((name) => !isSandbox(name))).toEqual(known);
  });

  it('has the defaults of .env.example and the README', () => {
    // With the embedded sandbox, polls have different defaults.
    const service = { VIDEO_API_BASE_URL: 'https://videos.example', VIDEO_API_TOKEN: 'token' };
    const defaults = readConfig(service, PLATFORM_CONFIGS);
    const numbers = /^#((?:POLL|TASK|CREATE|REQUEST|PROGRESS|MAX)_\w+|HOST|PORT|STORE_URL|LOG_LEVEL)=(.+)$/gm;
    const said = [...example.matchAll(numbers)].map(([, name = '', value = '']) => ({ name, value }));
    expect(said.length).toBeGreaterThan(12);
    const given = Object.fromEntries(said.map(({ name, value }) => [name, value]));
    expect(readConfig({ ...service, ...given }, PLATFORM_CONFIGS)).toEqual(defaults);
    for (const { name, value } of said) {
      const row = README.split('\n').find((line) => line.startsWith('| `') && line.includes(`\`${name}\``));
      expect(row, name).toContain(`\`${value}\``);
    }
  });
});

it('docs/operations.md lists exactly the program’s metrics', () => {
  const sources = globSync('src/metrics/*.ts', { cwd: TOP }).map(read).join('\n');
  const names = found(sources, /(?:name: |counter\(\s*)'(dailies_\w+)'/g);
  expect(names.length).toBeGreaterThan(20);
  expect(found(read('docs/operations.md'), /^\| `(dailies_\w+)/gm)).toEqual(names);
});

describe('the log events of docs/operations.md', () => {
  const sources = globSync('{src,commands,adapters}/**/*.ts', { cwd: TOP }).map(read).join('\n');
  const section = read('docs/operations.md').split('## Log events')[1] ?? '';

  it('exist in the program', () => {
    const codes = found(sources, /event(?::| =) '([a-z_]+)'/g);
    expect(codes.length).toBeGreaterThan(100);
    expect(found(section, /`([a-z]+_[a-z_]+)`/g).filter((code) => !codes.includes(code))).toEqual([]);
  });

  it('contain every code of level error and fatal', () => {
    const severe = found(sources, /logger\.(?:error|fatal)\(\s*\{\s*event: '([a-z_]+)'/g);
    expect(severe.length).toBeGreaterThan(25);
    expect(severe.filter((code) => !section.includes(`\`${code}\``))).toEqual([]);
  });
});
