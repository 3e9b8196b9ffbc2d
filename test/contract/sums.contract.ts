import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '#src/engine/store/open.ts';
import {
  type Change,
  MAX_AMOUNT,
  type Store,
  type SumLimit,
  type SumPart,
  type SumParts,
} from '#src/engine/store/store.ts';
import type { Backend } from './store.contract.ts';

const ZEROS: SumParts = { held: 0n, settled: 0n, doubted: 0n, extra: 0n };

function adding(sum: string, add: Partial<Record<SumPart, bigint>>): Change {
  return { records: [], sums: [{ sum, add }] };
}

function limitOn(sum: string, budgets: readonly string[], currency = 'USD'): SumLimit {
  return { sum, budgets, currency };
}

/** Contract of every store for sums and their limits. */
export function describeSums(name: string, start: () => Promise<Backend>): void {
  describe(`the sums of ${name}`, () => {
    let backend: Backend;
    let store: Store;
    const stores: Store[] = [];

    const open = async (): Promise<Store> => {
      const opened = await openStore(backend.url, { logger: pino({ level: 'silent' }) });
      stores.push(opened);
      return opened;
    };
    /** Opens further connections where it can. @returns a function that commits the nth change on one of them. */
    const committer = async (): Promise<(change: Change, at: number) => Promise<boolean>> => {
      const others = backend.exclusive ? [] : [await open(), await open(), await open()];
      return (change, at) => (others[at % 4] ?? store).commit(change);
    };
    const partsOf = async (sum: string): Promise<SumParts | undefined> => (await store.sums([sum]))[0];
    const setBudget = (key: string, hard: unknown, soft: unknown = {}): Promise<boolean> =>
      store.commit({ records: [{ namespace: 'budgets', key, value: { revision: 1, hard, soft }, expected: 'any' }] });
    /** Holds an amount of a sum within limits. @returns whether the store accepted it. */
    const hold = (sum: string, amount: bigint, ...within: SumLimit[]): Promise<boolean> =>
      store.commit({ ...adding(sum, { held: amount }), within });

    beforeEach(async () => {
      backend = await start();
      store = await open();
    });

    afterEach(async () => {
      await Promise.all(stores.splice(0).map((each) => each.close()));
      await backend.remove();
    });

    describe('additions', () => {
      it('add up by part, negative ones included', async () => {
        await store.commit(adding('a', { held: 400_000n, extra: 7n }));
        await store.commit(adding('a', { held: -400_000n, settled: 400_000n }));
        await store.commit(adding('a', { doubted: 3n, settled: -500_000n }));
        expect(await partsOf('a')).toEqual({ held: 0n, settled: -100_000n, doubted: 3n, extra: 7n });
      });

      it('of one change to one sum are all counted', async () => {
        const sums = [
          { sum: 'a', add: { held: 1n } },
          { sum: 'b', add: {} },
          { sum: 'a', add: { held: 2n, doubted: 5n } },
        ];
        await store.commit({ records: [], sums });
        expect(await store.sums(['b', 'a', 'never'])).toEqual([ZEROS, { ...ZEROS, held: 3n, doubted: 5n }, ZEROS]);
        expect(await store.sums([])).toEqual([]);
      });

      it('are exact far beyond the integers of a double', async () => {
        for (let at = 0; at < 9; at += 1)
          await store.commit(adding('a', { held: MAX_AMOUNT, settled: MAX_AMOUNT, extra: MAX_AMOUNT }));
        await store.commit(adding('a', { held: 1n, settled: -1n }));
        for (let at = 0; at < 9; at += 1) await store.commit(adding('a', { settled: MAX_AMOUNT }));
        const parts = await partsOf('a');
        expect(parts).toEqual({
          held: 9n * MAX_AMOUNT + 1n,
          settled: 18n * MAX_AMOUNT - 1n,
          doubted: 0n,
          extra: 9n * MAX_AMOUNT,
        });
      });

      it('from several connections at once lose nothing', async () => {
        const commit = await committer();
        const changes = Array.from({ length: 1_000 }, (_, at) => ({
          records: [],
          sums: [
            { sum: 'team', add: { held: BigInt(at), settled: -1n } },
            { sum: `channel:${at % 3}`, add: { held: 1n } },
          ],
        }));
        const answers = await Promise.all(changes.map(commit));
        expect(new Set(answers)).toEqual(new Set([true]));
        expect(await store.sums(['team', 'channel:0', 'channel:1'])).toEqual([
          { ...ZEROS, held: 499_500n, settled: -1_000n },
          { ...ZEROS, held: 334n },
          { ...ZEROS, held: 333n },
        ]);
      });

      it('of a million millionths are exactly one', async () => {
        const sums = Array.from({ length: 10_000 }, () => ({ sum: 'a', add: { held: 1n } }));
        for (let at = 0; at < 100; at += 1) await store.commit({ records: [], sums });
        expect(await partsOf('a')).toEqual({ ...ZEROS, held: 1_000_000n });
      });

      it.each<[string, Change]>([
        ['expectation', { records: [{ namespace: 'tasks', key: 'new', value: null, expected: 7 }] }],
        ['bound', { records: [], bounds: [{ index: 'i', below: 0 }] }],
        ['limit', { records: [], within: [limitOn('b', ['none'])] }],
      ])('are not applied when an %s fails', async (_what, failing) => {
        await setBudget('none', { USD: '0' });
        await store.commit(adding('b', { doubted: 1n }));
        const change = { ...adding('a', { held: 1n }), ...failing };
        const records = [
          { namespace: 'tasks', key: 'other', value: { revision: 1 }, expected: 'absent' } as const,
          ...failing.records,
        ];
        expect(await store.commit({ ...change, records })).toBe(false);
        expect(await partsOf('a')).toEqual(ZEROS);
        expect(await store.keyv('tasks').get('other')).toBeUndefined();
      });

      it('survive a reopening', async () => {
        await store.commit(adding('a', { held: 5n }));
        await store.close();
        store = await open();
        expect(await partsOf('a')).toEqual({ ...ZEROS, held: 5n });
      });

      it.each([1.5, 1, Number.NaN, '1', null, MAX_AMOUNT + 1n, -MAX_AMOUNT - 1n, 2n ** 63n])(
        'are rejected where no backend can store them: %s',
        async (amount) => {
          const change = adding('a', { held: amount as bigint });
          await expect(store.commit(change)).rejects.toMatchObject({ code: 'internal', retryable: false });
          expect(await partsOf('a')).toEqual(ZEROS);
        },
      );

      it('are not acknowledged by a backend that refuses writes', async () => {
        await backend.refuseWrites();
        const unavailable = { code: 'store_unavailable', retryable: true };
        await expect(store.commit(adding('a', { held: 1n }))).rejects.toMatchObject(unavailable);
        expect(await partsOf('a')).toEqual(ZEROS);
        await backend.takeWrites();
      });
    });

    describe('a limit', () => {
      it('is the budget including the change itself, over all used parts', async () => {
        await setBudget('team', { USD: '100' });
        await store.commit(adding('a', { held: 30n, settled: 30n, doubted: 30n }));
        expect(await hold('a', 11n, limitOn('a', ['team']))).toBe(false);
        expect(await hold('a', 10n, limitOn('a', ['team']))).toBe(true);
        expect(await hold('a', 1n, limitOn('a', ['team']))).toBe(false);
        expect(await partsOf('a')).toEqual({ held: 40n, settled: 30n, doubted: 30n, extra: 0n });
      });

      it('accepts exactly as many concurrent changes as fit', async () => {
        await setBudget('team', { USD: '10000000' });
        const commit = await committer();
        const changes = Array.from({ length: 200 }, (_, at) => ({
          records: [{ namespace: 'tasks', key: `task-${at}`, value: { revision: 1 }, expected: 'absent' } as const],
          sums: [{ sum: 'a', add: { held: 400_000n } }],
          within: [limitOn('a', ['team'])],
        }));
        const answers = await Promise.all(changes.map(commit));
        expect(answers.filter(Boolean)).toHaveLength(25);
        expect(await partsOf('a')).toEqual({ ...ZEROS, held: 10_000_000n });
        const records = await store.keyv('tasks').getMany(answers.map((_, at) => `task-${at}`));
        expect(records.map((record) => record !== undefined)).toEqual(answers);
      });

      it('of one scope without room leaves every sum as it was', async () => {
        await setBudget('team', { USD: '100' });
        await setBudget('person', { USD: '5' });
        const sums = ['team', 'person'].map((sum) => ({ sum, add: { held: 6n } }));
        const limits = [limitOn('team', ['team']), limitOn('person', ['person'])];
        for (const within of [limits, limits.toReversed()]) {
          expect(await store.commit({ records: [], sums, within })).toBe(false);
        }
        expect(await store.sums(['team', 'person'])).toEqual([ZEROS, ZEROS]);
      });

      it('that was lowered a moment ago counts', async () => {
        await setBudget('team', { USD: '100' });
        const answers = await Promise.all([
          hold('a', 40n, limitOn('a', ['team'])),
          setBudget('team', { USD: '60' }),
          hold('a', 40n, limitOn('a', ['team'])),
        ]);
        expect(answers).toEqual([true, true, false]);
        await setBudget('team', { USD: '1000000000000000' });
        expect(await hold('a', MAX_AMOUNT - 40n, limitOn('a', ['team']))).toBe(true);
        expect(await hold('a', 1n, limitOn('a', ['team']))).toBe(false);
      });

      it('below what is used refuses what adds, and nothing else', async () => {
        await setBudget('team', { USD: '10' });
        await store.commit(adding('a', { held: 50n }));
        expect(await hold('a', 1n, limitOn('a', ['team']))).toBe(false);
        expect(await hold('a', -50n)).toBe(true);
        expect(await hold('a', 10n, limitOn('a', ['team']))).toBe(true);
      });

      it('is raised by what was granted beyond it, in the same change as well', async () => {
        await setBudget('team', { USD: '10' });
        expect(await hold('a', 15n, limitOn('a', ['team']))).toBe(false);
        const granted = { ...adding('a', { held: 15n, extra: 5n }), within: [limitOn('a', ['team'])] };
        expect(await store.commit(granted)).toBe(true);
        expect(await hold('a', 1n, limitOn('a', ['team']))).toBe(false);
        await store.commit(adding('a', { extra: 1n }));
        expect(await hold('a', 1n, limitOn('a', ['team']))).toBe(true);
      });

      it('is the first existing budget that has hard amounts', async () => {
        await setBudget('soft', {}, { USD: '1' });
        await setBudget('everyone', { USD: '10' });
        await setBudget('large', { USD: '1000' });
        expect(await hold('a', 11n, limitOn('a', ['missing', 'soft', 'everyone', 'large']))).toBe(false);
        expect(await hold('a', 11n, limitOn('a', ['large', 'everyone']))).toBe(true);
        expect(await hold('a', 11n, limitOn('a', ['everyone', 'large']))).toBe(false);
      });

      it('is none without a budget, without hard amounts, and once its budget is deleted', async () => {
        await setBudget('soft', {}, { USD: '1' });
        expect(await hold('a', MAX_AMOUNT, limitOn('a', []), limitOn('a', ['missing']), limitOn('a', ['soft']))).toBe(
          true,
        );
        await setBudget('soft', { USD: '1' });
        expect(await hold('a', 1n, limitOn('a', ['soft']))).toBe(false);
        await store.commit({ records: [{ namespace: 'budgets', key: 'soft', value: null, expected: 1 }] });
        expect(await hold('a', 1n, limitOn('a', ['soft']))).toBe(true);
      });

      it('without the currency refuses', async () => {
        await setBudget('team', { EUR: '100' });
        expect(await hold('a', 1n, limitOn('a', ['team']))).toBe(false);
        expect(await hold('a', 1n, limitOn('a', ['team'], 'EUR'))).toBe(true);
        expect(await hold('a', 1n, limitOn('a', ['team'], 'toString'))).toBe(false);
      });

      it('of 0 accepts nothing but 0', async () => {
        await setBudget('team', { USD: '0' });
        expect(await hold('a', 1n, limitOn('a', ['team']))).toBe(false);
        expect(await hold('a', 0n, limitOn('a', ['team']))).toBe(true);
      });

      it('refuses a sum beyond every limit, however large', async () => {
        await setBudget('team', { USD: '1000000000000000' });
        for (let at = 0; at < 12; at += 1) await store.commit(adding('a', { held: MAX_AMOUNT }));
        expect(await hold('a', 1n, limitOn('a', ['team']))).toBe(false);
        expect((await partsOf('a'))?.held).toBe(12n * MAX_AMOUNT);
      });

      it.each<unknown>([
        null,
        7,
        { USD: 100 },
        { USD: '1e9' },
        { USD: '-1' },
        { USD: '' },
        { USD: '12345678901234567' },
      ])('that cannot be read refuses: %j', async (hard) => {
        await setBudget('team', hard);
        expect(await hold('a', 1n, limitOn('a', ['team']))).toBe(false);
        expect(await partsOf('a')).toEqual(ZEROS);
      });

      it('is compared together with other expectations in one change', async () => {
        await setBudget('team', { USD: '10' });
        const claim = (key: string): Promise<boolean> =>
          store.commit({
            records: [{ namespace: 'tasks', key, value: { revision: 1 }, expected: 'absent' }],
            index: [{ index: 'open', member: key, score: 1 }],
            bounds: [{ index: 'open', below: 2 }],
            sums: [
              { sum: 'team', add: { held: 4n } },
              { sum: 'person', add: { held: 4n } },
            ],
            within: [limitOn('team', ['team']), limitOn('person', ['person', 'everyone'])],
          });
        expect(await Promise.all([claim('a'), claim('a'), claim('b'), claim('c')])).toEqual([true, false, true, false]);
        expect(await store.sums(['team', 'person'])).toEqual([
          { ...ZEROS, held: 8n },
          { ...ZEROS, held: 8n },
        ]);
      });
    });
  });
}
