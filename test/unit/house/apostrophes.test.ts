import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, it } from 'vitest';

const TOP = join(import.meta.dirname, '../../..');

/** Returns the string literals and parts of templates in which a straight apostrophe stands inside a word. */
function straightApostrophes(path: string, source: string): readonly string[] {
  const found: string[] = [];
  const look = (text: unknown): void => {
    if (typeof text === 'string' && /\p{L}'\p{L}/u.test(text)) found.push(`${path}: ${text}`);
  };
  new Visitor({
    Literal: ({ value }) => look(value),
    TemplateElement: ({ value }) => look(value.cooked),
  }).visit(parseSync(path, source).program);
  return found;
}

it('finds a straight apostrophe in strings and templates, but not in comments and patterns', () => {
  const source = `// It's here.\nconst a = ["it's", \`the \${b}'s x, the team's\`, /doesn't/, 'it’s', "a 'quoted' word"];`;
  expect(straightApostrophes('a.ts', source)).toEqual(["a.ts: it's", "a.ts: 's x, the team's"]);
});

it('allows typographic apostrophes only, in whatever users read', () => {
  const files = globSync('{src,commands,adapters}/**/*.{ts,js}', { cwd: TOP });
  expect(files.length).toBeGreaterThan(150);
  expect(files.flatMap((file) => straightApostrophes(file, readFileSync(join(TOP, file), 'utf8')))).toEqual([]);
});
