import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { type Migrated, migrate } from '#src/store/migrate/migration.ts';
import { NAMESPACES, type Store } from '#src/store/store.ts';
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

const carry = (target: Store = to): Promise<Migrated> => migrate({ from, to: target, clock: systemClock });

async function put(store: Store, key: string, revision: number, indexes: readonly string[] = []): Promise<void> {
  await store.commit({
    records: [{ namespace: 'tasks', key, value: { revision, of: key }, expected: 'any' }],
    index: indexes.map((index) => ({ index, member: key, score: revision })),
  });
}

/** Returns the whole contents of a store. */
async function contentsOf(store: Store): Promise<unknown> {
  const rooms = NAMESPACES.map(async (namespace) => {
    const records = (await Array.fromAsync(store.contents.records(namespace))).flat();
    return [namespace, Object.fromEntries(records.map(({ key, value }) => [key, value]))] as const;
  });
  const names = (await store.contents.indexes()).toSorted();
  const indexes = await Promise.all(names.map(async (name) => [name, await store.scan(name)] as const));
  return { records: Object.fromEntries(await Promise.all(rooms)), indexes };
}

const sumOf = (tallies: Migrated['before'], count: 'same' | 'absent' | 'newer' | 'foreign'): number =>
  tallies.reduce((sum, tally) => sum + tally[count], 0);

describe('a migration', () => {
  beforeEach(async () => {
    for (let at = 0; at < 250; at += 1) await put(from, `task-${at}`, 1, ['open', `history:${at % 3}`]);
    for (const namespace of NAMESPACES) await from.keyv(namespace).set('one', { in: namespace });
    await from.keyv('adapters').set('hash', 'a text alone');
    await from.keyv('adapters').set('session', { soon: 'over' }, 60_000);
    await from.commit({ records: [], index: [{ index: 'spend', member: 'task-1#1', score: 1.5 }] });
  });

  it('copies every record of every namespace and every index', async () => {
    const { outcome, before, after } = await carry();
    expect(outcome).toBe('carried');
    expect(await contentsOf(to)).toEqual(await contentsOf(from));
    expect(sumOf(before, 'absent')).toBe(250 + NAMESPACES.length + 2 + 501);
    expect(after.find(({ room }) => room === 'tasks')).toMatchObject({ source: 251, same: 251, foreign: 0 });
    expect(after.find(({ room }) => room === 'index entries')).toMatchObject({ source: 501, same: 501 });
  });

  it('writes nothing the second time', async () => {
    await carry();
    const watched = new FlakyStore(to);
    watched.failNext('unwritten');
    const { outcome, before } = await carry(watched);
    expect(outcome).toBe('carried');
    expect(sumOf(before, 'absent')).toBe(0);
  });

  it('resumes after an interruption', async () => {
    for (const spared of [0, 1, 4]) {
      to = new MemoryStore();
      const breaking = new FlakyStore(to);
      let commits = 0;
      breaking.failNext('unwritten', () => commits++ === spared);
      await expect(carry(breaking)).rejects.toMatchObject({ code: 'store_unavailable' });
      const { before } = await carry();
      expect(sumOf(before, 'same') > 0).toBe(spared > 0);
      expect(await contentsOf(to)).toEqual(await contentsOf(from));
    }
  });

  it('does not treat an interrupted migration as complete when the target was used since', async () => {
    const counting = new FlakyStore(to);
    let all = 0;
    counting.failNext('unwritten', () => all++ < 0);
    await carry(counting);
    expect(all).toBeGreaterThan(NAMESPACES.length);
    for (let spared = 0; spared < all; spared += 1) {
      to = new MemoryStore();
      const breaking = new FlakyStore(to);
      let made = 0;
      breaking.failNext('unwritten', () => made++ === spared);
      await expect(carry(breaking)).rejects.toMatchObject({ code: 'store_unavailable' });
      await put(to, 'new', 1, ['open']);
      await expect(carry()).rejects.toMatchObject({ ...REFUSED, message: expect.stringContaining('two histories') });
    }
  });

  it('overwrites an older copy of the source, and removes deleted index entries', async () => {
    await carry();
    await put(from, 'task-1', 2, ['done']);
    await from.keyv('waits').set('one', { in: 'another' });
    await from.commit({ records: [], index: [{ index: 'open', member: 'task-1', score: null }] });
    expect((await carry()).outcome).toBe('carried');
    expect(await contentsOf(to)).toEqual(await contentsOf(from));
  });

  it('writes nothing to a complete target that was used since', async () => {
    await carry();
    await put(to, 'task-1', 2);
    await put(to, 'new', 1, ['open']);
    await to.keyv('waits').set('one', { in: 'use' });
    const used = await contentsOf(to);
    const { outcome, before } = await carry();
    expect(outcome).toBe('moved_on');
    expect([sumOf(before, 'newer'), sumOf(before, 'foreign')]).toEqual([1, 1]);
    expect(await contentsOf(to)).toEqual(used);
  });

  it.each([
    ['has new records', () => put(from, 'since', 1)],
    ['has changed records', () => put(from, 'task-2', 2)],
  ])('rejects a target that was used since while the source %s', async (_what, goOn) => {
    await carry();
    await put(to, 'task-1', 2);
    const used = await contentsOf(to);
    await goOn();
    await expect(carry()).rejects.toMatchObject({ ...REFUSED, message: expect.stringContaining('lacks 1') });
    expect(await contentsOf(to)).toEqual(used);
  });

  it("rejects a target with another bot's data, and writes nothing", async () => {
    await put(to, 'foreign', 1);
    const used = await contentsOf(to);
    await expect(carry()).rejects.toMatchObject({ ...REFUSED, message: expect.stringContaining('empty target') });
    expect(await contentsOf(to)).toEqual(used);
  });

  it('aborts when another process writes to the target', async () => {
    const shared = new FlakyStore(to);
    let isFirst = true;
    const commit = shared.commit.bind(shared);
    shared.commit = async (change) => {
      if (isFirst) await put(to, 'task-0', 7);
      isFirst = false;
      return commit(change);
    };
    await expect(carry(shared)).rejects.toMatchObject(LOCKED);
    expect(await to.keyv('tasks').get('task-0')).toMatchObject({ revision: 7 });
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
    expect(sumOf((await carry()).before, 'same')).toBe(0);
    const migrating = migrate({ from, to: shared, clock });
    await pass(clock, 10_000);
    running = [];
    await pass(clock, 1_000);
    expect((await migrating).outcome).toBe('carried');
  });
});

it('rejects the same store as source and target', async () => {
  await put(from, 'a', 1);
  await expect(carry(from)).rejects.toMatchObject(LOCKED);
  expect((await carry()).outcome).toBe('carried');
});

it('rejects an empty source, which is likely a wrong URL', async () => {
  await expect(carry()).rejects.toMatchObject({ ...REFUSED, message: expect.stringContaining('holds nothing') });
});
