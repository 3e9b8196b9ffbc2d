import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { openStore } from '#src/engine/store/open.ts';
import type { Store } from '#src/engine/store/store.ts';
import { serveRedis } from './redis-house.ts';

/** Stores of two replicas with the same content. */
export type ReplicaStores = readonly [Store, Store];

const deps = { logger: pino({ level: 'silent' }) };

async function openAt(url: string): Promise<Store> {
  const store = await openStore(url, deps);
  onTestFinished(() => store.close());
  return store;
}

/** Opens one store for both: SQLite admits one process, so they share its connection. */
async function onSqlite(): Promise<ReplicaStores> {
  const directory = await mkdtemp(join(tmpdir(), 'dailies-replicas-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const store = await openAt(`sqlite:${join(directory, 'd.db')}`);
  return [store, store];
}

async function onRedis(): Promise<ReplicaStores> {
  const { url } = await serveRedis();
  return [await openAt(url), await openAt(url)];
}

/** Every backend with the function that opens the stores of two replicas on it; they are closed when the test ends. */
export const REPLICA_STORES: readonly (readonly [string, () => Promise<ReplicaStores>])[] = [
  ['SQLite', onSqlite],
  ['Redis', onRedis],
];
