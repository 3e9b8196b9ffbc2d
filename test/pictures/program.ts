import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;

/**
 * Runs the program with the embedded video service, in a folder of its own, for the duration of `use`.
 * @param use gets the URL of the program.
 */
export async function withProgram(
  env: Readonly<Record<string, string>>,
  use: (address: string) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'dailies-picture-'));
  const own = { PATH: process.env['PATH'], PORT: '0', STORE_URL: `sqlite:${join(dir, 'dailies.db')}` };
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN], {
    cwd: dir,
    env: { ...own, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const [, found] = /Dailies is ready\..*?(http:\/\/\S+)/.exec(output) ?? [];
        if (found !== undefined) resolve(found);
      });
      child.once('exit', () => reject(new Error(`the program ended:\n${output}`)));
    });
    await use(address);
  } finally {
    child.kill('SIGTERM');
    await ended;
    await rm(dir, { recursive: true });
  }
}
