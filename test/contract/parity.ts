import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// `node test/contract/parity.ts` updates the table in CONTRIBUTING.md.

const HERE = import.meta.dirname;
const DOCUMENT = join(HERE, '../../CONTRIBUTING.md');
const BEGIN = '<!-- parity: made by `node test/contract/parity.ts` -->';
const END = '<!-- /parity -->';

const TITLES = /^( {4,6})(?:describe\('(.+?)',|it\('(.+)',)/gm;
/** Indentation of tests outside of any group. */
const OUTER = 4;

/** Returns a Markdown table of the platform contract's tests and the platforms that run all of them. */
export function parityTable(): string {
  const platforms = readdirSync(HERE)
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => [...read(join(HERE, name)).matchAll(/describePlatform\([`'](?:the )?(\w+)/g)])
    .map(([, platform = '']) => platform)
    .sort();
  const rows: string[] = [];
  let group = '';
  for (const [, indent = '', describing, title] of read(join(HERE, 'platform.contract.ts')).matchAll(TITLES)) {
    if (describing !== undefined) group = `${describing}: `;
    else rows.push(`| ${indent.length > OUTER ? group : ''}${title} | ${platforms.map(() => '✓').join(' | ')} |`);
  }
  const heads = [`| | ${platforms.join(' | ')} |`, `| --- |${' :---: |'.repeat(platforms.length)}`];
  return [...heads, ...rows].join('\n');
}

/** Returns the document with an up-to-date table. */
export function withParity(document: string): string {
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new TypeError('CONTRIBUTING.md has no place for the table');
  return `${before}${BEGIN}\n${parityTable()}\n${END}${after}`;
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}

if (import.meta.main) writeFileSync(DOCUMENT, withParity(read(DOCUMENT)));
