import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// `node test/contract/parity.ts` updates the table in CONTRIBUTING.md.

const HERE = import.meta.dirname;
const DOCUMENT = join(HERE, '../../CONTRIBUTING.md');
const BEGIN = '<!-- parity: made by `node test/contract/parity.ts` -->';
const END = '<!-- /parity -->';

/** Suites that every platform runs, with the call that runs each and the heading of its tests outside of any group. */
const SUITES = [
  { file: 'platform.contract.ts', call: 'describePlatform', heading: '' },
  { file: 'studio.contract.ts', call: 'describeStudio', heading: 'studio: ' },
] as const;
const CALLS = /(describe[A-Z]\w+)\([`'](?:the )?(\w+)/g;
const TITLES = /^( {4,6})(?:describe\('(.+?)',|it\('(.+)',)/gm;
/** Indentation of tests outside of any group. */
const OUTER = 4;

/** Returns a Markdown table of the tests of both contracts, and the platforms that run all of them. */
export function parityTable(): string {
  const suites = SUITES.map((suite) => ({ ...suite, on: platformsOf(suite.call) }));
  const platforms = [...new Set(suites.flatMap(({ on }) => on))].sort();
  const rows = suites.flatMap(({ file, heading, on }) => {
    const marks = platforms.map((platform) => (on.includes(platform) ? '✓' : '')).join(' | ');
    return titlesOf(file, heading).map((title) => `| ${title} | ${marks} |`);
  });
  const heads = [`| | ${platforms.join(' | ')} |`, `| --- |${' :---: |'.repeat(platforms.length)}`];
  return [...heads, ...rows].join('\n');
}

/** Returns the platforms for which the tests call a suite. */
function platformsOf(suite: string): readonly string[] {
  const tests = readdirSync(HERE).filter((name) => name.endsWith('.test.ts'));
  const calls = tests.flatMap((name) => [...read(join(HERE, name)).matchAll(CALLS)]);
  return calls.filter(([, call]) => call === suite).map(([, , platform = '']) => platform);
}

/** Returns the titles of a suite's tests, each with that of its group. */
function titlesOf(file: string, heading: string): readonly string[] {
  let group = '';
  return [...read(join(HERE, file)).matchAll(TITLES)].flatMap(([, indent = '', describing, title = '']) => {
    if (describing !== undefined) group = `${describing}: `;
    return describing === undefined ? [`${indent.length > OUTER ? group : heading}${title}`] : [];
  });
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
