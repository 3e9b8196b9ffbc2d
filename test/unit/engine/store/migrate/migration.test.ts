import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { assertNotMigrating, migrate, UNFINISHED } from '#src/engine/store/migrate/migration.ts';
import type { Namespace, Store } from '#src/engine/store/store.ts';
import { ZERO_SUM } from '#src/engine/store/sums.ts';
import { FlakyStore } from '#test/fakes/flaky-store.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { pass } from '#test/fakes/settle.ts';

const LOCKED = { code: 'store_locked', retryable: false };
const REFUSED = { code: 'internal', retryable: false };

let from: MemoryStore;
let to: MemoryStore;

beforeEach(() => {
  [from, to] = [new MemoryStore(), new MemoryStore()];
});

const carry = (target: Store = to) => migrate({ from, to: target, clock: systemClock });

async function put(store: Store, key: string, revision: number, indexes: readonly string[] = []): Promise<void> {
  await store.commit({
    records: [{ namespace: 'tasks', key, value: { revision, of: key }, expected: 'any' }],
    index: indexes.map((index) => ({ index, member: key, score: revision })),
  });
}

const add = (store: Store, sum: string, held: bigint) => store.commit({ records: [], sums: [{ sum, add: { held } }] });

/** Returns the whole contents of a store. */
async function contentsOf(store: Store): Promise<unknown> {
  const rooms = (await store.contents.namespaces()).map(async (namespace) => {
    const records = (await Array.fromAsync(store.contents.records(namespace))).flat();
    return [namespace, Object.fromEntries(records.map(({ key, value }) => [key, value]))] as const;
  });
  const names = (await store.contents.indexes()).toSorted();
  const indexes = await Promise.all(names.map(async (name) => [name, await store.scan(name)] as const));
  const sums = (await Array.fromAsync(store.contents.sums())).flat().map(({ sum, parts }) => [sum, parts]);
  return { records: Object.fromEntries(await Promise.all(rooms)), indexes, sums: Object.fromEntries(sums) };
}

const countsOf = (copied: Awaited<ReturnType<typeof carry>>) =>
  Object.fromEntries([...copied].map(([part, { count }]) => [part, count]));

describe('a migration', () => {
  beforeEach(async () => {
    for (let at = 0; at < 250; at += 1) await put(from, `task-${at}`, 1, ['open', `history:${at % 3}`]);
    for (const namespace of ['tasks', 'cards', 'ledger', 'drafts', 'adapters'])
      await from.keyv(namespace).set('one', { in: namespace });
    await from.keyv('adapters').set('hash', 'a text alone');
    await from.keyv('adapters').set('session', { soon: 'over' }, 60_000);
    await from.commit({ records: [], index: [{ index: 'spend', member: 'task-1#1', score: 1.5 }] });
    await add(from, 'team:slack:T1:2026-11:USD', 400_000n);
    await add(from, 'channel:slack:T1:C1:2026-11:USD', -(10n ** 15n));
  });

  it('copies every record of every namespace, every index and every sum', async () => {
    const counts = countsOf(await carry());
    expect(await contentsOf(to)).toEqual(await contentsOf(from));
    expect(counts).toMatchObject({ tasks: 251, ledger: 1, 'index entries': 501, sums: 2 });
    await expect(assertNotMigrating(to)).resolves.toBeUndefined();
  });

  it('gives timers a turn between pages, so that its leases are renewed while it reads a large file', async () => {
    let [turns, isOver] = [0, false];
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await carry();
    isOver = true;
    // Each record is a page of its own here, which is read from the source twice and from the target once.
    expect(turns).toBeGreaterThan(3 * 250);
  });

  it('keeps the expiry of a record', async () => {
    const nowMs = Date.now();
    const ending = { key: 'ending', value: { a: 1 }, endsAtMs: nowMs + 3_600_000 };
    const expired = { ...ending, key: 'expired', endsAtMs: nowMs + 5_000 };
    const records = async function* (namespace: Namespace) {
      if (namespace === 'drafts') yield [ending, expired];
      else yield* from.contents.records(namespace);
    };
    const source = Object.assign(new FlakyStore(from), { contents: { ...from.contents, records } });
    await migrate({ from: source, to, clock: systemClock });
    const raw = await to.keyv('drafts').get('ending', { raw: true });
    expect((raw?.expires ?? 0) - nowMs).toBeGreaterThan(3_590_000);
    expect(await to.keyv('drafts').get('expired')).toBeUndefined();
  });

  it('is refused once it is done, and by a target with data of its own; writes nothing there', async () => {
    const refusal = { ...REFUSED, message: expect.stringContaining('the target is not empty') };
    await carry();
    await put(to, 'new', 1, ['open']);
    const used = await contentsOf(to);
    await expect(carry()).rejects.toMatchObject(refusal);
    expect(await contentsOf(to)).toEqual(used);
    await expect(assertNotMigrating(to)).resolves.toBeUndefined();
    to = new MemoryStore();
    await to.commit({ records: [], index: [{ index: 'open', member: 'a', score: 1 }] });
    await expect(carry()).rejects.toMatchObject(refusal);
  });

  it('replaces an unfinished copy, even where the source has changed since', async () => {
    const broken = new FlakyStore(to);
    broken.ping = () => Promise.reject(new Error('the connection broke'));
    await expect(carry(broken)).rejects.toThrow('the connection broke');
    await put(from, 'task-1', 2, ['done']);
    await from.keyv('waits').delete('one');
    await add(from, 'team:slack:T1:2026-11:USD', 1n);
    await add(to, 'team:slack:T0:2026-11:USD', 1n);
    await from.commit({ records: [], index: [{ index: 'open', member: 'task-1', score: null }] });
    await carry();
    expect(await contentsOf(to)).toEqual(await contentsOf(from));
  });

  it('leaves a target on which no bot starts, wherever it breaks off', async () => {
    const counting = new FlakyStore(to);
    let all = 0;
    counting.failNext('unwritten', () => all++ < 0);
    await carry(counting);
    expect(all).toBeGreaterThan(4);
    for (let spared = 0; spared < all; spared += 1) {
      to = new MemoryStore();
      const breaking = new FlakyStore(to);
      let made = 0;
      breaking.failNext('unwritten', () => made++ === spared);
      await expect(carry(breaking)).rejects.toMatchObject({ code: 'store_unavailable' });
      if (spared === 0) expect(await to.contents.indexes()).toEqual([]);
      else await expect(assertNotMigrating(to)).rejects.toMatchObject(REFUSED);
      await carry();
      expect(await contentsOf(to)).toEqual(await contentsOf(from));
    }
  });

  it('does not double sums when it is repeated', async () => {
    const breaking = new FlakyStore(to);
    const setSums: Store['contents']['setSums'] = async (sums) => {
      await to.contents.setSums(sums);
      throw new Error('the connection broke');
    };
    Object.assign(breaking, { contents: { ...to.contents, setSums } });
    await expect(carry(breaking)).rejects.toThrow('the connection broke');
    await carry();
    expect(await to.sums(['team:slack:T1:2026-11:USD'])).toEqual([{ ...ZERO_SUM, held: 400_000n }]);
    expect(await contentsOf(to)).toEqual(await contentsOf(from));
  });

  it('refuses an unfinished copy as its source', async () => {
    await from.keyv(UNFINISHED.namespace).set(UNFINISHED.key, {});
    await expect(carry()).rejects.toMatchObject({ ...REFUSED, message: expect.stringContaining('unfinished copy') });
  });

  it('lets no bot start on either store while it runs', async () => {
    const halfway = new FlakyStore(to);
    const starts = async () => {
      for (const store of [from, to]) await expect(assertNotMigrating(store)).rejects.toMatchObject(LOCKED);
    };
    halfway.ping = starts;
    await carry(halfway);
    await expect(assertNotMigrating(from)).resolves.toBeUndefined();
    expect.assertions(3);
  });

  it.each([
    ['a record that changed', () => put(to, 'task-0', 7)],
    ['a further record', () => put(to, 'new', 1)],
    ['a lost record', () => to.keyv('tasks').delete('task-3')],
    ['a sum that changed', () => add(to, 'team:slack:T1:2026-11:USD', 1n)],
    ['a further sum', () => add(to, 'person:slack:T1:U1:2026-11:USD', 1n)],
    ['a score that changed', () => put(to, 'task-4', 1, ['spend'])],
  ])('is not complete with %s in the target', async (_what, change) => {
    const shared = new FlakyStore(to);
    shared.ping = async () => void (await change());
    await expect(carry(shared)).rejects.toMatchObject({ ...REFUSED, message: expect.stringContaining('repeat this') });
    await expect(assertNotMigrating(to)).rejects.toMatchObject(REFUSED);
  });

  it('rejects while a bot runs on either store, and waits for the leases of killed ones', async () => {
    const clock = new ManualClock();
    let running = ['replica:a', 'replica:b'];
    const shared = new FlakyStore(to);
    Object.assign(shared, { contents: { ...to.contents, leases: async () => running } });
    const refusing = expect(migrate({ from, to: shared, clock })).rejects.toMatchObject({
      ...LOCKED,
      message: expect.stringContaining('2 running bots'),
    });
    await pass(clock, 21_000);
    await refusing;
    expect(await contentsOf(to)).toEqual(await contentsOf(new MemoryStore()));
    const migrating = migrate({ from, to: shared, clock });
    await pass(clock, 10_000);
    running = [];
    await pass(clock, 1_000);
    expect(countsOf(await migrating)).toMatchObject({ tasks: 251 });
  });
});

it('rejects the same store as source and target', async () => {
  await put(from, 'a', 1);
  await expect(carry(from)).rejects.toMatchObject(LOCKED);
  expect(countsOf(await carry())).toMatchObject({ tasks: 1 });
});

it('rejects an empty source, which is likely a wrong URL', async () => {
  await expect(carry()).rejects.toMatchObject({ ...REFUSED, message: expect.stringContaining('holds nothing') });
});
