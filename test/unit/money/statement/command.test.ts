import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { openStore } from '#src/engine/store/open.ts';
import { createLogger } from '#src/logger.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { PROGRAM_ENV } from '#test/fakes/program-env.ts';
import { EVENTS, newTask, UPSTREAM } from '#test/fakes/tasks.ts';

const PROGRAM = new URL('../../../../src/money/statement/main.ts', import.meta.url).pathname;
const MAP = ['--map', 'id=task,amount=cost,at=time'];

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'statement-'));
});
afterEach(() => rm(dir, { recursive: true }));

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm run reconcile` in a folder of its own. */
function reconcile(...args: readonly string[]): Promise<Outcome> {
  return reconcileWith({}, ...args);
}

function reconcileWith(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const all = ['--disable-warning=ExperimentalWarning', PROGRAM, ...args];
    execFile(process.execPath, all, { cwd: dir, env: { ...PROGRAM_ENV, ...env } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

const statement = (text: string) => writeFile(join(dir, 'statement.csv'), text);

/** Opens the store of the folder, where one clip was billed. */
async function openBooks(service?: string) {
  const store = await openStore(`sqlite:${join(dir, 'data/dailies.db')}`, {
    logger: createLogger('silent'),
    clock: systemClock,
  });
  const repository = new TaskRepository(store, () => (service === undefined ? 'sandbox' : 'https://api.x.ai'));
  const id = 'task-1' as TaskId;
  const task = newTask({ id });
  const at = service === undefined ? {} : { service };
  await repository.claim([{ ...task, request: { ...task.request, ...at } }]);
  for (const event of [EVENTS.send, EVENTS.accepted, EVENTS.completed]) await repository.record(id, event);
  return store;
}

describe('npm run reconcile', () => {
  it('prints the comparison and each discrepancy', async () => {
    const store = await openBooks();
    await store.close();
    await statement(`task,cost,time\n${UPSTREAM},0.45,2026-11-22\n"\u001b[31mx",0.50,2026-11-30\n`);
    const { code, stdout, stderr } = await reconcile('--statement', 'statement.csv', ...MAP);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^November(?: 2026)?: 2 rows, \$0\.95\. 0 match\. 1 differs by \$0\.15\. 1 not in our records: \$0\.50\.$/mu,
    );
    expect(stdout).toContain(`  differs: ${UPSTREAM} (clip task-1): $0.30 in our books, $0.45 on the statement`);
    expect(stdout).toContain('  not in our records: �[31mx: $0.50');
  });

  it('reads what real statements look like by its options, and says what it left out and let pass', {
    timeout: 600_000,
  }, async () => {
    const store = await openBooks();
    await store.close();
    await statement(`Acme\ntask,cost,time\n${UPSTREAM},31,11/23/2026 10:00 AM\nTotal,31,\n`);
    const options = ['--dates', 'mdy', '--scale', '0.01', '--skip', '1'];
    const exact = await reconcile('--statement', 'statement.csv', ...MAP, ...options);
    expect(exact.stdout).toMatch(/: 1 row, \$0\.31\. 0 match\. 1 differs by \$0\.01\.$/mu);
    const tolerant = ['--statement', 'statement.csv', ...MAP, ...options, '--tolerance', '0.01'];
    const { code, stdout, stderr } = await reconcile(...tolerant);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /: 1 row, \$0\.31\. All match\. 1 row only within the tolerance of 0\.01, off by \$0\.01 in total\.$/mu,
    );
    expect(stdout).toContain('Left out, since they name neither a clip nor a time: line 4 (Total).\nStored.');
    expect((await reconcile(...tolerant)).stdout).toContain('imported before');
  });

  it('fails with one sentence on wrong input, and creates nothing', { timeout: 600_000 }, async () => {
    await statement('task,price,time\nup-1,0.30,2026-10-03\n');
    const fails = async (sentence: string, ...args: readonly string[]) => {
      const { code, stdout, stderr } = await reconcile(...args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(sentence);
      expect(stderr).not.toContain('    at ');
    };
    await fails('Usage: npm run reconcile');
    await fails('Usage: npm run reconcile', '--statement', 'statement.csv', '--nonsense');
    await fails('There is no file none.csv', '--statement', 'none.csv', ...MAP);
    await fails('no column named "cost"', '--statement', 'statement.csv', ...MAP);
    await fails('--decimal takes point or comma', '--statement', 'statement.csv', ...MAP, '--decimal', 'dot');
    await fails('--currency takes a currency', '--statement', 'statement.csv', ...MAP, '--currency', '$');
    const given = ['--statement', 'statement.csv', ...MAP];
    await fails('--dates takes mdy or dmy or ymd', ...given, '--dates', 'us');
    await fails('--scale takes a number above 0', ...given, '--scale', '0');
    await fails('--tolerance takes a number above 0', ...given, '--tolerance', '1%');
    await fails('--skip takes a number of lines', ...given, '--skip', 'all');
    const byNumber = ['--map', 'id=1,amount=2,at=3'];
    await fails('There is no store data/dailies.db', '--statement', 'statement.csv', ...byNumber);
    expect(existsSync(join(dir, 'data'))).toBe(false);
  });

  it('says what to do while a bot holds the books', { timeout: 600_000 }, async () => {
    const store = await openBooks();
    await statement('task,cost,time\nup-1,0.30,2026-10-03\n');
    const { code, stderr } = await reconcile('--statement', 'statement.csv', ...MAP);
    await store.close();
    expect(code).toBe(1);
    expect(stderr).toContain('stop the bot, run this command, start the bot again');
  });

  it('compares the clips of the only service without its name, and asks which of several it is', {
    timeout: 600_000,
  }, async () => {
    await (await openBooks('grok')).close();
    await statement('task,cost,time\nelse,0.50,2026-11-30\n');
    const services = (...names: readonly string[]) =>
      writeFile(
        join(dir, 'services.json'),
        JSON.stringify({ services: names.map((name) => ({ name, dialect: 'xai', key: { env: 'SOME_KEY' } })) }),
      );
    const run = () =>
      reconcileWith(
        { SERVICES: 'services.json', SOME_KEY: 'sk' },
        '--statement',
        'statement.csv',
        ...MAP,
        '--currency',
        'USD',
      );
    await services('other', 'grok');
    expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('SERVICES names other, grok') });
    await services('grok');
    const { stdout, stderr } = await run();
    expect(stderr).toBe('');
    expect(stdout).toMatch(/task-1/u);
  });
});
