import type { LedgerEntry } from '#src/tasks/ledger.ts';
import type { Task } from '#src/tasks/task.ts';
import type { CreateFate } from './fates.ts';
import type { Chat, FaultKind, PlannedDeed } from './plan.ts';

/** What happened in a run, from outside; all that the checker judges by. Times are in milliseconds since its beginning. */
export interface History {
  readonly asked: readonly Asked[];
  readonly pressed: readonly Pressed[];
  /** Every POST that reached the service whole, in order. */
  readonly creates: readonly Create[];
  readonly made: readonly Made[];
  readonly lives: readonly Life[];
  readonly troubles: readonly Trouble[];
  readonly store: Kept;
  readonly messages: readonly Shown[];
  /** In order. */
  readonly deleted: readonly Deleted[];
  /** The tasks that would come of what is only offered at the end: nobody pressed any of it. */
  readonly offered: readonly string[];
  /** What was done to a chat platform that its documentation forbids. */
  readonly breaches: readonly string[];
  /** What must not be printed. */
  readonly secrets: readonly string[];
}

/** One delivery of an interaction to one replica. */
export interface Asked {
  readonly platform: 'playground' | Chat;
  /** The interaction's id. */
  readonly id: string;
  readonly user: string;
  readonly channel: string;
  readonly replica: number;
  readonly atMs: number;
  /** `null`: no answer arrived. */
  readonly status: number | null;
  /** The message that answers it. */
  readonly message: string | null;
}

/** One press, reaction or form of a person at one replica. */
export interface Pressed {
  readonly action: PlannedDeed['action'];
  readonly task: string;
  /** With `again`: how often the task had been sent. */
  readonly afterSends: number | null;
  readonly status: number | null;
  /** The message that answers it, where one does. */
  readonly message: string | null;
}

/** A POST at the service. */
export interface Create {
  /** The `Idempotency-Key`, which is our id of the task. */
  readonly key: string;
  /** The interaction's id, from the prompt. */
  readonly order: string;
  readonly sender: { readonly replica: number; readonly life: number };
  readonly fate: CreateFate;
  /** The service's id where it took it: this is what is billed. */
  readonly upstreamId: string | null;
  readonly atMs: number;
  /** When the last byte of the answer was written; `null`: never. */
  readonly answeredAtMs: number | null;
}

/** A task at the service, as it is at the end. */
export interface Made {
  readonly upstreamId: string;
  readonly status: 'open' | 'completed' | 'failed';
  readonly clipBytes: number;
  /** The clip is never handed over. */
  readonly isGone: boolean;
}

/** One process, from start to end. */
export interface Life {
  readonly replica: number;
  /** Which one of this replica, from 0. */
  readonly life: number;
  readonly fromMs: number;
  /** When it said that it is ready; `null`: never. */
  readonly readyAtMs: number | null;
  readonly untilMs: number | null;
  /** Who ended it: SIGKILL, SIGTERM, or it did itself. */
  readonly end: 'killed' | 'stopped' | 'itself' | null;
  readonly code: number | null;
  readonly output: string;
}

/** A fault as it really was. */
export interface Trouble {
  readonly kind: FaultKind;
  /** Whose; `null`: everybody's. */
  readonly replica: number | null;
  /** In which chat alone. */
  readonly chat?: Chat;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly remark: string;
}

/** A message of a task that somebody deleted. */
export interface Deleted {
  readonly id: string;
  readonly task: string;
  /** Whether people can still see the clip where it was, or could before. */
  readonly hadClip: boolean;
  readonly atMs: number;
  /** Whether the bot knew, too, that the clip had been delivered: it had gone on from there. */
  readonly wasDelivered: boolean;
}

/** A message of a chat. */
export interface Shown {
  readonly id: string;
  readonly channel: string;
  /** The task whose own message it is. */
  readonly task: string | null;
  readonly state: string | null;
  /** Sizes of the files in it, in bytes. */
  readonly files: readonly number[];
  /** The actions of its buttons. */
  readonly buttons: readonly string[];
  readonly replyTo: string | null;
  /** Of a mention: which end it tells of, such as `done:1` (the phase, and how often it was sent); `?` of none we know. */
  readonly end: string | null;
}

/** Everything the store has, read past the program. */
export interface Kept {
  readonly tasks: ReadonlyMap<string, Task>;
  /** By `task#send`. */
  readonly ledger: ReadonlyMap<string, LedgerEntry>;
  readonly cards: ReadonlyMap<string, unknown>;
  /** By name, then member: the score. */
  readonly indexes: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** Something that must not be. */
export interface Violation {
  readonly name: string;
  /** What exactly: a task, an interaction, a process. */
  readonly what: string;
  /** Reported, but counted apart. */
  readonly isWarning?: true;
}
