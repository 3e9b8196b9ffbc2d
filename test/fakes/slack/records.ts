import type { Block } from './blocks.ts';

/** A JSON object of Slack's wire. */
export type Json = Readonly<Record<string, unknown>>;

/** A workspace. */
export interface Team {
  readonly id: string;
  readonly domain: string;
  readonly name: string;
  /** The app's user here. */
  readonly botUserId: string;
  readonly botId: string;
  /** `xoxb-…`; null while the app is not installed. */
  botToken: string | null;
  /** Tokens that worked once, and what Slack says of each. */
  readonly ended: Map<string, 'token_revoked' | 'account_inactive'>;
  /** What the installation was granted. */
  scopes: ReadonlySet<string>;
}

/** Somebody on the fake Slack. */
export interface User {
  /** A guest of the workspace. */
  readonly isGuest?: boolean;
  readonly id: string;
  readonly teamId: string;
  readonly name: string;
  readonly isBot: boolean;
  /** An IANA zone. */
  readonly timeZone: string;
}

/** A conversation. */
export interface Channel {
  readonly id: string;
  readonly teamId: string;
  /** Empty for DMs. */
  readonly name: string;
  readonly kind: 'public' | 'private' | 'dm';
  /** Users' ids; the app's own too where it is in. */
  readonly members: Set<string>;
  /** Who talks with the app here: DMs only. */
  readonly recipientId: string | null;
  isArchived: boolean;
}

/** Somebody was notified by a new message. */
export interface Ping {
  readonly ts: string;
  readonly channelId: string;
  readonly kind: 'user' | 'usergroup' | 'channel' | 'here' | 'everyone';
  /** Whom; the kind's own name for the last three. */
  readonly id: string;
}

/** A message as it stands. */
export interface Message {
  /** Unique on the whole fake. */
  readonly ts: string;
  readonly channelId: string;
  readonly authorId: string;
  readonly createdMs: number;
  /** The parent of the thread that it is in; null for a parent. */
  readonly threadTs: string | null;
  /** The one person who sees it (ephemeral); null where everybody does. */
  readonly visibleTo: string | null;
  readonly fileIds: readonly string[];
  text: string;
  blocks: readonly Block[];
  metadata: Json | null;
  /** How often it was edited. */
  edits: number;
  isDeleted: boolean;
  /** Users' ids by emoji name. */
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
  /** As announced by whoever uploads it. */
  readonly length: number;
  title: string;
  /** Hex; null until its bytes are there. */
  sha256: string | null;
  /** Null where it was not sent yet or is too large to keep. */
  content: Buffer | null;
  /** Finished by files.completeUploadExternal, or uploaded by a person. */
  isComplete: boolean;
  /** Calls of files.info that still answer without `shares`. */
  hiddenShares: number;
  /** What events tell only in part, so that files.info has to be asked. */
  readonly isStub: boolean;
  isDeleted: boolean;
  readonly shares: { readonly channelId: string; readonly ts: string; readonly threadTs: string | null }[];
}

/** A modal or a Home tab that somebody sees. */
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
  /** What is filled in, by block and action. Kept over an update where both ids stay. */
  values: Map<string, Map<string, Json>>;
  /** Sentences under inputs, by block, from the last answer. */
  errors: Json;
  isOpen: boolean;
}

/** One attempt to hand an {@link Envelope} over. */
export interface Attempt {
  /** `envelope_id` on a socket. */
  readonly id: string;
  /** 0 for the first. */
  readonly number: number;
  readonly reason: string | null;
  readonly sentMs: number;
  /** Whether anybody was there to take it. */
  isOut: boolean;
  /** The connection broke before it could be acknowledged. */
  isLost: boolean;
  /** Milliseconds since the epoch by the fake's clock. */
  ackedMs: number | null;
}

/** Something that Slack tells the app. */
export interface Envelope {
  readonly kind: 'events_api' | 'slash_commands' | 'interactive';
  /** `command`, the type of the interaction or of the event. */
  readonly type: string;
  readonly teamId: string;
  readonly userId: string;
  readonly channelId: string | null;
  readonly viewId: string | null;
  /** The message whose button was pressed or whose shortcut was used. */
  readonly messageTs: string | null;
  readonly triggerId: string | null;
  readonly responseUrl: string | null;
  readonly payload: Json;
  readonly attempts: Attempt[];
  /** The first acknowledgement; its payload is empty where the app gave none. */
  answer: { readonly atMs: number; readonly payload: Json } | null;
}

/** A call of the Web API as it was answered. */
export interface RecordedCall {
  readonly method: string;
  readonly teamId: string | null;
  readonly args: Json;
  /** Null where the connection was dropped. */
  readonly answer: Json | null;
  readonly status: number;
}
