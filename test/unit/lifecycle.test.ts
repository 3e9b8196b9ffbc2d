import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const source = (name: string): string => new URL(`../../src/${name}.ts`, import.meta.url).href;

/** A process that runs `statement` once it is up; what is opened says so when it is closed. */
function script(statement: string): string[] {
  const code = `
    import { runUntilStopped } from '${source('lifecycle')}';
    import { createLogger } from '${source('logger')}';
    const logger = createLogger('info');
    const unhandled = (kind) => logger.info({ kind }, 'counted');
    await runUntilStopped({ logger, unhandled, stopsAtHangup: true, drainMs: 60_000 }, async ({ closings }) => {
      closings.unshift(() => logger.info('closed'));
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

it('goes on after a rejection that nothing handled, and counts it', async () => {
  const { code, said } = await ended(`
    void Promise.reject(new Error('forgotten'));
    setTimeout(() => process.kill(process.pid, 'SIGTERM'), 50);`);
  expect(code).toBe(0);
  expect(said).toEqual([
    'running',
    'counted',
    'a promise was rejected and nothing handled it; the process goes on',
    'stopping: finishing what is under way',
    'closed',
    'stopped',
  ]);
});

it('closes everything after an exception that nothing caught, and ends with 1', async () => {
  const { code, said } = await ended("setTimeout(() => { throw new Error('broken'); }, 1);");
  expect(code).toBe(1);
  expect(said.slice(1)).toEqual([
    'counted',
    'an exception was not caught; the process drains and ends',
    'stopping: finishing what is under way',
    'closed',
    'stopped',
  ]);
});

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('closes everything at %s, and ends with 0', async (signal) => {
  const child = spawn(process.execPath, script(''), { stdio: ['ignore', 'pipe', 'inherit'] });
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    said.push((JSON.parse(line) as { readonly msg: string }).msg);
    if (said.length === 1) child.kill(signal);
  });
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(said).toEqual(['running', 'stopping: finishing what is under way', 'closed', 'stopped']);
});
