import { expect, it } from 'vitest';
import { type CachedResponse, ResponseCache } from '#adapters/playground/response-cache.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';

const answer = (message: string): CachedResponse => ({ status: 202, body: { message } });

it('gives the answer of the replica that took over while this one stood still', async () => {
  const store = new MemoryStore();
  const clock = new ManualClock(0);
  const cache = new ResponseCache(store, clock);
  const response = await cache.once('key', 'ada', async () => {
    await store.keyv('playground_responses').set('key', { ...answer('theirs'), atMs: 1 });
    return answer('ours');
  });
  expect(response).toEqual(answer('theirs'));
  expect(await cache.once('key', 'ada', async () => answer('again'))).toEqual(answer('theirs'));
});
