import { describe, expect, it } from 'vitest';
import { createLeases } from '#src/cluster/leases.ts';
import { createMembership, DECIDING_SETS, ENFORCING_POLICY } from '#src/cluster/membership.ts';
import { OlderReplicas, UncountedTasks } from '#src/money/older-replicas.ts';
import { toChange } from '#src/tasks/indexes.ts';
import { LeaseTable } from '#test/fakes/lease-table.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { newTask } from '#test/fakes/tasks.ts';

/** Leases of a shared store, and the detection of older replicas in it. */
function shared() {
  const clock = new ManualClock();
  const table = new LeaseTable(clock);
  const searches: string[] = [];
  const contents = {
    leases: async (beginning: string) => {
      searches.push(beginning);
      return table.names().filter((name) => name.startsWith(beginning));
    },
  };
  const store = { exclusive: false, contents } as unknown as ConstructorParameters<typeof OlderReplicas>[0];
  const join = async (owner: string) => {
    const leases = createLeases({ backend: table, clock, owner });
    const member = createMembership({ leases, exclusive: false, clock });
    await member.join();
    return member;
  };
  const olderOfSets = new OlderReplicas(store, DECIDING_SETS);
  return { clock, table, store, searches, older: new OlderReplicas(store), olderOfSets, join };
}

describe('replicas of an older version', () => {
  it('are alive while one holds its lease without the marker', async () => {
    const { table, older, join } = shared();
    await join('new');
    await table.take('replica:old', 'old 1', 15_000);
    expect(await older.areAlive()).toBe(true);
    await table.drop('replica:old', 'old 1');
    expect(await older.areAlive()).toBe(false);
  });

  it('are those that decide on each task of a set alone, by a marker of its own', async () => {
    const { table, store, olderOfSets, older, join } = shared();
    await join('new');
    const olderOfPolicies = new OlderReplicas(store, ENFORCING_POLICY);
    await table.take('counts-money:old', 'old 1', 15_000);
    await table.take('replica:old', 'old 1', 15_000);
    expect([await older.areAlive(), await olderOfSets.areAlive()]).toEqual([false, true]);
    expect(await olderOfPolicies.areAlive()).toBe(true);
    await table.drop('replica:old', 'old 1');
    expect(await olderOfSets.areAlive()).toBe(false);
  });

  it('are not searched again once none was left', async () => {
    const { searches, older, join } = shared();
    await join('new');
    expect(await older.areAlive()).toBe(false);
    const searched = searches.length;
    await Promise.all([older.areAlive(), older.areAlive()]);
    expect([searched, searches.length]).toEqual([2, 2]);
  });

  it('are never searched on a store of one process', async () => {
    const contents = { leases: () => Promise.reject(new Error('searched')) };
    const store = { exclusive: true, contents } as unknown as ConstructorParameters<typeof OlderReplicas>[0];
    expect(await new OlderReplicas(store).areAlive()).toBe(false);
  });

  it('count as alive when the store does not answer: nothing is decided without it', async () => {
    const contents = { leases: () => Promise.reject(new Error('away')) };
    const store = { exclusive: false, contents } as unknown as ConstructorParameters<typeof OlderReplicas>[0];
    await expect(new OlderReplicas(store).areAlive()).rejects.toThrow('away');
  });

  it('are not the ones that left: a replica gives its marker up last', async () => {
    const { table, older, join } = shared();
    const left = await join('new');
    await join('other');
    await left.leave();
    expect(table.names().toSorted()).toEqual([
      'counts-money:other',
      'decides-sets:other',
      'enforces-policy:other',
      'keeps-blind:other',
      'replica:other',
    ]);
    expect(await older.areAlive()).toBe(false);
  });
});

describe('uncounted tasks', () => {
  it('may exist until the count of a store with tasks has ended, for every replica', async () => {
    const store = new MemoryStore();
    await store.commit(toChange(null, newTask()));
    const [one, two] = [new UncountedTasks(store), new UncountedTasks(store)];
    await one.endIfEmpty();
    expect([await one.mayExist(), await two.mayExist()]).toEqual([true, true]);
    await one.end();
    expect([await one.mayExist(), await two.mayExist()]).toEqual([false, false]);
    expect(await new UncountedTasks(store).mayExist()).toBe(false);
  });

  it('never exist in a store that begins with this version', async () => {
    const store = new MemoryStore();
    await new UncountedTasks(store).endIfEmpty();
    await store.commit(toChange(null, newTask()));
    expect(await new UncountedTasks(store).mayExist()).toBe(false);
  });
});
