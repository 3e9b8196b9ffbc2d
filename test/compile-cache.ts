import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { startDiscord } from '#test/fakes/discord/index.ts';
import { PROGRAM_ENV } from '#test/fakes/program-env.ts';
import { startSlack } from '#test/fakes/slack/index.ts';

const TOP = fileURLToPath(new URL('..', import.meta.url));
const FLAGS = ['--disable-warning=ExperimentalWarning'];
/** Modules that the program does not load on SQLite. */
const MODULES = ['src/engine/store/redis/store.ts', 'src/engine/queue/bullmq/queue.ts'];

/**
 * Fills the compile cache named by `NODE_COMPILE_CACHE`, once before all tests: the program is started some two hundred
 * times, and most of a start is compilation. A killed process, as most of them are, writes no cache itself; one that
 * only imports the modules would write few of their functions, as these are compiled when they are first called.
 *
 * @see https://nodejs.org/api/module.html#module-compile-cache
 */
export default async function fillCompileCache(): Promise<void> {
  await startAndStop();
  const imports = MODULES.map((path) => `await import('./${path}');`).join('\n');
  const evaluated = ['--input-type=module', '--eval', `${imports}\nprocess.exit(0);`];
  await promisify(execFile)(process.execPath, [...FLAGS, ...evaluated], { cwd: TOP });
}

/** Starts the program on every platform, and stops it once it is ready. */
async function startAndStop(): Promise<void> {
  const discord = await startDiscord();
  const slack = await startSlack({ manifest: slackManifest(null) });
  const cwd = await mkdtemp(join(tmpdir(), 'dailies-compile-cache-'));
  const env = { ...PROGRAM_ENV, ...discord.env, ...slack.env, PLAYGROUND: 'on', PORT: '0', LOG_LEVEL: 'fatal' };
  const program = spawn(process.execPath, [...FLAGS, join(TOP, 'src', 'main.ts')], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 60_000,
  });
  // The first thing it prints is that it is ready.
  program.stdout.once('data', () => program.kill('SIGTERM'));
  await once(program, 'exit');
  await Promise.all([discord.close(), slack.close(), rm(cwd, { recursive: true })]);
}
