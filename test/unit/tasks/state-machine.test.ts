import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { asOf } from '#src/tasks/approval.ts';
import { attemptOf, isSought } from '#src/tasks/attempt.ts';
import { ledgerOf } from '#src/tasks/indexes.ts';
import { isEnded, isFetching, isFollowedQuietly, phaseOf, rowOf, transition } from '#src/tasks/state-machine.ts';
import { sinceMs, type Task, type TaskEvent, type TaskState } from '#src/tasks/task.ts';
import {
  ADA,
  BOB,
  CLIP,
  EVENTS,
  lived,
  NOON_MS,
  newTask,
  requestedTask,
  UPSTREAM,
  waitingTask,
} from '#test/fakes/tasks.ts';

type Kind = TaskEvent['kind'];

const sending = lived(newTask(), EVENTS.send);
const polling = lived(sending, EVENTS.accepted);
const completed = lived(polling, EVENTS.completed);
const uncertain = lived(sending, EVENTS.lost);
const quiet = lived(polling, EVENTS.cancel);
const late = lived(quiet, EVENTS.completed);

/** Tasks of each state, so that every listed event counts for at least one of them. */
const EXAMPLES: Readonly<Record<TaskState, readonly Task[]>> = {
  requested: [requestedTask()],
  waiting: [waitingTask()],
  claimed: [newTask()],
  sending: [sending],
  uncertain: [uncertain, lived(polling, EVENTS.disowned), lived(sending, { ...EVENTS.lost, isListed: true })],
  polling: [polling],
  completed: [completed, lived(completed, EVENTS.unfetchable), lived(completed, EVENTS.fetched)],
  cancelled: [
    quiet,
    late,
    lived(late, EVENTS.fetched),
    lived(late, EVENTS.unfetchable),
    lived(newTask(), EVENTS.cancel),
    lived(uncertain, EVENTS.resubmit, EVENTS.cancel),
  ],
  failed: [lived(polling, EVENTS.failed)],
  rejected: [lived(sending, EVENTS.refused), lived(uncertain, EVENTS.resubmit, EVENTS.send, EVENTS.refused)],
  declined: [lived(requestedTask(), EVENTS.decline)],
};

/** The variants of an event: without an attempt, of the current one, of an earlier and of a later one. */
function variantsOf(kind: Kind, { state, sends, unsentTries }: Task): readonly TaskEvent[] {
  const event = EVENTS[kind];
  if (!EVENTS_OF_AN_ATTEMPT.has(kind)) return [event];
  const current = state === 'claimed' ? sends + 1 : sends;
  const attempts = [
    { sends: current, unsentTries },
    { sends: current, unsentTries: unsentTries - 1 },
    { sends: current - 1, unsentTries: unsentTries + 1 },
    { sends: current, unsentTries: unsentTries + 1 },
    { sends: current + 1, unsentTries: 0 },
  ];
  return [event, ...attempts.map((of): TaskEvent => Object.assign({ of }, event))];
}

const EVENTS_OF_AN_ATTEMPT: ReadonlySet<Kind> = new Set(['accepted', 'unsent', 'refused', 'lost']);

/** Returns the outcomes of all variants of an event that count. */
function outcomes(state: TaskState, kind: Kind): readonly Task[] {
  return EXAMPLES[state].flatMap((task) =>
    variantsOf(kind, task)
      .map((event) => transition(task, event))
      .filter((result) => result !== null),
  );
}

/** The rows of the table in the doc comment of `state-machine.ts`: `state event` and the next state. */
function documented(): ReadonlyMap<string, string> {
  const source = readFileSync(new URL('../../../src/tasks/state-machine.ts', import.meta.url), 'utf8');
  const rows = source.matchAll(/^ \* \| `(\w+)` +\| (\w+) +\| `(\w+)` +\|/gm);
  return new Map([...rows].map(([, state, event, next]) => [`${state} ${event}`, `${next}`]));
}

const table = documented();
const states = Object.keys(EXAMPLES) as TaskState[];
const kinds = (Object.keys(EVENTS) as Kind[]).filter(
  (kind) => !['presented', 'book', 'remove', 'forget'].includes(kind),
);
const pairs = states.flatMap((state) => kinds.map((kind) => ({ state, kind, next: table.get(`${state} ${kind}`) })));

describe('the table in the doc comment', () => {
  it('is parsed completely', () => {
    expect(table.size).toBe(43);
    expect([...table.keys()].filter((row) => !pairs.some(({ state, kind }) => row === `${state} ${kind}`))).toEqual([]);
  });

  it.each(pairs.filter(({ next }) => next !== undefined))('$state + $kind → $next', ({ state, kind, next }) => {
    const results = outcomes(state, kind);
    expect(results.length).toBeGreaterThan(0);
    for (const result of results) expect(result.state).toBe(next);
  });

  it.each(pairs.filter(({ next }) => next === undefined))('$state + $kind changes nothing', ({ state, kind }) => {
    expect(outcomes(state, kind)).toEqual([]);
  });
});

describe('every event that counts', () => {
  it('returns the next revision and leaves the original record unchanged', () => {
    for (const { state, kind } of pairs) {
      for (const task of EXAMPLES[state]) {
        const before = structuredClone(task);
        for (const event of variantsOf(kind, task)) {
          const result = transition(task, event);
          if (result !== null) expect(result.revision).toBe(task.revision + 1);
        }
        expect(task).toEqual(before);
      }
    }
  });

  it('puts exactly the outcomes for users into the outbox', () => {
    for (const { state, kind } of pairs) {
      for (const result of outcomes(state, kind)) {
        const isForPeople =
          isEnded(result) || result.state === 'uncertain' || result.state === 'requested' || isFollowedQuietly(result);
        expect({ state, kind, presented: result.presented }).toEqual({ state, kind, presented: !isForPeople });
      }
    }
  });
});

describe('sending', () => {
  it('counts a submission and takes the lease, which every response releases', () => {
    expect(sending).toMatchObject({ sends: 1, lease: { owner: 'me' } });
    for (const answer of [EVENTS.accepted, EVENTS.unsent, EVENTS.refused, EVENTS.lost]) {
      expect(lived(sending, answer)).not.toHaveProperty('lease');
    }
  });

  it('takes the submission back where nothing was created', () => {
    expect(lived(sending, EVENTS.unsent)).toMatchObject({ sends: 0, unsentTries: 1 });
    expect(lived(sending, EVENTS.refused)).toMatchObject({ sends: 0, failure: EVENTS.refused.failure });
    expect(lived(sending, EVENTS.lost)).toMatchObject({ sends: 1 });
  });

  it('counts attempts at a busy service separately, until a user resubmits it', () => {
    const busy = { ...EVENTS.unsent, isBusy: true };
    const tried = lived(sending, busy, EVENTS.send, EVENTS.unsent, EVENTS.send, busy);
    expect(tried).toMatchObject({ unsentTries: 3, busyTries: 2 });
    const again = lived(tried, EVENTS.send, EVENTS.lost, EVENTS.resubmit);
    expect(again).toMatchObject({ unsentTries: 0 });
    expect(again).not.toHaveProperty('busyTries');
  });

  it('stores the first user who cancels, until the response arrives', () => {
    const cancelled = lived(sending, EVENTS.cancel);
    expect(cancelled).toMatchObject({ state: 'sending', cancelledBy: BOB, presented: true });
    expect(transition(cancelled, { ...EVENTS.cancel, by: ADA })).toBeNull();
  });

  it('ends a cancelled task by the response', () => {
    const cancelled = lived(sending, EVENTS.cancel);
    const taken = lived(cancelled, EVENTS.accepted);
    expect(taken).toMatchObject({ state: 'cancelled', upstreamId: UPSTREAM, sends: 1 });
    expect(isFollowedQuietly(taken)).toBe(true);
    const unsent = lived(cancelled, EVENTS.unsent);
    expect(unsent).toMatchObject({ state: 'cancelled', sends: 0 });
    expect(isEnded(unsent)).toBe(true);
    expect(lived(cancelled, EVENTS.refused).state).toBe('rejected');
    expect(lived(cancelled, EVENTS.lost).state).toBe('uncertain');
  });
});

describe('an event of an earlier submission', () => {
  const again = lived(sending, EVENTS.lost, EVENTS.resubmit, EVENTS.send);

  it.each([EVENTS.unsent, EVENTS.refused, EVENTS.lost])('is ignored once another one is in flight: $kind', (event) => {
    expect(again).toMatchObject({ state: 'sending', sends: 2 });
    const [first, second] = [attemptOf(sending), attemptOf(again)];
    expect(transition(again, { ...event, of: first })).toBeNull();
    expect(transition(again, { ...event, of: second })).not.toBeNull();
    expect(transition(lived(again, EVENTS.lost), { ...event, of: first })).toBeNull();
  });

  it.each([EVENTS.unsent, EVENTS.refused, EVENTS.lost])('is ignored under a number taken back: $kind', (event) => {
    const next = lived(sending, EVENTS.unsent, EVENTS.send);
    expect(next).toMatchObject({ state: 'sending', sends: 1 });
    expect(transition(next, { ...event, of: attemptOf(sending) })).toBeNull();
    expect(transition(lived(next, EVENTS.lost), { ...event, of: attemptOf(sending) })).toBeNull();
    expect(transition(next, { ...event, of: attemptOf(next) })).not.toBeNull();
  });
});

describe('a record that the store returns in an older state', () => {
  const first = attemptOf(sending);
  const second = { sends: 1, unsentTries: 1 };

  it('accepts events of a submission that it lost, and counts it', () => {
    const answer = { ...EVENTS.accepted, of: first };
    expect(lived(newTask(), answer)).toEqual({ ...lived(sending, answer), revision: 2 });
    // Except for the time of its POST.
    const { turnAtMs, ...again } = lived(sending, EVENTS.lost);
    expect(turnAtMs).toBe(EVENTS.send.atMs);
    expect(lived(newTask(), { ...EVENTS.lost, of: first })).toEqual({ ...again, revision: 2 });
    for (const task of [newTask(), sending]) {
      expect(lived(task, { ...EVENTS.accepted, of: second })).toMatchObject({ state: 'polling', sends: 1 });
      expect(lived(task, { ...EVENTS.lost, of: second })).toMatchObject({ state: 'uncertain', sends: 1 });
      expect(lived(task, { ...EVENTS.lost, of: { sends: 2, unsentTries: 0 } })).toMatchObject({ sends: 2 });
    }
  });

  it('differs from one to be resubmitted: a lost response does not change a user’s decision', () => {
    for (const claimed of [lived(sending, EVENTS.unsent), lived(sending, EVENTS.lost, EVENTS.resubmit)]) {
      expect(transition(claimed, EVENTS.lost)).toBeNull();
      expect(transition(claimed, { ...EVENTS.lost, of: first })).toBeNull();
      expect(transition(claimed, EVENTS.accepted)).toBeNull();
    }
  });

  it('prefers its id to a resubmission that has not left', () => {
    const again = lived(sending, EVENTS.lost, EVENTS.resubmit);
    const late = { ...EVENTS.accepted, of: first };
    expect(lived(again, late)).toMatchObject({ state: 'polling', sends: 1, upstreamId: UPSTREAM });
    const unreached = lived(again, EVENTS.send, EVENTS.unsent);
    expect(lived(unreached, late)).toMatchObject({ state: 'polling', sends: 1, upstreamId: UPSTREAM });
    expect(lived(lived(sending, EVENTS.unsent), late)).toMatchObject({ state: 'polling', sends: 1 });
  });

  it('is polled where its id arrives after the resubmission was cancelled or refused', () => {
    const late = { ...EVENTS.accepted, of: first };
    const again = lived(sending, EVENTS.lost, EVENTS.resubmit);
    const cancelled = lived(again, EVENTS.cancel, late);
    expect(cancelled).toMatchObject({ state: 'cancelled', upstreamId: UPSTREAM, sends: 1 });
    expect(isFollowedQuietly(cancelled)).toBe(true);
    const refused = lived(again, EVENTS.send, EVENTS.refused, late);
    expect(refused).toMatchObject({ state: 'polling', upstreamId: UPSTREAM, sends: 1 });
    for (const key of ['failure', 'endedAtMs']) expect(refused).not.toHaveProperty(key);
    expect(transition(lived(sending, EVENTS.refused), late)).toBeNull();
    expect(transition(lived(newTask(), EVENTS.cancel), late)).toBeNull();
  });
});

describe('uncertain', () => {
  it('is resolved once its sender reports that nothing was sent, or that it was refused', () => {
    const uncertain = lived(sending, EVENTS.lost);
    expect(lived(uncertain, { ...EVENTS.unsent, of: attemptOf(sending) })).toMatchObject({
      state: 'claimed',
      sends: 0,
    });
    expect(lived(uncertain, { ...EVENTS.refused, of: attemptOf(sending) })).toMatchObject({
      state: 'rejected',
      sends: 0,
    });
    expect(transition(lived(uncertain, EVENTS.leave), { ...EVENTS.unsent, of: attemptOf(sending) })).toBeNull();
  });

  it('is resubmitted only after the number of submissions that the user saw', () => {
    expect(transition(uncertain, { ...EVENTS.resubmit, afterSends: 0 })).toBeNull();
    expect(transition(uncertain, { ...EVENTS.resubmit, afterSends: 2 })).toBeNull();
    const again = lived(uncertain, EVENTS.resubmit);
    expect(again).toMatchObject({ state: 'claimed', sends: 1, unsentTries: 0 });
    expect(again).not.toHaveProperty('failure');
    expect(lived(again, EVENTS.send, EVENTS.lost)).toMatchObject({ state: 'uncertain', sends: 2 });
  });

  it('is dismissed once, and may still be decided otherwise afterwards', () => {
    const left = lived(uncertain, EVENTS.leave);
    expect(left).toMatchObject({ leftBy: BOB, state: 'uncertain' });
    expect(isEnded(left)).toBe(true);
    expect(transition(left, EVENTS.leave)).toBeNull();
    for (const event of [EVENTS.resubmit, EVENTS.identify, EVENTS.accepted]) {
      expect(lived(left, event)).not.toHaveProperty('leftBy');
    }
  });

  it('is looked for until the time of its search, unless it is decided on, and for each submission anew', () => {
    const lost = { ...EVENTS.lost, isListed: true };
    const sought = lived(sending, lost);
    expect(isSought(sought)).toBe(true);
    expect(transition(sought, { ...EVENTS.sought, atMs: EVENTS.sought.atMs - 1 })).toBeNull();
    const over = lived(sought, EVENTS.sought);
    expect(over).toMatchObject({ state: 'uncertain', failure: { search: { result: 'none' } }, presented: false });
    expect(isSought(over)).toBe(false);
    expect(transition(over, EVENTS.sought)).toBeNull();
    expect(isSought(lived(over, EVENTS.resubmit, EVENTS.send, lost))).toBe(true);
    expect(transition(lived(sought, EVENTS.leave), EVENTS.sought)).toBeNull();
    expect(isSought(lived(sending, EVENTS.cancel, lost))).toBe(false);
    expect(transition(lived(sending, EVENTS.lost), EVENTS.sought)).toBeNull();
  });

  it('drops a cancellation when a user wants it after all', () => {
    const cancelled = lived(sending, EVENTS.cancel, EVENTS.lost);
    const again = lived(cancelled, EVENTS.resubmit, EVENTS.send, EVENTS.accepted);
    expect(again.state).toBe('polling');
    expect(again).not.toHaveProperty('cancelledBy');
    expect(lived(cancelled, EVENTS.identify).state).toBe('polling');
  });

  it('that was resubmitted and then refused may still be identified by its first submission', () => {
    const refused = lived(uncertain, EVENTS.resubmit, EVENTS.send, EVENTS.refused);
    expect(refused).toMatchObject({ state: 'rejected', sends: 1 });
    const found = lived(refused, EVENTS.identify);
    expect(found).toMatchObject({ state: 'polling', sends: 1, upstreamId: UPSTREAM });
    for (const key of ['failure', 'endedAtMs']) expect(found).not.toHaveProperty(key);
    expect(transition(lived(sending, EVENTS.refused), EVENTS.identify)).toBeNull();
  });

  it('stays cancelled when the id arrives late', () => {
    expect(lived(sending, EVENTS.cancel, EVENTS.lost, EVENTS.accepted).state).toBe('cancelled');
  });
});

describe('a task that the service does not know', () => {
  const disowned = lived(polling, EVENTS.disowned);

  it('keeps its id until a user has decided', () => {
    expect(disowned).toMatchObject({ state: 'uncertain', upstreamId: UPSTREAM, sends: 1, presented: false });
    expect(lived(disowned, EVENTS.leave)).toMatchObject({ upstreamId: UPSTREAM });
    const found = lived(disowned, { ...EVENTS.identify, upstreamId: 'found' as typeof UPSTREAM });
    expect(found).toMatchObject({ state: 'polling', upstreamId: 'found' });
    expect(found).not.toHaveProperty('failure');
  });

  it('drops it where it is resubmitted: a cancellation then applies to a task that was not sent', () => {
    const again = lived(disowned, EVENTS.resubmit);
    expect(again).toMatchObject({ state: 'claimed', sends: 1 });
    expect(again).not.toHaveProperty('upstreamId');
    expect(again).not.toHaveProperty('accepted');
    expect(isFollowedQuietly(lived(again, EVENTS.cancel))).toBe(false);
  });
});

describe('an upstream id', () => {
  it('overwrites sending and uncertain, and for an earlier attempt a state without an id; nothing else', () => {
    expect(states.filter((state) => outcomes(state, 'accepted').length > 0)).toEqual([
      'claimed',
      'sending',
      'uncertain',
      'cancelled',
      'rejected',
    ]);
    expect(transition(newTask(), EVENTS.accepted)).toBeNull();
  });
});

describe('completed', () => {
  it('is fetched until the clip is stored or cannot be fetched', () => {
    expect(isFetching(completed)).toBe(true);
    const there = lived(completed, EVENTS.fetched);
    expect(there).toMatchObject({ clip: CLIP, presented: false });
    expect(isFetching(there)).toBe(false);
    for (const event of [EVENTS.fetched, EVENTS.unfetchable, EVENTS.refetch])
      expect(transition(there, event)).toBeNull();
  });

  it('loses its clip with its file, and may be fetched again; an event of an earlier revision is ignored', () => {
    const there = lived(completed, EVENTS.fetched);
    const lost = lived(there, { ...EVENTS.vanished, revision: there.revision });
    expect(lost).toMatchObject({ state: 'completed', failure: EVENTS.vanished.failure, presented: false });
    expect(lost).not.toHaveProperty('clip');
    expect(isEnded(lost)).toBe(true);
    const again = lived(lost, EVENTS.refetch, EVENTS.fetched);
    expect(again).toMatchObject({ clip: CLIP });
    expect(transition(again, { ...EVENTS.vanished, revision: there.revision })).toBeNull();
  });

  it('is fetched again when a user requests it, and drops its failure', () => {
    const lost = lived(completed, EVENTS.unfetchable);
    expect(isEnded(lost)).toBe(true);
    const again = lived(lost, EVENTS.refetch);
    expect(isFetching(again)).toBe(true);
    expect(lived(again, EVENTS.fetched)).not.toHaveProperty('failure');
    expect(transition(completed, EVENTS.refetch)).toBeNull();
  });
});

describe('cancelled', () => {
  it('before it was sent, ends at once and ignores later events', () => {
    const ended = lived(newTask(), EVENTS.cancel);
    expect(ended).toMatchObject({ sends: 0, endedAtMs: EVENTS.cancel.atMs });
    for (const kind of kinds) expect(transition(ended, EVENTS[kind])).toBeNull();
  });

  it('after it was sent, is polled for its one late outcome', () => {
    for (const [event, lateOutcome] of [
      [EVENTS.completed, 'completed'],
      [EVENTS.failed, 'failed'],
      [EVENTS.abandon, 'unknown'],
    ] as const) {
      const known = lived(quiet, event);
      expect(known).toMatchObject({ state: 'cancelled', lateOutcome, endedAtMs: event.atMs });
      expect(isFollowedQuietly(known)).toBe(false);
      expect(isEnded(known)).toBe(lateOutcome !== 'completed');
      for (const again of [EVENTS.completed, EVENTS.failed, EVENTS.abandon])
        expect(transition(known, again)).toBeNull();
    }
  });

  it('but finished, is fetched at once, and delivered only when that has ended', () => {
    expect(isFetching(late)).toBe(true);
    expect(late.presented).toBe(true);
    const there = lived(late, EVENTS.fetched);
    expect(there).toMatchObject({ state: 'cancelled', clip: CLIP, presented: false });
    const lost = lived(late, EVENTS.unfetchable);
    expect(lost).toMatchObject({ state: 'cancelled', failure: EVENTS.unfetchable.failure, presented: false });
    for (const ended of [there, lost]) {
      expect(isEnded(ended)).toBe(true);
      for (const again of [EVENTS.fetched, EVENTS.unfetchable]) expect(transition(ended, again)).toBeNull();
    }
  });

  it('is not fetched where nothing was created', () => {
    for (const event of [EVENTS.failed, EVENTS.abandon]) expect(isFetching(lived(quiet, event))).toBe(false);
    for (const event of [EVENTS.fetched, EVENTS.unfetchable]) expect(transition(quiet, event)).toBeNull();
  });

  it('may be reclaimed only where it has a clip', () => {
    expect(lived(late, EVENTS.fetched, EVENTS.want)).toMatchObject({
      state: 'completed',
      clip: CLIP,
      presented: false,
    });
    expect(transition(lived(quiet, EVENTS.failed), EVENTS.want)).toBeNull();
    expect(transition(quiet, EVENTS.want)).toBeNull();
  });

  it('is still fetched when a user reclaims it meanwhile, and again when that failed', () => {
    expect(isFetching(lived(late, EVENTS.want))).toBe(true);
    const again = lived(late, EVENTS.unfetchable, EVENTS.want);
    expect(isFetching(again)).toBe(true);
    expect(again).not.toHaveProperty('failure');
  });
});

describe('requested', () => {
  const DAY_MS = 24 * 3_600_000;
  const expiry = { ...EVENTS.decline, how: 'expired', atMs: NOON_MS + DAY_MS } as const;

  it('is open, in the outbox, and nothing was bought for it', () => {
    expect(isEnded(requestedTask())).toBe(false);
    expect(lived(requestedTask(), EVENTS.remind).presented).toBe(false);
    expect(ledgerOf(requestedTask())).toEqual([]);
    expect(ledgerOf(lived(requestedTask(), EVENTS.decline))).toEqual([]);
  });

  it('is claimed at the approved price, with the approver', () => {
    const price = { amount: '0.25', currency: 'USD' };
    const approved = lived(requestedTask(), { ...EVENTS.approve, price });
    expect(approved).toMatchObject({ state: 'claimed', price, presented: true });
    expect(approved.approval?.approved).toEqual({ by: BOB, atMs: EVENTS.approve.atMs });
    expect(ledgerOf(approved)).toMatchObject([{ state: 'reserved', amount: '0.25' }]);
    expect(sinceMs(approved)).toBe(EVENTS.approve.atMs);
  });

  it('is not approved by its requester', () => {
    expect(transition(requestedTask(), { ...EVENTS.approve, by: { ...ADA, name: 'Somebody' } })).toBeNull();
  });

  it('ends by the first decision', () => {
    const others = [EVENTS.approve, EVENTS.decline, EVENTS.cancel, EVENTS.remind, expiry];
    for (const first of [EVENTS.decline, EVENTS.cancel, expiry]) {
      const ended = lived(requestedTask(), first);
      expect(ended.state).toBe('declined');
      for (const next of others) expect(transition(ended, next)).toBeNull();
    }
    const approved = lived(requestedTask(), EVENTS.approve);
    for (const next of [EVENTS.approve, EVENTS.decline, EVENTS.remind]) expect(transition(approved, next)).toBeNull();
  });

  it('expires by the time in its record, whatever the event that is late is called', () => {
    const atMs = NOON_MS + DAY_MS;
    expect(transition(requestedTask(), { ...expiry, atMs: atMs - 1 })).toBeNull();
    expect(transition(requestedTask(), { ...EVENTS.approve, atMs })).toBeNull();
    expect(lived(requestedTask(), { ...EVENTS.approve, atMs: atMs - 1 }).state).toBe('claimed');
    for (const event of [{ ...EVENTS.decline, atMs }, { ...EVENTS.cancel, atMs }, expiry])
      expect(lived(requestedTask(), event).declined).toEqual({ how: 'expired', atMs });
    expect(asOf(requestedTask(), atMs)).toMatchObject({ state: 'declined', declined: { how: 'expired', atMs } });
    expect(asOf(requestedTask(), atMs - 1)).toEqual(requestedTask());
  });

  it('reminds once, and not once it has expired', () => {
    const told = lived(requestedTask({ presented: true }), EVENTS.remind);
    expect(told).toMatchObject({ state: 'requested', presented: false });
    expect(transition(told, EVENTS.remind)).toBeNull();
    expect(transition(requestedTask(), { kind: 'remind', atMs: NOON_MS + DAY_MS })).toBeNull();
  });
});

describe('presented', () => {
  it('counts for the shown revision, in every state', () => {
    for (const task of [uncertain, quiet, lived(late, EVENTS.fetched), lived(polling, EVENTS.failed)]) {
      expect(transition(task, { kind: 'presented', revision: task.revision - 1 })).toBeNull();
      const shown = lived(task, { kind: 'presented', revision: task.revision });
      expect(shown).toEqual({ ...task, presented: true, revision: task.revision + 1 });
      expect(transition(shown, { kind: 'presented', revision: shown.revision })).toBeNull();
    }
  });
});

it('leaves a task in a state of a later version alone', () => {
  const task = { ...newTask(), state: 'postponed' as TaskState };
  expect(transition(task, EVENTS.cancel)).toBeNull();
  expect(isEnded(task)).toBe(false);
  expect(rowOf(task.state).queues).toEqual([]);
  expect(phaseOf(task, { isRunning: true, isHandedOver: true })).toBe('queued');
});
