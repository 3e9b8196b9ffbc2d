import { describe, expect, it } from 'vitest';
import { createLeases, type LeaseBackend } from '#src/engine/cluster/leases.ts';
import { Membership } from '#src/engine/cluster/membership.ts';
import { LeaseTable } from '#test/fakes/lease-table.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { pass } from '#test/fakes/settle.ts';

const clock = (): ManualClock => new ManualClock();

function membershipOf(owner: string, backend: LeaseBackend, time: ManualClock, exclusive = false): Membership {
  return new Membership({ leases: createLeases({ backend, clock: time, owner }), exclusive, clock: time });
}

/** Two processes on one store that joined a while ago. */
async function pair() {
  const time = clock();
  // The clock of the process that can be suspended.
  const stopped = clock();
  const table = new LeaseTable(time);
  const us = membershipOf('us', table, time);
  const them = membershipOf('them', table, stopped);
  await Promise.all([us.join(), them.join()]);
  const together = async (ms: number): Promise<void> => {
    for (let leftMs = ms; leftMs > 0; leftMs -= 250) {
      await pass(time, 250);
      await pass(stopped, 250);
    }
  };
  await together(20_000);
  return { time, table, us, them, together };
}

describe('a process that has joined', () => {
  it('is alive for the others until it has left', async () => {
    const { us, them } = await pair();
    expect([us.isAlive(), them.isAlive(), await us.isGone('them'), await them.isGone('us')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    await them.leave();
    expect(them.isAlive()).toBe(false);
    expect(await us.isGone('them')).toBe(true);
  });

  it('is gone after 15 s without a renewal, no earlier', async () => {
    const { us, time } = await pair();
    await pass(time, 11_000);
    expect(await us.isGone('them')).toBe(false);
    await pass(time, 4_000);
    expect(await us.isGone('them')).toBe(true);
  });

  it('notices its expiry before the others do', async () => {
    const { us, table, time } = await pair();
    table.isAway = true;
    await pass(time, 9_000);
    expect(us.isAlive()).toBe(true);
    await pass(time, 6_000);
    expect(us.isAlive()).toBe(false);
    table.isAway = false;
    await pass(time, 500);
    expect(us.isAlive()).toBe(true);
  });

  it('notices that its membership expired in between', async () => {
    const { us, table, time } = await pair();
    const begunAtMs = time.monotonic();
    expect(us.isAlive(begunAtMs)).toBe(true);
    table.forgetAll();
    await pass(time, 20_000);
    expect([us.isAlive(), us.isAlive(begunAtMs), us.isAlive(time.monotonic())]).toEqual([true, false, true]);
  });

  it('is no longer alive shortly before it could be gone for the others', async () => {
    const { us, table, time } = await pair();
    table.isAway = true;
    while (us.isAlive()) await pass(time, 250);
    table.isAway = false;
    expect(await table.read('replica:us')).toMatch(/^us /);
  });

  it('can leave while it is still joining', async () => {
    const table = new LeaseTable(clock());
    const us = membershipOf('us', table, clock());
    const joining = us.join();
    await us.leave();
    await joining;
    expect([us.isAlive(), await table.read('replica:us')]).toEqual([false, null]);
  });

  it('is never gone for itself', async () => {
    const { us } = await pair();
    await us.leave();
    expect(await us.isGone('us')).toBe(false);
  });
});

describe('after the store lost every lease', () => {
  it('no process is gone for 15 s, and then those without a lease are', async () => {
    const { us, them, table, time, together } = await pair();
    table.forgetAll();
    expect(await us.isGone('them')).toBe(false);
    await together(14_000);
    expect([await us.isGone('them'), us.isAlive(), them.isAlive()]).toEqual([false, true, true]);
    table.forgetAll();
    await pass(time, 10_000);
    expect(await us.isGone('them')).toBe(false);
    await pass(time, 10_000);
    expect(await us.isGone('them')).toBe(true);
  });
});

describe('on a store of one process', () => {
  it('every other process is gone at once', async () => {
    const time = clock();
    const us = membershipOf('us', new LeaseTable(time), time, true);
    await us.join();
    expect([await us.isGone('an earlier one'), await us.isGone('us'), us.isAlive()]).toEqual([true, false, true]);
  });
});
