import { describe, expect, it } from 'vitest';
import { createLeases, type Leases } from '#src/engine/cluster/leases.ts';
import { withLease } from '#src/engine/cluster/with-lease.ts';
import { LeaseTable } from '#test/fakes/lease-table.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { pass } from '#test/fakes/settle.ts';

function replicas(): { clock: ManualClock; ours: Leases; theirs: Leases } {
  const clock = new ManualClock();
  const backend = new LeaseTable(clock);
  const [ours, theirs] = ['us', 'them'].map((owner) => createLeases({ backend, clock, owner }));
  if (ours === undefined || theirs === undefined) throw new TypeError('two replicas');
  return { clock, ours, theirs };
}

const lease = { name: 'work', ttlMs: 1_000 };

describe('work under a lease', () => {
  it('holds the lease while it runs, and releases it even after a failure', async () => {
    const { clock, ours, theirs } = replicas();
    const work = withLease({ ...lease, leases: ours, clock }, async (held) => {
      expect(await theirs.take('work', 1_000)).toBeNull();
      expect(held.isHeld()).toBe(true);
      throw new Error('failed');
    });
    await expect(work).rejects.toThrow('failed');
    expect(await withLease({ ...lease, leases: theirs, clock }, async () => 'done')).toBe('done');
  });

  it('is skipped at once without a retry interval while another replica holds the lease', async () => {
    const { clock, ours, theirs } = replicas();
    await theirs.take('work', 1_000);
    expect(await withLease({ ...lease, leases: ours, clock }, async () => 'done')).toBeNull();
    expect(clock.monotonic()).toBe(0);
  });

  it('waits for the lease of another replica', async () => {
    const { clock, ours, theirs } = replicas();
    const held = await theirs.take('work', 1_000);
    const work = withLease({ ...lease, leases: ours, clock, retryMs: 100 }, async () => clock.monotonic());
    await pass(clock, 2_000, 100);
    await held?.release();
    await pass(clock, 100);
    expect(await work).toBe(2_100);
  });

  it('gives up after its timeout, and when it is aborted', async () => {
    const { clock, ours, theirs } = replicas();
    await theirs.take('work', 1_000);
    const stop = new AbortController();
    const waiting = { ...lease, leases: ours, clock, retryMs: 100 };
    const late = withLease({ ...waiting, timeoutMs: 1_000 }, async () => 'done');
    const aborted = withLease({ ...waiting, signal: stop.signal }, async () => 'done');
    await pass(clock, 1_100, 100);
    expect(await late).toBeNull();
    stop.abort();
    expect(await aborted).toBeNull();
  });
});
