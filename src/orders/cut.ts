import type { Handover, RefusedUploads } from '../chat/index.ts';
import type { Versioned } from '../engine/index.ts';
import { cutIdOf as idOfClips } from '../media/index.ts';
import type { Origin, TaskId } from '../tasks/index.ts';
import type { CutFailure } from './cut-facts.ts';

/** Record of a cut: one file of several clips, and its message. */
export interface Cut extends Versioned, RefusedUploads {
  readonly id: TaskId;
  readonly tasks: readonly TaskId[];
  /** Who asked for it first, and where its message is. */
  readonly origin: Origin;
  readonly requestedAtMs: number;
  /** An outcome is in the chat once it is presented. */
  readonly state: 'joining' | 'joined' | 'failed';
  /** Time of its outcome. Absent: none yet. */
  readonly endedAtMs?: number;
  /** The file, once it was made; it may be deleted meanwhile, and is made again on demand. */
  readonly file?: { readonly bytes: number; readonly seconds: number };
  /** Set in `failed`. */
  readonly failure?: CutFailure;
  /** Number of attempts that failed for a reason that may pass. Default 0. */
  readonly failures?: number;
  /** `false` while its outcome is not in the chat. */
  readonly presented: boolean;
  /** One of its clips has expired: only its messages are left, which a later deletion has to find. Absent: no. */
  readonly isExpired?: true;
  /** Form in which the file was delivered. Absent: not yet. */
  readonly handover?: Handover;
  /** Number of messages opened for it, deleted ones included. Default 1. */
  readonly copies?: number;
  /** Its message was deleted before the outcome was in it, and has been posted again. Absent: no. */
  readonly isPostedAgain?: true;
}

/** Index of the cuts whose outcome is not in the chat yet, by the time of the request. */
export const OPEN_CUTS = 'cuts-open';

/** Names the index of the cuts that a clip is in. */
export function cutsOfTask(task: TaskId): string {
  return `cuts-of:${task}`;
}

/** Returns the id of the cut of these clips in this order, in the place of a task's: no task has it. */
export function cutIdOf(tasks: readonly TaskId[]): TaskId {
  return idOfClips(tasks) as TaskId;
}

/** Returns whether an id is a {@link cutIdOf}. */
export function isCutId(id: string): id is TaskId {
  return /^cut-[0-9a-f]{32}$/u.test(id);
}
