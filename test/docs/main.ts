import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GENERATED, upToDate } from './pages.ts';

// `npm run docs`: updates the generated sections of the documents.

for (const path of GENERATED) {
  const file = join(import.meta.dirname, '../..', path);
  writeFileSync(file, upToDate(path, readFileSync(file, 'utf8')));
}
