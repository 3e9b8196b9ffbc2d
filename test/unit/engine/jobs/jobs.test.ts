import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createLeases } from '#src/engine/cluster/leases.ts';
import { type DueJob, type Job, Jobs } from '#src/engine/jobs/jobs.ts';
import { DailiesError } from '#src/errors.ts';
import { LeaseTable } from '#test/fakes/lease-table.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { deferred, pass, settle } from '#test/fakes/settle.ts';
import { NOON_MS } from '#test/fakes/tasks.ts';

type RecurringJob = Exclude<Job, DueJob>;

interface Line {
  readonly event: string;
  readonly failures: number;
  readonly err: { readonly message: string };
}

/** Replicas that share a store and its leases. */
function setUp() {
  const clock = new ManualClock(NOON_MS);
  const table = new LeaseTable(clock);
  const store = new MemoryStore();
  const logged: Line[] = [];
  const logger = pino({ base: null }, { write: (line: string) => logged.push(JSON.parse(line)) });
  const replica = (owner: string, ...jobs: readonly Job[]): Jobs => {
    const leases = createLeases({ backend: table, clock, owner });
    return new Jobs({ store: { leases, scan: (...of) => store.scan(...of) }, clock, logger }, jobs);
  };
  const plan = (members: Readonly<Record<string, number | null>>) =>
    store.commit({
      records: [],
      index: Object.entries(members).map(([member, score]) => ({ index: 'plans', member, score })),
    });
  const failures = () => logged.map(({ event, failures, err }) => [event, failures, err.message]);
  return { clock, table, store, logged, failures, replica, plan };
}

/** A job that recurs, by default every second. */
function recurring(run: RecurringJob['run'], changes: Partial<RecurringJob> = {}): RecurringJob {
  return { name: 'sweep', everyMs: 1_000, leaseMs: 2_000, ...changes, run };
}

describe('a job that recurs', () => {
  it('runs on one replica, which keeps it', async () => {
    const { clock, replica } = setUp();
    const runs: string[] = [];
    replica(
      'us',
      recurring(async () => void runs.push('us')),
    ).start();
    replica(
      'them',
      recurring(async () => void runs.push('them'), { firstInMs: 1_500 }),
    ).start();
    await pass(clock, 4_000);
    expect(runs).toEqual(['us', 'us', 'us', 'us']);
  });

  it('runs on every replica where it has no lease', async () => {
    const { clock, table, replica } = setUp();
    const runs: string[] = [];
    const all = ['us', 'them'].map((owner) =>
      replica(
        owner,
        recurring(async () => void runs.push(owner), { leaseMs: null, firstInMs: 0 }),
      ),
    );
    for (const jobs of all) jobs.start();
    await pass(clock, 1_500);
    expect(runs).toEqual(['us', 'them', 'us', 'them']);
    expect(table.names()).toEqual([]);
    await Promise.all(all.map((jobs) => jobs.stop()));
    await pass(clock, 5_000);
    expect(runs).toHaveLength(4);
  });

  it('passes to another replica on stop, after the run in flight', async () => {
    const { clock, table, replica } = setUp();
    const runs: string[] = [];
    const done = deferred();
    const us = replica(
      'us',
      recurring(
        () => {
          runs.push('us');
          return done.promise;
        },
        { firstInMs: 0 },
      ),
    );
    us.start();
    replica(
      'them',
      recurring(async () => void runs.push('them')),
    ).start();
    await pass(clock, 5_000);
    const stopped = us.stop();
    await pass(clock, 1_000);
    expect(runs).toEqual(['us']);
    done.resolve();
    await stopped;
    expect(table.names()).toEqual([]);
    await pass(clock, 1_000);
    expect(runs).toEqual(['us', 'them']);
  });

  it('reports failures of the work and of the lease, and goes on', async () => {
    const { clock, table, replica, failures } = setUp();
    let runs = 0;
    const outcomes = [() => Promise.reject(new Error('broken'))];
    replica(
      'us',
      recurring(async () => {
        runs += 1;
        await outcomes.pop()?.();
      }),
    ).start();
    await pass(clock, 1_000);
    table.isAway = true;
    await pass(clock, 2_000);
    table.isAway = false;
    await pass(clock, 1_000);
    expect(failures()).toEqual([
      ['sweep_failed', 1, 'broken'],
      ['sweep_failed', 1, expect.stringContaining('away')],
    ]);
    expect(runs).toBe(3);
  });

  it('passes to another replica soon after a crash, and is repeated soon after a failure, however rare it is', async () => {
    const { clock, table, replica } = setUp();
    // The lease of a replica that was killed in its run.
    await table.take('job:sweep', 'dead 1', 2_000);
    let runs = 0;
    const outcomes = [() => Promise.reject(new Error('broken'))];
    const run = async (): Promise<void> => {
      runs += 1;
      await outcomes.pop()?.();
    };
    const us = replica('us', recurring(run, { everyMs: 3_600_000, firstInMs: 500 }));
    us.start();
    await pass(clock, 2_400, 100);
    expect(runs).toBe(0);
    await pass(clock, 100, 100);
    expect(runs).toBe(1);
    await pass(clock, 2_000, 100);
    expect(runs).toBe(2);
    await pass(clock, 3_599_000, 1_000);
    expect(runs).toBe(2);
    await pass(clock, 1_000, 1_000);
    expect(runs).toBe(3);
    await us.stop();
  });

  it('is repeated soon after a failure where it has no lease, too', async () => {
    const { clock, replica } = setUp();
    let runs = 0;
    const run = async (): Promise<void> => {
      runs += 1;
      if (runs === 1) throw new Error('broken');
    };
    replica('us', recurring(run, { everyMs: 600_000, firstInMs: 0, leaseMs: null })).start();
    await pass(clock, 31_000, 1_000);
    expect(runs).toBe(2);
    await pass(clock, 590_000, 1_000);
    expect(runs).toBe(2);
  });

  it('runs on demand, never twice at a time', async () => {
    const { replica } = setUp();
    let runs = 0;
    const done = deferred();
    const us = replica(
      'us',
      recurring(() => {
        runs += 1;
        return done.promise;
      }),
    );
    const both = Promise.all([us.runNow('sweep'), us.runNow('sweep')]);
    await settle();
    expect(runs).toBe(1);
    done.resolve();
    expect(await both).toEqual([true, true]);
    expect(runs).toBe(2);
    await expect(us.runNow('sweeep')).rejects.toThrow('sweeep');
    await us.stop();
    expect(await us.runNow('sweep')).toBe(false);
    expect(runs).toBe(2);
  });

  it('may end early once this replica stops or has lost the lease, which is no failure', async () => {
    const { clock, table, replica, logged } = setUp();
    const steps: string[] = [];
    const us = replica(
      'us',
      recurring(async (run) => {
        for (;;) {
          await settle();
          run.assertActive();
          steps.push('step');
          if (steps.length === 2) clock.advance(2_000);
          if (steps.length === 4) void us.stop();
        }
      }),
    );
    await us.runNow('sweep');
    expect(steps).toHaveLength(2);
    expect(await us.runNow('sweep')).toBe(false);
    expect(steps).toHaveLength(4);
    await us.stop();
    expect(table.names()).toEqual([]);
    expect(logged).toEqual([]);
  });

  it('reports the failures of its parts together, after all of them were tried', async () => {
    const { replica, failures } = setUp();
    const tried: string[] = [];
    const us = replica(
      'us',
      recurring(async (run) => {
        for (const part of ['one', 'two', 'three'])
          await run.attempt(async () => {
            tried.push(part);
            if (part !== 'two') throw new DailiesError(`${part} broke`, { code: 'internal', retryable: true });
          });
      }),
    );
    expect(await us.runNow('sweep')).toBe(false);
    expect(tried).toEqual(['one', 'two', 'three']);
    expect(failures()).toEqual([['sweep_failed', 2, 'one broke']]);
  });
});

it('refuses two jobs of one name, which would share a lease', () => {
  const job = recurring(async () => undefined);
  expect(() => setUp().replica('us', job, job)).toThrow('same name');
});

/** A job of what is due in the index `plans`. */
function ofPlans(run: DueJob['run'], changes: Partial<DueJob> = {}): DueJob {
  return { name: 'plans', index: 'plans', everyMs: 1_000, leaseMs: 2_000, ...changes, run };
}

describe('a job of what is due', () => {
  it('works on the members whose time has come, oldest first, until they leave the index', async () => {
    const { clock, replica, plan } = setUp();
    await plan({ soon: NOON_MS + 3_000, second: NOON_MS - 1, first: NOON_MS - 2 });
    const done: string[] = [];
    replica(
      'us',
      ofPlans(async (member) => {
        done.push(member);
        if (member !== 'second' || done.length > 2) await plan({ [member]: null });
      }),
    ).start();
    await pass(clock, 2_000);
    expect(done).toEqual(['first', 'second', 'second']);
    await pass(clock, 1_000);
    expect(done).toEqual(['first', 'second', 'second', 'soon']);
  });

  it('may be due some time after the score', async () => {
    const { clock, replica, plan } = setUp();
    await plan({ one: NOON_MS });
    const done: string[] = [];
    const us = replica(
      'us',
      ofPlans(async (member) => void done.push(member), { afterMs: 60_000 }),
    );
    clock.advance(59_999);
    await us.runNow('plans');
    expect(done).toEqual([]);
    clock.advance(1);
    await us.runNow('plans');
    expect(done).toEqual(['one']);
  });

  it('works on more than one page', async () => {
    const { replica, plan } = setUp();
    const members = Array.from({ length: 2_300 }, (_, at) => `m${at}`);
    await plan(Object.fromEntries(members.map((member, at) => [member, NOON_MS - 5_000 + at])));
    const done: string[] = [];
    await replica(
      'us',
      ofPlans(async (member) => void done.push(member)),
    ).runNow('plans');
    expect(done).toEqual(members);
  });

  it('goes on after the failure of a member, which stays due, and reports it without its name', async () => {
    const { clock, replica, plan, logged, failures } = setUp();
    await plan({ bad: NOON_MS - 3, worse: NOON_MS - 2, good: NOON_MS - 1 });
    const done: string[] = [];
    replica(
      'us',
      ofPlans(async (member) => {
        done.push(member);
        if (member !== 'good') throw new Error('broken');
        await plan({ [member]: null });
      }),
    ).start();
    await pass(clock, 1_000);
    expect(done).toEqual(['bad', 'worse', 'good']);
    expect(failures()).toEqual([['plans_failed', 2, 'broken']]);
    expect(JSON.stringify(logged)).not.toContain('worse');
    await pass(clock, 1_000);
    expect(done).toEqual(['bad', 'worse', 'good', 'bad', 'worse']);
  });

  it('stops between two members once the lease is lost or this replica stops', async () => {
    const { clock, replica, plan } = setUp();
    await plan(Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`m${at}`, NOON_MS - 10 + at])));
    const done: string[] = [];
    const us = replica(
      'us',
      ofPlans(async (member) => {
        await plan({ [member]: null });
        done.push(member);
        if (done.length === 2) clock.advance(2_000);
        if (done.length === 4) void us.stop();
      }),
    );
    await us.runNow('plans');
    expect(done).toEqual(['m0', 'm1']);
    await us.runNow('plans');
    expect(done).toEqual(['m0', 'm1', 'm2', 'm3']);
  });
});
