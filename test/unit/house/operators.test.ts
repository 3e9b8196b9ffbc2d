import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { readConfig, variablesOf } from '#src/config/config.ts';

const TOP = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(TOP, path), 'utf8');
const CONFIGURATION = read('docs/configuration.md');

/** Returns the distinct matches of a pattern's first group, sorted. */
const found = (text: string, pattern: RegExp): readonly string[] =>
  [...new Set([...text.matchAll(pattern)].flatMap(([, name]) => (name === undefined ? [] : [name])))].sort();

/** Returns true for a variable that only `npm run sandbox` reads. */
const isSandbox = (name: string): boolean => name.startsWith('SANDBOX_');

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
  const known = Object.keys(variablesOf(PLATFORM_CONFIGS)).sort();
  const example = read('.env.example');

  it('has a row per variable in docs/configuration.md', () => {
    const rows = CONFIGURATION.split('\n').filter((line) => /^\| `[A-Z]/.test(line));
    expect(known.length).toBeGreaterThan(20);
    expect(found(rows.map((row) => row.split('|')[1]).join(), /`([A-Z0-9_]+)`/g)).toEqual(known);
  });

  it('is listed in .env.example with all variables commented out', () => {
    const lines = example.split('\n').filter((line) => line !== '' && !line.startsWith('# '));
    expect(lines.filter((line) => !/^#[A-Z0-9_]+=/.test(line))).toEqual([]);
    expect(found(example, /^#([A-Z0-9_]+)=/gm).filter((name) => !isSandbox(name))).toEqual(known);
  });

  it('has the defaults of .env.example and docs/configuration.md', () => {
    // With the embedded sandbox, polls have different defaults.
    const service = { VIDEO_API_BASE_URL: 'https://videos.example', VIDEO_API_TOKEN: 'token' };
    const defaults = readConfig(service, PLATFORM_CONFIGS);
    const numbers = /^#((?:POLL|TASK|CREATE|REQUEST|PROGRESS|MAX)_\w+|HOST|PORT|STORE_URL|LOG_LEVEL)=(.+)$/gm;
    const said = [...example.matchAll(numbers)].map(([, name = '', value = '']) => ({ name, value }));
    expect(said.length).toBeGreaterThan(12);
    const given = Object.fromEntries(said.map(({ name, value }) => [name, value]));
    expect(readConfig({ ...service, ...given }, PLATFORM_CONFIGS)).toEqual(defaults);
    for (const { name, value } of said) {
      const row = CONFIGURATION.split('\n').find((line) => line.startsWith(`| \`${name}\` |`));
      expect(row, name).toContain(`\`${value}\``);
    }
  });
});

it('docs/operations.md lists exactly the program’s metrics', () => {
  const sources = globSync('src/metrics/*.ts', { cwd: TOP }).map(read).join('\n');
  const names = found(sources, /(?:name: |(?:counter|single)\(\s*)'(dailies_\w+)'/g);
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
