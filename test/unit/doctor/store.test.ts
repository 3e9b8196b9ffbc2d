import { link, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock as clock } from '#src/clock.ts';
import { runChecks } from '#src/doctor/diagnosis.ts';
import { checkStore } from '#src/doctor/store.ts';
import { openSqliteStore } from '#src/engine/store/sqlite/store.ts';
import { serveRedis } from '#test/fakes/redis-house.ts';

const logger = pino({ level: 'silent' });
const check = (url: string) =>
  runChecks([{ subject: 'Store', run: () => checkStore(url, { clock, logger }) }], clock, 60_000);

describe('SQLite', () => {
  let dir = '';
  let path = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'dailies-store-'));
    path = join(dir, 'dailies.db');
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('is not created', async () => {
    expect(await check(`sqlite:${path}`)).toMatchObject([
      { level: 'ok', found: expect.stringContaining('not there yet') },
    ]);
    expect(await readdir(dir)).toEqual([]);
  });

  it('names the running bot that uses it, and adds no file', async () => {
    const store = await openSqliteStore(path, { clock, logger });
    const before = await readdir(dir);
    expect(await check(`sqlite:${path}`)).toMatchObject([
      { level: 'ok', found: expect.stringMatching(new RegExp(`WAL; a running bot uses it \\(pid ${process.pid}\\)`)) },
    ]);
    expect(await readdir(dir)).toEqual(before);
    await store.close();
    expect(await check(`sqlite:${path}`)).toMatchObject([
      { level: 'ok', found: expect.stringContaining('no bot uses it') },
    ]);
  });

  it('that is something else, or has a second path, is wrong', async () => {
    await writeFile(path, 'not a database, but long enough for a header');
    expect(await check(`sqlite:${path}`)).toMatchObject([
      { level: 'wrong', found: expect.stringContaining('no SQLite') },
    ]);
    await link(path, join(dir, 'other.db'));
    expect(await check(`sqlite:${path}`)).toMatchObject([
      { level: 'wrong', found: expect.stringContaining('2 hard links') },
    ]);
  });
});

describe('Redis', () => {
  const levels = async (url: string) => (await check(url)).map(({ level, subject }) => `${level} ${subject}`);

  it('is fine with the settings of docs/operations.md', async () => {
    const server = await serveRedis('--maxmemory-policy', 'noeviction');
    expect(await levels(server.url)).toEqual(['ok Store', 'ok Redis', 'ok Redis memory', 'ok Redis replica']);
    expect(await server.command('DBSIZE')).toBe(0);
  });

  it('is reported with every unsafe setting, little memory and a missing replica', async () => {
    const server = await serveRedis('--appendfsync', 'everysec', '--maxmemory-policy', 'volatile-lru');
    await server.command('SET', 'dailies:replica-confirmation', 'required');
    await server.command('CONFIG', 'SET', 'maxmemory', '1100kb');
    const found = await check(server.url);
    expect(found.map(({ level, subject }) => `${level} ${subject}`)).toEqual([
      'ok Store',
      'wrong Redis',
      'wrong Redis',
      'warning Redis memory',
      'wrong Redis replica',
    ]);
    expect(found.map(({ fix }) => fix).join()).toContain('CONFIG SET appendfsync always');
    expect(found.at(-1)?.fix).toContain('--forget-redis-replica');
  });

  it('that cannot be the store, or is not there, is wrong', async () => {
    const server = await serveRedis('--maxmemory-policy', 'allkeys-lru');
    expect(await check(server.url)).toMatchObject([{ level: 'wrong', found: expect.stringContaining('allkeys-lru') }]);
    await server.kill();
    const url = server.url.replace('://', '://someone:hunter2-hunter2@');
    const found = await check(url);
    expect(found).toMatchObject([{ level: 'wrong', subject: 'Store' }]);
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });
});
