import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Lease } from '#src/cluster/leases.ts';
import { checkBooks } from '#src/money/books/check.ts';
import { isRight, tableOf } from '#src/money/books/table.ts';
import { UncountedTasks } from '#src/money/older-replicas.ts';
import { countTasks, createBookkeeper, lastDisagreements } from '#src/pipeline/bookkeeper.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import type { Store } from '#src/store/store.ts';
import { toChange } from '#src/tasks/indexes.ts';
import type { Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { pass } from '#test/fakes/settle.ts';
import { EVENTS, lived, NOON_MS, newTask } from '#test/fakes/tasks.ts';

const { send, accepted, completed, failed, lost, fetched } = EVENTS;
const TEAM = 'team:fake:T1:2026-11:USD';
const AT_ONCE = { pause: async () => undefined, isActive: () => true };

/** Stores a task as an earlier version wrote it: without money, and uncounted. */
async function storeOld(store: Store, id: string, ...events: readonly TaskEvent[]): Promise<Task> {
  const task = lived(newTask({ id: id as TaskId }), ...events);
  const change = toChange(null, { ...task, presented: true });
  await store.commit(change);
  return { ...task, presented: true };
}

/** A store with old tasks in several states: 0.60 settled, 0.30 held, 0.30 in doubt. */
async function oldStore() {
  const store = new MemoryStore(false);
  const repository = new TaskRepository(store);
  const id = (upstreamId: string) => ({ ...accepted, upstreamId: upstreamId as UpstreamId });
  await storeOld(store, 'done-1', send, id('up-1'), completed, fetched);
  await storeOld(store, 'done-2', send, id('up-2'), completed, fetched);
  await storeOld(store, 'failed', send, id('up-3'), failed);
  await storeOld(store, 'open', send, id('up-4'));
  await storeOld(store, 'uncertain', send, lost);
  return { store, repository };
}

async function teamSum(store: Store) {
  const [sum] = await store.sums([TEAM]);
  return sum;
}

describe('counting the tasks of an earlier version', () => {
  it('adds each of them once, however often it runs, on two replicas at once', async () => {
    const { store, repository } = await oldStore();
    expect(await checkBooks(store)).toMatchObject({ tasks: 5, uncounted: 5, disagreements: [], stale: [] });
    const both = await Promise.all([
      countTasks({ store, repository }, AT_ONCE),
      countTasks({ store, repository: new TaskRepository(store) }, AT_ONCE),
    ]);
    expect(both[0] + both[1]).toBe(5);
    expect(await countTasks({ store, repository }, AT_ONCE)).toBe(0);
    expect(await teamSum(store)).toEqual({ held: 300_000n, settled: 600_000n, doubted: 300_000n, extra: 0n });
    expect(await checkBooks(store)).toMatchObject({ uncounted: 0, disagreements: [], stale: [], busy: [] });
  });

  it('is killed in the middle and goes on, beside traffic', async () => {
    const { store, repository } = await oldStore();
    let left = 2;
    const isActive = (): boolean => {
      left -= 1;
      return left >= 0;
    };
    const killed = { ...AT_ONCE, isActive };
    expect(await countTasks({ store, repository }, killed)).toBe(2);
    await repository.record('open' as TaskId, completed);
    await repository.claim(newTask({ id: 'new' as TaskId }));
    await countTasks({ store, repository }, AT_ONCE);
    expect(await teamSum(store)).toEqual({ held: 300_000n, settled: 900_000n, doubted: 300_000n, extra: 0n });
  });

  it('leaves a change of the same moment alone, and counts the task as it is then', async () => {
    const { store, repository } = await oldStore();
    const commit = store.commit.bind(store);
    let isFirst = true;
    store.commit = async (change) => {
      if (!isFirst) return commit(change);
      isFirst = false;
      // An older replica records the end of a task between the read and the commit.
      const [open, ...rest] = [await repository.get('open' as TaskId)];
      if (open === undefined || rest.length > 0) throw new TypeError('there is no open task');
      await commit(
        toChange(open, { ...lived(open, completed, fetched), revision: open.revision + 1, presented: true }),
      );
      return commit(change);
    };
    await countTasks({ store, repository }, AT_ONCE);
    await countTasks({ store, repository }, AT_ONCE);
    expect(await teamSum(store)).toMatchObject({ held: 0n, settled: 900_000n });
  });

  it('leaves a task in a state of a later version to that version', async () => {
    const store = new MemoryStore();
    const repository = new TaskRepository(store);
    const later = {
      ...newTask({ id: 'later' as TaskId, sends: 1 }),
      state: 'archived' as Task['state'],
      presented: true,
    };
    const counted = { ...later, money: { sends: [{ period: '2026-11', ...later.price, atMs: NOON_MS }] } };
    await store.commit({ records: [{ namespace: 'tasks', key: later.id, value: counted, expected: 'absent' }] });
    expect(await countTasks({ store, repository }, AT_ONCE)).toBe(0);
    expect(await checkBooks(store)).toMatchObject({ stale: [], disagreements: [] });
  });

  it('leaves out a task that is being delivered or sent, which its next event counts', async () => {
    const store = new MemoryStore();
    const repository = new TaskRepository(store);
    const shown = lived(newTask({ id: 'owed' as TaskId }), send, accepted, completed, fetched);
    await store.commit(toChange(null, shown));
    await store.commit(toChange(null, lived(newTask({ id: 'sending' as TaskId }), send)));
    expect(await countTasks({ store, repository }, AT_ONCE)).toBe(0);
    expect((await repository.get(shown.id))?.revision).toBe(shown.revision);
    await repository.record(shown.id, { kind: 'presented', revision: shown.revision });
    await repository.record('sending' as TaskId, lost);
    expect(await teamSum(store)).toMatchObject({ settled: 300_000n, doubted: 300_000n });
  });
});

describe('a check of the books', () => {
  it('finds a sum, a task and a negative amount that are wrong, and prints them', async () => {
    const { store, repository } = await oldStore();
    await countTasks({ store, repository }, AT_ONCE);
    await store.commit({ records: [], sums: [{ sum: TEAM, add: { settled: 100_000n, extra: -1n } }] });
    const open = await repository.get('open' as TaskId);
    if (open === undefined) throw new TypeError('there is no open task');
    const moved = { ...lived(open, completed), money: open.money ?? { sends: [] } };
    await store.commit({ records: [{ namespace: 'tasks', key: open.id, value: moved, expected: open.revision }] });
    const report = await checkBooks(store);
    expect(report).toMatchObject({
      stale: ['open'],
      disagreements: [
        { sum: TEAM, part: 'settled', stored: 700_000n, counted: 600_000n },
        { sum: TEAM, part: 'extra', stored: -1n, counted: 0n },
      ],
    });
    expect(isRight(report, [])).toBe(false);
    expect(tableOf(report, [])).toBe(
      [
        '5 tasks, 4 sums.',
        'sum                       part     in the store  by the tasks',
        'team:fake:T1:2026-11:USD  settled  0.7           0.6',
        'team:fake:T1:2026-11:USD  extra    -0.000001     0',
        'Task open counts something else than its ledger says.',
        'The books disagree. docs/operations.md, MoneyDisagrees, says what to do.',
        '',
      ].join('\n'),
    );
  });

  it('does not report changes that happen meanwhile', async () => {
    const { store, repository } = await oldStore();
    await countTasks({ store, repository }, AT_ONCE);
    let orders = 0;
    const report = await checkBooks(store, async () => {
      orders += 1;
      const id = `n${orders}` as TaskId;
      if (orders > 12) return;
      await repository.claim(newTask({ id }));
      await repository.record(id, send);
      if (orders % 2 === 0) await repository.record(id, lost);
    });
    expect(orders).toBeGreaterThan(12);
    expect(report).toMatchObject({ disagreements: [], stale: [], busy: [] });
  });

  it('does not report the sum of a person who is forgotten meanwhile', async () => {
    const { store, repository } = await oldStore();
    await countTasks({ store, repository }, AT_ONCE);
    const person = { id: 'forgotten-1', name: 'Removed person' };
    const theirs = ['done-1', 'done-2'];
    // One between the first reading of the tasks and that of the sums, the other between the next two.
    const report = await checkBooks(store, async () => {
      const id = theirs.shift() as TaskId | undefined;
      const event = { kind: 'remove', reason: 'forgotten', keepsContent: false, atMs: NOON_MS, person } as const;
      if (id !== undefined) expect((await repository.record(id, event))?.done).toBe(true);
    });
    expect(theirs).toEqual([]);
    expect(report).toMatchObject({ disagreements: [], stale: [], busy: [] });
  });

  it('says which sums never stood still, and still finds another one that is wrong', async () => {
    const { store, repository } = await oldStore();
    await countTasks({ store, repository }, AT_ONCE);
    const wrong = 'team:fake:T2:2026-11:USD';
    await store.commit({ records: [], sums: [{ sum: wrong, add: { held: 5n } }] });
    let orders = 0;
    const isLimited = (): boolean => orders >= 400;
    const report = await checkBooks(store, async () => {
      if (isLimited()) return;
      orders += 1;
      await repository.claim(newTask({ id: `n${orders}` as TaskId }));
      // Reading all tasks one by one must come to an end.
      if (orders % 2 === 0) await repository.record(`n${orders}` as TaskId, EVENTS.cancel);
    });
    expect(report.disagreements).toEqual([{ sum: wrong, part: 'held', stored: 5n, counted: 0n }]);
    expect(report.stale).toEqual([]);
  });
});

describe('the bookkeeper', () => {
  function keeping(store: Store, repository: TaskRepository) {
    const clock = new ManualClock(NOON_MS);
    const lines: Record<string, unknown>[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const logs: { log: string; result: { ok: false; number: number; reason: 'changed' } }[] = [];
    const audit = { verifyAll: async () => logs };
    const uncounted = new UncountedTasks(store);
    const rolling = { isOlderAlive: false };
    const older = { areAlive: async () => rolling.isOlderAlive };
    const keeper = createBookkeeper({ store, repository, audit, older, uncounted, clock, logger });
    return { clock, lines, logs, uncounted, rolling, keeper };
  }

  it('counts and checks after the start and every hour, and stores the number of disagreements for the metric', async () => {
    const { store, repository } = await oldStore();
    const { clock, lines, logs, keeper } = keeping(store, repository);
    keeper.start();
    expect(await lastDisagreements(store)).toBe(0);
    await pass(clock, 60_000, 1_000);
    expect(lines).toMatchObject([{ event: 'tasks_counted', counted: 5 }]);
    expect(await lastDisagreements(store)).toBe(0);
    const hers = { sum: 'person:fake:T1:U1:2026-11:USD', add: { held: 1n } };
    await store.commit({ records: [], sums: [{ sum: TEAM, add: { held: 1n } }, hers] });
    logs.push({ log: 'deployment', result: { ok: false, number: 1, reason: 'changed' } });
    await pass(clock, 3_610_000, 60_000);
    await pass(clock, 60_000, 1_000);
    expect(lines[1]).toMatchObject({
      event: 'money_disagrees',
      disagreements: 3,
      sums: [`${TEAM} held 300001 300000`, expect.stringContaining('person:fake:T1:[hidden]:2026-11:USD held ')],
      logs: ['deployment'],
    });
    expect(await lastDisagreements(store)).toBe(3);
    // Nothing was corrected.
    expect(await teamSum(store)).toMatchObject({ held: 300_001n });
    await keeper.stop();
  });

  it('begins again soon after its lease was lost in the middle, and counts the rest', async () => {
    const { store, repository } = await oldStore();
    const looks = [true];
    const lost = {
      isHeld: () => looks.pop() === true,
      signal: new AbortController().signal,
      release: async () => undefined,
    };
    const take = store.leases.take.bind(store.leases);
    const taken = [lost];
    store.leases = {
      ...store.leases,
      take: async (...args) => (taken.shift() as Lease | undefined) ?? take(...args),
    };
    const { clock, lines, uncounted, keeper } = keeping(store, repository);
    keeper.start();
    await pass(clock, 6_000, 100);
    expect(await uncounted.mayExist()).toBe(true);
    expect(lines).toMatchObject([{ event: 'tasks_counted', counted: 1 }, { event: 'books_check_failed' }]);
    await pass(clock, 31_000, 100);
    expect(lines.slice(2)).toMatchObject([{ event: 'tasks_counted', counted: 4 }]);
    await keeper.stop();
  });

  it('waits until no older replica is left, so that a budget misses nothing afterwards', async () => {
    const { store, repository } = await oldStore();
    const { clock, lines, uncounted, rolling, keeper } = keeping(store, repository);
    rolling.isOlderAlive = true;
    keeper.start();
    await pass(clock, 60_000, 1_000);
    expect([lines, await uncounted.mayExist()]).toEqual([[], true]);
    await storeOld(store, 'late', send, { ...accepted, upstreamId: 'up-9' as UpstreamId });
    rolling.isOlderAlive = false;
    await pass(clock, 60_000, 1_000);
    expect(lines).toMatchObject([{ event: 'tasks_counted', counted: 6 }]);
    expect(await uncounted.mayExist()).toBe(false);
    await keeper.stop();
  });

  it('stops in the middle of a check', async () => {
    const { store, repository } = await oldStore();
    const { clock, lines, keeper } = keeping(store, repository);
    keeper.start();
    await pass(clock, 5_010, 10);
    const stopped = keeper.stop();
    await pass(clock, 1_000, 100);
    await stopped;
    expect(lines).toEqual([]);
  });
});
