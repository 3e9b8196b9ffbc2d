import { pino } from 'pino';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MemoryQueue } from '#src/engine/queue/memory/queue.ts';
import type { Store } from '#src/engine/store/store.ts';
import { ZERO_SUM } from '#src/engine/store/sums.ts';
import { type ApprovalPress, Approvals, type ApprovalTasks } from '#src/money/approvals.ts';
import { checkBooks } from '#src/money/books/check.ts';
import { createMoney } from '#src/money/money.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import { sumsOf } from '#src/tasks/money.ts';
import { total } from '#src/tasks/price.ts';
import type { Person } from '#src/tasks/task.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { REPLICA_STORES, type ReplicaStores } from '#test/fakes/replica-stores.ts';
import { ADA, BOB, NOON_MS, originOf, requestedTask } from '#test/fakes/tasks.ts';

const CLEO: Person = { id: 'cleo', name: 'Cleo' };
const PRICE = { amount: '0.30', currency: 'USD' };
const logger = pino({ level: 'silent' });

describe.each(REPLICA_STORES)('two decisions at the same time, on %s', (_, open) => {
  let stores: ReplicaStores;

  beforeEach(async () => {
    stores = await open();
  });

  /** Creates the approvals of a replica, and a log of the events that it stored. */
  function replica(store: Store, events: string[]) {
    const clock = new ManualClock(NOON_MS);
    const repository = new TaskRepository(store);
    repository.subscribe({ changed: (_task, event) => void events.push(event) });
    const concurrency = { send: 1, poll: 1, fetch: 1, deliver: 1, notify: 1, join: 1, frame: 1 };
    const queue = new MemoryQueue({ clock, logger, concurrency });
    const money = createMoney({ store, clock });
    const approvals = new Approvals({ ...money, store, repository, queue, clock, logger });
    return { repository, approvals, audit: money.audit, settings: money.settings };
  }

  type Decide = (on: ReturnType<typeof replica>, tasks: ApprovalTasks) => Promise<unknown>;
  const others: readonly (readonly [string, Decide])[] = [
    ['another approval', ({ approvals }, tasks) => approvals.approve(tasks, press(tasks, CLEO))],
    ['a denial', ({ approvals }, tasks) => approvals.deny(tasks, CLEO, 'too long')],
    [
      'a withdrawal',
      // By any of its tasks.
      ({ repository }, tasks) =>
        repository.record((tasks.at(-1) ?? tasks[0]).id, { kind: 'decline', how: 'withdrawn', by: ADA, atMs: NOON_MS }),
    ],
  ];

  it.each(others)('an approval and %s count once, also of a set, and the books agree', async (_name, decide) => {
    const [first, second] = stores;
    const events: string[] = [];
    const [one, two] = [replica(first, events), replica(second, events)];
    for (const { isApprovalFirst, of } of [
      { isApprovalFirst: true, of: 1 },
      { isApprovalFirst: false, of: 1 },
      { isApprovalFirst: true, of: 12 },
      { isApprovalFirst: false, of: 4 },
    ]) {
      const tasks = requestOf(`race:${isApprovalFirst}:${of}`, of);
      const [task] = tasks;
      await one.repository.claim(tasks);
      events.length = 0;
      const decisions = [() => one.approvals.approve(tasks, press(tasks, BOB)), () => decide(two, tasks)];
      const inOrder = isApprovalFirst ? decisions : decisions.toReversed();
      const entriesBefore = (await one.audit.page(task.origin, { offset: 0, limit: 100 })).entries.length;
      const [before] = await first.sums([sumsOf(task.origin, { period: '2026-11', currency: 'USD' }).team]);
      await Promise.all(inOrder.map((start) => start()));

      const decided = events.filter((event) => event === 'approve' || event === 'decline');
      expect([decided.length, new Set(decided).size]).toEqual([of, 1]);
      const isApproved = events.includes('approve');
      const stored = await Promise.all(tasks.map(({ id }) => two.repository.get(id)));
      expect(new Set(stored.map((found) => found?.state))).toEqual(new Set([isApproved ? 'claimed' : 'declined']));
      const [after] = await first.sums([sumsOf(task.origin, { period: '2026-11', currency: 'USD' }).team]);
      expect((after?.held ?? 0n) - (before?.held ?? 0n)).toBe(isApproved ? 300_000n * BigInt(of) : 0n);
      // A withdrawal is no administrative decision; a set is one.
      const isLogged = isApproved || stored[0]?.declined?.how === 'denied';
      const { entries } = await two.audit.page(task.origin, { offset: 0, limit: 100 });
      expect(entries.length - entriesBefore).toBe(isLogged ? 1 : 0);
      expect(await two.audit.verify(task.origin)).toMatchObject({ ok: true });
    }
  });

  it.each([
    ['a pause refuses it', { pause: { reason: 'over the plan', by: CLEO, atMs: NOON_MS } }, 'paused'],
    ['a policy refuses it', { policy: { team: { words: ['fox'] }, channels: {} } }, 'forbidden'],
    ['another setting is judged by, and counts', { approveAbove: { amount: '0.10', currency: 'USD' } }, 'approved'],
  ] as const)('of settings that change before the commit of an approval, %s', async (_name, patch, kind) => {
    const [first, second] = stores;
    const [one, two] = [replica(first, []), replica(second, [])];
    const tasks = requestOf(`settings:${kind}`, 4);
    await one.repository.claim(tasks);
    const read = one.settings.get.bind(one.settings);
    vi.spyOn(one.settings, 'get').mockImplementationOnce(async (team) => {
      const before = await read(team);
      await two.settings.change(team, { person: CLEO, surface: 'command' }, patch);
      return before;
    });
    expect(await one.approvals.approve(tasks, press(tasks, BOB))).toMatchObject({ kind });
    const states = await Promise.all(tasks.map(async ({ id }) => (await two.repository.get(id))?.state));
    expect(new Set(states)).toEqual(new Set([kind === 'approved' ? 'claimed' : 'requested']));
    expect((await checkBooks(first)).disagreements).toEqual([]);
  });

  it('an approval of a set over a budget buys none of its tasks, and a grant covers all of them', async () => {
    const [store] = stores;
    const { approvals, repository } = replica(store, []);
    await store.keyv('budgets').set('team:fake:T1', { revision: 1, hard: { USD: '1000000' }, soft: {} });
    const tasks = requestOf('over', 4);
    await repository.claim(tasks);
    expect(await approvals.approve(tasks, press(tasks, BOB))).toMatchObject({
      kind: 'over',
      over: { scope: 'team', price: '1.2', room: '1' },
      missing: 200_000n,
    });
    const sums = async () => (await store.sums([sumsOf(originOf(), { period: '2026-11', currency: 'USD' }).team]))[0];
    expect(await sums()).toEqual(ZERO_SUM);
    for (const { id } of tasks) expect(await repository.get(id)).toMatchObject({ state: 'requested', revision: 1 });
    const granted = { ...press(tasks, BOB), grant: 200_000n };
    expect(await approvals.approve(tasks, granted)).toMatchObject({ kind: 'approved' });
    expect(await sums()).toMatchObject({ held: 1_200_000n, extra: 200_000n });
    // Each refund ends what was granted for its task: no room is left to others, and the books agree.
    for (const { id } of tasks) await repository.record(id, { kind: 'cancel', by: ADA, atMs: NOON_MS });
    expect(await sums()).toEqual(ZERO_SUM);
    expect((await checkBooks(store)).disagreements).toEqual([]);
  });

  it('a grant of more than the price of one task is divided: the refund of one leaves the others theirs', async () => {
    const [store] = stores;
    const { approvals, repository } = replica(store, []);
    await store.keyv('budgets').set('team:fake:T1', { revision: 1, hard: { USD: '500000' }, soft: {} });
    const tasks = requestOf('divided', 4);
    await repository.claim(tasks);
    expect(await approvals.approve(tasks, { ...press(tasks, BOB), grant: 700_000n })).toMatchObject({
      kind: 'approved',
    });
    const sums = async () => (await store.sums([sumsOf(originOf(), { period: '2026-11', currency: 'USD' }).team]))[0];
    const left: bigint[] = [];
    for (const { id } of tasks) {
      left.push((await sums())?.extra ?? 0n);
      await repository.record(id, { kind: 'cancel', by: ADA, atMs: NOON_MS });
    }
    expect(left).toEqual([700_000n, 400_000n, 100_000n, 0n]);
    expect(await sums()).toEqual(ZERO_SUM);
  });
});

/** Ada's request for $0.30 each. */
function requestOf(name: string, of: number): ApprovalTasks {
  const id = taskIdOf(name);
  const task = requestedTask({ id });
  if (of === 1) return [task];
  const [first = task, ...others] = memberIds({ id, of }).map((member, index) =>
    requestedTask({ id: member, set: { id, kind: 'takes', at: index + 1, of } }),
  );
  return [first, ...others];
}

function press(tasks: ApprovalTasks, by: Person): ApprovalPress {
  const [offered = PRICE] = total(tasks.map(() => PRICE));
  return { by, offered, current: tasks.map(() => PRICE), grant: 0n };
}
