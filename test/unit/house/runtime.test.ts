import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const { devDependencies } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};

it('runs on the Node this repository brings, whatever Node the machine has', () => {
  expect(process.version).toBe(`v${devDependencies['node']}`);
  expect(process.version).toMatch(/^v24\./);
});
