import type { Order } from '#src/pipeline/order.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Purchase } from '#src/tasks/money.ts';
import { transition } from '#src/tasks/state-machine.ts';
import type { Origin, Person, Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import type { VideoRequest } from '#src/videos/request.ts';
import type { Clip, UpstreamId } from '#src/videos/service.ts';

/** Claim time of a {@link newTask}: 21 November 2026, noon UTC. */
export const NOON_MS = Date.UTC(2026, 10, 21, 12);

export const ADA: Person = { id: 'ada', name: 'Ada' };
export const BOB: Person = { id: 'bob', name: 'Bob' };

/** Upstream id that the service assigned. */
export const UPSTREAM = 'up-1' as UpstreamId;

/** A clip of 1,000 bytes; the file does not exist. */
export const CLIP: Clip = { path: '/clips/clip.mp4', bytes: 1_000, contentType: 'video/mp4' };

/** Returns the origin of Ada's request, in the channel `clips` of team `T1` on `fake`. */
export function originOf(changes: Partial<Origin> = {}): Origin {
  return { platform: 'fake', team: 'T1', channel: 'clips', user: ADA, interaction: 'i1', address: {}, ...changes };
}

/** Returns Ada's order of six seconds of a fox. */
export function orderOf(changes: Partial<Order> = {}): Order {
  const request: VideoRequest = {
    model: 'swift-1',
    prompt: 'a red fox running through snow',
    seconds: 6,
    media: { image: [], audio: [], video: [] },
  };
  return { request, origin: originOf(), price: { amount: '0.30', currency: 'USD' }, key: 'fake:i1', ...changes };
}

/** Returns a task as claimed, with changes. */
export function newTask(changes: Partial<Task> = {}): Task {
  const { request, origin, price, key } = orderOf();
  return {
    revision: 1,
    id: taskIdOf(key),
    state: 'claimed',
    request,
    origin,
    price,
    createdAtMs: NOON_MS,
    sends: 0,
    unsentTries: 0,
    presented: true,
    ...changes,
  };
}

/** Returns Ada's task that waits for Bob's approval until a day after {@link NOON_MS}, with changes. */
export function requestedTask(changes: Partial<Task> = {}): Task {
  const approval = {
    expiresAtMs: NOON_MS + 24 * 3_600_000,
    above: { amount: '0.20', currency: 'USD' },
    askedOf: [{ kind: 'person', ...BOB }],
    isPromptShown: false,
  } as const;
  return newTask({ state: 'requested', approval, presented: false, ...changes });
}

/** Returns a task whose first image is not taken yet. */
export function waitingTask(changes: Partial<Task> = {}): Task {
  return newTask({ state: 'waiting', request: { ...newTask().request, chain: {} }, ...changes });
}

/** Returns the task after the events. @throws TypeError if its state ignores one */
export function lived(task: Task, ...events: readonly TaskEvent[]): Task {
  return events.reduce((before, event) => {
    const next = transition(before, event);
    if (next === null) throw new TypeError(`${event.kind} does not count in ${before.state}`);
    return next;
  }, task);
}

/** The purchase of a *Send again*, at a higher price than the order's. */
export const PURCHASE: Purchase = { period: '2026-11', amount: '0.4', currency: 'USD', atMs: NOON_MS + 4_000 };

/** One of each event, with times from the claim on. */
export const EVENTS = {
  approve: {
    kind: 'approve',
    by: BOB,
    period: '2026-11',
    price: { amount: '0.30', currency: 'USD' },
    atMs: NOON_MS + 500,
  },
  decline: { kind: 'decline', how: 'denied', by: BOB, reason: 'too long for a test', atMs: NOON_MS + 500 },
  remind: { kind: 'remind', atMs: NOON_MS + 500 },
  framed: { kind: 'framed', of: 'task0' as TaskId, url: 'https://dailies.example/media/frame-task0?signature=x' },
  drop: { kind: 'drop', dropped: { shot: 1, end: 'failed' }, atMs: NOON_MS + 500 },
  send: { kind: 'send', owner: 'me', atMs: NOON_MS },
  accepted: { kind: 'accepted', upstreamId: UPSTREAM, atMs: NOON_MS + 1_000 },
  unsent: { kind: 'unsent', atMs: NOON_MS + 1_000 },
  refused: { kind: 'refused', failure: { code: 'bad_request', words: 'no' }, atMs: NOON_MS + 1_000 },
  lost: { kind: 'lost', failure: { code: 'lost_answer', words: null } },
  disowned: { kind: 'disowned', failure: { code: 'task_unknown', words: null } },
  completed: { kind: 'completed', atMs: NOON_MS + 120_000 },
  failed: { kind: 'failed', failure: { code: 'generation_failed', words: 'boom' }, atMs: NOON_MS + 120_000 },
  fetched: { kind: 'fetched', clip: CLIP },
  unfetchable: { kind: 'unfetchable', failure: { code: 'gone', words: null } },
  vanished: { kind: 'vanished', revision: 5, failure: { code: 'gone', words: null } },
  cancel: { kind: 'cancel', by: BOB, atMs: NOON_MS + 2_000 },
  identify: { kind: 'identify', upstreamId: UPSTREAM, how: 'entered', atMs: NOON_MS + 3_000 },
  sought: { kind: 'sought', result: 'none', atMs: NOON_MS + 600_000 },
  resubmit: { kind: 'resubmit', afterSends: 1, purchase: PURCHASE },
  book: { kind: 'book', send: 1, as: 'settled' },
  leave: { kind: 'leave', by: BOB },
  abandon: { kind: 'abandon', atMs: NOON_MS + 90_000_000 },
  presented: { kind: 'presented', revision: 1 },
  review: { kind: 'review', after: 0, decision: { kind: 'signed_off', by: BOB, atMs: NOON_MS + 200_000 } },
  want: { kind: 'want' },
  refetch: { kind: 'refetch' },
  forget: { kind: 'forget', person: 'bob', pseudonym: { id: 'forgotten-1', name: 'Removed person' } },
  reveal: { kind: 'reveal', atMs: NOON_MS + 600_000 },
  remove: { kind: 'remove', reason: 'expired', keepsContent: false, atMs: NOON_MS + 900_000_000 },
} as const satisfies { readonly [Kind in TaskEvent['kind']]: Extract<TaskEvent, { kind: Kind }> };
