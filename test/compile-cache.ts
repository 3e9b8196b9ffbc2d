import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const TOP = fileURLToPath(new URL('..', import.meta.url));
/** Modules of the program, including those loaded only with certain configurations. */
const MODULES = [
  'adapters/discord/index.ts',
  'adapters/playground/index.ts',
  'adapters/slack/index.ts',
  'commands/bot.ts',
  'src/http/server.ts',
  'src/metrics/metrics.ts',
  'src/sandbox/embedded.ts',
  'src/config/settings.ts',
  'src/store/redis/store.ts',
  'src/store/sqlite/store.ts',
  'src/queue/bullmq/queue.ts',
];

/**
 * Fills the compile cache named by `NODE_COMPILE_CACHE`, once before all tests: the program is started some two hundred
 * times, and most of a start is compilation. A killed process, as most of them are, writes no cache itself.
 *
 * @see https://nodejs.org/api/module.html#module-compile-cache
 */
export default async function fillCompileCache(): Promise<void> {
  const imports = MODULES.map((path) => `await import('./${path}');`).join('\n');
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '--eval',
    `${imports}\nprocess.exit(0);`,
  ];
  await promisify(execFile)(process.execPath, flags, { cwd: TOP });
}
