import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { Statements } from '#src/money/statement/decisions.ts';
import type { Discrepancy, Match } from '#src/money/statement/findings.ts';
import { importStatement, PAGE, type Resolution } from '#src/money/statement/imports.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import { sumsOf } from '#src/tasks/money.ts';
import type { TaskEvent, TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { ADA, BOB, EVENTS, NOON_MS, newTask, originOf } from '#test/fakes/tasks.ts';

const HASH = `${'a'.repeat(16)}${'0'.repeat(48)}`;
const ID = 'a'.repeat(16);
const TEAM = { platform: 'fake', team: 'T1' };
const ALL = { offset: 0, limit: 10 };
const BY_ADA = { person: ADA, surface: 'button' } as const;
const BY_BOB = { person: BOB, surface: 'button' } as const;

let store: MemoryStore;
let repository: TaskRepository;
let audit: AuditTrail;
let clock: ManualClock;
let statements: Statements;
let events: unknown[];

beforeEach(() => {
  store = new MemoryStore();
  clock = new ManualClock(NOON_MS);
  repository = new TaskRepository(store, () => 'service');
  audit = new AuditTrail(store, clock);
  events = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void events.push(JSON.parse(line)) });
  statements = new Statements({ store, repository, audit, clock, logger });
});

/** Claims and sends a task, and applies events to it. */
async function made(name: string, ...events: readonly TaskEvent[]): Promise<TaskId> {
  const id = `task-${name}` as TaskId;
  await repository.claim([newTask({ id })]);
  const accepted = { ...EVENTS.accepted, upstreamId: `up-${name}` as UpstreamId };
  for (const event of [EVENTS.send, ...events]) {
    await repository.record(id, event.kind === 'accepted' ? accepted : event);
  }
  return id;
}

const match = (task: TaskId, book: Match['book'] = 'settled'): Match => ({ task, send: 1, book });

function differing(task: TaskId): Discrepancy {
  const price = (amount: string) => ({ amount, currency: 'USD' });
  const amounts = { ours: price('0.3'), theirs: price('0.45'), by: [price('0.15')] };
  return { kind: 'differs', month: '2026-11', id: 'up', task, send: 1, ...amounts };
}

async function imported(matches: readonly Match[], discrepancies: readonly Discrepancy[] = []): Promise<void> {
  const teams = [{ team: TEAM, matches, discrepancies, months: [] }];
  await importStatement({ store, audit, clock }, HASH, { teams });
}

const statement = async () => {
  const found = await statements.get(TEAM, ID);
  if (found === undefined) throw new TypeError('no statement');
  return found;
};

const bookedOf = async (task: TaskId) => (await repository.get(task))?.money?.sends.map(({ booked }) => booked ?? null);
const actions = async () => (await audit.page(TEAM, ALL)).entries.map(({ action }) => action);

/** Returns what the team has used in November, in millionths. */
async function used() {
  const { team } = sumsOf(originOf(), { period: '2026-11', currency: 'USD' });
  const [parts] = await store.sums([team]);
  return { held: parts?.held, settled: parts?.settled, doubted: parts?.doubted };
}

const decide = (as: Resolution, position = 0, actor: typeof BY_ADA | typeof BY_BOB = BY_ADA) =>
  statements.decide(TEAM, { id: ID, position, as }, actor);

describe('booking all matches', () => {
  it('confirms what was billed and what was refunded, once and logged once', async () => {
    const settled = await made('settled', EVENTS.accepted, EVENTS.completed);
    const doubt = await made('doubt', EVENTS.lost);
    const refunded = await made('refunded', EVENTS.accepted, EVENTS.failed);
    await imported([match(settled), match(doubt), match(refunded, 'refunded')]);
    expect(await used()).toEqual({ held: 0n, settled: 300_000n, doubted: 300_000n });
    await Promise.all([statements.bookMatches(TEAM, ID, BY_ADA), statements.bookMatches(TEAM, ID, BY_BOB)]);
    expect(await bookedOf(settled)).toEqual(['settled']);
    expect(await bookedOf(doubt)).toEqual(['settled']);
    expect(await bookedOf(refunded)).toEqual(['refunded']);
    expect(await used()).toEqual({ held: 0n, settled: 600_000n, doubted: 0n });
    expect((await statement()).booking).toMatchObject({ endedAtMs: NOON_MS });
    expect(events).toMatchObject([{ event: 'statement_booked', statement: ID, sends: 3 }]);
    const revisions = await Promise.all(
      [settled, doubt, refunded].map(async (id) => (await repository.get(id))?.revision),
    );
    await statements.bookMatches(TEAM, ID, BY_BOB);
    expect(
      await Promise.all([settled, doubt, refunded].map(async (id) => (await repository.get(id))?.revision)),
    ).toEqual(revisions);
    expect(await actions()).toEqual(['statement_booking', 'statement_import']);
  });

  it('keeps what a person decided meanwhile, and skips clips that are gone', async () => {
    const task = await made('settled', EVENTS.accepted, EVENTS.completed);
    await repository.record(task, { kind: 'book', send: 1, as: 'refunded', by: BOB });
    await imported([match(task), match('gone' as TaskId)]);
    expect(await statements.bookMatches(TEAM, ID, BY_ADA)).toBe(true);
    expect(await bookedOf(task)).toEqual(['refunded']);
  });

  it('goes on where it was interrupted', async () => {
    const ids = ['a', 'b'];
    const tasks = await Promise.all(ids.map((name) => made(name, EVENTS.accepted, EVENTS.completed)));
    const [first, last] = tasks;
    if (first === undefined || last === undefined) throw new TypeError('no tasks');
    await imported([...Array.from({ length: PAGE }, () => match(first)), match(last)]);
    const away = new Error('away');
    const commit = store.commit.bind(store);
    store.commit = async (change) => {
      if (change.records.some(({ key }) => key === last)) throw away;
      return commit(change);
    };
    await expect(statements.bookMatches(TEAM, ID, BY_ADA)).rejects.toThrow(away);
    expect(statements.isBooking(await statement())).toBe(false);
    expect((await statement()).booking).toMatchObject({ pages: 1 });
    store.commit = commit;
    await statements.bookMatches(TEAM, ID, BY_BOB);
    expect(await bookedOf(last)).toEqual(['settled']);
    expect((await statement()).booking).toMatchObject({ by: ADA, pages: 2, endedAtMs: NOON_MS });
    expect(await actions()).toEqual(['statement_booking', 'statement_import']);
  });

  it('knows no statement of another team', async () => {
    await imported([]);
    expect(await statements.bookMatches({ ...TEAM, team: 'T2' }, ID, BY_ADA)).toBe(false);
  });
});

describe('a decision on a discrepancy', () => {
  it.each([
    ['ours', null, 300_000n],
    ['billed', 'settled', 300_000n],
    ['not_billed', 'refunded', 0n],
  ] as const)('that %s books %s and never changes the price', async (as, booked, settled) => {
    const task = await made('settled', EVENTS.accepted, EVENTS.completed);
    await imported([], [differing(task)]);
    const before = await repository.get(task);
    expect(await decide(as)).toEqual({ kind: 'decided' });
    expect(await bookedOf(task)).toEqual([booked]);
    expect(await used()).toMatchObject({ settled });
    expect(await repository.get(task)).toMatchObject({ state: before?.state, price: before?.price });
    expect((await statement()).decided).toBe(1);
    const { entries } = await audit.page(TEAM, ALL);
    expect(entries[0]).toMatchObject({
      action: 'statement_decision',
      by: ADA,
      surface: 'button',
      subject: [{ kind: 'task', task }],
      before: [
        { kind: 'price', price: { amount: '0.3' } },
        { kind: 'price', price: { amount: '0.45' } },
      ],
      after: [{ kind: 'text', text: as }],
    });
  });

  it('releases a submission that was in doubt and not billed', async () => {
    const task = await made('doubt', EVENTS.lost);
    await imported([], [differing(task)]);
    expect(await decide('not_billed')).toEqual({ kind: 'decided' });
    expect(await bookedOf(task)).toEqual(['released']);
    expect(await used()).toEqual({ held: 0n, settled: 0n, doubted: 0n });
  });

  it('is the first of several at the same time; the others are told whose it was', async () => {
    const task = await made('settled', EVENTS.accepted, EVENTS.completed);
    await imported([], [differing(task)]);
    const outcomes = await Promise.all([decide('billed'), decide('not_billed', 0, BY_BOB), decide('ours', 0, BY_BOB)]);
    expect(outcomes.filter(({ kind }) => kind === 'decided')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'known')).toHaveLength(2);
    expect((await statement()).decided).toBe(1);
    expect(await actions()).toEqual(['statement_decision', 'statement_import']);
    expect((await audit.verify(TEAM)).ok).toBe(true);
  });

  it('waits while the clip is in progress', async () => {
    const task = await made('running', EVENTS.accepted);
    await imported([], [differing(task)]);
    expect(await decide('not_billed')).toEqual({ kind: 'not_now' });
    expect((await statement()).decided).toBe(0);
    expect(await decide('ours')).toEqual({ kind: 'decided' });
  });

  describe('on an unconfirmed clip and a bill that may be its own', () => {
    const BILL: Discrepancy = { kind: 'unknown', month: '2026-11', id: 'up-1', by: [], pair: 0 };
    const importPair = async () => {
      const task = await made('doubt', EVENTS.lost);
      const { theirs: _none, id: _unknown, ...missing } = differing(task);
      await imported(
        [],
        [
          { ...missing, kind: 'missing', pair: 1 },
          { ...BILL, theirs: { amount: '0.3', currency: 'USD' } },
        ],
      );
      return task;
    };

    it('settles both once the clip has that id, in one entry of the log', async () => {
      const task = await importPair();
      expect(await decide('same')).toEqual({ kind: 'not_now' });
      await repository.record(task, { ...EVENTS.identify, upstreamId: 'up-other' as UpstreamId });
      expect(await decide('same')).toEqual({ kind: 'not_now' });
      await repository.record(task, EVENTS.disowned);
      await repository.record(task, { ...EVENTS.identify, upstreamId: 'up-1' as UpstreamId });
      const outcomes = await Promise.all([decide('same'), decide('same', 0, BY_BOB), decide('apart', 0, BY_BOB)]);
      expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['decided', 'known', 'known']);
      const after = await statement();
      expect([after.decided, await statements.nextUndecided(after, 0)]).toEqual([2, null]);
      expect(await decide('ours', 1)).toMatchObject({ kind: 'known' });
      const { entries } = await audit.page(TEAM, ALL);
      const price = { kind: 'price', price: { amount: '0.3', currency: 'USD' } };
      expect(entries.map(({ action }) => action)).toEqual(['statement_decision', 'statement_import']);
      expect(entries[0]).toMatchObject({ subject: [{ task }], before: [price, price], after: [{ text: 'same' }] });
      expect(await bookedOf(task)).toEqual([null]);
    });

    it('leaves them to a decision on each where they are apart', async () => {
      await importPair();
      expect(await decide('apart')).toEqual({ kind: 'decided' });
      expect(await decide('apart', 0, BY_BOB)).toMatchObject({ kind: 'known', decided: { by: ADA } });
      expect(await decide('same')).toMatchObject({ kind: 'not_now' });
      expect((await statement()).decided).toBe(0);
      expect(await decide('not_billed')).toEqual({ kind: 'decided' });
      expect(await decide('ours', 1)).toEqual({ kind: 'decided' });
      expect((await statement()).decided).toBe(2);
    });

    it('is none on a discrepancy alone', async () => {
      const task = await made('doubt', EVENTS.lost);
      await imported([], [differing(task)]);
      expect([await decide('same'), await decide('apart')]).toEqual([{ kind: 'unknown' }, { kind: 'unknown' }]);
    });
  });

  it('sets a bill aside that belongs to no clip', async () => {
    await imported([], [{ kind: 'unknown', month: '2026-11', id: 'foreign', by: [] }]);
    expect(await decide('ours')).toEqual({ kind: 'decided' });
    expect(await decide('ours', 0, BY_BOB)).toMatchObject({ kind: 'known', decided: { by: ADA } });
    expect(await decide('ours', 1)).toEqual({ kind: 'unknown' });
  });
});
