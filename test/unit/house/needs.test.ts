import { spawn } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '#test/fakes/sandbox-client.ts';

const ROOT = join(import.meta.dirname, '../../..');
const NEEDS = join(ROOT, '.ci/needs.js');

/** Runs the look on a machine with these programs on PATH, and these libraries. */
async function look(
  { programs = [], libraries = '' }: { programs?: readonly string[]; libraries?: string },
  ...args: string[]
) {
  const folder = await temporaryFolder();
  for (const name of [...programs, 'ldconfig']) {
    await writeFile(join(folder, name), `#!/bin/sh\necho '${libraries}'\n`);
    await chmod(join(folder, name), 0o755);
  }
  const child = spawn(process.execPath, [NEEDS, ...args], { env: { PATH: folder } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, output };
}

const LIBRARIES = 'libnss3.so (libc6) libnspr4.so (libc6) libexpat.so.1 (libc6)';

describe('what the tests need', () => {
  it('is looked for before the first test', async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect(scripts.test).toMatch(/^node \.ci\/needs\.js && /);
  });

  it('is there', async () => {
    expect(await look({ programs: ['redis-server'], libraries: LIBRARIES })).toEqual({ code: 0, output: '' });
    expect(await look({ programs: ['redis-server'], libraries: LIBRARIES }, '--packages')).toEqual({
      code: 0,
      output: '\n',
    });
  });

  it('is named with the command that installs it, where it is missing', async () => {
    const { code, output } = await look({ libraries: LIBRARIES.replace('libexpat.so.1', 'libexpatw.so.1') });
    expect(code).toBe(1);
    expect(output).toContain('Missing here: redis-server, libexpat.so.1\n');
    expect(output).toMatch(/Debian, Ubuntu: .*apt-get install -y redis-server libexpat1\n/);
    expect(output).toMatch(/Fedora: .*dnf install -y redis expat\n/);
    expect(output).toMatch(/macOS: +brew install redis\n/);
  });

  it('is passed to .ci/run as packages, which README installs, too', async () => {
    const { code, output } = await look({}, '--packages');
    expect({ code, output }).toEqual({ code: 0, output: 'redis-server libnss3 libnspr4 libexpat1\n' });
    expect(await readFile(join(ROOT, 'README.md'), 'utf8')).toContain(
      `npm ci && npm test\nsudo apt-get update && sudo apt-get install -y ${output}`,
    );
    expect(await readFile(join(ROOT, '.ci/run'), 'utf8')).toContain('node .ci/needs.js --packages');
  });
});
