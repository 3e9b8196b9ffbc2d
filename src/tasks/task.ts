import type { Versioned } from '../engine/index.ts';
import type { DailiesError, ErrorCode } from '../errors.ts';
import type { Clip, Cost, UpstreamId, VideoRequest } from '../videos/index.ts';
import type { Approval, Declined } from './approval.ts';
import type { Dropped } from './chain.ts';
import type { ForgetEvent } from './forgotten.ts';
import type { BookedState, Grant, Purchase, TaskMoney } from './money.ts';
import type { Removal, RemovalEvent } from './removal.ts';
import type { ReviewDecision, ReviewEvent } from './review/review.ts';
import type { Version } from './review/versions.ts';

/** Our id of a task, derived from its idempotency key: the same interaction always has the same id. */
export type TaskId = string & { readonly __brand: 'TaskId' };

/** State of a task; the table in `state-machine.ts` defines the transitions. */
export type TaskState =
  /** Waits for the approval of its price; nothing is held for it. */
  | 'requested'
  /** A chained shot of a storyboard that waits for the last frame of the one before: nothing is sent for it. */
  | 'waiting'
  | 'claimed'
  | 'sending'
  | 'uncertain'
  | 'polling'
  | 'completed'
  | 'failed'
  | 'rejected'
  | 'cancelled'
  /** Its request for approval was denied, withdrawn, or expired. */
  | 'declined';

/** Phase that users are shown; finer than the state, because users need other distinctions. */
export type Phase =
  | 'requested'
  /** Accepted by the bot and not yet by the service, or queued at the service. */
  | 'queued'
  | 'running'
  /** Completed at the service; the clip is being downloaded or delivered to the chat. */
  | 'fetching'
  | 'done'
  /** Completed and probably billed, but the clip could not be retrieved. */
  | 'lost'
  | 'failed'
  /** Refused by the service: no task exists there. */
  | 'refused'
  | 'uncertain'
  | 'cancelled'
  | 'declined';

/** A user of a chat. */
export interface Person {
  /** The platform's id. */
  readonly id: string;
  /** The name others see, without markup. */
  readonly name: string;
}

/** Users who may see a task besides its requester: the whole team, or only the members of its channel. */
export type Audience = 'team' | 'channel';

/** Chat location and requester of a task. */
export interface Origin {
  /** Name of the adapter: `playground`, `discord`, `slack`. */
  readonly platform: string;
  /** The server, workspace or page; the unit whose history and spend are added up. */
  readonly team: string;
  readonly channel: string;
  /**
   * The channel that this thread belongs to, where the platform's threads are channels: its orders count towards that
   * one's budget. Absent: no thread.
   */
  readonly parentChannel?: string;
  readonly user: Person;
  /** The platform's id of the interaction; each makes at most one task. */
  readonly interaction: string;
  /** Largest upload here, in bytes; absent where the platform's general limit applies. */
  readonly uploadLimitBytes?: number;
  /**
   * Fixed when the order is placed: `channel` in private channels, direct and group messages, and private threads.
   * Absent: `channel`.
   */
  readonly audience?: Audience;
  /** The message to reply to, such as the original of a retry. */
  readonly replyTo?: string;
  /** Other data that the adapter needs to respond (an interaction's token, a thread). No secrets that outlive a day. */
  readonly address: Readonly<Record<string, string>>;
}

/** Price of a task by the catalog at the time of the order. */
export interface Price {
  /** Decimal string. */
  readonly amount: string;
  /** ISO 4217. */
  readonly currency: string;
}

/** Kind of a set; stored. One of a later version is shown like `takes`. */
export type SetKind = 'takes' | 'comparison' | 'storyboard';

export const MAX_SET_SIZE = 12;

/** Place of a task in a set: one request of several clips, claimed in one commit. */
export interface SetPlace {
  /** Id of the set, which is that of its first task; `memberIdOf` derives the others from it. */
  readonly id: TaskId;
  readonly kind: SetKind;
  /** Number of the task in the set, from 1. */
  readonly at: number;
  /** Number of tasks, 2 to {@link MAX_SET_SIZE}. */
  readonly of: number;
  /** Highest price of its tasks, in place of their own until the reveal. Absent: it is no comparison. */
  readonly upTo?: Price;
}

/** Returns the id of the order that a task belongs to: its set's, else its own. Limits count orders. */
export function orderIdOf({ id, set }: Pick<Task, 'id' | 'set'>): TaskId {
  return set?.id ?? id;
}

/** Returns whether a task was completed and its clip is there: in a cut, or to vote for. */
export function hasClip({ state, clip }: Pick<Task, 'state' | 'clip'>): boolean {
  return state === 'completed' && clip !== undefined;
}

/** Compares two tasks by their creation, those of the same moment by their id. */
export function byCreation(one: Task, other: Task): number {
  return one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1);
}

/** Returns the prompt of a request as its requester typed it. */
export function typedPrompt({ prompt, typed = prompt }: Pick<VideoRequest, 'prompt' | 'typed'>): string {
  return typed;
}

/** Returns whether a text holds every word of a search, in any order; upper and lower case are the same. */
export function holdsWords(text: string, search: string): boolean {
  const held = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/u)
    .every((word) => held.includes(word));
}

/** Reason for which a task ended without a clip, or its clip could not be fetched. */
export interface Failure {
  readonly code: ErrorCode;
  /** Error message of the service, if any. */
  readonly words: string | null;
  /** Whether the service bills the failed task all the same, by its own word or by the catalog's. Absent: unknown; it is taken for refunded. */
  readonly isBilled?: boolean;
  /**
   * Search for a task whose answer was lost, in the list of its service until that time; no result: it goes on. Absent: there
   * is no list, or a user had cancelled the task.
   */
  readonly search?: { readonly untilMs: number; readonly result?: SearchResult };
}

/** How a search ended; `alike`: tasks of the list may be this one, and none has to be. */
export type SearchResult = 'none' | 'alike' | 'unread';

/** How an id became known that the answer to its POST did not say: in the list of its service, or from a user. */
type Found = 'listed' | 'entered';

/**
 * The record of one task: its intent, proof and history. Written by the task repository alone, each time with the next
 * `revision`.
 */
export interface Task extends Versioned {
  readonly id: TaskId;
  readonly state: TaskState;
  readonly request: VideoRequest;
  readonly origin: Origin;
  /** Price of the first send. */
  readonly price: Price;
  /** Prices, months and parts of the sums, by send. Absent: not counted yet. */
  readonly money?: TaskMoney;
  readonly createdAtMs: number;
  /** Number of POSTs that may have been sent: the number of times it may be billed. */
  readonly sends: number;
  /** Attempts that provably created nothing since the last submission. */
  readonly unsentTries: number;
  /** Number of these that the service rejected because of its limit on concurrent tasks. Default 0. */
  readonly busyTries?: number;
  /** Process that is `sending` it: no other process changes the task while that one is alive. */
  readonly lease?: { readonly owner: string; readonly atMs: number };
  /** When and how its id became known; elapsed time counts from `createdAtMs`. */
  readonly accepted?: { readonly atMs: number; readonly how?: Found };
  /** Time from which the service makes it, by its own answers: acceptance, last report as queued; `uncertain`: of its POST. */
  readonly turnAtMs?: number;
  readonly upstreamId?: UpstreamId;
  /** Time from which nothing more is expected from the service. */
  readonly endedAtMs?: number;
  /** The user who cancelled it. In `sending` and `polling` the service may still create and bill it. */
  readonly cancelledBy?: Person;
  /** Outcome at the service of a task that was cancelled after it was sent. */
  readonly lateOutcome?: 'completed' | 'failed' | 'unknown';
  /** The user who dismissed an `uncertain` task. */
  readonly leftBy?: Person;
  readonly failure?: Failure;
  /** The clip, once it is on disk. */
  readonly clip?: Clip;
  /** Number of times that a clip which is not in the chat any more was reclaimed. Default 0. */
  readonly wants?: number;
  /** `false` while the outcome is not delivered to the chat; until then the task is in the outbox. */
  readonly presented: boolean;
  readonly retryOf?: TaskId;
  /** Its number among the versions of a clip, where it is a retry. Absent: the first version. */
  readonly version?: Version;
  /** Decisions of its reviewers, oldest first. Absent: none. */
  readonly review?: readonly ReviewDecision[];
  /** Hash of the press on Retry that made it, which always leads back to it. Absent: another order, or an older record. */
  readonly press?: string;
  /** The set that it was ordered in. Absent: it was ordered alone. */
  readonly set?: SetPlace;
  /**
   * The place in a set that it is another take of, as the `set` of that place's task: a further take of a storyboard's shot, or
   * the retry of a clip of a comparison before the reveal. Absent: of none.
   */
  readonly takeOf?: SetPlace;
  /** Take whose last frame is its first image. Absent: it has none. */
  readonly frameOf?: TaskId;
  /** The shot without a clip for which it was cancelled before it was sent. Absent: none. */
  readonly dropped?: Dropped;
  /** Time of the reveal of its comparison. Absent: it is in none, or its model is not named yet. */
  readonly revealedAtMs?: number;
  /** Its request for approval, kept after the decision. Absent: none was needed. */
  readonly approval?: Approval;
  /** Set in `declined`. */
  readonly declined?: Declined;
  /** Its clip is removed, with or without its content. Absent: neither. */
  readonly removal?: Removal;
}

/**
 * Identifies one attempt to send a task. The number of the submission alone would be ambiguous: one that is taken back
 * gives its number to the next attempt.
 */
export type Attempt = Pick<Task, 'sends' | 'unsentTries'>;

/**
 * An event of a task. Times are in milliseconds since the Unix epoch. `of` identifies the attempt; an event of an
 * earlier attempt than the last is ignored, except for an id. Default: the last attempt.
 */
export type TaskEvent =
  /** An approver approves it at the price of that moment; it counts in the budgets of `period` (`YYYY-MM`). */
  | {
      readonly kind: 'approve';
      readonly by: Person;
      readonly period: string;
      readonly price: Price;
      readonly granted?: Grant;
      readonly atMs: number;
    }
  /** Its request for approval ends without one; for any reason, it has `expired` once its time is over. */
  | ({ readonly kind: 'decline' } & Declined)
  /** Its approvers are notified once more. */
  | { readonly kind: 'remind'; readonly atMs: number }
  /** Its owner starts the submission: the POST may leave from here on. */
  | { readonly kind: 'send'; readonly owner: string; readonly atMs: number }
  /** The service accepted it. */
  | { readonly kind: 'accepted'; readonly of?: Attempt; readonly upstreamId: UpstreamId; readonly atMs: number }
  /** Provably nothing exists at the service; another attempt may follow. `isBusy`: its limit on concurrent tasks. */
  | { readonly kind: 'unsent'; readonly of?: Attempt; readonly isBusy?: boolean; readonly atMs: number }
  /** Nothing exists at the service, and another attempt would not change that. */
  | { readonly kind: 'refused'; readonly of?: Attempt; readonly failure: Failure; readonly atMs: number }
  /** The response to the POST was lost, or its sender died. `isListed`: the service has a list in which it may be. */
  | { readonly kind: 'lost'; readonly of?: Attempt; readonly failure: Failure; readonly isListed?: boolean }
  /** The search in that list has ended without it. */
  | { readonly kind: 'sought'; readonly result: SearchResult; readonly atMs: number }
  /** The service has reported for so long that it does not know it that a user has to look for it. */
  | { readonly kind: 'disowned'; readonly failure: Failure }
  /** The service finished the clip, for `cost`; it was last reported as queued at `queuedAtMs`. */
  | { readonly kind: 'completed'; readonly atMs: number; readonly queuedAtMs?: number; readonly cost?: Cost }
  /** The service gave up; with a `cost` above zero it bills the task all the same. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly atMs: number; readonly cost?: Cost }
  /** The clip is on disk. */
  | { readonly kind: 'fetched'; readonly clip: Clip }
  /** The clip could not be downloaded. */
  | { readonly kind: 'unfetchable'; readonly failure: Failure }
  /** The clip file of this revision of the task is lost and cannot be downloaded again. */
  | { readonly kind: 'vanished'; readonly revision: number; readonly failure: Failure }
  /** A user cancelled it. */
  | { readonly kind: 'cancel'; readonly by: Person; readonly atMs: number }
  /** The id was found: in the list of the service, or else by a user, in its console. */
  | { readonly kind: 'identify'; readonly upstreamId: UpstreamId; readonly how: Found; readonly atMs: number }
  /**
   * A user submits it again, accepting that it may be billed twice, as a purchase of its own; counts only after exactly
   * that many sends.
   */
  | { readonly kind: 'resubmit'; readonly afterSends: number; readonly purchase: Purchase }
  /** A person (`by`) or a statement decides what a send cost. */
  | { readonly kind: 'book'; readonly send: number; readonly as: BookedState; readonly by?: Person }
  /** A user dismisses an uncertain task. */
  | { readonly kind: 'leave'; readonly by: Person }
  /** A cancelled task was polled for so long that nothing more is expected. */
  | { readonly kind: 'abandon'; readonly atMs: number }
  /** The chat shows this revision of the task, and its notifications are sent. */
  | { readonly kind: 'presented'; readonly revision: number }
  /**
   * A user reclaims the clip of a cancelled task, or one that is not in the chat any more. `isReposted`: the card that holds it
   * was posted anew, and no user asked for it.
   */
  | { readonly kind: 'want'; readonly isReposted?: boolean }
  /** A user retries the download. */
  | { readonly kind: 'refetch' }
  /** The last frame of the take `of` is its first image: it may be sent. */
  | { readonly kind: 'framed'; readonly of: TaskId; readonly url: string }
  /** There is no clip that it could start with. */
  | { readonly kind: 'drop'; readonly dropped: Dropped; readonly atMs: number }
  /** The models of its comparison are revealed. */
  | { readonly kind: 'reveal'; readonly atMs: number }
  | ForgetEvent
  | ReviewEvent
  | RemovalEvent;

export type EventOf<Kind extends TaskEvent['kind']> = Extract<TaskEvent, { readonly kind: Kind }>;

/**
 * Start of a task's age, in milliseconds since the Unix epoch: its acceptance by the service, until then its start. An
 * uncertain task may have waited for a decision overnight.
 */
export function sinceMs(task: Pick<Task, 'accepted' | 'approval' | 'createdAtMs'>): number {
  return task.accepted?.atMs ?? startedAtMs(task);
}

/** Returns the time from which a task may be sent, in ms since the Unix epoch: its approval, else its creation. */
export function startedAtMs({ approval, createdAtMs }: Pick<Task, 'approval' | 'createdAtMs'>): number {
  return approval?.approved?.atMs ?? createdAtMs;
}

/** Returns the part of an error that is stored with a task. */
export function failureOf(error: DailiesError): Failure {
  return { code: error.code, words: error.words ?? null };
}
