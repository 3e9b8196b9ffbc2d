import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Jobs } from '#src/engine/jobs/jobs.ts';
import { MemoryQueue } from '#src/engine/queue/memory/queue.ts';
import type { JobKind, QueueName } from '#src/engine/queue/queue.ts';
import { DailiesError } from '#src/errors.ts';
import { reconciliation } from '#src/pipeline/reconcile.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { OUTBOX } from '#src/tasks/indexes.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { pass } from '#test/fakes/settle.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';
import { EVENTS, lived, NOON_MS, newTask, originOf } from '#test/fakes/tasks.ts';

const { send, accepted, cancel, completed, failed } = EVENTS;

const PACE = { firstMs: 5_000, minMs: 5_000, maxMs: 30_000, deadlineMs: 1_800_000 };

/** A reconciler whose queue lacks all jobs of the store. */
function forgetful() {
  const [store, clock] = [new MemoryStore(), new ManualClock(NOON_MS)];
  const logger = pino({ level: 'silent' });
  const queue = new MemoryQueue({
    clock,
    logger,
    concurrency: { send: 8, poll: 8, fetch: 8, deliver: 8, notify: 8, join: 1, frame: 1 },
  });
  const stepped: string[] = [];
  const noted = (kind: JobKind) => async (id: string) => {
    stepped.push(`${kind} ${id}`);
    return null;
  };
  queue.start({
    send: noted('send'),
    poll: noted('poll'),
    fetch: noted('fetch'),
    deliver: noted('deliver'),
    notify: noted('notify'),
    join: noted('join'),
    frame: noted('frame'),
  });
  const lost: string[] = [];
  const found = (lane: string, count: number): void => void lost.push(`${lane} ${count}`);
  const indexed = [{ queue: 'join', index: 'cuts-open' }] as const;
  const job = reconciliation({ store, queue, clock, pace: PACE, indexed, logger, found });
  const reconciler = new Jobs({ store, clock, logger }, [job]);
  return { store, clock, queue, stepped, lost, reconciler, repository: new TaskRepository(store) };
}

describe('a sweep', () => {
  it('schedules lost jobs in their queues and returns their number', async () => {
    const { clock, stepped, lost, reconciler, repository } = forgetful();
    const claimed = newTask({ id: 'claimed' as never });
    const polling = newTask({ id: 'polling' as never });
    const failed = newTask({ id: 'failed' as never });
    for (const task of [claimed, polling, failed]) await repository.claim([task]);
    for (const { id } of [polling, failed]) {
      await repository.record(id, EVENTS.send);
      await repository.record(id, EVENTS.accepted);
    }
    await repository.record(failed.id, { ...EVENTS.failed, atMs: NOON_MS });
    reconciler.start();
    await pass(clock, 25_000);
    expect(stepped.toSorted()).toEqual(['deliver failed', 'poll polling', 'send claimed']);
    expect(lost.toSorted()).toEqual(['deliver:fake 1', 'poll 1', 'send 1']);
  });

  it('schedules lost jobs of other records that an index holds', async () => {
    const { store, clock, queue, stepped, lost, reconciler } = forgetful();
    const entries = { lost: NOON_MS, planned: NOON_MS, fresh: NOON_MS + 15_000, done: null };
    const index = Object.entries(entries).map(([member, score]) => ({ index: 'cuts-open', member, score }));
    await store.commit({ records: [], index });
    queue.schedule('join', 'planned', NOON_MS + 300_000);
    reconciler.start();
    await pass(clock, 25_000);
    expect(stepped.toSorted()).toEqual(['join fresh', 'join lost']);
    expect(lost).toEqual(['join 1']);
  });

  it('leaves scheduled jobs unchanged', async () => {
    const { clock, queue, stepped, lost, reconciler, repository } = forgetful();
    await repository.claim([newTask()]);
    queue.schedule('send', newTask().id, NOON_MS + 300_000);
    reconciler.start();
    await pass(clock, 299_000, 1_000);
    expect(stepped).toEqual([]);
    expect(lost).toEqual([]);
  });

  it('schedules tasks dated in the future by another clock, without counting them as lost', async () => {
    const { clock, stepped, lost, reconciler, repository } = forgetful();
    await repository.claim([newTask({ createdAtMs: NOON_MS + 3_600_000 })]);
    reconciler.start();
    await pass(clock, 20_000, 1_000);
    expect(stepped).toEqual([`send ${newTask().id}`]);
    expect(lost).toEqual([]);
  });

  it('replaces jobs scheduled so late that a wrong clock must have set them', async () => {
    const { clock, queue, stepped, reconciler, repository } = forgetful();
    await repository.claim([newTask()]);
    queue.schedule('send', newTask().id, NOON_MS + 3_600_000);
    reconciler.start();
    await pass(clock, 20_000, 1_000);
    expect(stepped).toEqual([`send ${newTask().id}`]);
  });
});

/** An app whose queue has lost every job, and its reconciler. */
class Forgetful {
  readonly house = new TaskHouse();
  readonly found: [QueueName, number][] = [];
  readonly logged: { event: string; msg: string }[] = [];

  reconciler(): Jobs {
    const { store, queue, clock } = this.house;
    const logger = pino({ level: 'info' }, { write: (line: string) => this.logged.push(JSON.parse(line)) });
    const found = (lane: QueueName, count: number) => this.found.push([lane, count]);
    const job = reconciliation({ store, queue, clock, pace: PACE, indexed: [], logger, found });
    return new Jobs({ store, clock, logger }, [job]);
  }

  /** Stores tasks without scheduling jobs for them. */
  async keep(...tasks: readonly Task[]): Promise<void> {
    for (const task of tasks) {
      const record = { namespace: 'tasks', key: task.id, value: task, expected: 'absent' } as const;
      const entry = { member: task.id, score: task.createdAtMs };
      const index = [
        { ...entry, index: `state:${task.state}` },
        ...(task.presented ? [] : [{ ...entry, index: OUTBOX }]),
      ];
      await this.house.store.commit({ records: [record], index });
    }
  }
}

function named(id: string, changes: Partial<Task> = {}): Task {
  return newTask({ id: id as TaskId, ...changes });
}

describe('the reconciler', () => {
  it('schedules lost jobs by the state in the record', async () => {
    const world = new Forgetful();
    await world.keep(named('claimed'), lived(named('polling'), send, accepted));
    await world.keep(lived(named('fetching'), send, accepted, completed), lived(named('done'), send, accepted, failed));
    world.house.start();
    world.reconciler().start();
    await world.house.pass(19_999);
    expect(world.house.videos.posts).toEqual([]);
    await world.house.pass(10_000, 1_000);
    expect(world.house.videos.posts.map(({ key }) => key)).toEqual(['claimed']);
    expect(world.house.videos.polls).toContain('up-1');
    expect(world.house.videos.downloads).toHaveLength(1);
    expect(world.house.delivered).toContain('done');
    expect(new Map(world.found)).toEqual(
      new Map([
        ['deliver:fake', 1],
        ['fetch', 1],
        ['poll', 1],
        ['send', 1],
      ] as const),
    );
    expect(world.logged.map(({ msg }) => msg)).toContain('scheduled jobs that the queue had lost');
  });

  it('does not count new tasks as lost, since their creator is about to schedule them', async () => {
    const world = new Forgetful();
    await world.keep(lived(named('planned'), send, accepted));
    world.house.queue.schedule('poll', 'planned', world.house.clock.now() + 60_000);
    world.house.start();
    world.reconciler().start();
    await world.house.pass(19_000, 1_000);
    await world.keep(lived(named('fresh', { createdAtMs: world.house.clock.now() }), send, accepted));
    await world.house.pass(10_000, 1_000);
    expect(world.found).toEqual([]);
    expect(await world.house.queue.stats('poll')).toMatchObject({ planned: 2 });
  });

  it('does not deliver again while the notification is scheduled', async () => {
    const world = new Forgetful();
    await world.keep(lived(named('told later'), send, accepted, failed));
    world.house.queue.schedule('notify:fake', 'told later', world.house.clock.now() + 300_000);
    world.house.start();
    world.reconciler().start();
    await world.house.pass(100_000, 5_000);
    expect(world.house.delivered).toEqual([]);
    expect(world.found).toEqual([]);
  });

  it('leaves a cancelled task alone whose download is scheduled', async () => {
    const world = new Forgetful();
    await world.keep(lived(named('late'), send, accepted, cancel, completed));
    world.house.queue.schedule('fetch', 'late', world.house.clock.now() + 300_000);
    world.house.start();
    world.reconciler().start();
    await world.house.pass(100_000, 5_000);
    expect(world.house.videos.downloads).toEqual([]);
    expect(world.found).toEqual([]);
  });

  it('does not deliver tasks that were presented after they were listed', async () => {
    const world = new Forgetful();
    const shown = { ...lived(named('shown'), send, accepted, failed), presented: true };
    await world.keep(shown);
    const entry = { index: OUTBOX, member: shown.id, score: shown.createdAtMs };
    await world.house.store.commit({ records: [], index: [entry] });
    world.house.start();
    world.reconciler().start();
    await world.house.pass(40_000, 1_000);
    expect(world.house.delivered).toEqual([]);
    expect(world.found).toEqual([]);
  });

  it('delivers tasks dated in the future, or scheduled so late that a wrong clock must have set the time', async () => {
    const world = new Forgetful();
    const [early, late] = ['early', 'late'].map((id) => lived(named(id), send, accepted, failed));
    const hours = 3_600_000;
    await world.keep(...[early, late].flatMap((task) => task ?? []));
    const entry = { index: OUTBOX, member: 'early', score: world.house.clock.now() + hours };
    await world.house.store.commit({ records: [], index: [entry] });
    world.house.queue.schedule('deliver:fake', 'late', world.house.clock.now() + hours);
    world.house.start();
    world.reconciler().start();
    await world.house.pass(21_000, 1_000);
    expect(world.house.delivered.toSorted()).toEqual(['early', 'late']);
  });

  it('schedules the deliveries of each platform in its own queue', async () => {
    const world = new Forgetful();
    const away = { origin: originOf({ platform: 'away' }) };
    await world.keep(lived(named('here'), send, accepted, failed), lived(named('there', away), send, accepted, failed));
    world.reconciler().start();
    await world.house.pass(20_000, 1_000);
    expect(new Map(world.found)).toEqual(
      new Map([
        ['deliver:away', 1],
        ['deliver:fake', 1],
      ] as const),
    );
  });

  it('finds all of thousands of tasks with the same timestamp', async () => {
    const world = new Forgetful();
    const early = Array.from({ length: 700 }, (_, at) => lived(named(`early-${at}`), send, accepted));
    const later = { createdAtMs: newTask().createdAtMs + 1 };
    const same = Array.from({ length: 2_600 }, (_, at) => lived(named(`same-${at}`, later), send, accepted));
    await world.keep(...early, ...same);
    world.reconciler().start();
    await world.house.pass(20_000, 20_000);
    expect(world.found).toEqual([['poll', 3_300]]);
  });

  it('runs on one replica at a time; the next one takes over when it stops', async () => {
    const world = new Forgetful();
    const [first, second] = [world.reconciler(), world.reconciler()];
    let sweeps = 0;
    const { store } = world.house;
    const scan = store.scan.bind(store);
    store.scan = (index, range) => {
      if (index === OUTBOX && range?.max !== undefined) sweeps += 1;
      return scan(index, range);
    };
    first.start();
    second.start();
    await world.house.pass(60_000, 1_000);
    expect(sweeps).toBe(3);
    await first.stop();
    await world.house.pass(60_000, 1_000);
    expect(sweeps).toBe(6);
    await second.stop();
    await world.house.pass(60_000, 1_000);
    expect(sweeps).toBe(6);
    expect(await store.leases.holder('job:reconciliation')).toBeNull();
  });

  it('continues after a failed sweep', async () => {
    const world = new Forgetful();
    await world.keep(lived(named('polling'), send, accepted));
    const { store } = world.house;
    const scan = store.scan.bind(store);
    let isAway = true;
    store.scan = async (index, range) => {
      if (isAway) throw new DailiesError('scanning', { code: 'store_unavailable', retryable: true });
      return scan(index, range);
    };
    world.reconciler().start();
    await world.house.pass(20_000, 1_000);
    expect(world.logged.map(({ event }) => event)).toEqual(['reconciliation_failed']);
    isAway = false;
    await world.house.pass(20_000, 1_000);
    expect(world.found).toEqual([['poll', 1]]);
  });
});
