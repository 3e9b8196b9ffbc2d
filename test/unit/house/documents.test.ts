import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { declarations } from '#commands/registry.ts';
import { GENERATED, upToDate } from '#test/docs/pages.ts';
import { parityTable } from '#test/docs/parity.ts';

const TOP = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(TOP, path), 'utf8');
const README = read('README.md');
const DOCUMENTS = globSync(['*.md', '{docs,adapters,test}/**/*.md', '.github/*.md'], { cwd: TOP }).sort();
const SCRIPTS = /npm (?:run )?(start|test|(?<=run )[\w:-]+)/g;

/** Returns the matches of a pattern's first group. */
const all = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].flatMap(([, name]) => (name === undefined ? [] : [name]));

/** Returns a section of a document, without its heading. */
function sectionOf(document: string, heading: string): string {
  const [, after = ''] = document.split(`\n## ${heading}\n`);
  return after.split(/^## /mu)[0] ?? '';
}

/** Returns a text as a pattern that matches it alone. */
const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`);

describe('documents', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };

  it('are found, and mention scripts', () => {
    expect(DOCUMENTS.length).toBeGreaterThan(50);
    expect(new Set(all(README, SCRIPTS)).size).toBeGreaterThan(1);
  });

  it.each(DOCUMENTS)('%s mentions only existing scripts', (path) => {
    expect(all(read(path), SCRIPTS).filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it.each(DOCUMENTS)('%s links only existing files and headings', (path) => {
    const links = all(read(path), /\]\((?!https?:)([^)\s]+)\)/g);
    const dead = links.filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(TOP, target))) return true;
      return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
    });
    expect(dead).toEqual([]);
  });

  it('mention scripts with existing programs', () => {
    const programs = Object.values(scripts).flatMap((script) => all(script, /((?:src|test|adapters)\/\S+\.ts)/g));
    expect(programs.length).toBeGreaterThan(0);
    expect(programs.filter((program) => !existsSync(join(TOP, program)))).toEqual([]);
  });

  it('keep the README below 2,000 words', () => {
    expect(README.split(/\s+/u).filter((word) => word !== '').length).toBeLessThanOrEqual(2_000);
  });

  it.each(GENERATED)('%s repeats what the program says (update: npm run docs)', (path) => {
    const document = read(path);
    expect(upToDate(path, document)).toBe(document);
  });
});

/** Returns the anchors of a document's headings. */
function anchorsOf(document: string): readonly string[] {
  return all(document, /^#+ (.+)$/gmu).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it('docs/commands.md has a section for each command, in the order of the help', () => {
  expect(all(read('docs/commands.md'), /^## (?!For )(.+)$/gm)).toEqual(declarations.map(({ name }) => name));
});

it('the parity table includes every platform and every test of the contract suite', () => {
  const [heads = '', , ...rows] = parityTable().split('\n');
  for (const platform of ['playground', 'Discord', 'Slack']) expect(heads).toContain(platform);
  const tests = ['platform', 'studio', 'panels'].flatMap(
    (suite) => read(`test/contract/${suite}.contract.ts`).match(/^ +it\(/gm) ?? [],
  );
  expect(rows).toHaveLength(tests.length);
  for (const row of rows) expect(row).toMatch(/\| ✓ \| ✓ \| ✓ \|$/u);
});

describe('docs/architecture.md', () => {
  const document = read('docs/architecture.md');
  const lines = sectionOf(document, 'Paths').match(/^- .*$/gmu) ?? [];
  const steps = lines.map((line) => {
    const [, file = '', names = ''] = /^- `([^`]+)` → ((?:`[^`]+`(?:, )?)+)/u.exec(line) ?? [];
    return { line, file, names: all(names, /`([^`]+)`/gu) };
  });

  it('is one page, with a list of paths', () => {
    expect(document.split('\n## Paths\n')[0]?.split(/\s+/u).length).toBeLessThanOrEqual(900);
    expect(steps.length).toBeGreaterThan(50);
  });

  it.each(steps)('$line', ({ file, names }) => {
    const source = existsSync(join(TOP, file)) ? read(file) : '';
    const isDeclared = (name: string): boolean =>
      new RegExp(
        `(?:\\b(?:function\\*?|const) |^ {2,4}(?:readonly |async |\\*)*)${literal(name)}(?=[(<:= ])`,
        'mu',
      ).test(source);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !isDeclared(name))).toEqual([]);
  });
});

describe('decisions', () => {
  const index = read('docs/decisions/README.md');
  const rows = [...index.matchAll(/^\| (\d+) \| (.+) \| (.+) \|$/gmu)].map(([, number, title = '', status = '']) => ({
    number: Number(number),
    title,
    status,
  }));
  const pages = globSync('[0-9]*.md', { cwd: join(TOP, 'docs/decisions') }).sort();

  it('are in the index with their titles, each accepted, superseded or withdrawn', () => {
    const listed = pages.map((page) => {
      const [, number = '', title = ''] = /^# (\d+)\. (.+)$/mu.exec(read(`docs/decisions/${page}`)) ?? [];
      expect(page).toMatch(new RegExp(`^${number.padStart(4, '0')}-`, 'u'));
      return `| ${number} | [${title}](${page}) | accepted |`;
    });
    expect(listed.filter((row) => !index.includes(`${row}\n`))).toEqual([]);
    const others = rows.filter(({ status }) => status !== 'accepted');
    expect(rows).toHaveLength(pages.length + others.length);
    expect(others.filter(({ status }) => !/^(?:superseded by \[\d+\]\(|withdrawn: )/u.test(status))).toEqual([]);
    expect(rows.map(({ number }) => number)).toEqual(
      [...new Set(rows.map(({ number }) => number))].sort((a, b) => a - b),
    );
  });

  it('that are referred to exist', () => {
    const files = globSync(['{src,commands,adapters,test,docs,ops,.ci}/**/*.{ts,js,md,yml,yaml}', '*.md'], {
      cwd: TOP,
    });
    const known = pages.map((page) => Number(page.slice(0, 4)));
    const references = files.flatMap((file) => {
      const paths = all(read(file), /decisions\/(\d{4})-[\w-]+\.md/gu);
      const links = /^docs\/decisions\/\d/u.test(file) ? all(read(file), /\[(\d+)\]\(\d{4}-/gu) : [];
      const words = all(read(file), /\b[Dd]ecisions? (?:record )?\[?(\d+)\b/gu);
      return [...paths, ...links, ...words].map((number) => ({ file, number: Number(number) }));
    });
    expect(references.length).toBeGreaterThan(10);
    expect(references.filter(({ number }) => !known.includes(number))).toEqual([]);
    const numbers = /\[(\d+)\]\((\d{4})-/gu;
    const mixed = [...index.matchAll(numbers)].filter(([, number, page]) => Number(number) !== Number(page));
    expect(mixed).toEqual([]);
  });
});

describe('guarantees', () => {
  const parts = read('docs/guarantees.md')
    .split(/^(?=\*\*)/mu)
    .slice(1);
  const held = parts.map((part) => ({
    sentence: /^\*\*(.+)\*\*$/mu.exec(part)?.[1] ?? '',
    tests: [...part.matchAll(/^- `([^`]+)` › (.+)$/gmu)].map(([, file = '', title = '']) => ({ file, title })),
  }));

  it('of the README are all there, sentence by sentence', () => {
    const items = sectionOf(README, 'Guarantees, and their limits').split(/^- /mu).slice(1);
    const sentences = items.flatMap((item) => {
      const words = item
        .replace(/\]\([^)]*\)/gu, '')
        .replace(/\*\*|[`_[]/gu, '')
        .replace(/\s+/gu, ' ')
        .trim();
      return words.split(/(?<=\.) (?=[A-Z])/u);
    });
    expect(sentences.length).toBeGreaterThan(15);
    expect(held.map(({ sentence }) => sentence)).toEqual(sentences);
  });

  it.each(held)('$sentence', ({ tests }) => {
    expect(tests.length).toBeGreaterThan(0);
    const missing = tests.filter(({ file, title }) => {
      const isTitle = new RegExp(`\\(\\s*(['"\u0060])${literal(title)}\\1`, 'u');
      return !/\.(?:test|contract)\.ts$/u.test(file) || !existsSync(join(TOP, file)) || !isTitle.test(read(file));
    });
    expect(missing).toEqual([]);
  });
});
