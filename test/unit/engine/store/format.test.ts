import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { openConfiguredStore } from '#src/engine/store/open.ts';
import { LOOK_EVERY_MS } from '#src/engine/store/redis/writer.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { openRedis, serveRedis } from '#test/fakes/redis-house.ts';
import { temporaryFolder } from '#test/fakes/sandbox-client.ts';

const logger = pino({ level: 'silent' });
const CLAIM = { records: [{ namespace: 'tasks', key: 'a', value: { revision: 1 }, expected: 'absent' }] } as const;

function refused(format: string): object {
  const message = expect.stringMatching(
    `^opening the store: it ${format}, and this version of Dailies reads format 2 alone; nothing was changed: ` +
      'let STORE_URL name an empty store, or start the version that made this one ',
  );
  return { code: 'store_unavailable', retryable: false, message };
}

describe('an SQLite file', () => {
  it('is reopened in the format that it was created with', async () => {
    const url = `sqlite:${join(await temporaryFolder(), 'dailies.db')}`;
    const created = await openConfiguredStore(url, { logger });
    await created.commit(CLAIM);
    await created.close();
    const reopened = await openConfiguredStore(url, { logger });
    expect(await reopened.keyv('tasks').get('a')).toEqual({ revision: 1 });
    await reopened.close();
  });

  it.each([
    ['states no format', 0],
    ['has format 3', 3],
  ])('that %s is refused in one sentence, and left as it was', async (format, version) => {
    const path = join(await temporaryFolder(), 'dailies.db');
    const database = new DatabaseSync(path);
    database.exec(`CREATE TABLE records (namespace TEXT, key TEXT, value TEXT); PRAGMA user_version = ${version}`);
    database.close();
    const before = readFileSync(path);
    await expect(openConfiguredStore(`sqlite:${path}`, { logger })).rejects.toMatchObject(refused(format));
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

describe('a Redis', () => {
  it('is shared in the format that the first process stated', async () => {
    const { url } = await serveRedis();
    const first = await openRedis(url, { clock: systemClock, logger });
    await first.commit(CLAIM);
    const second = await openRedis(url, { clock: systemClock, logger });
    expect(await second.keyv('tasks').get('a')).toEqual({ revision: 1 });
  });

  it('with records that states no format is refused, and left as it was', async () => {
    const server = await serveRedis();
    await server.command('SET', 'dailies:tasks::a', '{"value":{"revision":1}}');
    await expect(openConfiguredStore(server.url, { logger })).rejects.toMatchObject(refused('states no format'));
    expect(await server.command('KEYS', '*')).toEqual(['dailies:tasks::a']);
  });

  it('of a later format is refused', async () => {
    const server = await serveRedis();
    await server.command('SET', 'dailies:format', '3');
    await expect(openConfiguredStore(server.url, { logger })).rejects.toMatchObject(refused('has format 3'));
  });

  it('that lost its data while it was used has the format of its next records', async () => {
    const server = await serveRedis();
    const clock = new ManualClock();
    const store = await openRedis(server.url, { clock, logger });
    await server.command('FLUSHALL');
    await store.commit(CLAIM);
    clock.advance(LOOK_EVERY_MS);
    await expect.poll(() => server.command('GET', 'dailies:format')).toBe('2');
    await openRedis(server.url, { clock: systemClock, logger });
  });
});
