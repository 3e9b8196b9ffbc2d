import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { MemoryQueue } from '#src/engine/queue/memory/queue.ts';
import { DailiesError } from '#src/errors.ts';
import { type ApprovalPress, Approvals } from '#src/money/approvals.ts';
import { checkBooks } from '#src/money/books/check.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { sumsOf } from '#src/tasks/money.ts';
import type { Person, Task, TaskEvent } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { TeamSettingsRepository } from '#src/teams/team-settings.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { ADA, BOB, EVENTS, NOON_MS, newTask, originOf, requestedTask } from '#test/fakes/tasks.ts';

const { send, accepted, failed } = EVENTS;
const CLEO: Person = { id: 'cleo', name: 'Cleo' };
const USD = (amount: string) => ({ amount, currency: 'USD' });
const TEAM = { platform: 'fake', team: 'T1' };
const DAY_MS = 86_400_000;

/** Two replicas on one store, with Ada's request for $0.30. */
async function house(changes: Partial<Task> = {}) {
  const [store, clock] = [new MemoryStore(false), new ManualClock(NOON_MS)];
  const logger = pino({ level: 'silent' });
  const audit = new AuditTrail(store, clock);
  const settings = new TeamSettingsRepository(store, audit);
  const events: string[] = [];
  const disk = { isFull: false };
  const assertWritable = async () => {
    if (disk.isFull) throw new DailiesError('approving', { code: 'data_full', retryable: true });
  };
  const replica = () => {
    const repository = new TaskRepository(store);
    repository.subscribe({ changed: (_task, event) => void events.push(event) });
    const queue = new MemoryQueue({
      clock,
      logger,
      concurrency: { send: 1, poll: 1, fetch: 1, deliver: 1, notify: 1, join: 1, frame: 1 },
    });
    return {
      repository,
      queue,
      approvals: new Approvals({ store, repository, audit, settings, assertWritable, queue, clock, logger }),
    };
  };
  const [one, two] = [replica(), replica()];
  const task = requestedTask(changes);
  await one.repository.claim([task]);
  events.length = 0;
  const budget = async (key: string, amount: string): Promise<void> => {
    const value = { revision: 1, hard: { USD: amount }, soft: {} };
    await store.commit({ records: [{ namespace: 'budgets', key, value, expected: 'any' }] });
  };
  const current = async (): Promise<Task> => {
    const found = await one.repository.get(task.id);
    if (found === undefined) throw new TypeError('the request is gone');
    return found;
  };
  const used = async (period = '2026-11') => {
    const [sums] = await store.sums([sumsOf(task.origin, { period, currency: 'USD' }).team]);
    return sums;
  };
  const logged = async () => {
    expect(await audit.verify(TEAM)).toMatchObject({ ok: true });
    const { entries } = await audit.page(TEAM, { offset: 0, limit: 100 });
    return entries.map(({ by, after }) => ({
      by,
      after: after.map((value) => ('text' in value ? value.text : value)),
    }));
  };
  return { store, clock, settings, disk, audit, one, two, task, events, budget, current, used, logged };
}

function press(changes: Partial<ApprovalPress> = {}): ApprovalPress {
  return { by: BOB, offered: USD('0.30'), current: [USD('0.30')], grant: 0n, ...changes };
}

describe('an approval', () => {
  it('buys nothing while clips cannot be stored', async () => {
    const { one, task, disk, current, used } = await house();
    disk.isFull = true;
    await expect(one.approvals.approve([task], press())).rejects.toMatchObject({ code: 'data_full' });
    expect(await current()).toMatchObject({ state: 'requested' });
    expect(await used()).toMatchObject({ held: 0n });
    disk.isFull = false;
    expect(await one.approvals.approve([task], press())).toMatchObject({ kind: 'approved' });
  });

  it('claims the task, holds its price and logs the decision in one commit', async () => {
    const { one, task, current, used, logged, store } = await house();
    expect(await used()).toEqual({ held: 0n, settled: 0n, doubted: 0n, extra: 0n });
    expect(await one.approvals.approve([task], press())).toMatchObject({
      kind: 'approved',
      tasks: [{ state: 'claimed' }],
    });
    expect(await current()).toMatchObject({ state: 'claimed', approval: { approved: { by: BOB, atMs: NOON_MS } } });
    expect(await used()).toMatchObject({ held: 300_000n, extra: 0n });
    expect(await logged()).toEqual([{ by: BOB, after: ['approved', { kind: 'price', price: USD('0.30') }] }]);
    expect(await store.count('outbox')).toBe(0);
    expect((await one.queue.stats('send')).planned).toBe(1);
  });

  it.each([
    ['UTC', '2026-11-30T23:59:59.999Z', '2026-11'],
    ['UTC', '2026-12-01T00:00:00.000Z', '2026-12'],
    ['Pacific/Kiritimati', '2026-11-30T09:59:59.999Z', '2026-11'],
    ['Pacific/Kiritimati', '2026-11-30T10:00:00.000Z', '2026-12'],
    ['America/Los_Angeles', '2026-12-01T08:00:00.000Z', '2026-12'],
  ])('counts in its own month, not in that of the request: %s, %s', async (timeZone, approved, month) => {
    const [createdAtMs, atMs] = [Date.UTC(2026, 10, 30, 8, 30), Date.parse(approved)];
    const approval = { ...requestedTask().approval, expiresAtMs: createdAtMs + DAY_MS } as NonNullable<
      Task['approval']
    >;
    // The order would have been November’s.
    const purchase = { period: '2026-11', ...USD('0.30'), atMs: createdAtMs };
    const changes = { createdAtMs, approval, money: { sends: [purchase] } };
    const { store, one, task, clock, settings, used, current, budget } = await house(changes);
    await settings.change(TEAM, { person: BOB, surface: 'command' }, { timeZone });
    // The other month is used up, so that its budget would refuse.
    const other = month === '2026-11' ? '2026-12' : '2026-11';
    await budget('team:fake:T1', '300000');
    const { team } = sumsOf(task.origin, { period: other, currency: 'USD' });
    await store.commit({ records: [], sums: [{ sum: team, add: { doubted: 300_000n } }] });
    clock.advance(atMs - NOON_MS);
    expect(await one.approvals.approve([task], press())).toMatchObject({ kind: 'approved' });
    expect((await current()).money?.sends).toMatchObject([{ period: month, atMs, counted: 'held' }]);
    expect([await used(month), await used(other)]).toMatchObject([{ held: 300_000n }, { held: 0n }]);
  });

  it('is taken once on two replicas: approve and approve, deny, withdraw, expire', async () => {
    const others: readonly ((house_: Awaited<ReturnType<typeof house>>) => Promise<unknown>)[] = [
      ({ two, task }) => two.approvals.approve([task], press({ by: CLEO })),
      ({ two, task }) => two.approvals.deny([task], CLEO, 'too long'),
      ({ two, task }) => two.repository.record(task.id, decline('withdrawn', ADA)),
      ({ two, task }) => two.repository.record(task.id, decline('expired')),
    ];
    for (const other of others)
      for (const isFirst of [true, false]) {
        const there = await house();
        const approve = () => there.one.approvals.approve([there.task], press());
        if (isFirst) await Promise.all([approve(), other(there)]);
        else await Promise.all([other(there), approve()]);
        const decided = there.events.filter((event) => event === 'approve' || event === 'decline');
        expect(decided).toHaveLength(1);
        const { state } = await there.current();
        expect(state).toBe(decided[0] === 'approve' ? 'claimed' : 'declined');
        expect((await there.used())?.held).toBe(state === 'claimed' ? 300_000n : 0n);
        // A withdrawal and an expiry are no administrative decisions.
        expect((await there.logged()).length).toBeLessThanOrEqual(1);
      }
  });

  it('names the first decision to the second', async () => {
    const { one, two, task } = await house();
    await one.approvals.approve([task], press());
    expect(await two.approvals.approve([task], press({ by: CLEO }))).toMatchObject({
      kind: 'decided',
      tasks: [{ approval: { approved: { by: BOB } } }],
    });
    expect(await two.approvals.deny([task], CLEO, '')).toMatchObject({
      kind: 'decided',
      tasks: [{ state: 'claimed' }],
    });
  });

  it('of an expired request buys nothing, although no sweep has run; a denial of it is no denial', async () => {
    for (const decide of ['approve', 'deny'] as const) {
      const { one, task, clock, current, logged } = await house();
      clock.advance(DAY_MS);
      const outcome =
        decide === 'approve' ? one.approvals.approve([task], press()) : one.approvals.deny([task], BOB, 'no');
      expect(await outcome).toMatchObject({ kind: 'decided', tasks: [{ state: 'declined' }] });
      expect((await current()).declined).toEqual({ how: 'expired', atMs: NOON_MS + DAY_MS });
      expect(await logged()).toEqual([]);
    }
  });

  it('is refused to the requester, whatever the caller checked', async () => {
    const { one, task, current } = await house();
    expect(await one.approvals.approve([task], press({ by: { ...ADA, name: 'Another' } }))).toMatchObject({
      kind: 'decided',
    });
    expect(await current()).toMatchObject({ state: 'requested' });
  });

  it('buys nothing once the price has risen, and offers the new price to the requester', async () => {
    const { one, task, current, used } = await house();
    const outcome = await one.approvals.approve([task], press({ current: [USD('0.36')] }));
    expect(outcome).toMatchObject({ kind: 'repriced' });
    expect(await current()).toMatchObject({ state: 'declined', declined: { how: 'repriced', price: USD('0.36') } });
    expect((await used())?.held).toBe(0n);
  });

  it('buys at a price that has fallen', async () => {
    const { one, task, current, used } = await house();
    expect(await one.approvals.approve([task], press({ current: [USD('0.24')] }))).toMatchObject({ kind: 'approved' });
    expect(await current()).toMatchObject({ price: USD('0.24') });
    expect((await used())?.held).toBe(240_000n);
  });

  it('waits where the model is gone, the team is paused or the store is away', async () => {
    const { one, task, settings, store, current } = await house();
    expect(await one.approvals.approve([task], press({ current: null }))).toMatchObject({ kind: 'unavailable' });
    const pause = { reason: 'audit', by: BOB, atMs: NOON_MS };
    await settings.change(TEAM, { person: BOB, surface: 'command' }, { pause });
    expect(await one.approvals.approve([task], press())).toMatchObject({ kind: 'paused', pause });
    await settings.change(TEAM, { person: BOB, surface: 'command' }, { pause: null });
    const policy = { team: {}, channels: { [task.origin.channel]: { models: ['epic-pro'] } } };
    await settings.change(TEAM, { person: BOB, surface: 'command' }, { policy });
    const refusal = { reason: 'not_allowed', option: 'model', given: task.request.model, allowed: ['epic-pro'] };
    expect(await one.approvals.approve([task], press())).toMatchObject({ kind: 'forbidden', refusals: [refusal] });
    await settings.change(TEAM, { person: BOB, surface: 'command' }, { policy: null });
    const commit = store.commit.bind(store);
    store.commit = () => Promise.reject(new TypeError('the store is away'));
    await expect(one.approvals.approve([task], press())).rejects.toThrow('the store is away');
    store.commit = commit;
    expect(await current()).toMatchObject({ state: 'requested' });
    expect(await one.approvals.approve([task], press())).toMatchObject({ kind: 'approved' });
  });
});

it('is refused while the audit log is damaged, rather than tried forever', async () => {
  const { one, task, store, current } = await house();
  await store.keyv('audit').set('head:fake:T1', { damaged: true });
  await expect(one.approvals.approve([task], press())).rejects.toMatchObject({ code: 'overloaded' });
  expect(await current()).toMatchObject({ state: 'requested' });
});

describe('over a budget', () => {
  it('an approval is refused with what is missing; the approver may grant that once', async () => {
    const { one, task, budget, current, used, logged } = await house();
    await budget('team:fake:T1', '200000');
    expect(await one.approvals.approve([task], press())).toMatchObject({
      kind: 'over',
      over: { scope: 'team', room: '0.2' },
      missing: 100_000n,
    });
    expect(await current()).toMatchObject({ state: 'requested' });
    expect(await one.approvals.approve([task], press({ grant: 100_000n }))).toMatchObject({ kind: 'approved' });
    expect(await used()).toEqual({ held: 300_000n, settled: 0n, doubted: 0n, extra: 100_000n });
    expect(await logged()).toEqual([
      {
        by: BOB,
        after: ['approved', { kind: 'price', price: USD('0.30') }, 'granted', { kind: 'price', price: USD('0.1') }],
      },
    ]);
    // The limit itself stays: the next order finds no room.
    const next = newTask({ id: 'next' as never, origin: originOf({ interaction: 'i2' }) });
    expect(await one.repository.claim([next])).toMatchObject({ kind: 'refused', over: { scope: 'team' } });
  });

  it('a grant ends with its clip: a refund makes no room for others', async () => {
    const { one, task, store, budget, used } = await house();
    await budget('team:fake:T1', '200000');
    await one.approvals.approve([task], press({ grant: 100_000n }));
    expect((await checkBooks(store)).disagreements).toEqual([]);
    for (const event of [send, accepted, failed]) await one.repository.record(task.id, event);
    expect(await used()).toEqual({ held: 0n, settled: 0n, doubted: 0n, extra: 0n });
    const next = newTask({ id: 'next' as never, origin: originOf({ interaction: 'i2' }) });
    expect(await one.repository.claim([next])).toMatchObject({ kind: 'refused', over: { scope: 'team', room: '0.2' } });
    expect((await checkBooks(store)).disagreements).toEqual([]);
  });

  it('a grant covers what its button names, and nothing that others have spent since', async () => {
    const { one, two, task, budget, used } = await house();
    await budget('team:fake:T1', '400000');
    await two.repository.claim([newTask({ id: 'other' as never, origin: originOf({ interaction: 'i2' }) })]);
    await budget('team:fake:T1', '300000');
    expect(await one.approvals.approve([task], press({ grant: 100_000n }))).toMatchObject({
      kind: 'over',
      missing: 300_000n,
    });
    expect(await used()).toMatchObject({ held: 300_000n, extra: 0n });
  });

  it('grants only what is still missing, in each scope', async () => {
    const { one, task, budget, used } = await house();
    await budget('team:fake:T1', '250000');
    await budget('person:fake:T1:ada', '290000');
    expect(await one.approvals.approve([task], press({ grant: 100_000n }))).toMatchObject({ kind: 'approved' });
    expect(await used()).toMatchObject({ extra: 50_000n });
  });

  it('no approver exceeds the deployment’s budget, or one without the currency', async () => {
    const { one, task, budget, store } = await house();
    await budget('deployment', '200000');
    for (const grant of [0n, 10_000_000n])
      expect(await one.approvals.approve([task], press({ grant }))).toMatchObject({ kind: 'over', missing: null });
    const euros = { revision: 1, hard: { EUR: '1' }, soft: {} };
    await store.commit({ records: [{ namespace: 'budgets', key: 'deployment', value: euros, expected: 'any' }] });
    expect(await one.approvals.approve([task], press({ grant: 1_000_000n }))).toMatchObject({
      kind: 'over',
      missing: null,
    });
  });
});

it('lists a team’s waiting requests, oldest first, without expired ones', async () => {
  const { one, two, task, clock } = await house();
  const approval = { ...task.approval, expiresAtMs: NOON_MS + 3 * DAY_MS } as NonNullable<Task['approval']>;
  for (const [id, origin] of [
    ['later', {}],
    ['elsewhere', { team: 'T2' }],
  ] as const) {
    const changes = {
      id: id as never,
      createdAtMs: NOON_MS + 1,
      approval,
      origin: originOf({ interaction: id, ...origin }),
    };
    await one.repository.claim([requestedTask(changes)]);
  }
  expect((await two.approvals.waiting(TEAM)).map(([{ id }]) => id)).toEqual([task.id, 'later']);
  clock.advance(DAY_MS);
  expect((await two.approvals.waiting(TEAM)).map(([{ id }]) => id)).toEqual(['later']);
});

it('lists a team’s requests whatever the number of those of other teams', async () => {
  const { one, task } = await house();
  for (let at = 0; at < 1_001; at += 1) {
    const origin = originOf({ interaction: `i-${at}`, team: 'T2' });
    await one.repository.claim([requestedTask({ id: `other-${at}` as never, createdAtMs: NOON_MS - 1, origin })]);
  }
  expect((await one.approvals.waiting(TEAM)).map(([{ id }]) => id)).toEqual([task.id]);
});

function decline(how: 'withdrawn' | 'expired', by?: Person): TaskEvent {
  const atMs = how === 'expired' ? NOON_MS + DAY_MS : NOON_MS;
  return { kind: 'decline', how, atMs, ...(by === undefined ? {} : { by }) };
}
