import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ApprovalPress, Approvals } from '#src/money/approvals.ts';
import { createMoney } from '#src/money/money.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { taskIdOf } from '#src/pipeline/task-service.ts';
import { MemoryQueue } from '#src/queue/memory/queue.ts';
import { openStore } from '#src/store/open.ts';
import type { Store } from '#src/store/store.ts';
import { amountOf } from '#src/tasks/amount.ts';
import { sumsOf } from '#src/tasks/money.ts';
import type { Person, Task } from '#src/tasks/task.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { ADA, BOB, NOON_MS, requestedTask } from '#test/fakes/tasks.ts';

const CLEO: Person = { id: 'cleo', name: 'Cleo' };
const PRICE = { amount: '0.30', currency: 'USD' };
const logger = pino({ level: 'silent' });

/** The stores of two replicas with the same content. */
interface Opened {
  readonly stores: readonly [Store, Store];
  readonly close: () => Promise<void>;
}

async function onSqlite(): Promise<Opened> {
  const directory = await mkdtemp(join(tmpdir(), 'dailies-approvals-'));
  // SQLite admits one process: both repositories share its connection.
  const store = await openStore(`sqlite:${join(directory, 'd.db')}`, { logger });
  const close = async () => {
    await store.close();
    await rm(directory, { recursive: true });
  };
  return { stores: [store, store], close };
}

async function onRedis(): Promise<Opened> {
  const server = await RedisServer.start();
  const stores = [await openStore(server.url, { logger }), await openStore(server.url, { logger })] as const;
  const close = async () => {
    for (const store of stores) await store.close();
    await server.remove();
  };
  return { stores: [...stores], close };
}

describe.each([
  ['SQLite', onSqlite],
  ['Redis', onRedis],
])('two decisions at the same time, on %s', (_, open) => {
  let opened: Opened;

  beforeEach(async () => {
    opened = await open();
  });

  afterEach(() => opened.close());

  /** Creates the approvals of a replica, and a log of the events that it stored. */
  function replica(store: Store, events: string[]) {
    const clock = new ManualClock(NOON_MS);
    const repository = new TaskRepository(store);
    repository.subscribe({ changed: (_task, event) => void events.push(event) });
    const concurrency = { send: 1, poll: 1, fetch: 1, deliver: 1, notify: 1 };
    const queue = new MemoryQueue({ clock, logger, concurrency });
    const money = createMoney({ store, clock });
    const approvals = new Approvals({ ...money, store, repository, queue, clock, logger });
    return { repository, approvals, audit: money.audit };
  }

  const press = (by: Person): ApprovalPress => ({ by, offered: PRICE, current: PRICE, grant: 0n });

  type Decide = (on: ReturnType<typeof replica>, task: Task) => Promise<unknown>;
  const others: readonly (readonly [string, Decide])[] = [
    ['another approval', ({ approvals }, task) => approvals.approve(task, press(CLEO))],
    ['a denial', ({ approvals }, task) => approvals.deny(task, CLEO, 'too long')],
    [
      'a withdrawal',
      ({ repository }, { id }) => repository.record(id, { kind: 'decline', how: 'withdrawn', by: ADA, atMs: NOON_MS }),
    ],
  ];

  it.each(others)('an approval and %s count once, and the books agree', async (_name, decide) => {
    const [first, second] = opened.stores;
    const events: string[] = [];
    const [one, two] = [replica(first, events), replica(second, events)];
    for (const isApprovalFirst of [true, false]) {
      const task = requestedTask({ id: taskIdOf(`race:${isApprovalFirst}`) });
      await one.repository.claim(task);
      events.length = 0;
      const decisions = [() => one.approvals.approve(task, press(BOB)), () => decide(two, task)];
      const inOrder = isApprovalFirst ? decisions : decisions.toReversed();
      const entriesBefore = (await one.audit.page(task.origin, { offset: 0, limit: 100 })).entries.length;
      const [before] = await first.sums([sumsOf(task.origin, { period: '2026-11', currency: 'USD' }).team]);
      await Promise.all(inOrder.map((start) => start()));

      expect(events.filter((event) => event === 'approve' || event === 'decline')).toHaveLength(1);
      const stored = await two.repository.get(task.id);
      const isApproved = events.includes('approve');
      expect(stored?.state).toBe(isApproved ? 'claimed' : 'declined');
      const [after] = await first.sums([sumsOf(task.origin, { period: '2026-11', currency: 'USD' }).team]);
      expect(amountOf((after?.held ?? 0n) - (before?.held ?? 0n))).toBe(isApproved ? '0.3' : '0');
      // A withdrawal is no administrative decision.
      const isLogged = isApproved || stored?.declined?.how === 'denied';
      const { entries } = await two.audit.page(task.origin, { offset: 0, limit: 100 });
      expect(entries.length - entriesBefore).toBe(isLogged ? 1 : 0);
      expect(await two.audit.verify(task.origin)).toMatchObject({ ok: true });
    }
  });
});
