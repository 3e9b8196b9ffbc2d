import type { Audience, Origin, Person, TaskId } from '../tasks/task.ts';
import type { Clip } from '../videos/service.ts';
import type { EndNotice, View } from './view.ts';

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
  /** Whether a message carries the state of its task beside its words, so that a new state alone is worth an edit. */
  readonly showsState: boolean;
  /** Whether the bot can write to a person alone: see {@link Platform.directChannel}. */
  readonly hasDirectMessages: boolean;
  /** Whether a clip is posted as a message of its own, which can mention its requester: no notice has to follow then. */
  readonly mentionsWithFile: boolean;
}

/** A place where a message goes. */
export interface Place {
  readonly team: string;
  readonly channel: string;
  readonly address: Readonly<Record<string, string>>;
}

const COPY = /~\d+$/;

/** Names the second or a later message of a task; the first one goes by the task's id. */
export function copyKey(task: TaskId, copy: number): TaskId {
  return (copy < 2 ? task : `${task}~${copy}`) as TaskId;
}

/** The task of a {@link copyKey}. */
export function taskOfKey(key: TaskId): TaskId {
  return key.replace(COPY, '') as TaskId;
}

/** What a person may do in a channel. */
export interface MemberRights {
  readonly view: boolean;
  readonly post: boolean;
  /** Whether they manage the channel, or everything in its team. */
  readonly manage: boolean;
}

/** Why the bot cannot post somewhere, and what a person can do about it. */
export type MissingRight =
  | {
      readonly kind: 'permission';
      /** As the platform calls it, such as "Attach Files". */
      readonly right: string;
      /** Where an admin gives it. */
      readonly where: string;
    }
  /** The app as a whole lacks it, whatever the channel. */
  | {
      readonly kind: 'scope';
      /** As the platform calls it, such as `files:write`. */
      readonly right: string;
      /** Where the app is installed again, which gives it. */
      readonly where: string;
    }
  /** The bot is no member there. */
  | {
      readonly kind: 'uninvited';
      readonly to: 'channel' | 'thread';
      /** What anybody in there types to bring the bot in. */
      readonly type: string;
    }
  /** A group message, which takes nobody in afterwards; direct messages between other people; an archived channel. */
  | { readonly kind: 'group' | 'others' | 'archived' };

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
   * Called again for the same `key` (a restart in between), it finds the message that is there.
   * @param key the task's id; another one, by {@link copyKey}, where the first message was deleted.
   */
  open(key: TaskId, origin: Origin, view: View): Promise<MessageRef>;
  /**
   * Replaces what a message shows; attachments it has stay.
   * `progress` edits may be dropped: they reject at once with `rate_limited` instead of waiting for their turn.
   */
  edit(message: MessageRef, origin: Origin, view: View, urgency: 'progress' | 'final'): Promise<void>;
  /**
   * Puts a file on the task's own message and replaces what it shows, in one step that can be repeated without
   * doubling the file. Streams from disk.
   * @returns whether the file's `notice` was posted with it, by this call or an earlier one.
   */
  attach(message: MessageRef, origin: Origin, view: View, file: Upload): Promise<boolean>;
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
  /** What the bot lacks to post there, a clip (the default) or words alone; `null` when nothing does. */
  missingRight(place: Place, what?: 'clip' | 'words'): Promise<MissingRight | null>;
  /**
   * Who sees what is posted there: `channel` in private channels, direct and group messages, and private threads; a thread is
   * as its channel. `null` where the platform cannot tell.
   */
  audience(place: Place): Promise<Audience | null>;
  /** What a person may do there; nothing where the channel is not one of that team, or the bot may not look. */
  rights(place: Place, user: string): Promise<MemberRights>;
  /** The channel of the bot's direct messages with a person of a team, where {@link PlatformLimits.hasDirectMessages}. */
  directChannel(place: Place, user: string): Promise<string>;
  /** `null` once connected; else what is missing, for `/readyz`. */
  notReady(): string | null;
  /**
   * Says in words what it is connected to (bot and servers, workspace and mode, address), for the operator.
   * Rejects where that cannot be found out.
   */
  connection(): Promise<string>;
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
  /** What the file's own message says, where the platform posts one; never given where `mentionsWithFile` is off. */
  readonly notice?: { readonly view: EndNotice; readonly mention: Person };
}
