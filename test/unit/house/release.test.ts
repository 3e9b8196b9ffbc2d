import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { VERSION } from '#src/config/version.ts';

const ROOT = join(import.meta.dirname, '../../..');
const WORKFLOWS = join(ROOT, '.github/workflows');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly uses?: string;
  readonly steps?: readonly { readonly uses?: string; readonly run?: string }[];
}

/** Runs the script that guards a release, as the workflow does. */
function release(tag: string) {
  const script = join(ROOT, '.ci/release.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, tag], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('a release', () => {
  it('is the newest dated section of the changelog, and the version of the lock', () => {
    const [newest] = [...read('CHANGELOG.md').matchAll(/^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$/gm)];
    expect(newest?.[1]).toBe(VERSION);
    expect(JSON.parse(read('package-lock.json'))).toMatchObject({
      version: VERSION,
      packages: { '': { version: VERSION } },
    });
  });

  it('has the notes of its section alone', () => {
    const { status, stdout } = release(`v${VERSION}`);
    expect(status).toBe(0);
    expect(stdout).toMatch(/### Added\n/);
    expect(stdout).not.toMatch(/^## /m);
  });

  it.each(['v9.9.9', VERSION, ''])('refuses the tag "%s"', (tag) => {
    expect(release(tag)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('in package.json') });
  });
});

describe.each(readdirSync(WORKFLOWS))('workflow %s', (name) => {
  const text = readFileSync(join(WORKFLOWS, name), 'utf8');
  const { permissions, jobs } = parse(text) as { permissions?: object; jobs: Readonly<Record<string, Job>> };

  it('pins every action by commit, with its version in a comment', () => {
    const used = [...text.matchAll(/uses: (\S+.*)/g)].map(([, what = '']) => what);
    expect(used).not.toEqual([]);
    const outside = used.filter((what) => !what.startsWith('./'));
    expect(outside.filter((what) => !/^[\w.-]+\/[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(what))).toEqual([]);
  });

  it('grants nothing beyond reading by default, and no contexts to a shell', () => {
    expect([{}, { contents: 'read' }]).toContainEqual(permissions);
    const scripts = Object.values(jobs).flatMap(({ steps = [] }) => steps.flatMap(({ run }) => run ?? []));
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([]);
  });
});

it('releases the image by way of the checks, and tags only what was tested', () => {
  const { jobs } = parse(read('.github/workflows/release.yml')) as {
    readonly jobs: Readonly<Record<string, Job & { readonly needs?: string | readonly string[] }>>;
  };
  const steps = Object.entries(jobs).flatMap(([job, { steps = [] }]) => steps.map((step) => ({ job, ...step })));
  const jobOf = (part: string): string | undefined => steps.find(({ run }) => run?.includes(part))?.job;
  expect(jobs['checks']?.uses).toBe('./.github/workflows/checks.yml');
  expect(jobs['image']?.needs).toEqual(['notes', 'checks']);
  expect({ tested: jobOf('.ci/image.js'), tagged: jobOf('imagetools create') }).toEqual({
    tested: 'image',
    tagged: 'publish',
  });
  expect(jobs['publish']?.needs).toContain('image');
  const writing = Object.entries(jobs).filter(([, { permissions = {} }]) => permissions['contents'] === 'write');
  expect(writing.map(([job]) => job)).toEqual(['announce']);
});
