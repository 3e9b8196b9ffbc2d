import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openStore } from '#src/engine/store/open.ts';
import type { Change, Namespace, RecordWrite, Store } from '#src/engine/store/store.ts';
import { StoreChild } from '#test/fakes/store-child.ts';

/** Backend for one store of one test. */
export interface Backend {
  readonly url: string;
  /** Expected value of {@link Store.exclusive}. */
  readonly exclusive: boolean;
  /** Makes it refuse writes from now on; reads still work. */
  refuseWrites(): Promise<void>;
  takeWrites(): Promise<void>;
  /** Overwrites the text of a record of `tasks`, bypassing the store. */
  damage(key: string, text: string): Promise<void>;
  /** Kills the backend's own process, if it has one, and restarts it. */
  crash(): Promise<void>;
  remove(): Promise<void>;
}

const NAMESPACE: Namespace = 'tasks';
const UNAVAILABLE = { code: 'store_unavailable', retryable: true };

function write(key: string, value: object | null, expected: 'absent' | 'any' | number = 'any'): Change {
  return { records: [{ namespace: NAMESPACE, key, value, expected }] };
}

function entries(index: string, scores: Readonly<Record<string, number | null>>): Change {
  return { records: [], index: Object.entries(scores).map(([member, score]) => ({ index, member, score })) };
}

/** Contract of every store. */
export function describeStore(name: string, start: () => Promise<Backend>): void {
  describe(name, () => {
    let backend: Backend;
    let store: Store;
    const open = (): Promise<Store> => openStore(backend.url, { logger: pino({ level: 'silent' }) });
    const read = (key: string): Promise<unknown> => store.keyv(NAMESPACE).get(key);
    const members = async (index: string): Promise<string[]> => (await store.scan(index)).map(({ member }) => member);

    beforeEach(async () => {
      backend = await start();
      store = await open();
    });

    afterEach(async () => {
      await store.close();
      await backend.remove();
    });

    it('reports whether this process holds it alone', () => {
      expect(store.exclusive).toBe(backend.exclusive);
    });

    describe('records', () => {
      it('reads through Keyv exactly what a commit wrote', async () => {
        const value = {
          revision: 1,
          prompt: ':) "quoted"\n🦊',
          list: [':', '::a', ':base64:YQ=='],
          none: null,
          deep: { ':k': 1.5 },
        };
        expect(await store.commit(write('a', value, 'absent'))).toBe(true);
        expect(await read('a')).toEqual(value);
      });

      it('commits over records that Keyv wrote', async () => {
        await store.keyv(NAMESPACE).set('a', { revision: 4 });
        expect(await store.commit(write('a', { revision: 9 }, 'absent'))).toBe(false);
        expect(await store.commit(write('a', { revision: 9 }, 3))).toBe(false);
        expect(await store.commit(write('a', { revision: 5 }, 4))).toBe(true);
        expect(await read('a')).toEqual({ revision: 5 });
      });

      it('reads many in the requested order, undefined for missing ones', async () => {
        await store.commit(write('a', { n: 1 }));
        await store.commit(write('c', { n: 3 }));
        expect(await store.keyv(NAMESPACE).getMany(['c', 'b', 'a'])).toEqual([{ n: 3 }, undefined, { n: 1 }]);
      });

      it('keeps namespaces apart', async () => {
        await store.keyv('cards').set('a', 1);
        await store.keyv('adapters').set('a', 2);
        await store.keyv('adapters').clear();
        expect(await store.keyv('cards').get('a')).toBe(1);
        expect(await store.keyv('adapters').get('a')).toBeUndefined();
      });

      it('deletes by commit and by Keyv', async () => {
        await store.commit(write('a', { revision: 1 }));
        expect(await store.commit(write('a', null, 2))).toBe(false);
        expect(await store.commit(write('a', null, 1))).toBe(true);
        expect(await read('a')).toBeUndefined();
        expect(await store.commit(write('a', { revision: 1 }, 'absent'))).toBe(true);
        expect(await store.keyv(NAMESPACE).delete('a')).toBe(true);
        expect(await store.keyv(NAMESPACE).delete('a')).toBe(false);
        expect(await read('a')).toBeUndefined();
      });

      it('compares revisions only with records that have one', async () => {
        await store.commit(write('a', { name: 'no revision' }));
        expect(await store.commit(write('a', { revision: 1 }, 0))).toBe(false);
        expect(await store.commit(write('nobody', { revision: 1 }, 0))).toBe(false);
      });

      it('compares a record without a value, and leaves it as it is', async () => {
        const there = { revision: 2, name: 'a' };
        await store.commit(write('a', there));
        const beside = (key: string, expected: 'absent' | number): Change => ({
          records: [...write('b', { revision: 1 }).records, { namespace: NAMESPACE, key, expected }],
        });
        for (const refused of [beside('a', 1), beside('a', 'absent'), beside('c', 1)])
          expect(await store.commit(refused)).toBe(false);
        expect(await read('b')).toBeUndefined();
        for (const done of [beside('a', 2), beside('c', 'absent')]) expect(await store.commit(done)).toBe(true);
        expect([await read('a'), await read('b'), await read('c')]).toEqual([there, { revision: 1 }, undefined]);
      });

      it('treats an expired record as absent', async () => {
        await store.keyv(NAMESPACE).set('a', { revision: 1 }, 40);
        await vi.waitFor(
          async () => expect(await store.commit(write('a', { revision: 7 }, 'absent'))).toBe(true),
          300_000,
        );
        expect(await read('a')).toEqual({ revision: 7 });
      });

      it('keeps a record that a commit wrote over one with a TTL', async () => {
        await store.keyv(NAMESPACE).set('a', { revision: 1 }, 40);
        await store.keyv(NAMESPACE).set('witness', 1, 40);
        await store.commit(write('a', { revision: 2 }));
        await vi.waitFor(async () => expect(await read('witness')).toBeUndefined(), 300_000);
        expect(await read('a')).toEqual({ revision: 2 });
      });
    });

    describe('a damaged record', () => {
      it.each(['{"value":{"revis', '', '7', 'null', '{"value":7}', '{"value":{"revision":"1"}}'])(
        'matches neither absent nor any revision, and affects no other record: %s',
        async (text) => {
          await store.commit(write('bad', { revision: 1 }));
          await store.commit(write('good', { revision: 1 }));
          await backend.damage('bad', text);
          const answers = await Promise.all([
            store.commit(write('bad', { revision: 2 }, 'absent')),
            store.commit(write('bad', { revision: 2 }, 1)),
            store.commit(write('good', { revision: 2 }, 1)),
          ]);
          expect(answers).toEqual([false, false, true]);
          const [bad, good] = await store.keyv(NAMESPACE).getMany<unknown>(['bad', 'good']);
          expect(good).toEqual({ revision: 2 });
          expect(bad).not.toEqual({ revision: 2 });
          expect(await store.commit(write('bad', { revision: 3 }))).toBe(true);
          expect(await read('bad')).toEqual({ revision: 3 });
        },
      );

      it('rejects when it is read alone', async () => {
        await store.commit(write('bad', { revision: 1 }));
        await backend.damage('bad', '{"value":{"revis');
        const words = new RegExp(
          `the record .* of the namespace ${NAMESPACE}: .*restore it from a backup, or delete it`,
        );
        await expect(read('bad')).rejects.toMatchObject({ code: 'internal', message: expect.stringMatching(words) });
      });
    });

    describe('commit', () => {
      it('grants each of 1,000 keys to one of five claimers', async () => {
        const ids = Array.from({ length: 1000 }, (_, at) => `id-${at}`);
        const won = await Promise.all(
          ['a', 'b', 'c', 'd', 'e'].map(async (by) => {
            const answers: boolean[] = [];
            // A store refuses commands that wait for too long, as thousands at once do on a slow machine.
            for (let at = 0; at < ids.length; at += 100) {
              const claims = ids.slice(at, at + 100).map((id) => store.commit(write(id, { by }, 'absent')));
              answers.push(...(await Promise.all(claims)));
            }
            return ids.filter((_, at) => answers[at]).map((id) => [id, { by }] as const);
          }),
        );
        const winners = new Map(won.flat());
        expect(won.flat()).toHaveLength(1000);
        expect(winners.size).toBe(1000);
        expect(await store.keyv(NAMESPACE).getMany(ids)).toEqual(ids.map((id) => winners.get(id)));
      });

      it('accepts one of many commits that expect the same revision', async () => {
        await store.commit(write('a', { revision: 1 }));
        const tries = Array.from({ length: 50 }, (_, by) => store.commit(write('a', { revision: 2, by }, 1)));
        const answers = await Promise.all(tries);
        expect(answers.filter(Boolean)).toHaveLength(1);
        expect(await read('a')).toEqual({ revision: 2, by: answers.indexOf(true) });
      });

      it('writes nothing when one expectation fails, in any position', async () => {
        await store.commit({
          ...write('there', { revision: 1 }),
          index: [{ index: 'i', member: 'there', score: 1 }],
        });
        const records: RecordWrite[] = [
          { namespace: NAMESPACE, key: 'new', value: { revision: 1 }, expected: 'absent' },
          { namespace: 'ledger', key: 'new', value: { revision: 1 }, expected: 'any' },
        ];
        const failing: RecordWrite = { namespace: NAMESPACE, key: 'there', value: null, expected: 'absent' };
        for (const place of [0, 1, 2]) {
          const change = {
            records: records.toSpliced(place, 0, failing),
            index: [{ index: 'i', member: 'new', score: 2 }],
          };
          expect(await store.commit(change)).toBe(false);
        }
        expect(await read('there')).toEqual({ revision: 1 });
        expect(await read('new')).toBeUndefined();
        expect(await store.keyv('ledger').get('new')).toBeUndefined();
        expect(await members('i')).toEqual(['there']);
      });

      it('checks all expectations before it writes any record', async () => {
        const twice = [
          ...write('a', { revision: 1 }, 'absent').records,
          ...write('a', { revision: 2 }, 'absent').records,
        ];
        expect(await store.commit({ records: twice })).toBe(true);
        expect(await read('a')).toEqual({ revision: 2 });
      });

      it('does not fail other commits of the same tick when one fails', async () => {
        await store.commit(write('taken', { revision: 1 }));
        const results = await Promise.allSettled([
          store.commit(write('a', { n: 1 }, 'absent')),
          store.commit(write('taken', { n: 2 }, 'absent')),
          store.commit(entries('i', { member: Number.NaN })),
          store.keyv(NAMESPACE).set('b', { n: 3 }),
          store.commit(write('c', { n: 4 }, 'absent')),
        ]);
        expect(results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.code))).toEqual([
          true,
          false,
          'internal',
          true,
          true,
        ]);
        expect(await store.keyv(NAMESPACE).getMany(['a', 'b', 'c'])).toEqual([{ n: 1 }, { n: 3 }, { n: 4 }]);
      });
    });

    describe('a bound', () => {
      const entering = (member: string, score: number, bounds: Change['bounds'] = []): Change => ({
        ...write(member, { revision: 1 }, 'absent'),
        index: [{ index: 'i', member, score }],
        bounds,
      });

      it('accepts exactly as many commits as it allows, however many are concurrent', async () => {
        const members = Array.from({ length: 200 }, (_, at) => `m${at}`);
        const changes = members.map((member, at) => entering(member, at, [{ index: 'i', below: 7 }]));
        const answers = await Promise.all(changes.map((change) => store.commit(change)));
        expect(answers.filter(Boolean)).toHaveLength(7);
        expect(await store.count('i')).toBe(7);
        const records = await store.keyv(NAMESPACE).getMany(members);
        expect(records.map((record) => record !== undefined)).toEqual(answers);
      });

      it('counts only entries at or above its lowest score', async () => {
        await store.commit(entries('i', { old: 99, first: 100, second: 101.5 }));
        expect(await store.commit(entering('a', 100, [{ index: 'i', min: 100, below: 2 }]))).toBe(false);
        expect(await store.commit(entering('a', 100, [{ index: 'i', min: 101, below: 2 }]))).toBe(true);
        expect(await store.commit(entering('b', 1, [{ index: 'i', below: 4 }]))).toBe(false);
      });

      it('is one of several that must all hold, and may refer to a missing index', async () => {
        await store.commit(entries('full', { a: 1 }));
        const empty = { index: 'empty', below: 1 };
        expect(await store.commit(entering('a', 1, [empty, { index: 'full', below: 1 }]))).toBe(false);
        expect(await store.commit(entering('a', 1, [{ index: 'full', below: 1 }, empty]))).toBe(false);
        expect(await store.commit(entering('a', 1, [empty, { index: 'full', below: 2 }]))).toBe(true);
      });

      it('accepts again when an entry is removed', async () => {
        const bounds = [{ index: 'i', below: 1 }];
        await store.commit(entering('a', 1, bounds));
        expect(await store.commit(entering('b', 1, bounds))).toBe(false);
        await store.commit(entries('i', { a: null }));
        expect(await store.commit(entering('b', 1, bounds))).toBe(true);
      });
    });

    describe('indexes', () => {
      it('sorts by score, then by member, from either end', async () => {
        await store.commit(entries('i', { b: 2, a: 2, z: 1, é: 2, late: 1_700_000_000_123, half: 1.5, minus: -3 }));
        const newest = ['late', 'é', 'b', 'a', 'half', 'z', 'minus'];
        expect(await members('i')).toEqual(newest);
        const oldest = await store.scan('i', { order: 'oldest' });
        expect(oldest.map(({ member }) => member)).toEqual(newest.toReversed());
        expect(oldest.map(({ score }) => score)).toEqual([-3, 1, 1.5, 2, 2, 2, 1_700_000_000_123]);
      });

      it('returns only the requested scores, up to the limit', async () => {
        await store.commit(entries('i', { a: 1, b: 2, c: 3, d: 4, e: 5 }));
        const found = async (range: Parameters<Store['scan']>[1]): Promise<string> =>
          (await store.scan('i', range)).map(({ member }) => member).join('');
        expect(await found({ min: 2, max: 4 })).toBe('dcb');
        expect(await found({ min: 2, max: 4, order: 'oldest' })).toBe('bcd');
        expect(await found({ min: 6 })).toBe('');
        expect(await found({ limit: 2 })).toBe('ed');
        expect(await found({ limit: 2, offset: 1 })).toBe('dc');
        expect(await found({ offset: 3 })).toBe('ba');
        expect(await found({ limit: 0 })).toBe('');
        expect(await found({ max: 4, limit: 2, offset: 1, order: 'oldest' })).toBe('bc');
      });

      it('has one entry per member, which can be moved and removed', async () => {
        await store.commit(entries('i', { a: 1, b: 2 }));
        await store.commit(entries('i', { a: 3 }));
        expect(await store.scan('i')).toEqual([
          { member: 'a', score: 3 },
          { member: 'b', score: 2 },
        ]);
        await store.commit(entries('i', { a: null, never: null }));
        expect(await members('i')).toEqual(['b']);
        expect(await store.count('i')).toBe(1);
      });

      it('is empty until written, and separate from other indexes', async () => {
        await store.commit(entries('history:t', { a: 1 }));
        expect(await store.scan('history')).toEqual([]);
        expect(await store.count('history:t:c')).toBe(0);
        expect(await store.count('history:t')).toBe(1);
      });

      it('counts within inclusive bounds', async () => {
        await store.commit(entries('i', { a: 1, b: 2, c: 2, d: 3.5 }));
        expect(await store.count('i', { max: 2 })).toBe(3);
        expect(await store.count('i', { min: 2 })).toBe(3);
        expect(await store.count('i', { min: 2, max: 3 })).toBe(2);
        expect(await store.count('i', { max: 0.5 })).toBe(0);
      });

      it('rejects a score that cannot be sorted', async () => {
        for (const score of [Number.NaN, Infinity, -Infinity]) {
          await expect(store.commit(entries('i', { a: score }))).rejects.toMatchObject({ code: 'internal' });
        }
      });
    });

    describe('failures', () => {
      it('acknowledges no refused write, and continues once writes are accepted', async () => {
        await store.commit(write('a', { revision: 1 }));
        await backend.refuseWrites();
        await expect(store.commit(write('a', { revision: 2 }, 1))).rejects.toMatchObject(UNAVAILABLE);
        await expect(store.commit(entries('i', { a: 1 }))).rejects.toMatchObject(UNAVAILABLE);
        await expect(store.keyv(NAMESPACE).set('b', 1)).rejects.toMatchObject(UNAVAILABLE);
        await expect(store.keyv(NAMESPACE).setMany([{ key: 'b', value: 1 }])).rejects.toMatchObject(UNAVAILABLE);
        expect(await store.keyv(NAMESPACE).getMany(['a', 'b'])).toEqual([{ revision: 1 }, undefined]);
        await expect(store.ping()).rejects.toMatchObject(UNAVAILABLE);
        await backend.takeWrites();
        await store.ping();
        expect(await store.commit(write('a', { revision: 2 }, 1))).toBe(true);
        expect(await store.count('i')).toBe(0);
      });

      it('rejects every call after close, and may be closed again', async () => {
        const keyv = store.keyv(NAMESPACE);
        await store.close();
        const calls = [
          () => store.commit(write('a', { n: 1 })),
          () => store.scan('i'),
          () => store.count('i'),
          () => store.sums(['s']),
          () => store.ping(),
          () => keyv.get('a'),
          () => keyv.getMany(['a']),
          () => keyv.set('a', 1),
          () => keyv.delete('a'),
          () => store.keyv('cards').has('a'),
        ];
        for (const call of calls) await expect(call()).rejects.toMatchObject(UNAVAILABLE);
        await store.close();
      });

      it('answers a ping while it is open', async () => {
        await expect(store.ping()).resolves.toBeUndefined();
      });

      it('completes writes in flight before it closes', async () => {
        const commits = Array.from({ length: 1200 }, (_, at) => store.commit(write(`id-${at}`, { at }, 'absent')));
        await Promise.all([store.close(), ...commits]);
        store = await open();
        expect(await Promise.all(commits)).not.toContain(false);
        expect(await read('id-0')).toEqual({ at: 0 });
        expect(await read('id-1199')).toEqual({ at: 1199 });
      });

      it('loses no acknowledged write when everything is killed in the middle of writing', async () => {
        await store.close();
        const child = await StoreChild.start(backend.url, 'write');
        await child.saying(500);
        await Promise.all([child.kill(), backend.crash()]);
        store = await open();
        const found = await store.keyv(NAMESPACE).getMany(child.lines);
        expect(child.lines.filter((_, at) => found[at] === undefined)).toEqual([]);
        const indexed = new Set(await members('open'));
        expect(child.lines.filter((id) => !indexed.has(id))).toEqual([]);
      });
    });
  });
}
