import type { Component } from './components.ts';
import type { Permission } from './permissions.ts';
import type { Json } from './refusal.ts';

/** A user of the fake Discord. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly isBot: boolean;
  /** Roles in the bot's servers. Default: @everyone alone. */
  readonly roles?: readonly string[];
}

/** A channel, thread or DM. */
export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly kind: 'text' | 'thread' | 'dm' | 'group';
  /** Null in DMs and groups. */
  readonly guildId: string | null;
  /** Parent channel of a thread. */
  readonly parentId: string | null;
  /** The user in a DM with the bot; null elsewhere. */
  readonly recipientId: string | null;
  /** True if the bot is a member here. Otherwise it is reachable only through user installs. */
  isBotHere: boolean;
  /** True for a private thread, visible only to its members. */
  readonly isPrivate: boolean;
  /** True if the bot was added to a private thread. Its commands work there in either case. */
  isBotAdded: boolean;
  /** Users who see this channel, besides the bot; `null`: every member of the server. */
  viewers: ReadonlySet<string> | null;
  /** Permissions denied to the bot here. */
  denied: ReadonlySet<Permission>;
  isDeleted: boolean;
}

/** An uploaded file. */
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

/** Current state of a message. */
export interface Message {
  readonly id: string;
  readonly channelId: string;
  readonly author: User;
  readonly createdMs: number;
  readonly nonce: string | null;
  /** The message it replies to, or the message of the used component. */
  readonly replyTo: string | null;
  /** The interaction that it is a response or follow-up to. */
  readonly interactionId: string | null;
  /** The only user who sees it; null if it is visible to everyone. */
  readonly visibleTo: string | null;
  content: string;
  embeds: readonly Json[];
  components: readonly Component[];
  /** Bitfield. @see discord docs: resources/message, "Message Flags" */
  flags: number;
  attachments: readonly Attachment[];
  /** Every mention in the text, pinged or not, as `allowed_mentions` lets Discord parse it. */
  mentions: readonly string[];
  editedMs: number | null;
  /** Number of edits; includes the first response after a defer. */
  edits: number;
  isDeleted: boolean;
  readonly reactions: Map<string, Set<string>>;
}

/** A notification of a user, a role or everyone. */
export interface Ping {
  readonly messageId: string;
  readonly kind: 'user' | 'role' | 'everyone';
  /** Notified user or role; `everyone` and `here` for those kinds. */
  readonly id: string;
}

/** A file that an edit removed from a message. */
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

/** A user action that the bot has to respond to. @see discord docs: interactions/receiving-and-responding */
export interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly kind: 'command' | 'component' | 'autocomplete' | 'modal';
  readonly userId: string;
  readonly channelId: string;
  readonly createdMs: number;
  /** `attachment_size_limit`: the largest upload through its token. */
  readonly maxFileBytes: number;
  /** Authorised only by the user's own installation: at most five follow-ups. */
  readonly isUserInstall: boolean;
  /** The message of the used component. */
  readonly sourceId: string | null;
  /** Payload as sent to the bot. */
  readonly payload: Json;
  /** True if a connected session received it at once. */
  isDelivered: boolean;
  /** The first response. */
  answer: { readonly type: number; readonly atMs: number; readonly data: Json } | null;
  /** `@original`: the message of the first response. */
  originalId: string | null;
  readonly followupIds: string[];
  /** Expired before its 15 minutes. */
  isExpired: boolean;
  usesAfterExpiry: number;
}
