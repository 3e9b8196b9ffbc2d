import type { DailiesError, ErrorCode } from '../errors.ts';
import type { Versioned } from '../store/store.ts';
import type { VideoRequest } from '../videos/request.ts';
import type { Clip, UpstreamId } from '../videos/service.ts';

/** Our id of a task, derived from the interaction that asked for it: the same interaction, the same id. */
export type TaskId = string & { readonly __brand: 'TaskId' };

/** Where a task is. What each means, and what may follow, is the table at `transition.ts`. */
export type TaskState =
  | 'claimed'
  | 'sending'
  | 'uncertain'
  | 'polling'
  | 'completed'
  | 'failed'
  | 'rejected'
  | 'cancelled';

/** Somebody in a chat. */
export interface Person {
  /** The platform's id. */
  readonly id: string;
  /** The name others see, without markup. */
  readonly name: string;
}

/** Who may see a task besides its requester: everyone in the team, or only the people in its channel. */
export type Audience = 'team' | 'channel';

/** Where a task was asked for, and by whom. */
export interface Origin {
  /** Which adapter: `playground`, `discord`, `slack`. */
  readonly platform: string;
  /** The server, workspace or page; the unit whose history and spend are added up. */
  readonly team: string;
  readonly channel: string;
  readonly user: Person;
  /** The platform's id of the interaction; each makes at most one task. */
  readonly interaction: string;
  /** The most bytes one upload may have here; absent where the platform's general limit holds. */
  readonly uploadLimitBytes?: number;
  /**
   * Fixed when the order is placed: `channel` in private channels, direct and group messages, and private threads. Absent in
   * records of earlier versions; the chat looks it up for those (`chat/audiences.ts`).
   */
  readonly audience?: Audience;
  /** The message this one answers, such as the original of a retry. */
  readonly replyTo?: string;
  /** Whatever else the adapter needs to answer there (an interaction's token, a thread). No secrets that outlive a day. */
  readonly address: Readonly<Record<string, string>>;
}

/** What a task costs, by the catalog, when it was ordered. */
export interface Price {
  /** Decimal string. */
  readonly amount: string;
  /** ISO 4217. */
  readonly currency: string;
}

/** Why a task ended without a clip, or why its clip could not be fetched. */
export interface Failure {
  readonly code: ErrorCode;
  /** The service's own words, where it gave any. */
  readonly words: string | null;
}

/**
 * The record of one task: the intent, the proof and the history in one. Written by `service.ts` alone, each time with
 * the next `revision`.
 */
export interface Task extends Versioned {
  readonly id: TaskId;
  readonly state: TaskState;
  readonly request: VideoRequest;
  readonly origin: Origin;
  readonly price: Price;
  readonly createdAtMs: number;
  /** POSTs that may have left this machine: the number of times it may be billed. */
  readonly sends: number;
  /** Tries that provably created nothing, since the last send. */
  readonly unsentTries: number;
  /** How many of these the service put off because it takes only so many tasks at once. Default 0. */
  readonly busyTries?: number;
  /** Which process is `sending` it: as long as that one is alive, nobody else touches it. */
  readonly lease?: { readonly owner: string };
  /** When the service's answer with the id was stored; elapsed time counts from `createdAtMs`. */
  readonly acceptedAtMs?: number;
  readonly upstreamId?: UpstreamId;
  /** When no more was to be expected of the service. */
  readonly endedAtMs?: number;
  /** Somebody wants no more of it. In `sending` and `polling` the service may still make and bill it. */
  readonly cancelledBy?: Person;
  /** What the service made of a task that was cancelled after it was sent. */
  readonly lateOutcome?: 'completed' | 'failed' | 'unknown';
  /** Who decided on an `uncertain` task to leave it as it is. */
  readonly leftBy?: Person;
  readonly failure?: Failure;
  /** The clip, once it is on disk. */
  readonly clip?: Clip;
  /** How often somebody wanted a clip that is not in the chat any more. Default 0. */
  readonly wants?: number;
  /** False while people have yet to see what this task came to; until then it is in the outbox. */
  readonly presented: boolean;
  /** The task this one repeats. */
  readonly retryOf?: TaskId;
}

/**
 * Start of a task's age, in milliseconds since the Unix epoch: its acceptance by the service, until then its creation. An
 * uncertain task may have waited for a decision overnight.
 */
export function sinceMs({ acceptedAtMs, createdAtMs }: Pick<Task, 'acceptedAtMs' | 'createdAtMs'>): number {
  return acceptedAtMs ?? createdAtMs;
}

/** What of an error is kept with a task. */
export function failureOf(error: DailiesError): Failure {
  return { code: error.code, words: error.words ?? null };
}
