import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parityTable, withParity } from '#test/contract/parity.ts';

it('the README’s table of what every platform does is that of the suite (else: node test/contract/parity.ts)', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
  expect(withParity(readme)).toBe(readme);
});

it('the table names every platform that runs the suite, and every test of it', () => {
  const [heads = '', , ...rows] = parityTable().split('\n');
  for (const platform of ['playground', 'Discord', 'Slack']) expect(heads).toContain(platform);
  const suite = readFileSync(join(import.meta.dirname, '../../contract/platform.contract.ts'), 'utf8');
  expect(rows).toHaveLength(suite.match(/^ +it\(/gm)?.length ?? 0);
});
