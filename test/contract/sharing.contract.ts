import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ComparisonRecords } from '#src/chat/comparisons/comparison-records.ts';
import { systemClock } from '#src/clock.ts';
import { openStore } from '#src/engine/store/open.ts';
import type { Store } from '#src/engine/store/store.ts';
import type { TaskId } from '#src/tasks/task.ts';
import type { Backend } from './store.contract.ts';

const TTL_MS = 60_000;

/** Contract of every store for the processes that share it, or for the single process that holds it. */
export function describeSharing(name: string, start: () => Promise<Backend>): void {
  describe(`sharing ${name}`, () => {
    let backend: Backend;
    let store: Store;
    /** Store of a second process; the same one for an exclusive store. */
    let elsewhere: Store;

    beforeEach(async () => {
      backend = await start();
      const open = (): Promise<Store> => openStore(backend.url, { logger: pino({ level: 'silent' }) });
      store = await open();
      elsewhere = backend.exclusive ? store : await open();
    });

    afterEach(async () => {
      await elsewhere.close();
      await store.close();
      await backend.remove();
    });

    it('has the same order of a comparison’s labels for every process, also one that starts later', async () => {
      const [set, models] = ['set' as TaskId, ['a', 'b', 'c', 'd']];
      const orderBy = (by: Store, given: readonly string[]) =>
        new ComparisonRecords(by, systemClock).inBlindOrder(set, given, (name) => name);
      const [first] = await Promise.all([orderBy(store, models), orderBy(elsewhere, models.toReversed())]);
      expect(await orderBy(elsewhere, models)).toEqual(first);
      await elsewhere.close();
      if (backend.exclusive) elsewhere = store = await openStore(backend.url, { logger: pino({ level: 'silent' }) });
      else elsewhere = await openStore(backend.url, { logger: pino({ level: 'silent' }) });
      expect(await orderBy(elsewhere, models.toReversed())).toEqual(first);
    });

    describe('leases', () => {
      it('grants each of 200 names to one of many claimers', async () => {
        const names = Array.from({ length: 200 }, (_, at) => `name ${at}`);
        const takers = [store, elsewhere, store, elsewhere].map((by) =>
          Promise.all(names.map((each) => by.leases.take(each, TTL_MS))),
        );
        const taken = (await Promise.all(takers)).flat().filter((lease) => lease !== null);
        expect(taken.map((lease) => lease.name).toSorted()).toEqual(names.toSorted());
        expect(taken.every((lease) => lease.isHeld(TTL_MS / 2))).toBe(true);
        await Promise.all(taken.map((lease) => lease.release()));
      });

      it('reports the holder to every process', async () => {
        const lease = await store.leases.take('a', TTL_MS);
        expect(await elsewhere.leases.holder('a')).toBe(store.leases.owner);
        expect(await elsewhere.leases.holder('b')).toBeNull();
        await lease?.release();
        expect(await elsewhere.leases.holder('a')).toBeNull();
      });

      it('grants a released lease to the next process, which keeps it when the first one releases again', async () => {
        const first = await store.leases.take('a', TTL_MS);
        await first?.release();
        const second = await elsewhere.leases.take('a', TTL_MS);
        expect(second?.isHeld()).toBe(true);
        await first?.release();
        expect(await store.leases.take('a', TTL_MS)).toBeNull();
        expect(first?.isHeld()).toBe(false);
        await second?.release();
      });

      it('lets a lease expire that is not renewed', async () => {
        const lease = await store.leases.take('a', 50, { isRenewed: false });
        await expect.poll(() => elsewhere.leases.take('a', TTL_MS)).not.toBeNull();
        expect(lease?.isHeld()).toBe(false);
      });

      it('keeps a renewed lease beyond its TTL', async () => {
        const lease = await store.leases.take('a', 5_000);
        // Long enough that a renewal, due every third of the time, can be late by seconds on a busy machine.
        const witness = await store.leases.take('witness', 6_000, { isRenewed: false });
        await expect.poll(() => witness?.isHeld()).toBe(false);
        expect(lease?.isHeld()).toBe(true);
        expect(await elsewhere.leases.take('a', TTL_MS)).toBeNull();
        await lease?.release();
      });
    });

    describe('a broadcast', () => {
      it('reaches every subscriber of its topic in every process, in order', async () => {
        const heard: string[] = [];
        const stops = [store, elsewhere].map((by, at) =>
          by.broadcast.subscribe('news', (text) => heard.push(`${at}:${text}`)),
        );
        store.broadcast.subscribe('other', (text) => heard.push(text));
        await vi.waitFor(() => {
          store.broadcast.publish('news', 'ready?');
          expect(new Set(heard)).toEqual(new Set(['0:ready?', '1:ready?']));
        }, 300_000);
        const texts = Array.from({ length: 100 }, (_, at) => `text ${at} 🦊\n`);
        for (const text of texts) elsewhere.broadcast.publish('news', text);
        await vi.waitFor(() => expect(heard.filter((each) => each.includes('text'))).toHaveLength(200), 300_000);
        for (const at of [0, 1]) {
          const there = heard.filter((each) => each.startsWith(`${at}:text`));
          expect(there).toEqual(texts.map((text) => `${at}:${text}`));
        }
        for (const stop of stops) stop();
      });

      it('reaches no listener that has unsubscribed', async () => {
        const heard: string[] = [];
        const stop = store.broadcast.subscribe('news', (text) => heard.push(`stopped:${text}`));
        store.broadcast.subscribe('news', (text) => heard.push(text));
        stop();
        await vi.waitFor(() => {
          store.broadcast.publish('news', 'a');
          expect(heard).toContain('a');
        }, 300_000);
        expect(heard).not.toContain('stopped:a');
      });
    });
  });
}
