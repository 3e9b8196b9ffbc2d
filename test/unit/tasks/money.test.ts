import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ledgerOf, toChange } from '#src/tasks/indexes.ts';
import { limitsOn, microsOf, sumsOf, sumWritesOf } from '#src/tasks/money.ts';
import { recount } from '#src/tasks/recount.ts';
import { transition } from '#src/tasks/state-machine.ts';
import type { Task, TaskEvent } from '#src/tasks/task.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { EVENTS, lived, NOON_MS, newTask, originOf, PURCHASE } from '#test/fakes/tasks.ts';

const { send, accepted, unsent, refused, lost, completed, failed, cancel, resubmit, abandon, disowned } = EVENTS;
const awaiting = { sends: [{ period: '2026-11', amount: '0.30', currency: 'USD', atMs: NOON_MS }] };

/** Returns what each send of a task counts as: `held 0.30`, or `-`. */
function countedIn(task: Task): readonly string[] {
  return (recount(task).money?.sends ?? []).map(({ counted, amount }) =>
    counted === undefined ? '-' : `${counted} ${amount}`,
  );
}

describe('the money of a task', () => {
  it.each<[string, readonly TaskEvent[], readonly string[]]>([
    ['claimed', [], ['held 0.30']],
    ['cancelled before it was sent', [cancel], ['-']],
    ['sending', [send], ['held 0.30']],
    ['unsent', [send, unsent], ['held 0.30']],
    ['refused', [send, refused], ['-']],
    ['completed', [send, accepted, completed], ['settled 0.30']],
    ['failed', [send, accepted, failed], ['-']],
    ['uncertain', [send, lost], ['doubted 0.30']],
    ['sent again at another price', [send, lost, resubmit], ['doubted 0.30', 'held 0.4']],
    ['sent again, completed', [send, lost, resubmit, send, accepted, completed], ['doubted 0.30', 'settled 0.4']],
    ['sent again, cancelled', [send, lost, resubmit, cancel], ['doubted 0.30', '-']],
    ['cancelled, polled on', [send, accepted, cancel], ['held 0.30']],
    ['cancelled, outcome unknown', [send, accepted, cancel, abandon], ['doubted 0.30']],
  ])('%s', (_name, events, counted) => {
    expect(countedIn(lived(newTask(), ...events))).toEqual(counted);
  });

  it('stays held after a failure until a statement shows the refund, where refunds are not assumed', () => {
    const task = newTask({ money: { ...awaiting, awaitsRefund: true } });
    const ended = lived(task, send, accepted, failed);
    expect(countedIn(ended)).toEqual(['held 0.30']);
    expect(countedIn(lived(ended, { kind: 'book', send: 1, as: 'refunded' }))).toEqual(['-']);
    expect(countedIn(lived(ended, { kind: 'book', send: 1, as: 'settled' }))).toEqual(['settled 0.30']);
  });

  it('counts an id that arrives late for the first send, and not the second, which never left', () => {
    const second = lived(newTask(), send, lost, resubmit);
    const late = lived(second, { ...accepted, of: { sends: 1, unsentTries: 0 } });
    expect(countedIn(late)).toEqual(['held 0.30', '-']);
    expect(ledgerOf(late).map(({ state }) => state)).toEqual(['reserved', 'released']);
    // A further send takes the place of the one that never left, at its own price.
    const third = { ...PURCHASE, period: '2026-12', amount: '0.5' };
    const again = lived(late, disowned, { ...resubmit, purchase: third });
    expect(countedIn(again)).toEqual(['doubted 0.30', 'held 0.5']);
    const { index = [] } = toChange(recount(late), recount(again));
    expect(index.filter(({ member }) => member === `${late.id}#2`)).toEqual([
      { index: 'spend:fake:T1:2026-11', member: `${late.id}#2`, score: null },
      { index: 'spend:fake:T1:2026-12', member: `${late.id}#2`, score: PURCHASE.atMs },
    ]);
  });

  it('is made up for the sends of an older version, at the price and in the month before', () => {
    const task = lived(newTask({ createdAtMs: Date.UTC(2026, 0, 31, 23, 59) }), send, lost);
    expect(recount(task).money?.sends).toEqual([
      { period: '2026-01', amount: '0.30', currency: 'USD', atMs: task.createdAtMs, counted: 'doubted' },
    ]);
    const { money: _missing, ...again } = recount(lived(task, resubmit));
    expect(countedIn(again)).toEqual(['doubted 0.30', 'held 0.30']);
  });

  it('changes the sums of all four scopes by what changed, and of the month and currency of each send', () => {
    const before = recount(lived(newTask(), send, lost));
    const after = recount(
      lived(before, { ...resubmit, purchase: { ...PURCHASE, period: '2026-12', currency: 'EUR' } }),
    );
    const added = sumWritesOf(before, after);
    expect(added).toEqual(
      ['deployment', 'team:fake:T1', 'channel:fake:T1:clips', 'person:fake:T1:ada'].map((scope) => ({
        sum: `${scope}:2026-12:EUR`,
        add: { held: 400_000n },
      })),
    );
    expect(sumWritesOf(after, after)).toEqual([]);
    expect(sumWritesOf(before, recount(lived(before, accepted)))[0]?.add).toEqual({
      doubted: -300_000n,
      held: 300_000n,
    });
  });

  it('counts a thread’s order towards its channel; that of an older version stays in the thread’s own sum', () => {
    const inThread = { ...originOf(), channel: 'thread-1' };
    const origin = { ...inThread, parentChannel: 'clips' };
    expect(sumsOf(origin, PURCHASE)).toEqual(sumsOf(originOf(), PURCHASE));
    expect(limitsOn(origin, PURCHASE)).toEqual(limitsOn(originOf(), PURCHASE));
    expect(ledgerOf(lived({ ...newTask(), origin }, send))).toMatchObject([{ channel: 'clips' }]);
    expect(sumsOf(inThread, PURCHASE).channel).toBe('channel:fake:T1:thread-1:2026-11:USD');
    expect(ledgerOf(lived({ ...newTask(), origin: inThread }, send))).toMatchObject([{ channel: 'thread-1' }]);
  });

  it('names one limit per scope, with the default of each person, and none for a free clip', () => {
    const limits = limitsOn(originOf(), PURCHASE);
    expect(limits.map(({ scope, budgets }) => [scope, ...budgets])).toEqual([
      ['deployment', 'deployment'],
      ['team', 'team:fake:T1'],
      ['channel', 'channel:fake:T1:clips'],
      ['person', 'person:fake:T1:ada', 'everyone:fake:T1'],
    ]);
    expect(limits.map(({ sum }) => sum)).toEqual(Object.values(sumsOf(originOf(), PURCHASE)));
    expect(limitsOn(originOf(), { ...PURCHASE, amount: '0.00' })).toEqual([]);
  });
});

describe('a decision on a send', () => {
  const ended = (...events: readonly TaskEvent[]): Task => lived(newTask(), ...events);
  const STATES = [
    ['in progress', ended(send), []],
    ['settled', ended(send, accepted, completed), ['settled', 'refunded']],
    ['refunded', ended(send, accepted, failed), ['settled', 'refunded']],
    ['released', ended(send, refused), ['settled', 'released']],
    ['in doubt', ended(send, lost), ['settled', 'refunded', 'released']],
  ] as const;

  it.each(STATES)('on one that is %s', (_name, task, allowed) => {
    const all = ['settled', 'refunded', 'released'] as const;
    const counting = all.filter((as) => transition(task, { kind: 'book', send: 1, as }) !== null);
    expect(counting).toEqual(allowed);
    expect(transition(task, { kind: 'book', send: 2, as: 'settled' })).toBeNull();
    expect(transition(task, { kind: 'book', send: 0, as: 'settled' })).toBeNull();
    for (const as of counting) {
      const booked = recount(lived(task, { kind: 'book', send: 1, as }));
      expect(booked).toMatchObject({ state: task.state, presented: task.presented, revision: task.revision + 1 });
      expect(countedIn(booked)).toEqual([as === 'settled' ? 'settled 0.30' : '-']);
      expect(transition(booked, { kind: 'book', send: 1, as })).toBeNull();
      expect(ledgerOf(booked)).toMatchObject([{ booked: as }]);
    }
  });

  it('gives way to what the service reports later', () => {
    const booked = ended(send, lost, { kind: 'book', send: 1, as: 'released' });
    const late = recount(lived(booked, accepted));
    expect(countedIn(late)).toEqual(['held 0.30']);
    expect(late.money?.sends[0]).not.toHaveProperty('booked');
  });

  it('keeps a further send from taking its place', () => {
    const booked = ended(send, lost, resubmit, send, refused, { kind: 'book', send: 2, as: 'settled' });
    const again = lived(booked, EVENTS.identify, disowned);
    expect(transition(again, resubmit)).toBeNull();
  });
});

describe('what the service says a clip has cost', () => {
  const costing = (amount: string, currency = 'USD') => ({ cost: { amount, currency } });
  const polled = () => lived(newTask(), send, accepted);
  const sendsOf = (task: Task) => recount(task).money?.sends;

  it.each([
    ['less', '0.28', [{ amount: '0.28', listed: '0.30', counted: 'settled' }]],
    ['more than the price, and than any budget', '12.5', [{ amount: '12.5', listed: '0.30', counted: 'settled' }]],
    ['more decimals than money has, rounded up', '0.11880001', [{ amount: '0.118801', listed: '0.30' }]],
  ])('%s counts in place of the price', (_name, amount, expected) => {
    expect(sendsOf(lived(polled(), { ...completed, ...costing(amount) }))).toMatchObject(expected);
    expect(sendsOf(lived(polled(), cancel, { ...completed, ...costing(amount) }))).toMatchObject(expected);
  });

  it.each([
    ['the price itself', costing('0.3')],
    ['nothing', costing('0')],
    ['another currency', costing('0.28', 'EUR')],
    ['no amount', costing('a lot')],
    ['a negative amount', costing('-1')],
  ])('%s leaves the price of the catalog', (_name, cost) => {
    const [only] = sendsOf(lived(polled(), { ...completed, ...cost })) ?? [];
    expect(only).toMatchObject({ amount: '0.30', counted: 'settled' });
    expect(only).not.toHaveProperty('listed');
  });

  it('a failed clip that costs something is billed; one that costs nothing is refunded', () => {
    const billed = lived(polled(), { ...failed, ...costing('0.25') });
    expect(billed.failure).toMatchObject({ isBilled: true });
    expect(sendsOf(billed)).toMatchObject([{ amount: '0.25', listed: '0.30', counted: 'settled' }]);
    const refunded = lived(polled(), { ...failed, ...costing('0') });
    expect(refunded.failure).not.toHaveProperty('isBilled');
    expect(sendsOf(refunded)?.[0]).not.toHaveProperty('counted');
  });

  it('is that of the send that was made: one in doubt keeps its price', () => {
    const again = lived(
      polled(),
      { kind: 'disowned', failure: { code: 'task_unknown', words: null } },
      resubmit,
      send,
      {
        ...accepted,
        upstreamId: 'up-2' as never,
      },
    );
    expect(sendsOf(lived(again, { ...completed, ...costing('0.2') }))).toMatchObject([
      { amount: '0.30', counted: 'doubted' },
      { amount: '0.2', counted: 'settled' },
    ]);
  });
});

describe('after any events, on any number of replicas', () => {
  const kinds = Object.values(EVENTS) as readonly TaskEvent[];
  const purchase = fc.record({
    period: fc.constantFrom('2026-11', '2026-12'),
    // Several submissions that a store has lost are counted in one commit, which adds at most a thousand million.
    amount: fc.constantFrom('0', '0.000001', '0.4', '100000000'),
    currency: fc.constantFrom('USD', 'JPY', 'KWD'),
    atMs: fc.constant(NOON_MS),
  });
  const event: fc.Arbitrary<TaskEvent> = fc.oneof(
    fc.constantFrom(...kinds),
    fc.record({
      kind: fc.constant('book' as const),
      send: fc.integer({ min: 0, max: 4 }),
      as: fc.constantFrom('settled' as const, 'refunded' as const, 'released' as const),
    }),
    fc
      .record({
        amount: fc.constantFrom('0', '0.28', '0.30000001', '1000', '-1', 'much', '1e-9'),
        currency: fc.constantFrom('USD', 'JPY'),
      })
      .chain((cost) => fc.constantFrom<TaskEvent>({ ...completed, cost }, { ...failed, cost })),
    fc.record({ kind: fc.constant('resubmit' as const), afterSends: fc.integer({ min: 0, max: 4 }), purchase }),
    fc
      .record({ sends: fc.integer({ min: 1, max: 4 }), unsentTries: fc.integer({ min: 0, max: 2 }) })
      .chain((of) =>
        fc.constantFrom<TaskEvent>({ ...accepted, of }, { ...lost, of }, { ...refused, of }, { ...unsent, of }),
      ),
  );
  /** An event, by a replica of this version or of an older one, on the current record or on a stale one. */
  const step = fc.record({ event, isOld: fc.boolean(), isStale: fc.boolean() });

  it('each sum is what its tasks count by the ledger, and never negative', async () => {
    const steps = fc.array(step, { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (given, awaitsRefund) => {
        const store = new MemoryStore();
        const first = newTask({ money: { ...awaiting, ...(awaitsRefund ? { awaitsRefund: true } : {}) } });
        let task = recount(first);
        let stale = task;
        expect(await store.commit(toChange(null, task))).toBe(true);
        for (const { event, isOld, isStale } of given) {
          const before = isStale ? stale : task;
          const moved = transition(before, event);
          if (moved === null) continue;
          // An older version keeps the field that it does not know, and writes no sums.
          const next = isOld ? { ...moved, ...(before.money && { money: before.money }) } : recount(moved);
          const isDone = await store.commit(toChange(before, next));
          expect(isDone).toBe(before.revision === task.revision);
          if (isDone) [stale, task] = [task, next];
          await expectSums(store, task);
        }
        const healed = { ...recount(task), revision: task.revision + 1 };
        expect(await store.commit(toChange(task, healed))).toBe(true);
        expect(healed.money).toEqual(recount(healed).money);
        await expectSums(store, healed);
      }),
      { numRuns: 300 },
    );
  });

  it('two replicas that see the same failure release its price once', async () => {
    const store = new MemoryStore();
    const polled = recount(lived(newTask(), send, accepted));
    await store.commit(toChange(null, polled));
    const next = recount(lived(polled, failed));
    expect(await Promise.all([store.commit(toChange(polled, next)), store.commit(toChange(polled, next))])).toEqual([
      true,
      false,
    ]);
    await expectSums(store, next);
  });
});

/** Expects every sum to be what this one task of the store counts. */
async function expectSums(store: MemoryStore, task: Task): Promise<void> {
  const expected = new Map<string, bigint>();
  for (const send of task.money?.sends ?? []) {
    if (send.counted === undefined) continue;
    for (const sum of Object.values(sumsOf(task.origin, send))) {
      const key = `${sum} ${send.counted}`;
      expected.set(key, (expected.get(key) ?? 0n) + microsOf(send.amount));
    }
  }
  for await (const page of store.contents.sums()) {
    for (const { sum, parts } of page) {
      for (const [part, amount] of Object.entries(parts)) {
        expect([sum, part, amount]).toEqual([sum, part, expected.get(`${sum} ${part}`) ?? 0n]);
        expect(amount).toBeGreaterThanOrEqual(0n);
      }
    }
  }
}
