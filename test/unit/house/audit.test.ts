import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const AUDIT = join(import.meta.dirname, '../../../.ci/audit.js');

let bin = '';
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'dailies-audit-'));
});
afterEach(() => rmSync(bin, { recursive: true }));

/** Runs the audit with a fake npm that prints `says`. */
function audit(says: unknown): { readonly status: number | null; readonly said: string } {
  writeFileSync(join(bin, 'said.json'), typeof says === 'string' ? says : JSON.stringify(says));
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\ncat ${join(bin, 'said.json')}\nexit 1\n`);
  chmodSync(join(bin, 'npm'), 0o755);
  const env = { PATH: `${bin}${delimiter}${process.env['PATH']}` };
  const { status, stdout, stderr } = spawnSync(process.execPath, [AUDIT], { env, encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

const counts = (changes: Readonly<Record<string, number>>) => ({
  metadata: { vulnerabilities: { info: 0, low: 0, moderate: 0, high: 0, critical: 0, total: 0, ...changes } },
});

it('passes without vulnerabilities of severity high or critical', () => {
  expect(audit(counts({ moderate: 2, total: 2 }))).toMatchObject({ status: 0 });
});

it.each(['high', 'critical'])('fails for a vulnerability of severity %s and names its package', (severity) => {
  const found = audit({ ...counts({ [severity]: 1, total: 1 }), vulnerabilities: { 'left-pad': { severity } } });
  expect(found).toEqual({ status: 1, said: expect.stringContaining(`${severity}: left-pad`) });
});

it.each([
  {
    message: '405 Method Not Allowed - POST https://registry.example/-/npm/v1/security/advisories/bulk',
    statusCode: 405,
  },
  { message: 'request to http://127.0.0.1:9/ failed, reason: connect ECONNREFUSED', error: { summary: '' } },
])('reports a registry without audit as neither passed nor failed', (says) => {
  expect(audit(says)).toEqual({ status: 2, said: expect.stringContaining(`NO AUDIT`) });
});

it.each([{ error: { code: 'ENOLOCK', summary: 'This command requires an existing lockfile.' } }, '', 'null', '<html>'])(
  'fails for an invalid response of npm: %j',
  (says) => {
    expect(audit(says)).toMatchObject({ status: 1 });
  },
);
