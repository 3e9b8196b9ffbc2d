import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parityTable, withParity } from '#test/contract/parity.ts';

it('the parity table in CONTRIBUTING.md matches the contract suite (update: node test/contract/parity.ts)', () => {
  const document = readFileSync(join(import.meta.dirname, '../../../CONTRIBUTING.md'), 'utf8');
  expect(withParity(document)).toBe(document);
});

it('the parity table includes every platform and every test of the contract suite', () => {
  const [heads = '', , ...rows] = parityTable().split('\n');
  for (const platform of ['playground', 'Discord', 'Slack']) expect(heads).toContain(platform);
  const tests = ['platform', 'studio'].flatMap((suite) => {
    const text = readFileSync(join(import.meta.dirname, `../../contract/${suite}.contract.ts`), 'utf8');
    return text.match(/^ +it\(/gm) ?? [];
  });
  expect(rows).toHaveLength(tests.length);
  for (const row of rows) expect(row).toMatch(/\| ✓ \| ✓ \| ✓ \|$/u);
});
