import { describe, expect, it } from 'vitest';
import {
  channelHistoryIndex,
  channelOpenIndex,
  historyIndex,
  ledgerKey,
  ledgerOf,
  OUTBOX,
  openIndex,
  spendIndex,
  stateIndex,
  toChange,
} from '#src/tasks/indexes.ts';
import { transition } from '#src/tasks/state-machine.ts';
import type { Task, TaskEvent } from '#src/tasks/task.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { EVENTS, lived, NOON_MS, newTask, orderOf, originOf, requestedTask } from '#test/fakes/tasks.ts';

const { send, accepted, unsent, refused, lost, completed, failed, fetched, unfetchable, cancel } = EVENTS;
const { identify, resubmit, leave, abandon, want, refetch } = EVENTS;
const billed = { ...failed, failure: { ...failed.failure, isBilled: true as const } };

/** Every course of a task, and the final ledger state of each of its submissions. */
const COURSES: readonly (readonly [name: string, events: readonly TaskEvent[], money: readonly string[]])[] = [
  ['claimed', [], ['reserved']],
  ['cancelled before it was sent', [cancel], ['released']],
  ['sending', [send], ['reserved']],
  ['unsent, to be retried', [send, unsent], ['reserved']],
  ['attempted twice', [send, unsent, send], ['reserved']],
  ['attempts used up', [send, unsent, refused], ['released']],
  ['refused', [send, refused], ['released']],
  ['accepted', [send, accepted], ['reserved']],
  ['completed', [send, accepted, completed, fetched], ['settled']],
  ['completed but not fetched', [send, accepted, completed, unfetchable], ['settled']],
  ['fetched again', [send, accepted, completed, unfetchable, refetch, fetched], ['settled']],
  ['failed', [send, accepted, failed], ['refunded']],
  ['failed, and billed all the same', [send, accepted, billed], ['settled']],
  ['uncertain', [send, lost], ['in_doubt']],
  ['dismissed', [send, lost, leave], ['in_doubt']],
  ['identified and completed', [send, lost, identify, completed], ['settled']],
  ['accepted late and completed', [send, lost, accepted, completed], ['settled']],
  ['resubmitted', [send, lost, resubmit], ['in_doubt', 'reserved']],
  ['resubmitted, unsent', [send, lost, resubmit, send, unsent], ['in_doubt', 'reserved']],
  ['resubmitted, completed', [send, lost, resubmit, send, accepted, completed], ['in_doubt', 'settled']],
  ['resubmitted, failed', [send, lost, resubmit, send, accepted, failed], ['in_doubt', 'refunded']],
  ['resubmitted, refused', [send, lost, resubmit, send, refused], ['in_doubt', 'released']],
  ['resubmitted, cancelled before it was sent', [send, lost, resubmit, cancel], ['in_doubt', 'released']],
  ['resubmitted, lost again', [send, lost, resubmit, send, lost], ['in_doubt', 'in_doubt']],
  [
    'submitted three times',
    [send, lost, resubmit, send, lost, { ...resubmit, afterSends: 2 }, send, accepted, completed],
    ['in_doubt', 'in_doubt', 'settled'],
  ],
  ['cancelled while sending, unsent', [send, cancel, unsent], ['released']],
  ['cancelled while sending, accepted', [send, cancel, accepted], ['reserved']],
  ['cancelled', [send, accepted, cancel], ['reserved']],
  ['cancelled, completed', [send, accepted, cancel, completed], ['settled']],
  ['cancelled, completed, fetched', [send, accepted, cancel, completed, fetched], ['settled']],
  ['cancelled, completed, not fetched', [send, accepted, cancel, completed, unfetchable], ['settled']],
  ['cancelled, completed, reclaimed', [send, accepted, cancel, completed, want, fetched], ['settled']],
  ['cancelled, failed', [send, accepted, cancel, failed], ['refunded']],
  ['cancelled, failed, and billed all the same', [send, accepted, cancel, billed], ['settled']],
  ['cancelled, outcome unknown', [send, accepted, cancel, abandon], ['in_doubt']],
];

/** Applies events to a task in a store, as the repository writes them. */
async function apply(events: readonly TaskEvent[]): Promise<{ store: MemoryStore; task: Task; entries: unknown[] }> {
  const store = new MemoryStore();
  let task = newTask();
  expect(await store.commit(toChange(null, task))).toBe(true);
  for (const event of events) {
    const next = transition(task, event);
    if (next === null) throw new TypeError(`${event.kind} does not count in ${task.state}`);
    expect(await store.commit(toChange(task, next))).toBe(true);
    task = next;
  }
  const spent = await store.scan(spendIndex('fake', 'T1', '2026-11'), { order: 'oldest' });
  const entries = await store.keyv('ledger').getMany(spent.map(({ member }) => member));
  return { store, task, entries };
}

describe('the ledger entries of a task', () => {
  it.each(COURSES)('%s', async (_name, events, money) => {
    const { task, entries } = await apply(events);
    expect(ledgerOf(task).map(({ state }) => state)).toEqual(money);
    // The entries written step by step match those of the current record: none is left over and none is missing.
    expect(entries).toEqual(ledgerOf(task));
  });

  it('name the user, place, model and amount', () => {
    expect(ledgerOf(newTask())).toEqual([
      {
        task: newTask().id,
        send: 1,
        platform: 'fake',
        team: 'T1',
        channel: 'clips',
        user: 'ada',
        userName: 'Ada',
        model: 'swift-1',
        period: '2026-11',
        amount: '0.30',
        currency: 'USD',
        state: 'reserved',
        createdAtMs: NOON_MS,
      },
    ]);
  });

  it('belong to the month of the order, in UTC', () => {
    const last = newTask({ createdAtMs: Date.UTC(2026, 11, 31, 23, 59) });
    const indexes = toChange(null, last).index?.map(({ index }) => index);
    expect(indexes).toContain(spendIndex('fake', 'T1', '2026-12'));
  });

  it('are written only when they change', () => {
    const task = newTask();
    const next = transition(task, send);
    expect(next === null ? [] : toChange(task, next).records.map(({ namespace }) => namespace)).toEqual(['tasks']);
    expect(ledgerKey({ task: task.id, send: 2 })).toBe(`${task.id}#2`);
  });
});

describe('the indexes of a task', () => {
  const all = [
    'history',
    'open',
    ...([
      'requested',
      'declined',
      'claimed',
      'sending',
      'uncertain',
      'polling',
      'completed',
      'cancelled',
      'failed',
      'rejected',
    ] as const),
    'outbox',
  ];
  const named = (name: string): string[] => {
    const here = originOf();
    if (name === 'history')
      return [historyIndex('fake', 'T1'), historyIndex('fake', 'T1', 'ada'), channelHistoryIndex(here)];
    if (name === 'open') return [openIndex('fake', 'T1'), openIndex('fake', 'T1', 'ada'), channelOpenIndex(here)];
    return [name === 'outbox' ? OUTBOX : stateIndex(name as Task['state'])];
  };
  const EXPECTED: readonly (readonly [name: string, events: readonly TaskEvent[], indexes: readonly string[]])[] = [
    ['claimed', [], ['history', 'open', 'claimed']],
    ['sending', [send], ['history', 'open', 'sending']],
    ['unsent', [send, unsent], ['history', 'open', 'claimed']],
    ['uncertain', [send, lost], ['history', 'open', 'uncertain', 'outbox']],
    ['dismissed', [send, lost, leave], ['history', 'outbox']],
    ['resubmitted', [send, lost, resubmit], ['history', 'open', 'claimed']],
    ['resubmitted after it was dismissed', [send, lost, leave, resubmit], ['history', 'open', 'claimed']],
    ['polling', [send, accepted], ['history', 'open', 'polling']],
    ['completed', [send, accepted, completed], ['history', 'open', 'completed']],
    ['fetched', [send, accepted, completed, fetched], ['history', 'outbox']],
    ['unfetchable', [send, accepted, completed, unfetchable], ['history', 'outbox']],
    ['fetched again', [send, accepted, completed, unfetchable, refetch], ['history', 'open', 'completed']],
    ['presented', [send, accepted, failed, { kind: 'presented', revision: 4 }], ['history']],
    ['failed', [send, accepted, failed], ['history', 'outbox']],
    ['rejected', [send, refused], ['history', 'outbox']],
    ['cancelled before it was sent', [cancel], ['history', 'outbox']],
    ['cancelled after it was sent', [send, accepted, cancel], ['history', 'open', 'cancelled', 'outbox']],
    ['late', [send, accepted, cancel, completed], ['history', 'open', 'cancelled']],
    ['late and fetched', [send, accepted, cancel, completed, fetched], ['history', 'outbox']],
    ['late and unfetchable', [send, accepted, cancel, completed, unfetchable], ['history', 'outbox']],
    ['late and failed', [send, accepted, cancel, failed], ['history', 'outbox']],
    ['reclaimed', [send, accepted, cancel, completed, want], ['history', 'open', 'completed']],
    ['reclaimed with its clip stored', [send, accepted, cancel, completed, fetched, want], ['history', 'outbox']],
    [
      'reclaimed, fetched again',
      [send, accepted, cancel, completed, unfetchable, want],
      ['history', 'open', 'completed'],
    ],
  ];

  it.each([
    ['requested', [], ['history', 'open', 'requested', 'outbox']],
    ['approved', [EVENTS.approve], ['history', 'open', 'claimed']],
    ['denied', [EVENTS.decline], ['history', 'outbox']],
  ] as const)('%s', (_name, events, indexes) => {
    const change = toChange(null, lived(requestedTask(), ...events));
    const found = new Set(change.index?.map(({ index }) => index));
    const own = [...found].filter((index) => !index.startsWith('spend:'));
    expect(own.toSorted()).toEqual(indexes.flatMap((name) => named(name)).toSorted());
  });

  it.each(EXPECTED)('%s', async (_name, events, indexes) => {
    const { store, task } = await apply(events);
    const found: string[] = [];
    for (const name of all) {
      const counts = await Promise.all(named(name).map((index) => store.count(index)));
      expect(new Set(counts).size).toBe(1);
      if (counts[0] === 1) found.push(name);
    }
    expect(found.toSorted()).toEqual([...indexes].toSorted());
    expect(await store.scan(historyIndex('fake', 'T1'))).toEqual([{ member: task.id, score: NOON_MS }]);
  });

  it('score a state by the time of acceptance, even after a long wait for a user', async () => {
    const atMs = NOON_MS + 12 * 3_600_000;
    const { store, task } = await apply([send, lost]);
    expect(await store.scan(stateIndex('uncertain'))).toEqual([{ member: task.id, score: NOON_MS }]);
    const taken = await apply([send, lost, { ...identify, atMs }]);
    expect(await taken.store.scan(stateIndex('polling'))).toEqual([{ member: task.id, score: atMs }]);
    expect(await taken.store.scan(openIndex('fake', 'T1'))).toEqual([{ member: task.id, score: NOON_MS }]);
  });

  it('score the outbox by the time of the outcome', async () => {
    const failedAtMs = NOON_MS + 600_000;
    const { store, task } = await apply([send, accepted, { ...failed, atMs: failedAtMs }]);
    expect(await store.scan(OUTBOX)).toEqual([{ member: task.id, score: failedAtMs }]);
    const doubtful = await apply([send, lost]);
    expect(await doubtful.store.scan(OUTBOX)).toEqual([{ member: doubtful.task.id, score: NOON_MS }]);
  });

  it('keep teams and platforms apart', () => {
    const { origin } = orderOf();
    const elsewhere = newTask({ origin: originOf({ platform: 'other', team: 'T2' }) });
    const indexes = toChange(null, elsewhere).index?.map(({ index }) => index) ?? [];
    expect(indexes).toContain(historyIndex('other', 'T2'));
    expect(indexes).not.toContain(historyIndex(origin.platform, origin.team));
    expect(indexes).not.toContain(channelHistoryIndex(origin));
    // A user and a channel may have the same id.
    const same =
      toChange(null, newTask({ origin: originOf({ channel: 'ada' }) })).index?.map(({ index }) => index) ?? [];
    expect(new Set(same).size).toBe(same.length);
  });
});

describe('a change', () => {
  it('requires a new record, or exactly the previous revision', () => {
    const task = newTask();
    expect(toChange(null, task).records[0]).toMatchObject({ expected: 'absent', value: task });
    expect(toChange(task, { ...task, revision: 2 }).records[0]).toMatchObject({ expected: 1, key: task.id });
  });
});
