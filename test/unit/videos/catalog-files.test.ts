import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { catalogJsonSchema, parseCatalog } from '#src/videos/catalog.ts';

const CONFIG = join(import.meta.dirname, '../../../config');
const read = (name: string): unknown => JSON.parse(readFileSync(join(CONFIG, name), 'utf8'));

it('config/catalog.schema.json matches the schema in the code', async () => {
  const written = `${JSON.stringify(catalogJsonSchema(), null, 2)}\n`;
  await expect(written).toMatchFileSnapshot(join(CONFIG, 'catalog.schema.json'));
});

it('config/catalog.example.json is a valid catalog', () => {
  const example = read('catalog.example.json');
  expect(example).toMatchObject({ $schema: './catalog.schema.json' });
  expect(parseCatalog(example).models.map(({ name }) => name)).toEqual(['swift-1', 'epic-pro']);
});
