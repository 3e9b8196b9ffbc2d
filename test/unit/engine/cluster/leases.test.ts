import { beforeEach, describe, expect, it } from 'vitest';
import {
  createLeases,
  createLocalLeases,
  type Lease,
  type LeaseBackend,
  type Leases,
} from '#src/engine/cluster/leases.ts';
import { LeaseTable } from '#test/fakes/lease-table.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { deferred, pass, settle } from '#test/fakes/settle.ts';

const TTL_MS = 10_000;

let clock: ManualClock;
let table: LeaseTable;
let leases: Leases;
let others: Leases;

beforeEach(() => {
  clock = new ManualClock();
  table = new LeaseTable(clock);
  leases = createLeases({ backend: table, clock, owner: 'ours' });
  others = createLeases({ backend: table, clock, owner: 'theirs' });
});

async function taken(by: Leases = leases): Promise<Lease> {
  const lease = await by.take('turn', TTL_MS);
  if (lease === null) throw new Error('somebody has it');
  return lease;
}

describe('a lease', () => {
  it('has one holder, whose id is returned', async () => {
    const lease = await taken();
    expect(await others.take('turn', TTL_MS)).toBeNull();
    expect(await leases.take('turn', TTL_MS)).toBeNull();
    expect(await others.take('another', TTL_MS)).not.toBeNull();
    expect(await others.holder('turn')).toBe('ours');
    expect(await leases.holder('nobody')).toBeNull();
    expect(lease).toMatchObject({ name: 'turn', sinceMs: clock.monotonic() });
  });

  it('renews itself until it is released', async () => {
    const lease = await taken();
    await pass(clock, 10 * TTL_MS);
    expect(lease.isHeld()).toBe(true);
    expect(lease.signal.aborted).toBe(false);
    expect(await others.take('turn', TTL_MS)).toBeNull();
  });

  it('makes no error of its own when it is released', async () => {
    const ended = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const lease = await leases.take(name, TTL_MS);
        const signal = lease?.signal;
        await lease?.release();
        return signal;
      }),
    );
    expect(ended[0]?.reason).toBeInstanceOf(Error);
    expect(ended[1]?.reason).toBe(ended[0]?.reason);
  });

  it('expires after its TTL if it is not renewed', async () => {
    const lease = await leases.take('turn', TTL_MS, { isRenewed: false });
    await pass(clock, TTL_MS - 1);
    expect(lease?.isHeld()).toBe(true);
    await pass(clock, 1);
    expect(lease?.isHeld()).toBe(false);
    expect(lease?.signal.aborted).toBe(true);
    expect(await others.take('turn', TTL_MS)).not.toBeNull();
  });

  it('is held with a margin only if that much time is left, even if the backend fails', async () => {
    const lease = await taken();
    table.isAway = true;
    expect(lease.isHeld(TTL_MS - 1)).toBe(true);
    expect(lease.isHeld(TTL_MS)).toBe(false);
    await pass(clock, 4_000);
    expect(lease.isHeld(5_999)).toBe(true);
    expect(lease.isHeld(6_000)).toBe(false);
  });

  it('counts from the request, not from the response', async () => {
    const answer = deferred<boolean>();
    const slow = createLeases({ backend: { ...backend(), take: () => answer.promise }, clock, owner: 'ours' });
    const taking = slow.take('turn', TTL_MS);
    await pass(clock, 4_000);
    answer.resolve(true);
    const lease = await taking;
    expect(lease?.isHeld(5_999)).toBe(true);
    expect(lease?.isHeld(6_000)).toBe(false);
  });

  it('is available at once after its release, and ended for its former holder', async () => {
    const lease = await taken();
    const released = lease.release();
    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.aborted).toBe(true);
    await released;
    const theirs = await taken(others);
    await pass(clock, 3 * TTL_MS);
    expect(theirs.isHeld()).toBe(true);
  });

  it('can be released while the backend is unavailable', async () => {
    const lease = await taken();
    table.isAway = true;
    await expect(lease.release()).resolves.toBeUndefined();
  });

  it('is lost when the backend no longer has it', async () => {
    const lease = await taken();
    table.forgetAll();
    const theirs = await taken(others);
    await pass(clock, TTL_MS / 4);
    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.aborted).toBe(true);
    await lease.release();
    expect(theirs.isHeld()).toBe(true);
    expect(await leases.holder('turn')).toBe('theirs');
  });

  it('is lost exactly on expiry while the backend is unavailable, without a call', async () => {
    const lease = await taken();
    await pass(clock, 7_000);
    table.isAway = true;
    // The last renewal was after 5 s.
    await pass(clock, 7_999, 1);
    expect(lease.signal.aborted).toBe(false);
    await pass(clock, 1);
    expect(lease.signal.aborted).toBe(true);
    table.isAway = false;
    await pass(clock, TTL_MS);
    expect(lease.isHeld()).toBe(false);
  });

  it('survives a backend that was unavailable for less than its TTL', async () => {
    const lease = await taken();
    table.isAway = true;
    await pass(clock, 9_000);
    table.isAway = false;
    await pass(clock, 20_000);
    expect(lease.isHeld()).toBe(true);
    expect(lease.signal.aborted).toBe(false);
  });

  it('is lost for a process suspended for longer than the TTL, as soon as it resumes', async () => {
    const stopped = new StoppableClock(clock);
    const lease = await taken(createLeases({ backend: table, clock: stopped, owner: 'ours' }));
    stopped.isStopped = true;
    await pass(clock, TTL_MS);
    expect(await others.take('turn', TTL_MS)).not.toBeNull();
    expect(lease.isHeld()).toBe(false);
  });

  it('is not blocked by a lost response', async () => {
    let isFirst = true;
    const lossy: LeaseBackend = {
      ...backend(),
      take: async (name, token, ttlMs) => {
        const answer = await table.take(name, token, ttlMs);
        if (!isFirst) return answer;
        isFirst = false;
        throw new Error('the connection broke');
      },
    };
    await expect(createLeases({ backend: lossy, clock, owner: 'ours' }).take('turn', TTL_MS)).rejects.toThrow('broke');
    await settle();
    expect(await others.take('turn', TTL_MS)).not.toBeNull();
  });

  it('is not blocked by a renewal with a late response', async () => {
    const answer = deferred();
    const slow: LeaseBackend = {
      ...backend(),
      renew: async (name, token, ttlMs) => {
        const isOurs = await table.renew(name, token, ttlMs);
        await answer.promise;
        return isOurs;
      },
    };
    const lease = await taken(createLeases({ backend: slow, clock, owner: 'ours' }));
    await pass(clock, TTL_MS);
    expect(lease.isHeld()).toBe(false);
    expect(await others.holder('turn')).toBe('ours');
    answer.resolve();
    await settle();
    expect(await others.take('turn', TTL_MS)).not.toBeNull();
  });
});

describe('a lease on a store of one process', () => {
  it('is held after any suspension, since no other process could take it', async () => {
    const lease = await taken(createLocalLeases(new StoppableClock(clock)));
    clock.advance(1_000_000);
    expect(lease.isHeld(1_000_000)).toBe(true);
  });

  it('can be taken again after its release, or after its TTL if it is not renewed', async () => {
    const local = createLocalLeases(clock);
    await (await taken(local)).release();
    expect(await local.take('turn', TTL_MS, { isRenewed: false })).not.toBeNull();
    expect(await local.take('turn', TTL_MS)).toBeNull();
    clock.advance(TTL_MS);
    expect(await local.holder('turn')).toBeNull();
    expect(await local.take('turn', TTL_MS)).not.toBeNull();
    expect(await local.holder('turn')).toBe(local.owner);
  });
});

/** A clock that advances without firing timers, as for a suspended process. */
class StoppableClock extends ManualClock {
  isStopped = false;
  readonly #time: ManualClock;

  constructor(time: ManualClock) {
    super();
    this.#time = time;
  }

  override monotonic(): number {
    return this.#time.monotonic();
  }

  override after(delayMs: number, run: () => void): () => void {
    return this.#time.after(delayMs, () => {
      if (!this.isStopped) run();
    });
  }
}

function backend(): LeaseBackend {
  return {
    take: (...call) => table.take(...call),
    renew: (...call) => table.renew(...call),
    drop: (...call) => table.drop(...call),
    read: (...call) => table.read(...call),
  };
}
