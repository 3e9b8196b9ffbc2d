import type { CardRecord } from '#src/chat/cards.ts';
import type { ComparisonRecord } from '#src/chat/comparisons/comparison-records.ts';
import type { SumParts } from '#src/engine/store/store.ts';
import type { BoardRecord } from '#src/orders/board.ts';
import type { Cut } from '#src/orders/cut.ts';
import type { LedgerEntry } from '#src/tasks/ledger.ts';
import type { Task } from '#src/tasks/task.ts';
import type { MoneyCommit } from './commits.ts';
import type { PlannedDeed } from './deeds.ts';
import type { CancelFate, CreateFate } from './fates.ts';
import type { Chat, FaultKind } from './plan.ts';
import type { Event } from './tally.ts';
import type { WireTask } from './wires/wire.ts';

/** Events of a run seen from outside, the only input of the checker. Times are in milliseconds since the run began. */
export interface History {
  readonly asked: readonly Asked[];
  readonly pressed: readonly Pressed[];
  /** Every POST that reached the service completely, in order. */
  readonly creates: readonly Create[];
  readonly made: readonly Made[];
  /** Every request to cancel a task that reached the service, in order. */
  readonly withdrawals: readonly Withdrawal[];
  /** Requests that the contract of the service does not allow. */
  readonly misuses: readonly string[];
  /** Number of times that the service did something beyond our contract. */
  readonly events: ReadonlyMap<Event, number>;
  readonly lives: readonly Life[];
  readonly troubles: readonly Trouble[];
  /** Wall-clock time of the replicas at the end. */
  readonly clockMs: number;
  readonly store: Kept;
  /** What every commit wrote that concerns money. */
  readonly commits: readonly MoneyCommit[];
  readonly messages: readonly Shown[];
  /** Files with the final name of a cut, on every replica. */
  readonly cutFiles: readonly CutFile[];
  /** In order of deletion. */
  readonly deleted: readonly Deleted[];
  /** Ids of the tasks that the orders still offered at the end would create: no user confirmed them. */
  readonly offered: readonly string[];
  /** Calls to a chat platform that its documentation forbids. */
  readonly breaches: readonly string[];
  readonly rights: Rights;
  /** Secrets that must not be printed. */
  readonly secrets: readonly string[];
}

/** One delivery of an interaction to one replica. */
export interface Asked {
  readonly platform: 'playground' | Chat;
  /** Interaction id. */
  readonly id: string;
  readonly user: string;
  readonly channel: string;
  readonly replica: number;
  readonly atMs: number;
  /** HTTP status; `null` without a response. */
  readonly status: number | null;
  /** Id of the message in the response. */
  readonly message: string | null;
  /** Number of clips that were ordered together. Default: 1. */
  readonly takes?: number;
  /** Answered with a question about its price: only a press orders it. */
  readonly isAskedAbout?: true;
  /** Refused by a budget, or for the lack of an approval. */
  readonly isRefused?: true;
}

/** One button press, reaction or form submission of a user at one replica. */
export interface Pressed {
  readonly user: string;
  /** What leads to a deed, `details`, is pressed besides. */
  readonly action: PlannedDeed['action'] | 'details';
  readonly task: string;
  /** For `vote`, the number of the clip. */
  readonly choice?: number;
  /** For `again`, the task's number of submissions at the press. */
  readonly afterSends: number | null;
  readonly status: number | null;
  /** Id of the message in the response, if any. */
  readonly message: string | null;
  /** Time of the press; recorded for `order`. */
  readonly atMs?: number;
}

/** POST that the service received. */
export interface Create {
  /** `Idempotency-Key`, which is the task id in Dailies. */
  readonly key: string;
  /** Interaction id, taken from the prompt. */
  readonly order: string;
  readonly model?: string;
  readonly sender: { readonly replica: number; readonly life: number };
  readonly fate: CreateFate;
  /** Id at the service if it accepted the create: this is what is billed. */
  readonly upstreamId: string | null;
  readonly atMs: number;
  /** Time at which the last byte of the response was written; `null` if it never was. */
  readonly answeredAtMs: number | null;
}

/** Task at the service in its final state. */
export interface Made {
  readonly upstreamId: string;
  readonly status: 'open' | 'completed' | 'failed' | 'cancelled';
  /** It belongs to a stranger to the bot, who uses the same account. */
  readonly isStrangers?: true;
  /**
   * What the service says that it has cost in USD, as a decimal string; `null`: it says nothing of that. Absent: it never
   * does. A failed one with a cost is billed.
   */
  readonly cost?: string | null;
  /** Time at which the service cancelled it, and whether it does not know it since. */
  readonly cancelledAtMs?: number;
  readonly isForgotten?: true;
  readonly clipBytes: number;
  /** Checksums of the pictures of its clip. */
  readonly pictures?: readonly string[];
  /** The clip can never be downloaded. */
  readonly isGone: boolean;
}

/** Request to cancel a task. */
export interface Withdrawal {
  readonly upstreamId: string;
  /** Status of the task when it came. */
  readonly status: WireTask['status'];
  readonly fate: CancelFate;
  readonly atMs: number;
  /** The same request deletes a task that has ended. */
  readonly deletesEnded: boolean;
  /** The task was cancelled, and the answer says so. */
  readonly isConfirmed: boolean;
}

/** One process from start to exit. */
export interface Life {
  readonly replica: number;
  /** Index among the processes of this replica, from 0. */
  readonly life: number;
  readonly fromMs: number;
  /** Time at which it reported ready; `null` if it never did. */
  readonly readyAtMs: number | null;
  readonly untilMs: number | null;
  /** Cause of its exit: SIGKILL, SIGTERM, or the process itself. */
  readonly end: 'killed' | 'stopped' | 'itself' | null;
  readonly code: number | null;
  readonly output: string;
}

/** Fault as it actually happened. */
export interface Trouble {
  readonly kind: FaultKind;
  /** Affected replica; `null` for all. */
  readonly replica: number | null;
  /** Affected chat, if only one. */
  readonly chat?: Chat;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly remark: string;
}

/** Deleted message of a task, or card of a set. */
export interface Deleted {
  readonly id: string;
  /** Of a set, the id of its card. */
  readonly task: string;
  /** A clip was visible there before the deletion, or still is. */
  readonly hadClip: boolean;
  /** Names of the files that were visible there before the deletion, or still are. Absent: not known. */
  readonly names?: readonly string[];
  readonly atMs: number;
  /** The bot had also recorded the delivery: it had moved on. */
  readonly wasDelivered: boolean;
}

/** Message in a chat. */
export interface Shown {
  readonly id: string;
  readonly channel: string;
  /** Id of the task, if this is its own message. */
  readonly task: string | null;
  /** Id of the set, if this is its card. */
  readonly set?: string;
  /** Id of the cut, if this is a message of it. */
  readonly cut?: string;
  /** Key of the notice, if this is one about a review. */
  readonly review?: string;
  readonly state: string | null;
  /** Sizes of its files in bytes. */
  readonly files: readonly number[];
  /** On the card of a set: the names of its files, in the same order. */
  readonly names?: readonly string[];
  /** On the card of a set: what it says of each task, where the chat tells. */
  readonly tasks?: readonly { readonly task: string; readonly state: string }[];
  /** Actions of its buttons. */
  readonly buttons: readonly string[];
  /** On the card of a set: the ids of its buttons. */
  readonly buttonIds?: readonly string[];
  readonly replyTo: string | null;
  /**
   * End that a mention reports, such as `done:1` (phase and number of submissions), or of a set the id of its card; `?` if
   * it is unknown.
   */
  readonly end: string | null;
  /** Task whose end it reports, where it is known. */
  readonly endOf?: string;
  /** Its text, where it is known. */
  readonly words?: string;
}

/** File of a cut on the disk of a replica. */
export interface CutFile {
  readonly path: string;
  /** Id of the cut, in the folder of the clips; `null` elsewhere. */
  readonly cut: string | null;
  /** Message that it is attached to; `null` in the folder of the clips. */
  readonly message: string | null;
  /** Checksums of its pictures; `null` for a file that is not whole. */
  readonly pictures: readonly string[] | null;
}

/** Who may approve besides the people who are named; people as `platform:user`. */
export interface Rights {
  readonly administrators: ReadonlySet<string>;
  /** Members by id of a role or user group. */
  readonly members: ReadonlyMap<string, readonly string[]>;
}

/** Complete contents of the store, read without going through the program. */
export interface Kept {
  readonly tasks: ReadonlyMap<string, Task>;
  /** By `task#send`. */
  readonly ledger: ReadonlyMap<string, LedgerEntry>;
  readonly cards: ReadonlyMap<string, CardRecord>;
  readonly cuts: ReadonlyMap<string, Cut>;
  readonly boards: ReadonlyMap<string, BoardRecord>;
  readonly comparisons: ReadonlyMap<string, ComparisonRecord>;
  readonly sums: ReadonlyMap<string, SumParts>;
  /** Heads, entries and references of the audit logs. */
  readonly audit: ReadonlyMap<string, unknown>;
  /** Scores by index name, then by member. */
  readonly indexes: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** Violation of an invariant. */
export interface Violation {
  readonly name: string;
  /** Task, interaction or process concerned. */
  readonly what: string;
  /** Reported, but counted separately. */
  readonly isWarning?: true;
}
