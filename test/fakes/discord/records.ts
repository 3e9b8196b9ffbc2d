import type { Component } from './components.ts';
import type { Permission } from './permissions.ts';
import type { Json } from './refusal.ts';

/** Somebody on the fake Discord. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly isBot: boolean;
}

/** Where messages stand. */
export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly kind: 'text' | 'thread' | 'dm' | 'group';
  /** Null in DMs and groups. */
  readonly guildId: string | null;
  /** The channel that a thread belongs to. */
  readonly parentId: string | null;
  /** Who talks with the bot here: DMs only. */
  readonly recipientId: string | null;
  /** Whether the bot is here. Where not, people reach it by their own installation alone. */
  isBotHere: boolean;
  /** Whether only those who were added see this thread. */
  readonly isPrivate: boolean;
  /** Whether the bot was added to a private thread. People use its commands there all the same. */
  isBotAdded: boolean;
  /** Who alone sees this channel, besides the bot; `null`: everybody in the server. */
  viewers: ReadonlySet<string> | null;
  /** What the bot may not do here. */
  denied: ReadonlySet<Permission>;
  isDeleted: boolean;
}

/** A file that went to Discord. */
export interface Attachment {
  readonly id: string;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  readonly description: string | null;
  /** Signed; expires by the fake's clock. */
  readonly url: string;
}

/** A message as it stands. */
export interface Message {
  readonly id: string;
  readonly channelId: string;
  readonly author: User;
  readonly createdMs: number;
  readonly nonce: string | null;
  /** The message it answers, or the one whose component was used. */
  readonly replyTo: string | null;
  /** The interaction that it answers or follows. */
  readonly interactionId: string | null;
  /** The one person who sees it; null where everybody does. */
  readonly visibleTo: string | null;
  content: string;
  embeds: readonly Json[];
  components: readonly Component[];
  /** Bitfield. @see discord docs: resources/message, "Message Flags" */
  flags: number;
  attachments: readonly Attachment[];
  /** Everybody named in the text, pinged or not, as `allowed_mentions` lets Discord parse it. */
  mentions: readonly string[];
  editedMs: number | null;
  /** How often it was edited; the first answer after a defer counts. */
  edits: number;
  isDeleted: boolean;
  readonly reactions: Map<string, Set<string>>;
}

/** Somebody was notified. */
export interface Ping {
  readonly messageId: string;
  readonly kind: 'user' | 'role' | 'everyone';
  /** Whom; `everyone` and `here` for those kinds. */
  readonly id: string;
}

/** A file that was on a message and, by an edit, is not any more. */
export interface Vanished {
  readonly messageId: string;
  readonly attachment: Attachment;
}

export const FLAGS = {
  ephemeral: 1 << 6,
  loading: 1 << 7,
  suppressEmbeds: 1 << 2,
  silent: 1 << 12,
  v2: 1 << 15,
} as const;

/** What somebody did that the bot has to answer. @see discord docs: interactions/receiving-and-responding */
export interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly kind: 'command' | 'component' | 'autocomplete' | 'modal';
  readonly userId: string;
  readonly channelId: string;
  readonly createdMs: number;
  /** `attachment_size_limit`: the largest file that may go through its token. */
  readonly maxFileBytes: number;
  /** Authorised by the user's own installation alone: five follow-ups. */
  readonly isUserInstall: boolean;
  /** The message whose component was used. */
  readonly sourceId: string | null;
  /** As it went to the bot. */
  readonly payload: Json;
  /** Whether a connected session got it at once. */
  isDelivered: boolean;
  /** The first answer. */
  answer: { readonly type: number; readonly atMs: number; readonly data: Json } | null;
  /** `@original`: the message of the first answer. */
  originalId: string | null;
  readonly followupIds: string[];
  /** Ended before its 15 minutes. */
  isExpired: boolean;
  usesAfterExpiry: number;
}
