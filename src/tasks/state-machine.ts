import type { Cost } from '../videos/index.ts';
import { declinedBy, isExpired } from './approval.ts';
import {
  acceptedLate,
  acceptedThere,
  isBehind,
  isSought,
  lostThere,
  refusedThere,
  takenBack,
  toPolled,
  wantedAgain,
  without,
  withoutDoubt,
} from './attempt.ts';
import { isBlind } from './blind.ts';
import { boughtState } from './chain.ts';
import { forgottenIn } from './forgotten.ts';
import type { LedgerState } from './ledger.ts';
import { statesOf, withBooking, withCost, withPurchase } from './money.ts';
import { isContentRemoved, removedBy } from './removal.ts';
import { isSignedOff, MAX_DECISIONS, type ReviewEvent } from './review/review.ts';
import type { Attempt, EventOf, Failure, Phase, Task, TaskEvent, TaskState } from './task.ts';

type Rule<Kind extends TaskEvent['kind']> = (task: Task, event: EventOf<Kind>) => Task | null;

/** Facts about a task that its phase depends on and its record lacks. */
interface Progress {
  readonly isRunning: boolean;
  readonly isHandedOver: boolean;
}

/** Everything that depends on the state of a task; what differs between its tasks is a function. */
interface StateRow {
  /** Queues of the jobs that advance it: the usual one first. */
  readonly queues: readonly ('frame' | 'send' | 'poll' | 'fetch')[];
  /** Nothing more happens to it automatically. */
  readonly isEnded: boolean | ((task: Task) => boolean);
  /** Its requester waits, and it proceeds without a decision: it may be overdue. */
  readonly isAwaited: boolean;
  /** State of its last submission in the ledger; `null`: no entry, since nothing was bought. */
  readonly ledger: LedgerState | null | ((task: Task) => LedgerState);
  readonly phase: Phase | ((task: Task, progress: Progress) => Phase);
  /** A task that enters it counts as ended in the metrics; later changes do not count. */
  readonly countsAsEnd: boolean;
  /** The transitions: an event that is not listed is ignored. */
  readonly on: { readonly [Kind in TaskEvent['kind']]?: Rule<Kind> };
}

/**
 * The state table: a new state is a row here. Its transitions are these:
 *
 * | state       | event       | next        | remark                                                            |
 * |-------------|-------------|-------------|-------------------------------------------------------------------|
 * | `requested` | approve     | `claimed`   | not by its requester, and before it expires; `waiting` if chained |
 * | `requested` | decline     | `declined`  | denied, withdrawn or expired; only the latter once it is late     |
 * | `requested` | remind      | `requested` | once                                                              |
 * | `requested` | cancel      | `declined`  | withdrawn                                                         |
 * | `waiting`   | framed      | `claimed`   | its first image is stored                                         |
 * | `waiting`   | drop        | `cancelled` | the shot before it has no clip: nothing was sent                  |
 * | `waiting`   | cancel      | `cancelled` | nothing was sent                                                  |
 * | `claimed`   | send        | `sending`   | counts a submission, takes the lease                              |
 * | `claimed`   | accepted    | `polling`   | of an earlier attempt, or of one the store lost: not sent again   |
 * | `claimed`   | lost        | `uncertain` | of an attempt that the store lost                                 |
 * | `claimed`   | refused     | `rejected`  | attempts used up, nothing exists                                  |
 * | `claimed`   | cancel      | `cancelled` | nothing was sent (by this claim)                                  |
 * | `sending`   | accepted    | `polling`   | `cancelled`, polled quietly, if a user cancelled meanwhile        |
 * | `sending`   | unsent      | `claimed`   | the submission is taken back; `cancelled` if a user cancelled     |
 * | `sending`   | refused     | `rejected`  | the submission is taken back                                      |
 * | `sending`   | lost        | `uncertain` | never submitted again automatically                               |
 * | `sending`   | cancel      | `sending`   | stored until the response arrives                                 |
 * | `uncertain` | accepted    | `polling`   | the id arrived late                                               |
 * | `uncertain` | unsent      | `claimed`   | a sender with an expired lease reports it; not once dismissed     |
 * | `uncertain` | refused     | `rejected`  | likewise, a refusal by the service                                |
 * | `uncertain` | sought      | `uncertain` | the list of the service was searched in vain: a user decides      |
 * | `uncertain` | identify    | `polling`   | the id was found; an earlier cancellation is dropped              |
 * | `uncertain` | resubmit    | `claimed`   | by a user, likewise; the doubtful submission stays in the ledger  |
 * | `uncertain` | leave       | `uncertain` | dismissed: closed                                                 |
 * | `polling`   | completed   | `completed` | the clip is fetched next                                          |
 * | `polling`   | failed      | `failed`    |                                                                   |
 * | `polling`   | disowned    | `uncertain` | the id is kept until a user decides, for them to compare          |
 * | `polling`   | cancel      | `cancelled` | polled quietly, for the ledger                                    |
 * | `completed` | fetched     | `completed` | `clip` is set                                                     |
 * | `completed` | unfetchable | `completed` | `failure` is set                                                  |
 * | `completed` | vanished    | `completed` | of the current revision: `clip` is dropped, `failure` is set      |
 * | `completed` | refetch     | `completed` | `failure` is cleared                                              |
 * | `completed` | want        | `completed` | the clip is shown again where its message is gone                 |
 * | `completed` | review      | `completed` | signed off, or changes requested; after the decision that was seen |
 * | `cancelled` | accepted    | `cancelled` | of an earlier attempt, if it has no id: polled quietly            |
 * | `cancelled` | completed   | `cancelled` | `lateOutcome` is set; the clip is fetched, to be offered          |
 * | `cancelled` | failed      | `cancelled` | `lateOutcome` is set                                              |
 * | `cancelled` | fetched     | `cancelled` | `clip` is set                                                     |
 * | `cancelled` | unfetchable | `cancelled` | `failure` is set                                                  |
 * | `cancelled` | abandon     | `cancelled` | outcome unknown: in doubt in the ledger                           |
 * | `cancelled` | want        | `completed` | only where the late outcome is a clip                             |
 * | `rejected`  | accepted    | `polling`   | of an earlier attempt than the refused one                        |
 * | `rejected`  | identify    | `polling`   | only with an earlier submission, which may have been accepted     |
 *
 * `presented` counts in every state, for the current revision: what the chat shows is not part of a task's state.
 *
 * `book` counts in every state and changes none, for a send that is not in progress: one that was settled may be booked
 * as settled or refunded, a refunded one likewise, one in doubt as anything, and a released one as settled (a statement
 * shows it) or released. What the service reports about a send later takes precedence again.
 *
 * `forget` counts in every state and changes none: what the chat shows of the task is shown again, without the person.
 *
 * `reveal` counts in every state of a task whose comparison is blind, once, and changes none: its message is shown again.
 *
 * `remove` counts in every state that has ended, once its outcome is in the chat, and changes none. A removed task takes
 * the service's late events, for the books, and nothing that would need its clip or its prompt.
 *
 * An upstream id may overwrite `sending` and `uncertain`; in `claimed`, `cancelled` and `rejected`, the id of an
 * earlier attempt with an unknown outcome takes precedence over a resubmission that has not left. It overwrites nothing
 * else. No event changes the states `failed` and `declined`.
 * @see docs/decisions/0002-claim-and-commit.md
 */
const STATES: Readonly<Record<TaskState, StateRow>> = {
  requested: {
    queues: [],
    isEnded: false,
    isAwaited: false,
    ledger: null,
    phase: 'requested',
    countsAsEnd: false,
    on: {
      approve: approvedBy,
      decline: declinedBy,
      remind: reminded,
      cancel: (task, { by, atMs }) => declinedBy(task, { kind: 'decline', how: 'withdrawn', by, atMs }),
    },
  },
  waiting: {
    queues: ['frame'],
    isEnded: false,
    // It starts once the clip before it is there.
    isAwaited: false,
    ledger: 'reserved',
    phase: 'queued',
    countsAsEnd: false,
    on: {
      framed: framedBy,
      drop: (task, { dropped, atMs }) => ({ ...task, state: 'cancelled', dropped, endedAtMs: atMs }),
      cancel: (task, { by, atMs }) => ({ ...task, state: 'cancelled', cancelledBy: by, endedAtMs: atMs }),
    },
  },
  claimed: {
    queues: ['send'],
    isEnded: false,
    isAwaited: true,
    ledger: 'reserved',
    phase: 'queued',
    countsAsEnd: false,
    on: {
      send: (task, { owner, atMs }) => ({ ...task, state: 'sending', sends: task.sends + 1, lease: { owner, atMs } }),
      accepted: (task, event) => (event.of === undefined ? null : acceptedThere(task, event)),
      lost: (task, event) => (isBehind(task, event.of) ? lostThere(task, event) : null),
      refused: (task, { failure, atMs }) => ({ ...task, state: 'rejected', failure, endedAtMs: atMs }),
      cancel: (task, { by, atMs }) => ({ ...task, state: 'cancelled', cancelledBy: by, endedAtMs: atMs }),
    },
  },
  sending: {
    queues: ['send'],
    isEnded: false,
    isAwaited: true,
    ledger: 'reserved',
    phase: (task) => (task.cancelledBy === undefined ? 'queued' : 'cancelled'),
    countsAsEnd: false,
    on: {
      accepted: acceptedThere,
      unsent: takenBack,
      refused: refusedThere,
      lost: (task, event) => (event.of === undefined || isBehind(task, event.of) ? lostThere(task, event) : null),
      cancel: (task, { by }) => (task.cancelledBy === undefined ? { ...task, cancelledBy: by } : null),
    },
  },
  uncertain: {
    queues: [],
    isEnded: (task) => task.leftBy !== undefined,
    isAwaited: false,
    ledger: 'in_doubt',
    phase: 'uncertain',
    countsAsEnd: false,
    on: {
      accepted: (task, event) => acceptedThere(withoutDoubt(task), event),
      refused: (task, event) => refusedThere(withoutDoubt(task), event),
      unsent: (task, event) => (task.leftBy === undefined ? takenBack(withoutDoubt(task), event) : null),
      identify: (task, { upstreamId, how, atMs }) => toPolled(wantedAgain(task), upstreamId, { atMs, how }),
      sought: soughtInVain,
      resubmit: resubmitted,
      leave: (task, { by }) => (task.leftBy === undefined ? { ...task, leftBy: by } : null),
    },
  },
  polling: {
    queues: ['poll'],
    isEnded: false,
    isAwaited: true,
    ledger: 'reserved',
    phase: (_task, { isRunning }) => (isRunning ? 'running' : 'queued'),
    countsAsEnd: false,
    on: {
      completed: (task, { atMs, queuedAtMs, cost }) => ({
        ...withCost(task, cost),
        state: 'completed',
        endedAtMs: atMs,
        ...(queuedAtMs === undefined ? {} : { turnAtMs: queuedAtMs }),
      }),
      failed: (task, { failure, atMs, cost }) => ({
        ...failedFor(task, failure, cost),
        state: 'failed',
        endedAtMs: atMs,
      }),
      disowned: (task, { failure }) => ({ ...task, state: 'uncertain', failure }),
      cancel: (task, { by }) => ({ ...task, state: 'cancelled', cancelledBy: by }),
    },
  },
  completed: {
    queues: ['fetch'],
    isEnded: (task) => !isFetching(task),
    isAwaited: true,
    ledger: 'settled',
    phase: completedPhase,
    countsAsEnd: true,
    on: {
      fetched: (task, { clip }) => (task.clip === undefined ? { ...without(task, 'failure'), clip } : null),
      unfetchable: (task, { failure }) => (task.clip === undefined ? { ...task, failure } : null),
      vanished: (task, { revision, failure }) =>
        task.clip !== undefined && task.revision === revision ? { ...without(task, 'clip'), failure } : null,
      want: (task, { isReposted }) =>
        task.clip === undefined ? null : { ...task, wants: (task.wants ?? 0) + (isReposted === true ? 0 : 1) },
      review: reviewedBy,
      refetch: (task) => (task.clip === undefined && task.failure !== undefined ? without(task, 'failure') : null),
    },
  },
  cancelled: {
    queues: ['poll', 'fetch'],
    isEnded: (task) => !isFollowedQuietly(task) && !isFetching(task),
    isAwaited: false,
    ledger: cancelledLedger,
    phase: 'cancelled',
    countsAsEnd: true,
    on: {
      accepted: acceptedLate,
      completed: (task, { atMs, cost }) =>
        isFollowedQuietly(task) ? { ...withCost(task, cost), lateOutcome: 'completed', endedAtMs: atMs } : null,
      failed: (task, { failure, atMs, cost }) =>
        isFollowedQuietly(task) ? { ...failedFor(task, failure, cost), lateOutcome: 'failed', endedAtMs: atMs } : null,
      fetched: (task, { clip }) => (isFetching(task) ? { ...task, clip } : null),
      unfetchable: (task, { failure }) => (isFetching(task) ? { ...task, failure } : null),
      abandon: (task, { atMs }) =>
        isFollowedQuietly(task) ? { ...task, lateOutcome: 'unknown', endedAtMs: atMs } : null,
      want: (task) => (task.lateOutcome === 'completed' ? { ...without(task, 'failure'), state: 'completed' } : null),
    },
  },
  failed: {
    queues: [],
    isEnded: true,
    isAwaited: false,
    ledger: ({ failure }) => (failure?.isBilled === true ? 'settled' : 'refunded'),
    phase: 'failed',
    countsAsEnd: true,
    on: {},
  },
  rejected: {
    queues: [],
    isEnded: true,
    isAwaited: false,
    ledger: 'released',
    phase: 'refused',
    countsAsEnd: true,
    on: {
      accepted: acceptedLate,
      identify: (task, { upstreamId, how, atMs }) =>
        task.sends > 0 ? toPolled(without(wantedAgain(task), 'endedAtMs'), upstreamId, { atMs, how }) : null,
    },
  },
  declined: {
    queues: [],
    isEnded: true,
    isAwaited: false,
    ledger: null,
    phase: 'declined',
    countsAsEnd: true,
    on: {},
  },
};

/** Adds the reason of a failure, with its cost: one above zero is billed, and another one is no cost of a clip. */
function failedFor(task: Task, failure: Failure, cost: Cost | undefined): Task {
  const isBilled = cost !== undefined && Number(cost.amount) > 0;
  return isBilled ? { ...withCost(task, cost), failure: { ...failure, isBilled } } : { ...task, failure };
}

/** Applies a decision to a finished task. @returns `null` where another one came first, or it would change nothing. */
function reviewedBy(task: Task, { after, decision }: ReviewEvent): Task | null {
  const { clip, review = [] } = task;
  if (clip === undefined || review.length !== after || after >= MAX_DECISIONS) return null;
  if (decision.kind === 'signed_off' && isSignedOff(task)) return null;
  return { ...task, review: [...review, decision] };
}

/** Submits it again: another purchase, at its own price. */
function resubmitted(task: Task, { afterSends, purchase }: EventOf<'resubmit'>): Task | null {
  const money = task.sends === afterSends ? withPurchase(task, purchase) : null;
  return money === null
    ? null
    : { ...without(wantedAgain(task), 'busyTries'), state: 'claimed', unsentTries: 0, money };
}

/** Applies the end of the search, once it is over. */
function soughtInVain(task: Task, { result, atMs }: EventOf<'sought'>): Task | null {
  const { failure } = task;
  if (failure?.search === undefined || !isSought(task) || atMs < failure.search.untilMs) return null;
  return { ...task, failure: { ...failure, search: { ...failure.search, result } } };
}

function reminded(task: Task, { atMs }: EventOf<'remind'>): Task | null {
  const { approval } = task;
  if (approval === undefined || approval.remindedAtMs !== undefined || isExpired(task, atMs)) return null;
  return { ...task, approval: { ...approval, remindedAtMs: atMs } };
}

/** Applies an approval that is in time and not the requester's own. Deputies and leads approve nothing of their own. */
function approvedBy(task: Task, { by, price, period, granted, atMs }: EventOf<'approve'>): Task | null {
  const { approval, origin } = task;
  if (approval === undefined || by.id === origin.user.id || isExpired(task, atMs)) return null;
  const money = withPurchase(task, { period, ...price, atMs, ...(granted === undefined ? {} : { granted }) });
  return money === null
    ? null
    : { ...task, state: boughtState(task), price, money, approval: { ...approval, approved: { by, atMs } } };
}

/** Gives a chained shot its first image. The request is stored as it is sent, whatever process sends it. */
function framedBy(task: Task, { of, url }: EventOf<'framed'>): Task {
  const { request } = task;
  const media = { ...request.media, image: [url, ...request.media.image] };
  return { ...task, state: 'claimed', request: { ...request, media, chain: { frame: url } }, frameOf: of };
}

/** Row of a state that only a later version defines, in a rolling update: tasks in it are left to that version. */
const UNKNOWN_STATE: StateRow = {
  queues: [],
  isEnded: false,
  isAwaited: false,
  ledger: 'reserved',
  phase: 'queued',
  countsAsEnd: false,
  on: {},
};

/** Returns the facts about a state. */
export function rowOf(state: TaskState): StateRow {
  return (STATES as Readonly<Partial<Record<TaskState, StateRow>>>)[state] ?? UNKNOWN_STATE;
}

export function isKnownState(state: TaskState): boolean {
  return rowOf(state) !== UNKNOWN_STATE;
}

/**
 * Applies an event to a task; pure.
 * @returns the next record (with the next revision), or `null` when the event does not count in this state.
 */
export function transition(task: Task, event: TaskEvent): Task | null {
  const revision = task.revision + 1;
  if (event.kind === 'presented') {
    return event.revision === task.revision && !task.presented ? { ...task, presented: true, revision } : null;
  }
  if (event.kind === 'book') {
    const money = withBooking(task, event, statesOf(task, lastLedgerState(task)));
    return money === null ? null : { ...task, money, revision };
  }
  if (event.kind === 'remove') {
    const removed = isEnded(task) && task.presented ? removedBy(task, event) : null;
    return removed === null ? null : { ...removed, revision };
  }
  if (event.kind === 'forget') {
    const next = forgottenIn(task, event);
    return next === null ? null : { ...next, presented: !isForTheOutbox(next), revision };
  }
  if (event.kind === 'reveal') {
    if (!isBlind(task)) return null;
    const next = { ...task, revealedAtMs: event.atMs };
    return { ...next, presented: !isForTheOutbox(next), revision };
  }
  if (isRefusedAfterRemoval(task, event)) return null;
  const isBack = event.kind === 'unsent' || event.kind === 'refused';
  if (isBack && event.of !== undefined && !isOf(event.of, task)) return null;
  const rule = rowOf(task.state).on[event.kind] as Rule<TaskEvent['kind']> | undefined;
  const next = rule?.(task, event) ?? null;
  return next === null ? null : { ...next, presented: !isForTheOutbox(next), revision };
}

/** Events that need the clip of a task, or bring it back. */
const CLIP_EVENTS: ReadonlySet<TaskEvent['kind']> = new Set(['fetched', 'unfetchable', 'vanished', 'want', 'refetch']);

/** Events that lead to another submission, which needs the prompt of a task. */
const PROMPT_EVENTS: ReadonlySet<TaskEvent['kind']> = new Set(['resubmit', 'unsent', 'send']);

function isRefusedAfterRemoval(task: Task, { kind }: TaskEvent): boolean {
  if (task.removal === undefined) return false;
  return CLIP_EVENTS.has(kind) || (isContentRemoved(task) && PROMPT_EVENTS.has(kind));
}

function isOf({ sends, unsentTries }: Attempt, task: Task): boolean {
  return task.sends === sends && task.unsentTries === unsentTries;
}

/** Returns whether a cancelled task is still polled for its late outcome. */
export function isFollowedQuietly(task: Task): boolean {
  return task.state === 'cancelled' && task.upstreamId !== undefined && task.lateOutcome === undefined;
}

/** Returns whether a finished task's clip is still to be fetched; a cancelled one's too: services soon drop clips. */
export function isFetching(task: Task): boolean {
  const isFinished = task.state === 'completed' || (task.state === 'cancelled' && task.lateOutcome === 'completed');
  return isFinished && task.clip === undefined && task.failure === undefined && task.removal === undefined;
}

/** Returns whether nothing more happens to a task automatically. An uncertain one waits for a user until dismissed. */
export function isEnded(task: Task): boolean {
  const { isEnded: fact } = rowOf(task.state);
  return typeof fact === 'function' ? fact(task) : fact;
}

/** Returns the phase to show. */
export function phaseOf(task: Task, progress: Progress): Phase {
  const { phase } = rowOf(task.state);
  return typeof phase === 'function' ? phase(task, progress) : phase;
}

/** Returns the phase to show of a task with nothing left to deliver: without progress, its clip handed over. */
export function phaseAtEnd(task: Task): Phase {
  return phaseOf(task, { isRunning: false, isHandedOver: true });
}

/** Returns the state of a task's last submission in the ledger; `null` where nothing was bought. */
export function lastLedgerState(task: Task): LedgerState | null {
  const { ledger } = rowOf(task.state);
  return typeof ledger === 'function' ? ledger(task) : ledger;
}

/** Returns the states whose row meets a condition, in the order of the table. */
export function statesWhere(condition: (row: StateRow) => boolean): readonly TaskState[] {
  return (Object.keys(STATES) as TaskState[]).filter((state) => condition(rowOf(state)));
}

function completedPhase(task: Task, { isHandedOver }: Progress): Phase {
  if (task.removal !== undefined) return task.failure === undefined ? 'done' : 'lost';
  if (task.clip === undefined) return task.failure === undefined ? 'fetching' : 'lost';
  return isHandedOver ? 'done' : 'fetching';
}

function cancelledLedger({ upstreamId, lateOutcome, failure }: Task): LedgerState {
  if (upstreamId === undefined) return 'released';
  if (lateOutcome === undefined) return 'reserved';
  if (lateOutcome === 'unknown') return 'in_doubt';
  return lateOutcome === 'completed' || failure?.isBilled === true ? 'settled' : 'refunded';
}

/** Returns whether delivery to the chat is guaranteed, with retries; progress is shown on a best-effort basis. */
function isForTheOutbox(task: Task): boolean {
  if (task.removal !== undefined) return false;
  return task.state === 'uncertain' || task.state === 'requested' || isFollowedQuietly(task) || isEnded(task);
}
