// node .ci/needs.js [--packages]
// Looks for what the tests use and npm does not bring: a Redis, and what the headless browser links against. Says how to
// install what is missing and exits with 1; with --packages, prints only the names of its packages in Debian.
// Runs before anything else, on the machine's own Node (20 or later).
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Packages by system; none where the tests do not use it there. */
const NEEDS = [
  { program: 'redis-server', debian: 'redis-server', fedora: 'redis', macos: 'redis' },
  { library: 'libnss3.so', debian: 'libnss3', fedora: 'nss' },
  { library: 'libnspr4.so', debian: 'libnspr4', fedora: 'nspr' },
  { library: 'libexpat.so.1', debian: 'libexpat1', fedora: 'expat' },
];

const path = `${process.env['PATH'] ?? ''}${delimiter}/usr/sbin${delimiter}/sbin`;
// The browser that npm brings is one for Linux.
const libraries =
  process.platform === 'linux' ? spawnSync('ldconfig', ['-p'], { encoding: 'utf8', env: { PATH: path } }).stdout : null;

const missing = NEEDS.filter(({ program, library }) =>
  program === undefined ? typeof libraries === 'string' && !libraries.includes(library) : !isOnPath(program),
);

function isOnPath(/** @type {string} */ program) {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** @param {'debian' | 'fedora' | 'macos'} system */
const packages = (system) => missing.flatMap((need) => need[system] ?? []).join(' ');
const root = process.getuid?.() === 0 ? '' : 'sudo ';

if (process.argv.includes('--packages')) {
  process.stdout.write(`${packages('debian')}\n`);
} else if (missing.length > 0) {
  const commands = [
    ['Debian, Ubuntu', `${root}apt-get update && ${root}apt-get install -y ${packages('debian')}`],
    ['Fedora', `${root}dnf install -y ${packages('fedora')}`],
    ...(packages('macos') === '' ? [] : [['macOS', `brew install ${packages('macos')}`]]),
  ];
  process.stderr.write(
    `The tests need what npm does not bring. Missing here: ${missing.map(({ program, library }) => program ?? library).join(', ')}\n` +
      commands.map(([system, command]) => `  ${`${system}:`.padEnd(16)}${command}\n`).join(''),
  );
  process.exitCode = 1;
}
