import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { describeContents } from './contents.contract.ts';
import { describeSharing } from './sharing.contract.ts';
import { type Backend, describeStore } from './store.contract.ts';
import { describeSums } from './sums.contract.ts';

async function onSqlite(): Promise<Backend> {
  const directory = await mkdtemp(join(tmpdir(), 'dailies-store-'));
  const path = join(directory, 'made', 'by', 'the store.db');
  const alter = async (sql: string): Promise<void> => {
    const tool = new DatabaseSync(path);
    tool.exec(sql);
    tool.close();
  };
  return {
    url: `sqlite:${path}`,
    exclusive: true,
    refuseWrites: () =>
      alter(`CREATE TRIGGER no_records BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'refused'); END;
             CREATE TRIGGER no_entries BEFORE INSERT ON index_entries BEGIN SELECT RAISE(ABORT, 'refused'); END;
             CREATE TRIGGER no_sums BEFORE INSERT ON sums BEGIN SELECT RAISE(ABORT, 'refused'); END;`),
    takeWrites: () => alter('DROP TRIGGER no_records; DROP TRIGGER no_entries; DROP TRIGGER no_sums;'),
    damage: (key, text) => alter(`UPDATE records SET value = '${text}' WHERE key = '${key}'`),
    crash: () => Promise.resolve(),
    remove: () => rm(directory, { recursive: true }),
  };
}

async function onRedis(): Promise<Backend> {
  const server = await RedisServer.start();
  return {
    url: server.url,
    exclusive: false,
    refuseWrites: async () => void (await server.command('CONFIG', 'SET', 'maxmemory', '1')),
    takeWrites: async () => void (await server.command('CONFIG', 'SET', 'maxmemory', '0')),
    damage: async (key, text) => void (await server.command('SET', `dailies:tasks::${key}`, text)),
    crash: async () => {
      await server.kill();
      await server.restart();
    },
    remove: () => server.remove(),
  };
}

for (const [name, start] of [
  ['the store on SQLite', onSqlite],
  ['the store on Redis', onRedis],
] as const) {
  describeStore(name, start);
  describeSharing(name, start);
  describeSums(name, start);
  describeContents(name, start);
}
