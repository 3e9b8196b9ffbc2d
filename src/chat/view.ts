import type { ErrorCode } from '../errors.ts';
import type { StepRetry } from '../tasks/step-retry.ts';
import type { Person, Price, TaskId, TaskState } from '../tasks/task.ts';
import type { AspectRatio, MediaKind, Resolution } from '../videos/request.ts';
import type { MessageRef } from './platform.ts';

/** What a task's message is about right now; finer than its state, since people care about different things. */
export type Phase =
  /** Accepted here, not yet taken by the service, or taken and waiting its turn there. */
  | 'queued'
  | 'running'
  /** Finished there; the clip is on its way to us or to the chat. */
  | 'fetching'
  | 'done'
  /** Finished and probably billed, but the clip could not be had. */
  | 'lost'
  | 'failed'
  /** The service refused it: nothing exists there. */
  | 'refused'
  | 'uncertain'
  | 'cancelled';

/** How the clip of a finished task is there for people. */
export type Handover =
  /** The clip itself is attached. */
  | { readonly kind: 'attached' }
  /** A smaller copy is attached; `link` leads to the original, where links are on. */
  | (TooLarge & { readonly kind: 'fitted'; readonly link: SignedLink | null })
  /** Too large: a link alone. */
  | (TooLarge & { readonly kind: 'linked'; readonly link: SignedLink })
  /** Too large, and neither a fitted copy nor a link is possible here: it is kept on disk. `hasFitter`: ffmpeg was there. */
  | (TooLarge & { readonly kind: 'kept'; readonly hasFitter?: boolean })
  /** The message was deleted before the clip was posted: it is kept until somebody asks for it. */
  | { readonly kind: 'unshown' }
  /** The chat takes no file here: `right`, as the platform calls it, is lacking. */
  | { readonly kind: 'withheld'; readonly right: string; readonly link: SignedLink | null };

/** The size of a clip that was refused, and the limit; `null` where nobody stated one. In bytes. */
interface TooLarge {
  readonly bytes: number;
  readonly limitBytes: number | null;
}

/** An address of our own that works until a date. */
export interface SignedLink {
  readonly url: string;
  readonly expiresAtMs: number;
}

/** What a person can press under a message. */
export type ButtonAction =
  | 'retry'
  | 'edit'
  | 'cancel'
  | 'details'
  /** Uncertain: give the id found in the service's console. */
  | 'lookup'
  /** Uncertain: send it again, knowing it may be billed twice. */
  | 'again'
  /** Uncertain: leave it. */
  | 'leave'
  /** The clip is not in the chat (cancelled, or its message was deleted): see it. */
  | 'show'
  /** Lost, or yet to be fetched: try to fetch the clip now. */
  | 'refetch';

/** Everything a platform needs to show a task's message, as facts; words come from `commands/sentences.ts`. */
export interface TaskView {
  readonly kind: 'task';
  readonly task: TaskId;
  readonly state: TaskState;
  readonly phase: Phase;
  readonly prompt: string;
  readonly modelTitle: string;
  readonly seconds: number;
  readonly aspectRatio: AspectRatio | null;
  readonly resolution: Resolution | null;
  /** How many reference files of each kind the request names. Absent: none. */
  readonly references?: Readonly<Record<MediaKind, number>>;
  readonly price: Price;
  readonly by: Person;
  /** The service's own percentage, 0 to 100, never less than was shown before; `null` where it gave none. */
  readonly progress: number | null;
  readonly createdAtMs: number;
  readonly endedAtMs: number | null;
  /** When this view was made, for elapsed times. */
  readonly nowMs: number;
  /** What finished clips of this model took, once there are a few. */
  readonly usual: { readonly fromMs: number; readonly toMs: number } | null;
  /** Running past what is usual. */
  readonly longerThanUsual: boolean;
  /** Running past the deadline; polled every `pollEveryMs`. */
  readonly overdue: { readonly deadlineMs: number; readonly pollEveryMs: number } | null;
  /** The step that it waits for failed, and is tried again by itself; `null` where all is well. */
  readonly retrying: StepRetry | null;
  readonly failure: { readonly code: ErrorCode; readonly words: string | null } | null;
  /** Whether the service is known to refund failed tasks (the embedded one is). */
  readonly refundKnown: boolean;
  /** Whether the POST may have left, so that the service may bill it: how many sends. */
  readonly sends: number;
  readonly cancelledBy: Person | null;
  readonly lateOutcome: 'completed' | 'failed' | 'unknown' | null;
  readonly leftBy: Person | null;
  readonly handover: Handover | null;
  readonly retryOf: TaskId | null;
  /** Price of another take by the catalog of now; `null` where the catalog has dropped its model. */
  readonly retryPrice: Price | null;
  readonly buttons: readonly ButtonAction[];
}

/** The one mention at the end, in the task's channel (a reply to its message) or in a subscribed one. */
export interface EndNotice {
  readonly kind: 'end';
  readonly task: TaskId;
  readonly phase: 'done' | 'lost' | 'failed' | 'refused' | 'uncertain' | 'disowned';
  readonly prompt: string;
  readonly by: Person;
  /** The task's message, for a link from another channel. */
  readonly message: MessageRef;
  /** How many sends the service may bill. */
  readonly sends: number;
  /** How the clip is there for people; `null` where there is none. */
  readonly handover: Handover['kind'] | null;
  readonly subscribed: boolean;
}

export type View = TaskView | EndNotice;
