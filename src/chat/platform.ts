import type { RecordWrite } from '../engine/index.ts';
import { DailiesError } from '../errors.ts';
import type { Audience, Origin, Person, TaskId } from '../tasks/index.ts';
import type { Clip } from '../videos/index.ts';
import type { ApprovalNotice, EndNotice, ReviewNotice, SignedOffNotice } from './notices/views.ts';
import type { TeamNotice } from './team-notice.ts';
import type { CardView, RemovedView, View } from './view.ts';

/** Reference to a message on a platform, by which its adapter finds it after a restart. */
export interface MessageRef {
  readonly channel: string;
  readonly message: string;
}

/** Returns the writes for the commit that records a new message. */
export type AlsoRecorded = (message: MessageRef) => readonly RecordWrite[];

/** Message of a card. */
export interface Opened extends MessageRef {
  /** The writes that were given are committed. Absent: not by this call. */
  readonly isRecorded?: true;
}

/** Limits and capabilities of a platform, as data: the core never branches on the platform itself. */
export interface PlatformLimits {
  /** Largest upload in bytes, unless the origin of a task states another limit. */
  readonly uploadBytes: number;
  /** Minimum time between two progress edits of one message, in milliseconds. */
  readonly editIntervalMs: number;
  /** Longest text of a message, in characters. */
  readonly textLength: number;
  /** A message carries the task's state beside its text, so that a new state alone requires an edit. */
  readonly showsState: boolean;
  /** The bot can send direct messages: see {@link Channels.directChannel}. */
  readonly hasDirectMessages: boolean;
  /** A clip is posted as its own message, which can mention the requester and so replaces the completion notice. */
  readonly mentionsWithFile: boolean;
  /** The chart of a notice is drawn by the platform; elsewhere it is attached as a picture. */
  readonly drawsCharts: boolean;
}

/** Destination of a message. */
export interface Place {
  readonly team: string;
  readonly channel: string;
  readonly address: Readonly<Record<string, string>>;
}

const COPY = /(?:~\d+)+$/;

/** Returns the task of a {@link copyKey} or {@link directKey}. */
export function taskOfKey(key: TaskId): TaskId {
  return key.replace(COPY, '') as TaskId;
}

/** Message of its own, besides those of tasks. */
export interface Notice {
  /** Idempotency key. */
  readonly key: string;
  readonly place: Place;
  readonly replyTo: MessageRef | null;
  /** The only user whom it mentions. */
  readonly mention: Person | null;
  readonly view: EndNotice | ApprovalNotice | ReviewNotice | SignedOffNotice | TeamNotice;
  /** Files to attach; on a platform without files in a message of the bot, posted below it. Default: none. */
  readonly files?: readonly Upload[];
  /**
   * The only user who sees it, where the platform has no direct messages; elsewhere `place` is the direct message.
   * Default: everyone in the channel.
   */
  readonly onlyFor?: Person;
}

/** Permissions of a user in a channel. */
export interface MemberRights {
  readonly view: boolean;
  readonly post: boolean;
  /** The user manages the channel or its whole team. */
  readonly manage: boolean;
  /** The channel that the channel is a thread of, as in `Origin.parentChannel`. */
  readonly parent?: string;
  /** Nobody wrote in it yet; only where any name is a channel. */
  readonly isUnused?: true;
}

/** Reason why the bot cannot post to a channel, with the remedy. */
export type MissingRight =
  | {
      readonly kind: 'permission';
      /** Name of the permission on the platform, such as "Attach Files". */
      readonly right: string;
      /** Path of the setting where an admin grants it. */
      readonly where: string;
    }
  /** The app lacks it in every channel. */
  | {
      readonly kind: 'scope';
      /** Name of the scope on the platform, such as `files:write`. */
      readonly right: string;
      /** Place where reinstalling the app grants it. */
      readonly where: string;
    }
  /** The bot is not a member of the channel. */
  | {
      readonly kind: 'uninvited';
      readonly to: 'channel' | 'thread';
      /** Text that any member types to invite the bot. */
      readonly type: string;
    }
  /** A group message, which accepts no new members; direct messages between other users; an archived channel. */
  | { readonly kind: 'group' | 'others' | 'archived' };

/** What a platform knows of its channels, and of people and the bot in them. Rejects as {@link Platform} does. */
export interface Channels {
  /** Returns the right that the bot lacks to post a clip (the default) or text there; `null` when it lacks none. */
  missingRight(place: Place, what?: 'clip' | 'words'): Promise<MissingRight | null>;
  /**
   * Returns the audience of a channel: `channel` for private channels, direct and group messages, and private threads;
   * a thread has its channel's audience. `null` where the platform cannot determine it.
   */
  audience(place: Place): Promise<Audience | null>;
  /** Returns a user's rights there; none where the channel is not in that team or the bot has no access to it. */
  rights(place: Place, user: string): Promise<MemberRights>;
  /**
   * Returns false for a user who left the team of a place, or never belonged to it; true where that cannot be known.
   * @param isFull `true`: false for guests as well, who belong to channels. Default: false.
   */
  isMember(place: Place, user: string, isFull?: boolean): Promise<boolean>;
  /**
   * Returns the address of an interaction without what only serves to respond to that interaction, such as its token, for
   * orders from elsewhere into its channel.
   */
  lastingAddress(address: Place['address']): Place['address'];
  /**
   * Returns whether a user has a role, or belongs to a user group. Rejects where that cannot be known: with
   * `missing_permission` and the reason as words if the bot may not look it up.
   */
  isInGroup(place: Place, group: string, user: string): Promise<boolean>;
  /**
   * Returns the bot's direct message channel with a user of a team; without {@link PlatformLimits.hasDirectMessages} the
   * channel for a {@link Notice} that is `onlyFor` that user.
   */
  directChannel(place: Place, user: string): Promise<string>;
}

/**
 * Port of a chat platform. Few methods, none optional; each only translates.
 * All reject with a `DailiesError`: `message_gone`, `missing_permission`, `too_large`, `rate_limited`
 * (with `retryAfterMs`), `unauthorised`, `platform_unavailable`.
 */
export interface Platform {
  /** As in {@link Origin.platform}. */
  readonly name: string;
  readonly limits: PlatformLimits;
  readonly channels: Channels;
  /**
   * Posts the task's message: the public response to the interaction of `origin`.
   * Called again with the same `key` (after a restart), returns the existing message.
   * @param key the task's id, or a {@link copyKey} where the first message was deleted, or a {@link directKey}.
   * @param also committed with the adapter's own record of a new message. Default: nothing
   */
  open(key: TaskId, origin: Origin, view: View, also?: AlsoRecorded): Promise<Opened>;
  /**
   * Replaces the content of a message; its attachments stay, but on the card of a set those alone that the view names.
   * `progress` edits may be dropped: they reject at once with `rate_limited` instead of waiting in the queue.
   */
  edit(message: MessageRef, origin: Origin, view: View, urgency: 'progress' | 'final'): Promise<void>;
  /**
   * Attaches a file to the message of a task, or to the card of its set beside those of the others, and replaces its content,
   * idempotently: repeating the call does not duplicate the file, which its name identifies. Streams from disk.
   */
  attach(message: MessageRef, origin: Origin, view: View, file: Upload): Promise<Attached>;
  /**
   * Posts a message with its files. `key` is its idempotency key: the platform's own dedup prevents a second message with
   * the same key, and a repeated call completes the files. Rejects with `message_gone` where the message to reply to, or
   * the channel, is gone.
   */
  notify(notice: Notice): Promise<MessageRef>;
  /**
   * Replaces the content of a message of the bot by a short text, and deletes its files and all else that the adapter
   * posted or stored for it. Idempotent; a deleted message counts as retracted. Rejects with `missing_permission` where
   * users may still see the content: without the permission or access, or where only an expired interaction token could
   * edit the message.
   * @param origin origin of the task, whose address and interaction may be removed already.
   */
  retract(message: MessageRef, origin: Origin, view: RemovedView): Promise<void>;
  /**
   * Deletes what the adapter itself stores of an expired clip, such as its file, and with a {@link RemovedView} of its
   * prompt; with the view of a set, of all its removed clips. Shows `view` in the message, unless the chat's own servers
   * store that. Idempotent.
   */
  expire(message: MessageRef, view: CardView | RemovedView): Promise<void>;
  /**
   * Returns the message that {@link open} (`task`) or {@link notify} (`notice`) posted under a key, without posting it.
   * `undefined` where there is none, or the adapter has no record of it any more.
   */
  find(what: 'task' | 'notice', key: string): Promise<MessageRef | undefined>;
  /**
   * Erases what the adapter stores about a person of a team besides the messages of their tasks, and replaces them by the
   * pseudonym where it is about others. Idempotent.
   */
  forget(team: string, person: Person, pseudonym: Person): Promise<void>;
  /** Returns `null` once connected; else the reason for `/readyz`. */
  notReady(): string | null;
  /**
   * Describes the connection (bot and servers, workspace and mode, address) for the operator.
   * Rejects where it cannot be determined.
   */
  connection(): Promise<string>;
  /** Connects and begins to handle interactions. */
  start(): Promise<void>;
  /** Stops accepting interactions and drains those in flight. Sending still works until the process ends. */
  stop(): Promise<void>;
}

/** Returns the platform of a task, or of a cut. @throws DailiesError `platform_unavailable`, retryable: it is not turned on */
export type PlatformOf = (subject: { readonly origin: Pick<Origin, 'platform'> }) => Platform;

/** Creates the lookup of platforms among those that are turned on, by name. */
export function platformsIn(platforms: ReadonlyMap<string, Platform>): PlatformOf {
  return ({ origin: { platform } }) => {
    const found = platforms.get(platform);
    if (found !== undefined) return found;
    const code = { code: 'platform_unavailable', retryable: true } as const;
    throw new DailiesError(`posting on ${platform}: that platform is not turned on`, code);
  };
}

/** File that is in the chat. */
export interface Attached {
  /** Its `notice` was posted with it, by this call or an earlier one. */
  readonly isAnnounced: boolean;
  /** The file's own message, where it shows a task of a set. Absent: it has none. */
  readonly message?: MessageRef;
  /** Refusal to replace the content of the message above a file that is a message of its own. Absent: it was replaced. */
  readonly refusal?: DailiesError;
}

/** File to upload to a platform. */
export interface Upload extends Clip {
  /** File name, such as `red-fox-running-7f3a.mp4`. */
  readonly name: string;
  /** Alternative text: the prompt. */
  readonly description: string;
  /** Notice in the file's own message, where the platform posts one; never given where `mentionsWithFile` is off. */
  readonly notice?: { readonly view: EndNotice; readonly mention: Person };
}
