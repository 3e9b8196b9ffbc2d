// node .ci/release.js <tag>
// Prints the notes of a release from CHANGELOG.md. Exits 1 if the tag is not the version in package.json, or if the
// changelog has no section of that version. Runs on the machine's own Node (20 or later).
import { readFileSync } from 'node:fs';

const read = (/** @type {string} */ path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const fail = (/** @type {string} */ sentence) => {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
};

const { version } = JSON.parse(read('package.json'));
const [tag] = process.argv.slice(2);
if (tag !== `v${version}`) fail(`the tag ${tag} is not v${version}, the version in package.json`);

const [, ...sections] = read('CHANGELOG.md').split(/^## /m);
const section = sections.find((one) => one.startsWith(`[${version}] - `));
if (section === undefined) fail(`CHANGELOG.md has no section [${version}] with a date`);
else process.stdout.write(`${section.split('\n').slice(1).join('\n').trim()}\n`);
