import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const logger = new URL('../../src/logger.ts', import.meta.url).href;

/** Returns the output of a process that runs these log statements. */
async function printed(level: string, statement: string): Promise<Record<string, unknown>[]> {
  const script = `import { createLogger } from '${logger}'; const logger = createLogger('${level}'); ${statement}`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

it('writes one line of JSON, with the time and the name of the level', async () => {
  const [line] = await printed('info', "logger.info({ task: 't1' }, 'a task ended')");
  expect(line).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    task: 't1',
    msg: 'a task ended',
  });
});

it('writes nothing below its level', async () => {
  expect(await printed('warn', "logger.info('no'); logger.debug('no'); logger.warn('yes')")).toMatchObject([
    { msg: 'yes' },
  ]);
});

it('redacts secrets, at the top level and one level below', async () => {
  const fields = ['token', 'authorization', 'Authorization', 'secret', 'password', 'cookie', 'apiToken'];
  const secrets = Object.fromEntries(fields.map((field) => [field, 'hunter2']));
  const lines = await printed(
    'info',
    `const s = ${JSON.stringify(secrets)}; logger.info({ ...s, headers: s, task: 't' }, 'x')`,
  );
  expect(JSON.stringify(lines)).not.toContain('hunter2');
  expect(lines[0]).toMatchObject({ task: 't', token: '[hidden]', headers: { authorization: '[hidden]' } });
});

it('leaves out what a remote side said, which may quote a prompt', async () => {
  const error = "Object.assign(new Error('HTTP 400'), { code: 'bad_request', words: 'not allowed: a red fox' })";
  const [line] = await printed('trace', `logger.warn({ event: 'create_not_accepted', err: ${error} }, 'x')`);
  expect(line).toMatchObject({ err: { message: 'HTTP 400', code: 'bad_request' } });
  expect(JSON.stringify(line)).not.toContain('fox');
});

it('says once what an error and its cause both say, and both where they differ', async () => {
  const thrown = (message: string, cause: string) => `new Error('${message}', { cause: new Error('${cause}') })`;
  const same = thrown('introducing the bot: invalid_auth', 'invalid_auth');
  const other = thrown('reading the record', 'unexpected end');
  const lines = await printed('info', `for (const err of [${same}, ${other}]) logger.warn({ err }, 'x')`);
  expect(lines.map(({ err }) => (err as Error).message)).toEqual([
    'introducing the bot: invalid_auth',
    'reading the record: unexpected end',
  ]);
  expect(JSON.stringify(lines)).toContain('caused by: Error: invalid_auth');
});
