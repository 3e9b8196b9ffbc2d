import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '#src/engine/store/open.ts';
import type { Store } from '#src/engine/store/store.ts';
import { ZERO_SUM } from '#src/engine/store/sums.ts';
import type { Backend } from './store.contract.ts';

const OTHERS = ['cards', 'posts', 'a'];

/** Contract of every store for reading its whole contents. */
export function describeContents(name: string, start: () => Promise<Backend>): void {
  describe(`the contents of ${name}`, () => {
    let backend: Backend;
    let store: Store;

    const records = async (namespace: string) => (await Array.fromAsync(store.contents.records(namespace))).flat();

    beforeEach(async () => {
      backend = await start();
      store = await openStore(backend.url, { logger: pino({ level: 'silent' }) });
    });

    afterEach(async () => {
      await store.close();
      await backend.remove();
    });

    it('returns every record of a namespace once, under its key', async () => {
      const keys = [...Array.from({ length: 2_500 }, (_, at) => `key-${at}`), 'a::b', '*', '[x]', '🦊 é', 'A', 'a'];
      await Promise.all(
        keys.map((key) =>
          store.commit({ records: [{ namespace: 'tasks', key, value: { key, colon: ':' }, expected: 'absent' }] }),
        ),
      );
      for (const namespace of OTHERS) await store.keyv(namespace).set('one', namespace);
      const found = await records('tasks');
      expect(found.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
      expect(found.every(({ key, value }) => (value as { key: string }).key === key)).toBe(true);
      expect(found[0]?.value).toMatchObject({ colon: ':' });
      for (const namespace of OTHERS) {
        expect(await records(namespace)).toEqual([{ key: 'one', value: namespace }]);
      }
    });

    it('returns the expiry of a record, and omits expired records', async () => {
      const nowMs = Date.now();
      await store.keyv('adapters').set('ending', { a: 1 }, 3_600_000);
      await store.keyv('adapters').set('ended', { a: 1 }, 20);
      await expect.poll(async () => (await records('adapters')).map(({ key }) => key)).toEqual(['ending']);
      const [record] = await records('adapters');
      expect(record?.value).toEqual({ a: 1 });
      expect((record?.endsAtMs ?? 0) - nowMs).toBeGreaterThan(3_590_000);
      expect((record?.endsAtMs ?? 0) - nowMs).toBeLessThan(3_700_000);
    });

    it('lists the namespaces that have records', async () => {
      expect(await store.contents.namespaces()).toEqual([]);
      await store.leases.take('replica:a', 60_000);
      const index = [{ index: 'open', member: 'tasks::a', score: 1 }];
      await store.commit({ records: [], index, sums: [{ sum: 'team', add: { held: 1n } }] });
      for (const namespace of OTHERS) await store.keyv(namespace).set('a::b', { a: 1 });
      await store.keyv('gone').set('a', { a: 1 });
      await store.keyv('gone').delete('a');
      expect((await store.contents.namespaces()).toSorted()).toEqual(OTHERS.toSorted());
    });

    it('lists the indexes that have entries', async () => {
      const entry = (index: string, score: number | null) => ({ index, member: 'a', score });
      await store.commit({ records: [], index: [entry('open', 1), entry('history:t:c', 2), entry('gone', 3)] });
      await store.commit({ records: [], index: [entry('gone', null)] });
      expect((await store.contents.indexes()).toSorted()).toEqual(['history:t:c', 'open']);
    });

    it('returns every sum once', async () => {
      const names = Array.from({ length: 2_500 }, (_, at) => `team:${at}`);
      const sums = names.map((sum, at) => ({ sum, add: { held: BigInt(at + 1) } }));
      await store.commit({ records: [], sums });
      const found = (await Array.fromAsync(store.contents.sums())).flat();
      expect(found).toHaveLength(names.length);
      const held = new Map(found.map(({ sum, parts }) => [sum, parts.held]));
      expect(names.filter((name, at) => held.get(name) !== BigInt(at + 1))).toEqual([]);
    });

    it('has no sum to which nothing was added', async () => {
      const sums = [
        { sum: 'a', add: { held: 0n } },
        { sum: 'b', add: {} },
        ...[1n, -1n].map((held) => ({ sum: 'c', add: { held } })),
      ];
      await store.commit({ records: [], sums });
      expect((await Array.fromAsync(store.contents.sums())).flat()).toEqual([]);
    });

    it('sets sums, however often, and deletes them', async () => {
      const parts = { held: 2n ** 60n, settled: -1n, doubted: 0n, extra: 5n };
      await store.commit({ records: [], sums: ['a', 'b'].map((sum) => ({ sum, add: { held: 3n, settled: 3n } })) });
      for (let time = 0; time < 2; time += 1) {
        await store.contents.setSums([
          { sum: 'a', parts },
          { sum: 'b', parts: null },
          { sum: 'c', parts },
        ]);
      }
      const found = (await Array.fromAsync(store.contents.sums())).flat();
      expect(found.toSorted((one, other) => (one.sum < other.sum ? -1 : 1))).toEqual([
        { sum: 'a', parts },
        { sum: 'c', parts },
      ]);
      await store.commit({ records: [], sums: [{ sum: 'a', add: { held: 1n } }] });
      expect(await store.sums(['a', 'b'])).toEqual([{ ...parts, held: parts.held + 1n }, ZERO_SUM]);
    });

    it('drops sums of zeros, and no other', async () => {
      const sums = ['a', 'b', 'c'].map((sum) => ({ sum, add: { held: 3n, extra: 1n } }));
      await store.commit({ records: [], sums });
      await store.commit({ records: [], sums: ['a', 'b'].map((sum) => ({ sum, add: { held: -3n } })) });
      await store.commit({ records: [], sums: [{ sum: 'a', add: { extra: -1n } }] });
      await store.contents.dropEmptySums(['a', 'b', 'c', 'unknown']);
      const found = (await Array.fromAsync(store.contents.sums())).flat();
      expect(found.map(({ sum }) => sum).sort()).toEqual(['b', 'c']);
    });

    it('goes on after it has overwritten what was deleted', async () => {
      await store.keyv('tasks').set('a', { text: 'gone' });
      await store.keyv('tasks').delete('a');
      await store.contents.overwriteDeleted();
      await store.keyv('tasks').set('b', { text: 'here' });
      expect(await records('tasks')).toHaveLength(1);
    });

    it('has no trace of sums among records and indexes, where an earlier version would find it', async () => {
      await store.commit({ records: [], sums: [{ sum: 'tasks::a', add: { held: 3n } }] });
      expect(await store.contents.namespaces()).toEqual([]);
      expect(await records('tasks')).toEqual([]);
      expect(await store.contents.indexes()).toEqual([]);
    });

    it('lists the leases of the processes that share it', async () => {
      await store.leases.take('replica:a', 60_000);
      await store.leases.take('other', 60_000);
      expect(await store.contents.leases('replica:')).toEqual(backend.exclusive ? [] : ['replica:a']);
    });

    it('rejects every call after close', async () => {
      await store.close();
      const unavailable = { code: 'store_unavailable' };
      await expect(records('tasks')).rejects.toMatchObject(unavailable);
      await expect(store.contents.indexes()).rejects.toMatchObject(unavailable);
      await expect(Array.fromAsync(store.contents.sums())).rejects.toMatchObject(unavailable);
      await expect(store.contents.setSums([])).rejects.toMatchObject(unavailable);
    });
  });
}
