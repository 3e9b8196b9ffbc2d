import { onTestFinished } from 'vitest';
import { openRedisStore } from '#src/engine/store/redis/store.ts';
import type { Store, StoreDeps } from '#src/engine/store/store.ts';
import { RedisServer } from './redis-server.ts';

/** Commands that make a Redis reject writes, commands that undo that, and Dailies' error texts. */
export const REDIS_OUTAGES = [
  {
    what: 'full',
    begin: ['CONFIG', 'SET', 'maxmemory', '1'],
    end: ['CONFIG', 'SET', 'maxmemory', '0'],
    sentence: 'Redis is full: raise its maxmemory',
  },
  {
    what: 'read-only',
    begin: ['REPLICAOF', '127.0.0.1', '1'],
    end: ['REPLICAOF', 'NO', 'ONE'],
    sentence: 'this Redis is a replica and takes no writes',
  },
] as const;

/**
 * Starts a Redis for the current test and removes it when the test ends; `settings` as on redis-server's command line.
 */
export async function serveRedis(...settings: readonly string[]): Promise<RedisServer> {
  const server = await RedisServer.start(...settings);
  onTestFinished(() => server.remove());
  return server;
}

/** Opens a store on the Redis at `url`; it is closed when the test ends. */
export async function openRedis(url: string, deps: StoreDeps): Promise<Store> {
  const store = await openRedisStore(url, deps);
  onTestFinished(() => store.close());
  return store;
}
