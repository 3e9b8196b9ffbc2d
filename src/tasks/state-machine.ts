import type { Clip, UpstreamId } from '../videos/service.ts';
import type { Failure, Person, Task, TaskState } from './task.ts';

/**
 * Which of the tries to send a task is meant: a send that is taken back gives its number to the next try, so the number
 * alone does not say.
 */
export type Attempt = Pick<Task, 'sends' | 'unsentTries'>;

/**
 * Something that happened to a task. Times are in milliseconds since the Unix epoch. `of` says which of its tries is
 * meant: what is told of an earlier one than the last counts no more, except for an id. Absent: the last.
 */
export type TaskEvent =
  /** Its owner takes it up: the POST may leave from here on. */
  | { readonly kind: 'send'; readonly owner: string }
  /** The service took it. */
  | { readonly kind: 'accepted'; readonly of?: Attempt; readonly upstreamId: UpstreamId; readonly atMs: number }
  /** Provably nothing exists at the service; another try may follow. `isBusy`: it takes only so many at once. */
  | { readonly kind: 'unsent'; readonly of?: Attempt; readonly isBusy?: boolean; readonly atMs: number }
  /** Nothing exists at the service, and another try would not change that. */
  | { readonly kind: 'refused'; readonly of?: Attempt; readonly failure: Failure; readonly atMs: number }
  /** The answer to the POST was lost, or its sender died. */
  | { readonly kind: 'lost'; readonly of?: Attempt; readonly failure: Failure }
  /** The service has said for so long that it does not know it that somebody has to look for it. */
  | { readonly kind: 'disowned'; readonly failure: Failure }
  /** The service finished the clip. */
  | { readonly kind: 'completed'; readonly atMs: number }
  /** The service gave up. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly atMs: number }
  /** The clip is on disk. */
  | { readonly kind: 'fetched'; readonly clip: Clip }
  /** The clip could not be had. */
  | { readonly kind: 'unfetchable'; readonly failure: Failure }
  /** The clip that this revision of the task names is on no disk any more, and cannot be had again. */
  | { readonly kind: 'vanished'; readonly revision: number; readonly failure: Failure }
  /** Somebody wants no more of it. */
  | { readonly kind: 'cancel'; readonly by: Person; readonly atMs: number }
  /** A person found the id in the service's console. */
  | { readonly kind: 'identify'; readonly upstreamId: UpstreamId; readonly atMs: number }
  /** A person has it sent again, knowing that it may be billed twice; counts only after just that many sends. */
  | { readonly kind: 'resubmit'; readonly afterSends: number }
  /** A person leaves it uncertain. */
  | { readonly kind: 'leave'; readonly by: Person }
  /** A cancelled task was followed for so long that nothing more is expected. */
  | { readonly kind: 'abandon'; readonly atMs: number }
  /** The chat shows this revision of the task, and everybody who is to be told was told. */
  | { readonly kind: 'presented'; readonly revision: number }
  /** Somebody wants the clip of a cancelled task after all, or one that is not in the chat any more. */
  | { readonly kind: 'want' }
  /** Somebody wants the download tried once more. */
  | { readonly kind: 'refetch' };

type Rule<Kind extends TaskEvent['kind']> = (task: Task, event: Extract<TaskEvent, { kind: Kind }>) => Task | null;
type Rules = { readonly [State in TaskState]: { readonly [Kind in TaskEvent['kind']]?: Rule<Kind> } };

/**
 * What follows from what, as one table. A pair that is not in it changes nothing.
 *
 * | state       | event       | next        | remark                                                            |
 * |-------------|-------------|-------------|-------------------------------------------------------------------|
 * | `claimed`   | send        | `sending`   | counts a send, takes the lease                                    |
 * | `claimed`   | accepted    | `polling`   | of an earlier try, or of one that the store forgot: no resend     |
 * | `claimed`   | lost        | `uncertain` | likewise                                                          |
 * | `claimed`   | refused     | `rejected`  | tries used up, nothing exists                                     |
 * | `claimed`   | cancel      | `cancelled` | nothing was sent (by this claim)                                  |
 * | `sending`   | accepted    | `polling`   | `cancelled`, followed quietly, if somebody cancelled meanwhile    |
 * | `sending`   | unsent      | `claimed`   | the send is taken back; `cancelled` if somebody cancelled         |
 * | `sending`   | refused     | `rejected`  | the send is taken back                                            |
 * | `sending`   | lost        | `uncertain` | never sent again by itself                                        |
 * | `sending`   | cancel      | `sending`   | remembered until the answer is there                              |
 * | `uncertain` | accepted    | `polling`   | the id came late                                                  |
 * | `uncertain` | unsent      | `claimed`   | who was taken for dead says that it let nothing out; not once left |
 * | `uncertain` | refused     | `rejected`  | likewise, that the service refused it                             |
 * | `uncertain` | identify    | `polling`   | the id came from a person; an earlier cancellation is forgotten   |
 * | `uncertain` | resubmit    | `claimed`   | by a person, likewise; the doubtful send stays in the ledger      |
 * | `uncertain` | leave       | `uncertain` | closed: nothing more is asked                                     |
 * | `polling`   | completed   | `completed` | the clip is fetched next                                          |
 * | `polling`   | failed      | `failed`    |                                                                   |
 * | `polling`   | disowned    | `uncertain` | the id is kept until somebody decides, for them to compare        |
 * | `polling`   | cancel      | `cancelled` | followed quietly, for the ledger                                  |
 * | `completed` | fetched     | `completed` | `clip` is set                                                     |
 * | `completed` | unfetchable | `completed` | `failure` is set                                                  |
 * | `completed` | vanished    | `completed` | for the revision it names: `clip` is dropped, `failure` is set    |
 * | `completed` | refetch     | `completed` | `failure` is cleared                                              |
 * | `completed` | want        | `completed` | the clip is shown again, where its message is gone                |
 * | `cancelled` | accepted    | `cancelled` | of an earlier try, if no id is known: followed quietly            |
 * | `cancelled` | completed   | `cancelled` | `lateOutcome` is set; the clip is fetched, to be offered          |
 * | `cancelled` | failed      | `cancelled` | `lateOutcome` is set                                              |
 * | `cancelled` | fetched     | `cancelled` | `clip` is set                                                     |
 * | `cancelled` | unfetchable | `cancelled` | `failure` is set                                                  |
 * | `cancelled` | abandon     | `cancelled` | nobody knows what became of it: in doubt in the ledger            |
 * | `cancelled` | want        | `completed` | only where the late outcome is a clip                             |
 * | `rejected`  | accepted    | `polling`   | of an earlier try than the one that was refused                   |
 * | `rejected`  | identify    | `polling`   | only of what was sent before as well: that may have been taken    |
 *
 * `presented` counts in every state, for the revision it names: what the chat shows is no state of the task.
 *
 * An upstream id may overwrite `sending` and `uncertain`; in `claimed`, `cancelled` and `rejected`, one of an earlier try whose
 * answer was unknown wins over a resend that has not left. It overwrites nothing else. `failed` is left by no event.
 * @see docs/decisions/0002-claim-and-commit.md
 */
const RULES: Rules = {
  claimed: {
    send: (task, { owner }) => ({
      ...task,
      state: 'sending',
      sends: task.sends + 1,
      lease: { owner },
    }),
    accepted: (task, event) => (event.of === undefined ? null : acceptedThere(task, event)),
    lost: (task, event) => (isBehind(task, event.of) ? lostThere(task, event) : null),
    refused: (task, { failure, atMs }) => ({ ...task, state: 'rejected', failure, endedAtMs: atMs }),
    cancel: (task, { by, atMs }) => ({ ...task, state: 'cancelled', cancelledBy: by, endedAtMs: atMs }),
  },
  sending: {
    accepted: acceptedThere,
    unsent: takenBack,
    refused: refusedThere,
    lost: (task, event) => (event.of === undefined || isBehind(task, event.of) ? lostThere(task, event) : null),
    cancel: (task, { by }) => (task.cancelledBy === undefined ? { ...task, cancelledBy: by } : null),
  },
  uncertain: {
    accepted: (task, event) => acceptedThere(undecided(task), event),
    refused: (task, event) => refusedThere(undecided(task), event),
    unsent: (task, event) => (task.leftBy === undefined ? takenBack(undecided(task), event) : null),
    identify: (task, { upstreamId, atMs }) => followed(wantedAfterAll(task), upstreamId, atMs),
    resubmit: (task, { afterSends }) =>
      task.sends === afterSends
        ? { ...without(wantedAfterAll(task), 'busyTries'), state: 'claimed', unsentTries: 0 }
        : null,
    leave: (task, { by }) => (task.leftBy === undefined ? { ...task, leftBy: by } : null),
  },
  polling: {
    completed: (task, { atMs }) => ({ ...task, state: 'completed', endedAtMs: atMs }),
    failed: (task, { failure, atMs }) => ({ ...task, state: 'failed', failure, endedAtMs: atMs }),
    disowned: (task, { failure }) => ({ ...task, state: 'uncertain', failure }),
    cancel: (task, { by }) => ({ ...task, state: 'cancelled', cancelledBy: by }),
  },
  completed: {
    fetched: (task, { clip }) => (task.clip === undefined ? { ...without(task, 'failure'), clip } : null),
    unfetchable: (task, { failure }) => (task.clip === undefined ? { ...task, failure } : null),
    vanished: (task, { revision, failure }) =>
      task.clip !== undefined && task.revision === revision ? { ...without(task, 'clip'), failure } : null,
    want: (task) => (task.clip === undefined ? null : { ...task, wants: (task.wants ?? 0) + 1 }),
    refetch: (task) => (task.clip === undefined && task.failure !== undefined ? without(task, 'failure') : null),
  },
  cancelled: {
    accepted: acceptedLate,
    completed: (task, { atMs }) =>
      isFollowedQuietly(task) ? { ...task, lateOutcome: 'completed', endedAtMs: atMs } : null,
    failed: (task, { failure, atMs }) =>
      isFollowedQuietly(task) ? { ...task, lateOutcome: 'failed', failure, endedAtMs: atMs } : null,
    fetched: (task, { clip }) => (isFetching(task) ? { ...task, clip } : null),
    unfetchable: (task, { failure }) => (isFetching(task) ? { ...task, failure } : null),
    abandon: (task, { atMs }) =>
      isFollowedQuietly(task) ? { ...task, lateOutcome: 'unknown', endedAtMs: atMs } : null,
    want: (task) => (task.lateOutcome === 'completed' ? { ...without(task, 'failure'), state: 'completed' } : null),
  },
  failed: {},
  rejected: {
    accepted: acceptedLate,
    identify: (task, { upstreamId, atMs }) =>
      task.sends > 0 ? followed(without(wantedAfterAll(task), 'endedAtMs'), upstreamId, atMs) : null,
  },
};

/**
 * What a task becomes when something happens to it; pure.
 * @returns the next record (with the next revision), or `null` when the event does not count in this state.
 */
export function transition(task: Task, event: TaskEvent): Task | null {
  const revision = task.revision + 1;
  if (event.kind === 'presented') {
    return event.revision === task.revision && !task.presented ? { ...task, presented: true, revision } : null;
  }
  const isBack = event.kind === 'unsent' || event.kind === 'refused';
  if (isBack && event.of !== undefined && !isOf(event.of, task)) return null;
  const rule = RULES[task.state][event.kind] as Rule<TaskEvent['kind']> | undefined;
  const next = rule?.(task, event) ?? null;
  return next === null ? null : { ...next, presented: !isForTheOutbox(next), revision };
}

/** The try that a record speaks of: the one under way, or the last one. */
export function attemptOf({ sends, unsentTries }: Task): Attempt {
  return { sends, unsentTries };
}

function isOf({ sends, unsentTries }: Attempt, task: Task): boolean {
  return task.sends === sends && task.unsentTries === unsentTries;
}

/** Whether a record does not know yet what came of that try; of a `claimed` one: whether it forgot that it was sent. */
export function isBehind({ state, sends, unsentTries }: Task, of: Attempt | undefined): boolean {
  if (of === undefined || !(state === 'claimed' || state === 'sending')) return false;
  const underWay = state === 'claimed' ? sends + 1 : sends;
  return of.sends > underWay || (of.sends === underWay && of.unsentTries >= unsentTries);
}

/** Whether the service is still to be asked about a task that its requester no longer wants. */
export function isFollowedQuietly(task: Task): boolean {
  return task.state === 'cancelled' && task.upstreamId !== undefined && task.lateOutcome === undefined;
}

/** Whether a finished task's clip is still to be fetched; a cancelled one's too, since services soon drop what they made. */
export function isFetching(task: Task): boolean {
  const isFinished = task.state === 'completed' || (task.state === 'cancelled' && task.lateOutcome === 'completed');
  return isFinished && task.clip === undefined && task.failure === undefined;
}

/** Whether nothing more happens to a task by itself. An uncertain one waits for a person until somebody leaves it. */
export function isEnded(task: Task): boolean {
  switch (task.state) {
    case 'claimed':
    case 'sending':
    case 'polling':
      return false;
    case 'uncertain':
      return task.leftBy !== undefined;
    case 'completed':
      return !isFetching(task);
    case 'cancelled':
      return !isFollowedQuietly(task) && !isFetching(task);
    case 'failed':
    case 'rejected':
      return true;
  }
}

/** Whether people must get to see this, however often it has to be tried; what is on its way is shown as it comes. */
function isForTheOutbox(task: Task): boolean {
  return task.state === 'uncertain' || isFollowedQuietly(task) || isEnded(task);
}

function followed(task: Task, upstreamId: UpstreamId, atMs: number): Task {
  const state = task.cancelledBy === undefined ? 'polling' : 'cancelled';
  return { ...task, state, upstreamId, acceptedAtMs: atMs };
}

/** The service has it. */
function acceptedThere(task: Task, { of, upstreamId, atMs }: Extract<TaskEvent, { kind: 'accepted' }>): Task {
  return followed(sent(task, of), upstreamId, atMs);
}

/** The service has an earlier try, whose answer came after the task ended without an id. */
function acceptedLate(task: Task, event: Extract<TaskEvent, { kind: 'accepted' }>): Task | null {
  const { of } = event;
  if (task.upstreamId !== undefined || of === undefined || of.sends > task.sends) return null;
  return acceptedThere(without(undecided(task), 'endedAtMs'), event);
}

/** Nobody knows whether the service has it. */
function lostThere(task: Task, { of, failure }: Extract<TaskEvent, { kind: 'lost' }>): Task {
  return { ...sent(task, of), state: 'uncertain', failure };
}

/** That try has left, whether or not the record knew of it. */
function sent(task: Task, of: Attempt | undefined): Task {
  return { ...free(task), sends: Math.max(task.sends, of?.sends ?? 0) };
}

/** The send is taken back: nothing exists. */
function takenBack(task: Task, { isBusy = false, atMs }: Extract<TaskEvent, { kind: 'unsent' }>): Task {
  const tries = { unsentTries: task.unsentTries + 1, ...(isBusy ? { busyTries: (task.busyTries ?? 0) + 1 } : {}) };
  const back = { ...free(task), sends: task.sends - 1, ...tries };
  if (task.cancelledBy === undefined) return { ...back, state: 'claimed' };
  return { ...back, state: 'cancelled', endedAtMs: atMs };
}

/** The service has nothing of it. */
function refusedThere(task: Task, { failure, atMs }: Extract<TaskEvent, { kind: 'refused' }>): Task {
  return { ...free(task), state: 'rejected', sends: task.sends - 1, failure, endedAtMs: atMs };
}

function free(task: Task): Task {
  return without(task, 'lease');
}

/** Takes back what was known while it was uncertain. */
function undecided(task: Task): Task {
  const { failure: _failure, leftBy: _leftBy, upstreamId: _upstreamId, acceptedAtMs: _acceptedAtMs, ...rest } = task;
  return rest;
}

/** A person wants the clip of a task with a doubtful send, whoever cancelled it while it was being sent. */
function wantedAfterAll(task: Task): Task {
  return without(undecided(task), 'cancelledBy');
}

function without<Key extends 'busyTries' | 'clip' | 'cancelledBy' | 'endedAtMs' | 'failure' | 'lease'>(
  task: Task,
  key: Key,
): Task {
  const { [key]: _gone, ...rest } = task;
  return rest as Task;
}
