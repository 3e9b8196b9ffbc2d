import type { Block } from './blocks.ts';

/** A JSON object of Slack's wire format. */
export type Json = Readonly<Record<string, unknown>>;

/** A workspace. */
export interface Team {
  readonly id: string;
  readonly domain: string;
  readonly name: string;
  /** User id of the app in this workspace. */
  readonly botUserId: string;
  readonly botId: string;
  /** `xoxb-…`; null while the app is not installed. */
  botToken: string | null;
  /** Invalidated tokens, with Slack's error code for each. */
  readonly ended: Map<string, 'token_revoked' | 'account_inactive'>;
  /** Scopes granted to the installation. */
  scopes: ReadonlySet<string>;
}

/** A user of the fake Slack. */
export interface User {
  /** A guest of the workspace. */
  readonly isGuest?: boolean;
  /** A deactivated user. */
  readonly hasLeft?: boolean;
  /** Right to administer the workspace. Default: none. */
  readonly admin?: 'is_admin' | 'is_owner' | 'is_primary_owner';
  readonly id: string;
  readonly teamId: string;
  readonly name: string;
  readonly isBot: boolean;
  /** IANA time zone. */
  readonly timeZone: string;
}

/** A conversation. */
export interface Channel {
  readonly id: string;
  readonly teamId: string;
  /** Empty for DMs. */
  readonly name: string;
  readonly kind: 'public' | 'private' | 'dm';
  /** True where it is shared with another organisation. Default: false. */
  readonly isShared?: boolean;
  /** User ids; includes the app's if it is a member. */
  readonly members: Set<string>;
  /** The user in a DM with the app; null in channels. */
  readonly recipientId: string | null;
  isArchived: boolean;
}

/** A notification of a user by a new message. */
export interface Ping {
  readonly ts: string;
  readonly channelId: string;
  readonly kind: 'user' | 'usergroup' | 'channel' | 'here' | 'everyone';
  /** Notified user or user group; the kind's own name for the last three. */
  readonly id: string;
}

/** Current state of a message. */
export interface Message {
  /** Unique across the fake. */
  readonly ts: string;
  readonly channelId: string;
  readonly authorId: string;
  readonly createdMs: number;
  /** The parent of its thread; null for a parent. */
  readonly threadTs: string | null;
  /** The only user who sees it (ephemeral); null if it is visible to everyone. */
  readonly visibleTo: string | null;
  readonly fileIds: readonly string[];
  text: string;
  blocks: readonly Block[];
  metadata: Json | null;
  /** Blocks of the previews by the URL of their links. */
  readonly unfurls: Map<string, readonly Block[]>;
  /** A reply that the channel shows, too. */
  readonly isBroadcast: boolean;
  /** Number of edits. */
  edits: number;
  isDeleted: boolean;
  /** User ids by emoji name. */
  readonly reactions: Map<string, Set<string>>;
}

/** A file on the fake Slack. */
export interface SlackFile {
  readonly id: string;
  readonly teamId: string;
  readonly ownerId: string;
  readonly name: string;
  readonly mimeType: string;
  readonly altText: string | null;
  /** Length as announced by the uploader. */
  readonly length: number;
  title: string;
  /** Hex; null until its bytes have arrived. */
  sha256: string | null;
  /** Null if it was not sent yet or is too large to keep. */
  content: Buffer | null;
  /** Completed by files.completeUploadExternal, or uploaded by a user. */
  isComplete: boolean;
  /** Number of calls of files.info that still respond without `shares`. */
  hiddenShares: number;
  /** Events carry only a part of it, so that the app has to call files.info. */
  readonly isStub: boolean;
  isDeleted: boolean;
  readonly shares: { readonly channelId: string; readonly ts: string; readonly threadTs: string | null }[];
}

/** A modal or a Home tab of a user. */
export interface View {
  readonly id: string;
  readonly teamId: string;
  readonly userId: string;
  readonly type: 'modal' | 'home';
  readonly rootId: string;
  readonly previousId: string | null;
  hash: string;
  callbackId: string;
  externalId: string;
  privateMetadata: string;
  title: string;
  submit: string | null;
  close: string | null;
  notifyOnClose: boolean;
  clearOnClose: boolean;
  blocks: readonly Block[];
  /** Values by block and action. Kept across an update where both ids stay the same. */
  values: Map<string, Map<string, Json>>;
  /** Error messages under inputs, by block, from the last response. */
  errors: Json;
  isOpen: boolean;
}

/** One attempt to deliver an {@link Envelope}. */
export interface Attempt {
  /** `envelope_id` on a socket. */
  readonly id: string;
  /** 0 for the first. */
  readonly number: number;
  readonly reason: string | null;
  readonly sentMs: number;
  /** False if no connection could take it. */
  isOut: boolean;
  /** The connection broke before it could be acknowledged. */
  isLost: boolean;
  /** Milliseconds since the epoch by the fake's clock. */
  ackedMs: number | null;
}

/** A request of Slack to the app. */
export interface Envelope {
  readonly kind: 'events_api' | 'slash_commands' | 'interactive';
  /** `command`, or the type of the interaction or of the event. */
  readonly type: string;
  readonly teamId: string;
  readonly userId: string;
  readonly channelId: string | null;
  readonly viewId: string | null;
  /** The message of the pressed button or of the shortcut. */
  readonly messageTs: string | null;
  readonly triggerId: string | null;
  readonly responseUrl: string | null;
  readonly payload: Json;
  readonly attempts: Attempt[];
  /** The first acknowledgement; its payload is empty if the app sent none. */
  answer: { readonly atMs: number; readonly payload: Json } | null;
}

/** A call of the Web API with its response. */
export interface RecordedCall {
  readonly method: string;
  readonly teamId: string | null;
  readonly args: Json;
  /** Null if the connection was dropped. */
  readonly answer: Json | null;
  readonly status: number;
}
