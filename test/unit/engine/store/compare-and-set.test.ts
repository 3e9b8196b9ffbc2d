import { expect, it } from 'vitest';
import { atMost, changeRecord, commitWithRetries } from '#src/engine/store/compare-and-set.ts';
import type { Change, Versioned } from '#src/engine/store/store.ts';
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

const FIRST: Change = { records: [{ ...AT, value: { count: 1, revision: 1 }, expected: 'absent' }] };

it('decides again where a commit was refused, and reports what is committed once', async () => {
  const store = new MemoryStore();
  await store.commit(FIRST);
  const [numbers, committed]: [number[], number[]] = [[], []];
  const result = await commitWithRetries(store, async (number) => {
    numbers.push(number);
    const second: Change = { records: [{ ...AT, value: { count: 2, revision: 2 }, expected: 1 }] };
    return { change: number < 3 ? FIRST : second, result: number, committed: () => void committed.push(number) };
  });
  expect({ result, numbers, committed }).toEqual({ result: 3, numbers: [1, 2, 3], committed: [3] });
  expect(await store.keyv('waits').get('count')).toEqual({ count: 2, revision: 2 });
});

it('returns why a commit was refused where that is an answer, and tries again where it is none', async () => {
  const store = new MemoryStore();
  await store.commit(FIRST);
  const answers = [undefined, 'full'];
  const result = await commitWithRetries<string>(store, async () => ({
    change: FIRST,
    result: 'done',
    refused: async () => answers.shift(),
  }));
  expect(result).toBe('full');
  expect(answers).toEqual([]);
});

it('gives up after as many tries as are allowed', async () => {
  const store = new MemoryStore();
  await store.commit(FIRST);
  let tried = 0;
  const attempt = async () => {
    tried += 1;
    return { change: FIRST, result: 'done' };
  };
  const given = commitWithRetries(store, attempt, atMost(4, 'counting'));
  await expect(given).rejects.toMatchObject({
    code: 'overloaded',
    retryable: true,
    message: expect.stringContaining('4'),
  });
  expect(tried).toBe(4);
  expect(await commitWithRetries(store, attempt, { tries: 2, giveUp: () => 'given up' })).toBe('given up');
});
