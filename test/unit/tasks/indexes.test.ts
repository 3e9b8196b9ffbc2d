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
import { type TaskEvent, transition } from '#src/tasks/state-machine.ts';
import type { Task } from '#src/tasks/task.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { EVENTS, NOON_MS, newTask, orderOf, originOf } from '#test/fakes/tasks.ts';

const { send, accepted, unsent, refused, lost, completed, failed, fetched, unfetchable, cancel } = EVENTS;
const { identify, resubmit, leave, abandon, want, refetch } = EVENTS;

/** Every way a task can go, and what each of its sends costs in the end. */
const LIVES: readonly (readonly [name: string, events: readonly TaskEvent[], money: readonly string[]])[] = [
  ['claimed', [], ['reserved']],
  ['cancelled before it was sent', [cancel], ['released']],
  ['on its way', [send], ['reserved']],
  ['unsent, to be tried again', [send, unsent], ['reserved']],
  ['tried twice', [send, unsent, send], ['reserved']],
  ['given up', [send, unsent, refused], ['released']],
  ['refused', [send, refused], ['released']],
  ['taken', [send, accepted], ['reserved']],
  ['done', [send, accepted, completed, fetched], ['settled']],
  ['done but not to be had', [send, accepted, completed, unfetchable], ['settled']],
  ['fetched again', [send, accepted, completed, unfetchable, refetch, fetched], ['settled']],
  ['failed', [send, accepted, failed], ['refunded']],
  ['uncertain', [send, lost], ['in_doubt']],
  ['left', [send, lost, leave], ['in_doubt']],
  ['identified and done', [send, lost, identify, completed], ['settled']],
  ['late but done', [send, lost, accepted, completed], ['settled']],
  ['sent again', [send, lost, resubmit], ['in_doubt', 'reserved']],
  ['sent again, unsent', [send, lost, resubmit, send, unsent], ['in_doubt', 'reserved']],
  ['sent again, done', [send, lost, resubmit, send, accepted, completed], ['in_doubt', 'settled']],
  ['sent again, failed', [send, lost, resubmit, send, accepted, failed], ['in_doubt', 'refunded']],
  ['sent again, refused', [send, lost, resubmit, send, refused], ['in_doubt', 'released']],
  ['sent again, cancelled before that', [send, lost, resubmit, cancel], ['in_doubt', 'released']],
  ['sent again, lost again', [send, lost, resubmit, send, lost], ['in_doubt', 'in_doubt']],
  [
    'sent three times',
    [send, lost, resubmit, send, lost, { kind: 'resubmit', afterSends: 2 }, send, accepted, completed],
    ['in_doubt', 'in_doubt', 'settled'],
  ],
  ['cancelled while it was sent, unsent', [send, cancel, unsent], ['released']],
  ['cancelled while it was sent, taken', [send, cancel, accepted], ['reserved']],
  ['cancelled', [send, accepted, cancel], ['reserved']],
  ['cancelled, done all the same', [send, accepted, cancel, completed], ['settled']],
  ['cancelled, done, fetched', [send, accepted, cancel, completed, fetched], ['settled']],
  ['cancelled, done, not to be had', [send, accepted, cancel, completed, unfetchable], ['settled']],
  ['cancelled, done, wanted', [send, accepted, cancel, completed, want, fetched], ['settled']],
  ['cancelled, failed', [send, accepted, cancel, failed], ['refunded']],
  ['cancelled, nobody knows', [send, accepted, cancel, abandon], ['in_doubt']],
];

/** Lives the life in a store, as the recorder writes it. */
async function live(events: readonly TaskEvent[]): Promise<{ store: MemoryStore; task: Task; entries: unknown[] }> {
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

describe('the money of a task', () => {
  it.each(LIVES)('%s', async (_name, events, money) => {
    const { task, entries } = await live(events);
    expect(ledgerOf(task).map(({ state }) => state)).toEqual(money);
    // What was written step by step is what the record says now: nothing stays behind and nothing is missing.
    expect(entries).toEqual(ledgerOf(task));
  });

  it('says who, where, what and how much', () => {
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
        amount: '0.30',
        currency: 'USD',
        state: 'reserved',
        createdAtMs: NOON_MS,
      },
    ]);
  });

  it('is counted in the month of the order, by UTC', () => {
    const last = newTask({ createdAtMs: Date.UTC(2026, 11, 31, 23, 59) });
    const indexes = toChange(null, last).index?.map(({ index }) => index);
    expect(indexes).toContain(spendIndex('fake', 'T1', '2026-12'));
  });

  it('is written only when it changes', () => {
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
    ...(['claimed', 'sending', 'uncertain', 'polling', 'completed', 'cancelled', 'failed', 'rejected'] as const),
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
    ['left', [send, lost, leave], ['history', 'outbox']],
    ['sent again', [send, lost, resubmit], ['history', 'open', 'claimed']],
    ['sent again after it was left', [send, lost, leave, resubmit], ['history', 'open', 'claimed']],
    ['polling', [send, accepted], ['history', 'open', 'polling']],
    ['completed', [send, accepted, completed], ['history', 'open', 'completed']],
    ['fetched', [send, accepted, completed, fetched], ['history', 'outbox']],
    ['unfetchable', [send, accepted, completed, unfetchable], ['history', 'outbox']],
    ['fetched again', [send, accepted, completed, unfetchable, refetch], ['history', 'open', 'completed']],
    ['presented', [send, accepted, failed, { kind: 'presented', revision: 4 }], ['history']],
    ['failed', [send, accepted, failed], ['history', 'outbox']],
    ['rejected', [send, refused], ['history', 'outbox']],
    ['cancelled before', [cancel], ['history', 'outbox']],
    ['cancelled after', [send, accepted, cancel], ['history', 'open', 'cancelled', 'outbox']],
    ['late', [send, accepted, cancel, completed], ['history', 'open', 'cancelled']],
    ['late and fetched', [send, accepted, cancel, completed, fetched], ['history', 'outbox']],
    ['late and unfetchable', [send, accepted, cancel, completed, unfetchable], ['history', 'outbox']],
    ['late and failed', [send, accepted, cancel, failed], ['history', 'outbox']],
    ['wanted', [send, accepted, cancel, completed, want], ['history', 'open', 'completed']],
    ['wanted, there already', [send, accepted, cancel, completed, fetched, want], ['history', 'outbox']],
    ['wanted, fetched again', [send, accepted, cancel, completed, unfetchable, want], ['history', 'open', 'completed']],
  ];

  it.each(EXPECTED)('%s', async (_name, events, indexes) => {
    const { store, task } = await live(events);
    const found: string[] = [];
    for (const name of all) {
      const counts = await Promise.all(named(name).map((index) => store.count(index)));
      expect(new Set(counts).size).toBe(1);
      if (counts[0] === 1) found.push(name);
    }
    expect(found.toSorted()).toEqual([...indexes].toSorted());
    expect(await store.scan(historyIndex('fake', 'T1'))).toEqual([{ member: task.id, score: NOON_MS }]);
  });

  it('say of each state since when the service has a task, however long it waited for a person', async () => {
    const atMs = NOON_MS + 12 * 3_600_000;
    const { store, task } = await live([send, lost]);
    expect(await store.scan(stateIndex('uncertain'))).toEqual([{ member: task.id, score: NOON_MS }]);
    const taken = await live([send, lost, { ...identify, atMs }]);
    expect(await taken.store.scan(stateIndex('polling'))).toEqual([{ member: task.id, score: atMs }]);
    expect(await taken.store.scan(openIndex('fake', 'T1'))).toEqual([{ member: task.id, score: NOON_MS }]);
  });

  it('say of the outbox since when an outcome is owed', async () => {
    const failedAtMs = NOON_MS + 600_000;
    const { store, task } = await live([send, accepted, { ...failed, atMs: failedAtMs }]);
    expect(await store.scan(OUTBOX)).toEqual([{ member: task.id, score: failedAtMs }]);
    const doubtful = await live([send, lost]);
    expect(await doubtful.store.scan(OUTBOX)).toEqual([{ member: doubtful.task.id, score: NOON_MS }]);
  });

  it('keeps teams and platforms apart', () => {
    const { origin } = orderOf();
    const elsewhere = newTask({ origin: originOf({ platform: 'other', team: 'T2' }) });
    const indexes = toChange(null, elsewhere).index?.map(({ index }) => index) ?? [];
    expect(indexes).toContain(historyIndex('other', 'T2'));
    expect(indexes).not.toContain(historyIndex(origin.platform, origin.team));
    expect(indexes).not.toContain(channelHistoryIndex(origin));
    // A person and a channel may go by the same id.
    const same =
      toChange(null, newTask({ origin: originOf({ channel: 'ada' }) })).index?.map(({ index }) => index) ?? [];
    expect(new Set(same).size).toBe(same.length);
  });
});

describe('a change', () => {
  it('is of a new record, or of just the revision it was made from', () => {
    const task = newTask();
    expect(toChange(null, task).records[0]).toMatchObject({ expected: 'absent', value: task });
    expect(toChange(task, { ...task, revision: 2 }).records[0]).toMatchObject({ expected: 1, key: task.id });
  });
});
