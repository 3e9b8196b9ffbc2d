import { describe, expect, it } from 'vitest';
import { createLeases } from '#src/engine/cluster/leases.ts';
import { OnOneReplica } from '#src/engine/cluster/on-one-replica.ts';
import { LeaseTable } from '#test/fakes/lease-table.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { deferred, pass } from '#test/fakes/settle.ts';

/** Periodic work, by default every second, of replicas that share a lease. */
function setUp(everyMs = 1_000) {
  const clock = new ManualClock();
  const backend = new LeaseTable(clock);
  const runs: string[] = [];
  const failures: unknown[] = [];
  const replica = (owner: string, work: () => Promise<void> = async () => undefined): OnOneReplica =>
    new OnOneReplica({
      leases: createLeases({ backend, clock, owner }),
      clock,
      name: 'sweeper',
      ttlMs: 2_000,
      everyMs,
      run: async () => {
        runs.push(owner);
        await work();
      },
      failed: (thrown) => void failures.push(thrown),
    });
  return { clock, backend, runs, failures, replica };
}

describe('periodic work', () => {
  it('runs on one replica, which keeps it', async () => {
    const { clock, runs, replica } = setUp();
    replica('us').start();
    replica('them').start(1_500);
    await pass(clock, 4_000);
    expect(runs).toEqual(['us', 'us', 'us', 'us']);
  });

  it('passes to another replica on stop, after the run in flight', async () => {
    const { clock, runs, replica } = setUp();
    const done = deferred();
    const us = replica('us', () => done.promise);
    us.start(0);
    replica('them').start();
    await pass(clock, 5_000);
    const stopped = us.stop();
    await pass(clock, 1_000);
    expect(runs).toEqual(['us']);
    done.resolve();
    await stopped;
    await pass(clock, 1_000);
    expect(runs).toEqual(['us', 'them']);
  });

  it('reports failures of the work and of the lease, and goes on', async () => {
    const { clock, backend, runs, failures, replica } = setUp();
    const outcomes = [() => Promise.reject(new Error('broken'))];
    replica('us', async () => outcomes.pop()?.()).start();
    await pass(clock, 1_000);
    backend.isAway = true;
    await pass(clock, 2_000);
    backend.isAway = false;
    await pass(clock, 1_000);
    expect(failures.map(String)).toEqual(['Error: broken', expect.stringContaining('away')]);
    expect(runs).toEqual(['us', 'us', 'us']);
  });

  it('passes to another replica soon after a crash, and is repeated soon after a failure, however rare it is', async () => {
    const { clock, backend, runs, replica } = setUp(3_600_000);
    // The lease of a replica that was killed in its run.
    await backend.take('sweeper', 'dead 1', 2_000);
    const outcomes = [() => Promise.reject(new Error('broken'))];
    const us = replica('us', async () => outcomes.pop()?.());
    us.start(500);
    await pass(clock, 2_400, 100);
    expect(runs).toEqual([]);
    await pass(clock, 100, 100);
    expect(runs).toEqual(['us']);
    await pass(clock, 2_000, 100);
    expect(runs).toEqual(['us', 'us']);
    await pass(clock, 3_599_000, 1_000);
    expect(runs).toEqual(['us', 'us']);
    await pass(clock, 1_000, 1_000);
    expect(runs).toEqual(['us', 'us', 'us']);
    await us.stop();
  });

  it('runs on demand, never twice at a time', async () => {
    const { runs, replica } = setUp();
    const done = deferred();
    const us = replica('us', () => done.promise);
    const both = Promise.all([us.runNow(), us.runNow()]);
    await pass(new ManualClock(), 0);
    expect(runs).toEqual(['us']);
    done.resolve();
    await both;
    expect(runs).toEqual(['us', 'us']);
    await us.stop();
    await us.runNow();
    expect(runs).toEqual(['us', 'us']);
  });
});
