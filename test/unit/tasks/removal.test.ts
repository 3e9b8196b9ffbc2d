import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeSpendCsv } from '#src/money/reports/spend-csv.ts';
import { tasksOfPerson } from '#src/people/tasks-of-person.ts';
import { ledgerPages } from '#src/pipeline/ledger-reader.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import {
  channelHistoryIndex,
  historyIndex,
  isChannelHistory,
  ledgerOf,
  OUTBOX,
  REMOVALS,
  sharedIndex,
} from '#src/tasks/indexes.ts';
import { isTask } from '#src/tasks/record-shape.ts';
import { recount } from '#src/tasks/recount.ts';
import type { RemovalEvent } from '#src/tasks/removal.ts';
import { isEnded, isFetching, phaseOf, transition } from '#src/tasks/state-machine.ts';
import type { Person, Task, TaskEvent } from '#src/tasks/task.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { ADA, BOB, EVENTS, lived, newTask, originOf, requestedTask } from '#test/fakes/tasks.ts';
import { runs } from '../../fuzz/runs.ts';

const ANONYMOUS: Person = { id: 'forgotten-1', name: 'Someone who was forgotten' };
const REMOVE: RemovalEvent = EVENTS.remove;

const secretive = newTask({
  request: {
    ...newTask().request,
    prompt: 'a secret teaser',
    media: { image: ['https://x.example/secret'], audio: [], video: [] },
  },
  origin: originOf({
    audience: 'team',
    parentChannel: 'parent',
    address: { token: 'secret' },
    interaction: 'secret',
    replyTo: 'secret',
  }),
});
const completed = lived(secretive, EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.fetched);
const shown = presented(completed);

function presented(task: Task): Task {
  return lived(task, { kind: 'presented', revision: task.revision });
}

/** The kinds of the events of a task's life, in which `presented` is of the current revision. */
const KINDS = Object.keys(EVENTS).filter((kind) => kind !== 'remove') as Exclude<TaskEvent['kind'], 'remove'>[];
type Kinds = readonly (typeof KINDS)[number][];
/** Lives that end in different ways, so that many of the histories end in a removal. */
const LIVES: readonly Kinds[] = [
  [],
  ['cancel'],
  ['decline'],
  ['approve', 'send', 'accepted', 'completed', 'fetched'],
  ['send', 'accepted', 'completed', 'fetched'],
  ['send', 'accepted', 'completed', 'unfetchable'],
  ['send', 'accepted', 'failed'],
  ['send', 'refused'],
  ['send', 'lost', 'leave'],
  ['send', 'lost', 'resubmit', 'send', 'accepted', 'completed', 'fetched'],
  ['send', 'accepted', 'cancel', 'completed', 'fetched'],
  ['send', 'accepted', 'cancel', 'abandon'],
];
const history: fc.Arbitrary<Kinds> = fc
  .tuple(fc.constantFrom(...LIVES), fc.array(fc.constantFrom(...KINDS), { maxLength: 4 }))
  .map(([life, more]) => [...life, ...more]);
const removal: fc.Arbitrary<RemovalEvent> = fc
  .record({ reason: fc.constantFrom('expired', 'deleted', 'forgotten'), keepsContent: fc.boolean() } as const)
  .map((what) => ({ ...REMOVE, ...what }));

/** Everything that the books of a store say. */
async function books(store: MemoryStore): Promise<unknown> {
  const path = join(tmpdir(), `removal-${process.pid}.csv`);
  const scope = { platform: 'fake', team: 'T1' };
  const months = ['2026-11', '2026-12'];
  const entries = await Promise.all(months.map((month) => Array.fromAsync(ledgerPages(store, scope, month))));
  const csv: string[] = [];
  for (const month of months) {
    await writeSpendCsv(store, { ...scope, month }, path);
    csv.push(await readFile(path, 'utf8'));
  }
  await rm(path);
  return { entries: entries.flat(2), csv, sums: (await Array.fromAsync(store.contents.sums())).flat() };
}

it('keeps the bill of a clip that failed', () => {
  const cost = { amount: '12.5', currency: 'USD' };
  const billed = presented(lived(secretive, EVENTS.send, EVENTS.accepted, { ...EVENTS.failed, cost }));
  const entry = { state: 'settled', amount: '12.5', counted: 'settled' };
  expect(ledgerOf(recount(billed))).toMatchObject([entry]);
  const deleted = lived(billed, { ...REMOVE, reason: 'deleted' });
  expect(ledgerOf(recount(deleted))).toMatchObject([entry]);
  expect(deleted.failure).toEqual({ code: 'generation_failed', words: null, isBilled: true });
});

describe('a removal after any events', () => {
  it('leaves sums, ledger and CSV as they are, and the claim guards', async () => {
    let removals = 0;
    const property = async (kinds: Kinds, isRequest: boolean, event: RemovalEvent) => {
      const store = new MemoryStore();
      const repository = new TaskRepository(store);
      const claimed = isRequest ? requestedTask() : secretive;
      await repository.claim([claimed]);
      for (const kind of [...kinds, 'presented' as const]) {
        const { revision } = (await repository.get(claimed.id)) ?? claimed;
        await repository.record(claimed.id, kind === 'presented' ? { kind, revision } : EVENTS[kind]);
      }
      const before = (await repository.get(claimed.id)) ?? claimed;
      const wrote = await books(store);
      const { done, task } = (await repository.record(claimed.id, event)) ?? { done: false, task: before };
      if (done) {
        removals += 1;
        expect(isEnded(before) && before.presented).toBe(true);
        expect(before.state === 'uncertain' ? before.leftBy : BOB).toBeDefined();
      }
      expect(await books(store)).toEqual(wrote);
      const { id, state, money, sends, upstreamId, price, createdAtMs, accepted, endedAtMs } = before;
      expect(task).toMatchObject({ id, state, money, sends, price, createdAtMs });
      expect([task.upstreamId, task.accepted, task.endedAtMs]).toEqual([upstreamId, accepted, endedAtMs]);
      expect(isTask(await store.keyv('tasks').get(id), id)).toBe(true);
      expect(await repository.get(id)).toEqual(task);
      expect([...(await tasksOfPerson(store, { platform: 'fake', team: 'T1', user: 'ada' }))]).toEqual(
        event.reason === 'forgotten' && done && ledgerOf(task).length === 0 ? [] : [id],
      );
      if (upstreamId !== undefined) expect(await repository.holderOf(upstreamId, {})).toBe(id);
      expect(await repository.claim([claimed])).toMatchObject({ kind: 'known', task: { id } });
      expect(await repository.record(id, event)).toMatchObject({ done: false });
    };
    await fc.assert(fc.asyncProperty(history, fc.boolean(), removal, property), runs(150));
    expect(removals).toBeGreaterThan(40);
  });

  it('takes no event that buys, shows or fetches, and no message is owed', () => {
    const after = fc.tuple(history, history, removal);
    fc.assert(
      fc.property(after, ([before, later, event]) => {
        const live = (task: Task, kinds: Kinds): readonly Task[] => {
          const lives = [task];
          for (const kind of kinds) {
            const last = lives.at(-1) ?? task;
            lives.push(
              transition(last, kind === 'presented' ? { kind, revision: last.revision } : EVENTS[kind]) ?? last,
            );
          }
          return lives;
        };
        const ended = live(secretive, [...before, 'presented']).at(-1) ?? secretive;
        const removed = transition(ended, { ...event, keepsContent: false });
        if (removed === null) return;
        for (const task of live(removed, later)) {
          expect(task).toMatchObject({ presented: true, request: { prompt: '' } });
          expect(task.clip).toBeUndefined();
          expect(isFetching(task)).toBe(false);
          expect(['claimed', 'sending', 'requested']).not.toContain(task.state);
          expect(ledgerOf(task)).toHaveLength(ledgerOf(ended).length);
        }
      }),
      runs(2_000),
    );
  });
});

describe('a removed task', () => {
  it('has no prompt, reference, address or words of the service', () => {
    const failed = presented(
      lived(secretive, EVENTS.send, EVENTS.accepted, {
        ...EVENTS.failed,
        failure: { code: 'generation_failed', words: 'your secret teaser is bad' },
      }),
    );
    for (const task of [shown, failed]) {
      const removed = lived(task, REMOVE);
      expect(JSON.stringify(removed)).not.toContain('secret');
      expect(removed).toMatchObject({ state: task.state, removal: { reason: 'expired', hasContent: false } });
    }
  });

  it('keeps its content where only the clip expires, and loses it later', () => {
    const clipless = lived(shown, { ...REMOVE, keepsContent: true });
    expect(clipless).toMatchObject({ request: shown.request, origin: shown.origin, removal: { hasContent: true } });
    expect(clipless.clip).toBeUndefined();
    expect(transition(clipless, { ...REMOVE, keepsContent: true })).toBeNull();
    const removed = lived(clipless, REMOVE);
    expect(removed).toMatchObject({ request: { prompt: '' }, removal: { hasContent: false } });
    expect(transition(removed, REMOVE)).toBeNull();
    // Its messages are still in the chat.
    expect(lived(removed, { ...REMOVE, reason: 'deleted' })).toMatchObject({ removal: { reason: 'deleted' } });
  });

  it('without a clip keeps its content: there is nothing else to remove', () => {
    const failed = presented(lived(secretive, EVENTS.send, EVENTS.accepted, EVENTS.failed));
    expect(transition(failed, { ...REMOVE, keepsContent: true })).toBeNull();
  });

  it('is finished, not fetching', () => {
    const phase = phaseOf(lived(shown, REMOVE), { isRunning: false, isHandedOver: false });
    expect(phase).toBe('done');
  });

  it('names the pseudonym wherever it named its requester, and others as before', () => {
    const cancelled = lived(secretive, EVENTS.send, EVENTS.accepted, { ...EVENTS.cancel, by: ADA }, EVENTS.abandon);
    const forget = { ...REMOVE, reason: 'forgotten', person: ANONYMOUS } as const;
    const forgotten = lived(presented(cancelled), forget);
    expect(forgotten).toMatchObject({ origin: { user: ANONYMOUS }, cancelledBy: ANONYMOUS });
    expect(JSON.stringify(forgotten)).not.toMatch(/ada/iu);
    const declined = lived(requestedTask(), EVENTS.decline);
    const denied = lived(presented(declined), forget);
    expect(denied).toMatchObject({ origin: { user: ANONYMOUS }, declined: { how: 'denied', by: BOB } });
    expect(JSON.stringify(denied)).not.toContain('too long for a test');
    const withdrawn = lived(requestedTask(), { ...EVENTS.cancel, by: ADA });
    const dismissed = lived(secretive, EVENTS.send, EVENTS.lost, { kind: 'leave', by: ADA });
    for (const task of [withdrawn, dismissed])
      expect(JSON.stringify(lived(presented(task), forget))).not.toMatch(/"ada"/u);
  });

  it('has no notes of reviewers, which are about what is gone', () => {
    const note = { text: 'more of the secret' };
    const decision = { kind: 'changes_requested', by: BOB, atMs: 1, note } as const;
    const reviewed = presented(lived(shown, { kind: 'review', after: 0, decision }));
    expect(lived(reviewed, { ...REMOVE, keepsContent: true })).toMatchObject({ review: [decision] });
    expect(lived(reviewed, REMOVE)).not.toHaveProperty('review');
  });

  it('leaves the histories of team and channel, and its requester’s once they are forgotten', async () => {
    const store = new MemoryStore();
    const repository = new TaskRepository(store);
    await repository.claim([secretive]);
    for (const kind of ['send', 'accepted', 'completed', 'fetched'] as const) {
      await repository.record(secretive.id, EVENTS[kind]);
    }
    const { revision } = (await repository.get(secretive.id)) ?? secretive;
    expect(await repository.record(secretive.id, REMOVE)).toMatchObject({ done: false });
    expect(await store.count(OUTBOX)).toBe(1);
    await repository.record(secretive.id, { kind: 'presented', revision });
    const listedIn = async (...names: readonly string[]) =>
      Promise.all(names.map(async (name) => (await store.scan(name)).length));
    const all = [historyIndex('fake', 'T1'), channelHistoryIndex(secretive.origin), sharedIndex('fake', 'T1')];
    const own = historyIndex('fake', 'T1', 'ada');
    expect(await listedIn(...all, own, REMOVALS)).toEqual([1, 1, 1, 1, 0]);
    await repository.record(secretive.id, { ...REMOVE, keepsContent: true });
    expect(await listedIn(...all, own, REMOVALS)).toEqual([1, 1, 1, 1, 1]);
    await repository.record(secretive.id, REMOVE);
    expect(await listedIn(...all, own, REMOVALS)).toEqual([0, 0, 0, 0, 1]);
    expect([...(await tasksOfPerson(store, { platform: 'fake', team: 'T1', user: 'ada' }))]).toEqual([secretive.id]);
    expect(await store.keyv('ledger').get(`${secretive.id}#1`)).toBeUndefined();
    await repository.record(secretive.id, { ...REMOVE, reason: 'forgotten', person: ANONYMOUS });
    expect(await tasksOfPerson(store, { platform: 'fake', team: 'T1', user: 'ada' })).toEqual(new Set());
    const indexes = (await store.contents.indexes()).filter((name) => isChannelHistory(name) || name.includes('ada'));
    expect(indexes).toEqual([]);
  });
});

describe('a request that was denied', () => {
  it('stays in the history of its requester: it is in no ledger', async () => {
    const store = new MemoryStore();
    const repository = new TaskRepository(store);
    const { id } = requestedTask();
    await repository.claim([requestedTask()]);
    await repository.record(id, EVENTS.decline);
    await repository.record(id, { kind: 'presented', revision: 2 });
    expect(await repository.record(id, REMOVE)).toMatchObject({ done: true });
    expect([...(await tasksOfPerson(store, { platform: 'fake', team: 'T1', user: 'ada' }))]).toEqual([id]);
  });
});

describe('a task of another than the person who is forgotten', () => {
  const forget = (person: Person) => ({ kind: 'forget', person: person.id, pseudonym: ANONYMOUS }) as const;
  const asked = requestedTask();

  it('asks them for no approval any more, and nobody under their pseudonym', () => {
    const forgotten = lived(asked, forget(BOB));
    expect(asked.approval?.askedOf).toHaveLength(1);
    expect(forgotten.approval).toEqual({ ...asked.approval, askedOf: [] });
  });

  it('loses the reason for which they denied it, which they wrote', () => {
    const forgotten = lived(asked, EVENTS.decline, forget(BOB));
    expect(forgotten.declined).toMatchObject({ how: 'denied', by: ANONYMOUS });
    expect(forgotten.declined).not.toHaveProperty('reason');
  });

  it('stays as it is where it does not name them, or is theirs', () => {
    expect(transition(asked, forget({ id: 'carol', name: 'Carol' }))).toBeNull();
    expect(transition(lived(asked, EVENTS.decline), forget(ADA))).toBeNull();
  });
});
