import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const source = (name: string): string => new URL(`../../src/${name}.ts`, import.meta.url).href;

/** Returns the arguments of a process that runs `statement` once it is up; its closing logs a line. */
function script(statement: string): string[] {
  const code = `
    import { runUntilStopped } from '${source('lifecycle')}';
    import { createLogger } from '${source('logger')}';
    const logger = createLogger('info');
    const unhandled = (kind) => logger.info({ kind }, 'counted');
    await runUntilStopped({ logger, unhandled, stopsAtHangup: true, drainMs: 60_000 }, async ({ opened }) => {
      opened({ name: 'a part', stop: () => logger.info('closed') });
      setInterval(() => undefined, 60_000);
      ${statement}
    });
    logger.info('running');`;
  return ['--input-type=module', '--eval', code];
}

async function ended(statement: string): Promise<{ readonly code: unknown; readonly said: readonly string[] }> {
  const run = promisify(execFile)(process.execPath, script(statement));
  const { stdout, code } = await run.then(
    (output) => ({ ...output, code: 0 }),
    (failed: { readonly stdout: string; readonly code: unknown }) => failed,
  );
  const said = stdout.split('\n').filter((line) => line !== '');
  return { code, said: said.map((line) => (JSON.parse(line) as { readonly msg: string }).msg) };
}

it('continues after an unhandled rejection, and counts it', async () => {
  const { code, said } = await ended(`
    void Promise.reject(new Error('forgotten'));
    setTimeout(() => process.kill(process.pid, 'SIGTERM'), 50);`);
  expect(code).toBe(0);
  expect(said).toEqual([
    'running',
    'counted',
    'unhandled promise rejection; continuing',
    'shutting down: draining jobs and requests in flight',
    'closed',
    'stopped',
  ]);
});

it('closes everything after an uncaught exception, and exits with 1', async () => {
  const { code, said } = await ended("setTimeout(() => { throw new Error('broken'); }, 1);");
  expect(code).toBe(1);
  expect(said.slice(1)).toEqual([
    'counted',
    'uncaught exception; draining and exiting',
    'shutting down: draining jobs and requests in flight',
    'closed',
    'stopped',
  ]);
});

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('closes everything at %s, and exits with 0', async (signal) => {
  const child = spawn(process.execPath, script(''), { stdio: ['ignore', 'pipe', 'inherit'] });
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    said.push((JSON.parse(line) as { readonly msg: string }).msg);
    if (said.length === 1) child.kill(signal);
  });
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(said).toEqual(['running', 'shutting down: draining jobs and requests in flight', 'closed', 'stopped']);
});
