import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Jobs } from '#src/engine/jobs/jobs.ts';
import type { Store } from '#src/engine/store/store.ts';
import { booksCheck, lastDisagreements } from '#src/money/books/bookkeeper.ts';
import { checkBooks } from '#src/money/books/check.ts';
import { isRight, tableOf } from '#src/money/books/table.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import type { Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { pass } from '#test/fakes/settle.ts';
import { EVENTS, lived, NOON_MS, newTask } from '#test/fakes/tasks.ts';

const { send, accepted, completed, failed, lost, fetched } = EVENTS;
const TEAM = 'team:fake:T1:2026-11:USD';

/** Claims a task, to which things happen. */
async function happen(repository: TaskRepository, id: string, ...events: readonly TaskEvent[]): Promise<void> {
  await repository.claim([newTask({ id: id as TaskId })]);
  for (const event of events) await repository.record(id as TaskId, event);
  const { revision } = (await repository.get(id as TaskId)) as Task;
  await repository.record(id as TaskId, { kind: 'presented', revision });
}

/** A store with tasks in several states: 0.60 settled, 0.30 held, 0.30 in doubt. */
async function filledStore() {
  const store = new MemoryStore(false);
  const repository = new TaskRepository(store);
  const id = (upstreamId: string) => ({ ...accepted, upstreamId: upstreamId as UpstreamId });
  await happen(repository, 'done-1', send, id('up-1'), completed, fetched);
  await happen(repository, 'done-2', send, id('up-2'), completed, fetched);
  await happen(repository, 'failed', send, id('up-3'), failed);
  await happen(repository, 'open', send, id('up-4'));
  await happen(repository, 'uncertain', send, lost);
  return { store, repository };
}

async function teamSum(store: Store) {
  const [sum] = await store.sums([TEAM]);
  return sum;
}

describe('a check of the books', () => {
  it('finds a sum, a task and a negative amount that are wrong, and prints them', async () => {
    const { store, repository } = await filledStore();
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
    expect(isRight(report, { logs: [], missing: [] })).toBe(false);
    expect(tableOf(report, { logs: [], missing: ['a1'] })).toBe(
      [
        '5 tasks, 4 sums.',
        'sum                       part     in the store  by the tasks',
        'team:fake:T1:2026-11:USD  settled  0.7           0.6',
        'team:fake:T1:2026-11:USD  extra    -0.000001     0',
        'Task open counts something else than its ledger says.',
        'No audit log has the head a1: its end was cut off, or it was deleted.',
        'The books disagree. docs/operations.md, MoneyDisagrees, says what to do.',
        '',
      ].join('\n'),
    );
  });

  it('does not report changes that happen meanwhile', async () => {
    const { store, repository } = await filledStore();
    let orders = 0;
    const report = await checkBooks(store, async () => {
      orders += 1;
      const id = `n${orders}` as TaskId;
      if (orders > 12) return;
      await repository.claim([newTask({ id })]);
      await repository.record(id, send);
      if (orders % 2 === 0) await repository.record(id, lost);
    });
    expect(orders).toBeGreaterThan(12);
    expect(report).toMatchObject({ disagreements: [], stale: [], busy: [] });
  });

  it('does not report the sum of a person who is forgotten meanwhile', async () => {
    const { store, repository } = await filledStore();
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
    const { store, repository } = await filledStore();
    const wrong = 'team:fake:T2:2026-11:USD';
    await store.commit({ records: [], sums: [{ sum: wrong, add: { held: 5n } }] });
    let orders = 0;
    const isLimited = (): boolean => orders >= 400;
    const report = await checkBooks(store, async () => {
      if (isLimited()) return;
      orders += 1;
      await repository.claim([newTask({ id: `n${orders}` as TaskId })]);
      // Reading all tasks one by one must come to an end.
      if (orders % 2 === 0) await repository.record(`n${orders}` as TaskId, EVENTS.cancel);
    });
    expect(report.disagreements).toEqual([{ sum: wrong, part: 'held', stored: 5n, counted: 0n }]);
    expect(report.stale).toEqual([]);
  });
});

describe('the bookkeeper', () => {
  function keeping(store: Store) {
    const clock = new ManualClock(NOON_MS);
    const lines: Record<string, unknown>[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const logs: { log: string; result: { ok: false; number: number; reason: 'changed' } }[] = [];
    const heads = [{ log: 'slack:T1', entries: 2, hash: 'a1' }];
    const audit = { verifyAll: async () => logs, heads: async () => heads };
    const keeper = new Jobs({ store, clock, logger }, [booksCheck({ store, audit, clock, logger })]);
    return { clock, lines, logs, keeper };
  }

  it('checks after the start and every hour, and stores the number of disagreements for the metric', async () => {
    const { store } = await filledStore();
    const { clock, lines, logs, keeper } = keeping(store);
    keeper.start();
    expect(await lastDisagreements(store)).toBe(0);
    await pass(clock, 60_000, 1_000);
    expect(lines).toMatchObject([{ event: 'audit_head', log: 'slack:T1', entries: 2, hash: 'a1' }]);
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

  it('stops in the middle of a check', async () => {
    const { store } = await filledStore();
    const { clock, lines, keeper } = keeping(store);
    keeper.start();
    await pass(clock, 5_010, 10);
    const stopped = keeper.stop();
    await pass(clock, 1_000, 100);
    await stopped;
    expect(lines).toEqual([]);
  });
});
