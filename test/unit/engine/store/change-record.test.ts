import { expect, it } from 'vitest';
import { changeRecord } from '#src/engine/store/change-record.ts';
import type { Versioned } from '#src/engine/store/store.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';

type Count = Versioned & { readonly count: number };

const AT = { namespace: 'waits', key: 'count' } as const;

it('edits a record again after a concurrent change, so that none is lost', async () => {
  const store = new MemoryStore();
  const one = (): Promise<number> =>
    changeRecord<Count, number>(store, AT, (before) => {
      const count = (before?.count ?? 0) + 1;
      return { value: { count }, result: count };
    });
  const results = await Promise.all(Array.from({ length: 5 }, one));
  expect(results.toSorted((low, high) => low - high)).toEqual([1, 2, 3, 4, 5]);
  expect(await store.keyv('waits').get('count')).toEqual({ count: 5, revision: 5 });
});

it('writes nothing without a value, and deletes by null', async () => {
  const store = new MemoryStore();
  expect(await changeRecord<Count, string>(store, AT, () => ({ result: 'same' }))).toBe('same');
  expect(await store.keyv('waits').get('count')).toBeUndefined();
  await changeRecord<Count, null>(store, AT, () => ({ value: { count: 1 }, result: null }));
  await changeRecord<Count, null>(store, AT, () => ({ value: null, result: null }));
  expect(await store.keyv('waits').get('count')).toBeUndefined();
});
