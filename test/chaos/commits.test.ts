import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openStore } from '#src/engine/store/open.ts';
import type { Store } from '#src/engine/store/store.ts';
import { ZERO_SUM } from '#src/engine/store/sums.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import { type MoneyCommit, readRedisCommits, readSqliteCommits, watchSqlite } from './commits.ts';

const open = (url: string): Promise<Store> => openStore(url, { logger: pino({ level: 'silent' }) });

/** Commits, with changes between that concern no money or are refused. */
async function commitSome(store: Store): Promise<void> {
  const task = { namespace: 'tasks', key: 't', value: { revision: 1, prompt: ':)\r\n$3\r\n🦊' } } as const;
  const budget = { namespace: 'budgets', key: 'team', value: { revision: 1, hard: { USD: '5' } } } as const;
  const hold = { sum: 'team:2026-11:USD', add: { held: 4n } };
  const within = [{ sum: 'team:2026-11:USD', budgets: ['team'], currency: 'USD' }];
  await store.commit({ records: [{ ...budget, expected: 'absent' }] });
  await store.commit({ records: [{ ...task, expected: 'absent' }], sums: [hold], within });
  await store.commit({ records: [{ ...task, key: 'refused', expected: 'absent' }], sums: [hold], within });
  await store.keyv('cards').set('t', { text: 'unrelated' });
  const settled = { sum: hold.sum, add: { held: -4n, settled: 4n } };
  await store.commit({ records: [{ ...task, value: { revision: 2 }, expected: 1 }], sums: [settled] });
  const approvers = { namespace: 'approvers', key: 'playground:T1' } as const;
  await store.keyv('posts').set('t', { text: 'unrelated' });
  await store.commit({
    records: [
      { ...approvers, value: { revision: 1, approvers: [] }, expected: 'absent' },
      { namespace: 'audit', key: 'head:playground:T1', value: { revision: 1 }, expected: 'absent' },
      { namespace: 'audit', key: 'entry:playground:T1#1', value: { revision: 1, number: 1 }, expected: 'absent' },
    ],
  });
  await store.commit({ records: [{ ...budget, value: null, expected: 1 }] });
}

const COMMITS: readonly MoneyCommit[] = [
  [{ of: 'budget', key: 'team', value: expect.objectContaining({ hard: { USD: '5' } }) }],
  [
    { of: 'task', key: 't', value: expect.objectContaining({ revision: 1, prompt: ':)\r\n$3\r\n🦊' }) },
    { of: 'sum', key: 'team:2026-11:USD', parts: { ...ZERO_SUM, held: 4n } },
  ],
  [
    { of: 'task', key: 't', value: expect.objectContaining({ revision: 2 }) },
    { of: 'sum', key: 'team:2026-11:USD', parts: { ...ZERO_SUM, settled: 4n } },
  ],
  [
    { of: 'approvers', key: 'playground:T1', value: expect.objectContaining({ approvers: [] }) },
    { of: 'audit', key: 'entry:playground:T1#1', value: expect.objectContaining({ number: 1 }) },
  ],
  [{ of: 'budget', key: 'team', value: null }],
];

/** SQLite's log does not separate commits without sums from the next one. */
const isSame = (commits: readonly MoneyCommit[]) => expect(commits.flat()).toEqual(COMMITS.flat());

test('reads every commit of a Redis in order, across a crash', async () => {
  const redis = await RedisServer.start('--auto-aof-rewrite-percentage', '0');
  const store = await open(redis.url);
  await commitSome(store);
  await store.close();
  await redis.kill();
  await redis.restart();
  const later = await open(redis.url);
  await later.commit({ records: [], sums: [{ sum: 'team:2026-11:USD', add: { doubted: 1n } }] });
  await later.close();
  const commits = await readRedisCommits(redis.directory);
  expect(commits.slice(0, COMMITS.length)).toEqual(COMMITS);
  expect(commits.slice(COMMITS.length)).toEqual([
    [{ of: 'sum', key: 'team:2026-11:USD', parts: { ...ZERO_SUM, settled: 4n, doubted: 1n } }],
  ]);
  await redis.remove();
});

test('reads every commit of a database in order', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dailies-commits-'));
  const path = join(folder, 'store.db');
  const store = await open(`sqlite:${path}`);
  watchSqlite(path);
  watchSqlite(path);
  await commitSome(store);
  isSame(readSqliteCommits(path));
  await store.close();
  isSame(readSqliteCommits(path));
  await rm(folder, { recursive: true });
});
