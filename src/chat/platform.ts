import type { Origin, Person, TaskId } from '../tasks/task.ts';
import type { Clip } from '../videos/service.ts';
import type { View } from './view.ts';

/** A message on a platform, as its adapter finds it again after a restart. */
export interface MessageRef {
  readonly channel: string;
  readonly message: string;
}

/** What a platform allows, as data: the core asks these and never which platform it is. */
export interface PlatformLimits {
  /** Most bytes of one uploaded file, where the origin of a task does not say otherwise. */
  readonly uploadBytes: number;
  /** Least time between two progress edits of one message that the platform bears, in milliseconds. */
  readonly editIntervalMs: number;
  /** Longest text of a message, in characters. */
  readonly textLength: number;
}

/** A place where a message goes. */
export interface Place {
  readonly team: string;
  readonly channel: string;
  readonly address: Readonly<Record<string, string>>;
}

/** A right the bot lacks somewhere, as the platform calls it. */
export interface MissingRight {
  /** Such as "Attach Files". */
  readonly right: string;
  /** Where a person gives it. */
  readonly where: string;
}

/**
 * What the core needs of a chat platform. Few methods, none optional; every one translates and nothing more.
 * All reject with a `DailiesError`: `message_gone`, `missing_permission`, `too_large`, `rate_limited`
 * (with `retryAfterMs`), `unauthorised`, `platform_unavailable`.
 */
export interface Platform {
  /** As in {@link Origin.platform}. */
  readonly name: string;
  readonly limits: PlatformLimits;
  /**
   * Shows the task's message for the first time: the public answer to the interaction of `origin`.
   * Called again for the same `task` (a restart in between), it finds the message that is there.
   */
  open(task: TaskId, origin: Origin, view: View): Promise<MessageRef>;
  /**
   * Replaces what a message shows; attachments it has stay.
   * `progress` edits may be dropped: they reject at once with `rate_limited` instead of waiting for their turn.
   */
  edit(message: MessageRef, origin: Origin, view: View, urgency: 'progress' | 'final'): Promise<void>;
  /**
   * Puts a file on the task's own message and replaces what it shows, in one step that can be repeated without
   * doubling the file. Streams from disk.
   */
  attach(message: MessageRef, origin: Origin, view: View, file: Upload): Promise<void>;
  /**
   * Posts a new message of its own, mentioning `mention` and nobody else. `key` names the message: posted again under
   * the same key, the platform's own means are used so that there is one. Rejects with `message_gone` where the
   * message to reply to, or the place, is gone.
   */
  notify(notice: {
    readonly key: string;
    readonly place: Place;
    readonly replyTo: MessageRef | null;
    readonly mention: Person | null;
    readonly view: View;
  }): Promise<MessageRef>;
  /** What the bot lacks to post there; `null` when nothing does. */
  missingRight(place: Place): Promise<MissingRight | null>;
  /** `null` once connected; else what is missing, for `/readyz`. */
  notReady(): string | null;
  /** Connects and begins to take interactions. */
  start(): Promise<void>;
  /** Takes no more interactions, and lets running answers finish. Sending still works until the process ends. */
  stop(): Promise<void>;
}

/** A file on its way to a platform. */
export interface Upload extends Clip {
  /** Such as `red-fox-running-7f3a.mp4`. */
  readonly name: string;
  /** For those who cannot see it: the prompt. */
  readonly description: string;
}
