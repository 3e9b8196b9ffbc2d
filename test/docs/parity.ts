import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const CONTRACTS = join(import.meta.dirname, '../contract');

/** Suites that every platform runs, with the call that runs each and the heading of its tests outside of any group. */
const SUITES = [
  { file: 'platform.contract.ts', call: 'describePlatform', heading: '' },
  { file: 'studio.contract.ts', call: 'describeStudio', heading: 'studio: ' },
  { file: 'panels.contract.ts', call: 'describePanels', heading: 'panels: ' },
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
  const tests = readdirSync(CONTRACTS).filter((name) => name.endsWith('.test.ts'));
  const calls = tests.flatMap((name) => [...read(join(CONTRACTS, name)).matchAll(CALLS)]);
  return calls.filter(([, call]) => call === suite).map(([, , platform = '']) => platform);
}

/** Returns the titles of a suite's tests, each with that of its group. */
function titlesOf(file: string, heading: string): readonly string[] {
  let group = '';
  return [...read(join(CONTRACTS, file)).matchAll(TITLES)].flatMap(([, indent = '', describing, title = '']) => {
    if (describing !== undefined) group = `${describing}: `;
    return describing === undefined ? [`${indent.length > OUTER ? group : heading}${title}`] : [];
  });
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}
