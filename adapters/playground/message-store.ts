import type { z } from 'zod';
import { blocksOf, buttonsOf, type Card, type Line, linesOf, type Picture, withPictures } from '#commands/ui/card.ts';
import { plainText } from '#commands/ui/plain-text.ts';
import type { Opened } from '#src/chat/index.ts';
import type { Clock } from '#src/clock.ts';
import {
  collection,
  type IndexEntry,
  type IndexWrite,
  type RecordWrite,
  type Store,
  type Versioned,
} from '#src/engine/index.ts';
import { DailiesError } from '#src/errors.ts';
import type { Phase, TaskId, TaskState } from '#src/tasks/index.ts';
import type { AspectRatio } from '#src/videos/index.ts';
import type { AttachmentFolder } from './files.ts';
import { LiveUpdates } from './live-updates.ts';
import type { messagesQuery } from './schema.ts';

const BOT_NAME = 'Dailies';

/** Facts about a task's clip that the page needs besides the card, such as its shape and the start of its timer. */
export interface ClipFacts {
  readonly phase: Phase;
  readonly prompt: string;
  readonly aspectRatio: AspectRatio | null;
  readonly by: string;
  /** It is a retry of another task. */
  readonly isRetry: boolean;
  /** It is a shot of a storyboard, or the storyboard itself. */
  readonly isShot: boolean;
  /** It is a clip of a comparison. */
  readonly isCompared: boolean;
  /** Nothing may tell which model made it. */
  readonly isBlind?: boolean;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  /** Time the card was rendered. The card's elapsed time is as of then, and the page counts on from it. */
  readonly wordedAtMs: number;
}

/** Clip of takes, or of a comparison, on the card of its set. */
interface ClipOnCard {
  /** As the card names it, such as `Take 2`. */
  readonly name: string;
  /** Name of its attachment; `null`: it has none here. */
  readonly file: string | null;
  readonly clip: ClipFacts;
}

/** Board of a storyboard on its card: the cut, shot by shot. */
export interface BoardFacts {
  readonly set: TaskId;
  readonly revision: number;
  /** Its requester. */
  readonly by: string;
  /** In the order of the cut. */
  readonly shots: readonly BoardShot[];
  /** Its latest cut, and the message of that; `null`: there is none. */
  readonly cut: { readonly message: string; readonly state: 'joining' | 'current' | 'outdated' } | null;
}

interface BoardShot {
  /** Number of the shot in the storyboard as it was written. */
  readonly at: number;
  /** The take that is in the cut. */
  readonly task: TaskId;
  /** Empty where it was removed. */
  readonly prompt: string;
  readonly seconds: number;
  /** State of the take in a word or two; `null`: its clip is there. */
  readonly state: string | null;
  readonly progress: number | null;
  readonly isSkipped: boolean;
}

export type InteractionKind = 'interaction' | 'press' | 'reaction' | 'form';

interface Attachment {
  readonly name: string;
  readonly description: string;
  readonly contentType: string;
  readonly bytes: number;
}

/** Message as stored, one record each. */
export interface Message extends Versioned {
  readonly id: string;
  readonly channel: string;
  /** Position in the channel: later messages have higher numbers. */
  readonly order: number;
  readonly createdAtMs: number;
  readonly author: string;
  readonly replyTo: { readonly channel: string; readonly message: string } | null;
  /** The only user who sees it (ephemeral); `null`: everyone. */
  readonly visibleTo: string | null;
  /** Interaction it responds to, such as `/video list`; `null` where the card shows it. */
  readonly asked: { readonly user: string; readonly what: string; readonly how: InteractionKind } | null;
  readonly card: Card;
  readonly task: TaskId | null;
  /** Tasks of a set, of which this is the card, in its order. Absent: none. */
  readonly tasks?: readonly (Pick<Message, 'task' | 'state' | 'progress'> & Partial<ClipOnCard>)[];
  /** Set on the card of a storyboard whose shots were ordered. */
  readonly board?: BoardFacts | null;
  /** The storyboard in whose thread it is, by its card, and what it is there. Absent: it is in the channel itself. */
  readonly thread?: { readonly card: string; readonly kind: 'shot' | 'take' | 'note' | 'cut' };
  /** Task that it is about, where it shows none. Absent: none. */
  readonly about?: TaskId;
  readonly state: TaskState | null;
  readonly progress: number | null;
  readonly clip: ClipFacts | null;
  readonly attachments: readonly Attachment[];
  /** Users who reacted, by emoji. */
  readonly reactions: Readonly<Record<string, readonly string[]>>;
  readonly edits: number;
}

export const playgroundMessages = collection<string, Message>({
  name: 'playground_messages',
  holds: 'messages of the chat page: texts, names, who reacted',
  kept: 'a year, messages of an open or undelivered task longer; private replies no longer than prompts',
  personal: { byOwner: true },
});

/** Fields of a new message; the optional ones default to empty. */
type NewMessage = Pick<Message, 'id' | 'channel' | 'card'> & Partial<Omit<Message, 'revision' | 'order'>>;

/** Page of messages of a channel, oldest first. */
interface MessagesPage {
  readonly messages: readonly Message[];
  /** True: there are older messages that the user may see. */
  readonly hasEarlier: boolean;
  /** True: there are newer ones. */
  readonly hasLater: boolean;
}

type MessagesQuery = z.output<typeof messagesQuery>;

/** Default page size. */
const DEFAULT_PAGE = 500;

/** Records per read of the store. */
const READ_BATCH = 200;

interface Direction {
  readonly channel: string;
  readonly user: string | undefined;
  /** Leaves out the messages of threads. */
  readonly isGrouped: boolean;
  readonly order: 'newest' | 'oldest';
  /** Cursor, exclusive; `undefined`: the end of the channel. */
  readonly anchor: Message | undefined;
  readonly count: number;
}

interface Read {
  readonly messages: Message[];
  readonly hasMore: boolean;
}

const CHANNELS_INDEX = 'playground-channels';

/** The messages of all channels, with their files. Publishes every change to the open pages of all replicas. */
export class MessageStore {
  readonly updates: LiveUpdates;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #files: AttachmentFolder;
  /** Highest `order` assigned by this process, by channel; concurrent posts may not be in the store yet. */
  readonly #newest = new Map<string, number>();
  readonly #listed = new Set<string>();

  constructor(store: Store, clock: Clock, files: AttachmentFolder) {
    this.#store = store;
    this.#clock = clock;
    this.#files = files;
    this.updates = new LiveUpdates(store, (id) => this.get(id));
  }

  /** Returns the message, or `undefined`. */
  async get(id: string): Promise<Message | undefined> {
    const record = await playgroundMessages.get(this.#store, id);
    return isObject(record) ? record : undefined;
  }

  /**
   * Reads a page of messages of a channel; grouped, with the threads of its cards behind it.
   * @returns `null` where `before`, `after` or `around` is no message of the channel that `user` may see.
   */
  async list(query: MessagesQuery): Promise<MessagesPage | null> {
    const page = await this.#listPage(query);
    if (page === null || query.threads === undefined) return page;
    // A card, also one that was removed, is the message of no single task.
    const cards = page.messages.filter(({ task, visibleTo }) => task === null && visibleTo === null);
    const threads = await Promise.all(cards.map((message) => this.#threadOf(message)));
    return { ...page, messages: [...page.messages, ...threads.flat()] };
  }

  async #listPage(query: MessagesQuery): Promise<MessagesPage | null> {
    const { channel, user, limit = DEFAULT_PAGE } = query;
    const isGrouped = query.threads !== undefined;
    const anchorId = query.around ?? query.before ?? query.after;
    const found = anchorId === undefined ? undefined : await this.get(anchorId);
    if (anchorId !== undefined && !(found?.channel === channel && (user === undefined || maySee(found, user)))) {
      return null;
    }
    const anchor = (isGrouped && found?.thread !== undefined && (await this.get(found.thread.card))) || found;
    const read = (order: 'newest' | 'oldest', count: number): Promise<Read> =>
      this.#readVisible({ channel, user, isGrouped, order, anchor, count });
    if (anchor === undefined || query.around !== undefined || query.before !== undefined) {
      const isAround = anchor !== undefined && query.around !== undefined;
      const later = isAround ? await read('oldest', Math.floor((limit - 1) / 2)) : { messages: [], hasMore: false };
      const earlier = await read('newest', isAround ? limit - 1 - later.messages.length : limit);
      return {
        messages: [...earlier.messages.reverse(), ...(isAround ? [anchor] : []), ...later.messages],
        hasEarlier: earlier.hasMore,
        hasLater: isAround ? later.hasMore : anchor !== undefined,
      };
    }
    const later = await read('oldest', limit);
    return { messages: later.messages, hasEarlier: true, hasLater: later.hasMore };
  }

  /** Reads the messages a user may see, in one direction from `anchor` (exclusive) or from the end of the channel. */
  async #readVisible({ channel, user, isGrouped, order, anchor, count }: Direction): Promise<Read> {
    const messages: Message[] = [];
    let from = anchor === undefined ? undefined : { member: anchor.id, score: anchor.order };
    for (;;) {
      const entries = await this.#entriesAfter(channel, order, from);
      if (entries.length === 0) return { messages, hasMore: false };
      from = entries.at(-1);
      const ids = entries.map(({ member }) => member);
      for (const message of await playgroundMessages.getMany(this.#store, ids)) {
        if (!isObject(message) || !(user === undefined || maySee(message, user))) continue;
        if (isGrouped && message.thread !== undefined) continue;
        if (messages.length >= count) return { messages, hasMore: true };
        messages.push(message);
      }
    }
  }

  /** Returns the messages in the thread of a storyboard's card, which everyone sees. */
  async #threadOf({ id }: Message): Promise<readonly Message[]> {
    const entries = await this.#store.scan(threadIndex(id), { order: 'oldest' });
    const ids = entries.map(({ member }) => member);
    return ids.length === 0 ? [] : (await playgroundMessages.getMany(this.#store, ids)).filter(isObject);
  }

  /** Returns the next entries of a channel's index after `from`; several may have the same score. */
  async #entriesAfter(
    channel: string,
    order: 'newest' | 'oldest',
    from: IndexEntry | undefined,
  ): Promise<readonly IndexEntry[]> {
    const bounds = from === undefined ? {} : order === 'newest' ? { max: from.score } : { min: from.score };
    for (let offset = 0; ; offset += READ_BATCH) {
      const entries = await this.#store.scan(messagesIndex(channel), { ...bounds, order, offset, limit: READ_BATCH });
      const next = entries.filter(({ member, score }) => {
        if (from === undefined || score !== from.score) return true;
        return order === 'newest' ? member < from.member : member > from.member;
      });
      if (next.length > 0 || entries.length < READ_BATCH) return next;
    }
  }

  /** Reads every message of every channel, in pages; messages posted meanwhile may be missing. */
  async *all(): AsyncGenerator<readonly Message[]> {
    for (const channel of await this.channels()) {
      let entries = await this.#entriesAfter(channel, 'newest', undefined);
      while (entries.length > 0) {
        const found = await playgroundMessages.getMany(
          this.#store,
          entries.map(({ member }) => member),
        );
        yield found.filter(isObject);
        entries = await this.#entriesAfter(channel, 'newest', entries.at(-1));
      }
    }
  }

  /** Returns the channels that ever had a message, oldest first. */
  async channels(): Promise<readonly string[]> {
    const entries = await this.#store.scan(CHANNELS_INDEX, { order: 'oldest' });
    return entries.map(({ member }) => member);
  }

  /** Adds a message, or returns the existing one with its id. */
  async post(fields: NewMessage, also: readonly RecordWrite[] = []): Promise<Message & Pick<Opened, 'isRecorded'>> {
    const current = await this.get(fields.id);
    if (current !== undefined) return current;
    const order = await this.#nextOrder(fields.channel);
    const message: Message = { ...EMPTY, createdAtMs: this.#clock.now(), ...fields, order, revision: 1 };
    const isNew = await this.#store.commit({
      records: [playgroundMessages.replacing(message.id, undefined, message), ...also],
      index: [
        ...indexesOf(message).map((index) => ({ index, member: message.id, score: order })),
        ...(await this.#channelEntry(message.channel)),
      ],
    });
    if (!isNew) return (await this.get(message.id)) ?? message;
    this.updates.publish({ kind: 'message', message });
    return also.length === 0 ? message : { ...message, isRecorded: true };
  }

  /** As {@link changeIfThere}. @throws DailiesError `message_gone` when there is none. */
  async change(id: string, change: (message: Message) => Message): Promise<void> {
    if (await this.changeIfThere(id, change)) return;
    throw new DailiesError(`changing message ${id}: there is none`, { code: 'message_gone', retryable: false });
  }

  /**
   * Updates a message with `change`, by compare-and-set; writes nothing if `change` returns the same object.
   * @returns whether there is one
   */
  async changeIfThere(id: string, change: (message: Message) => Message): Promise<boolean> {
    let isChanged = false;
    const message = await playgroundMessages.change<Message | null>(this.#store, id, (current) => {
      if (!isObject(current)) return { result: null };
      const changed = change(current);
      isChanged = changed !== current;
      if (!isChanged) return { result: current };
      return { value: changed, result: { ...changed, revision: current.revision + 1 } };
    });
    if (message !== null && isChanged) this.updates.publish({ kind: 'message', message });
    return message !== null;
  }

  /** Removes a message with its files, if it exists. */
  async remove(id: string): Promise<void> {
    const message = await this.get(id);
    if (message === undefined) return;
    await this.removeFiles(message);
    await this.#store.commit({
      records: [playgroundMessages.overwriting(id, null)],
      index: indexesOf(message).map((index) => ({ index, member: id, score: null })),
    });
    this.updates.publish({ kind: 'gone', message });
  }

  /** Deletes files of a message, which keeps naming them. @param isRemoved default: all of them */
  async removeFiles(
    { id, attachments }: Message,
    isRemoved: (file: Attachment) => boolean = () => true,
  ): Promise<void> {
    for (const { name } of attachments.filter(isRemoved)) await this.#files.remove(id, name);
  }

  /** Returns an `order` after every message of the channel, regardless of clock skew between replicas. */
  async #nextOrder(channel: string): Promise<number> {
    const [stored] = await this.#store.scan(messagesIndex(channel), { limit: 1 });
    const newest = Math.max(stored?.score ?? 0, this.#newest.get(channel) ?? 0);
    const order = Math.max(this.#clock.now(), newest + 1);
    this.#newest.set(channel, order);
    return order;
  }

  /** Returns the index entry that lists a channel, needed for its first message alone. */
  async #channelEntry(channel: string): Promise<readonly IndexWrite[]> {
    if (!this.#listed.has(channel)) for (const known of await this.channels()) this.#listed.add(known);
    if (this.#listed.has(channel)) return [];
    return [{ index: CHANNELS_INDEX, member: channel, score: this.#clock.now() }];
  }
}

/** Returns whether a record may be a message: a damaged one may be anything. */
function isObject(record: Message | null | undefined): record is Message {
  return typeof record === 'object' && record !== null;
}

/** Returns whether `user` may see, press and react to `message`. */
export function maySee(message: Pick<Message, 'visibleTo'>, user: string): boolean {
  return message.visibleTo === null || message.visibleTo === user;
}

export type WireMessage = ReturnType<typeof toWire>;

function posterPath(message: string, picture: string): string {
  return `/playground/posters/${message}/${encodeURIComponent(picture)}`;
}

/** Returns whether a message shows a picture. */
export function showsPoster({ card, board }: Pick<Message, 'card' | 'board'>, id: string): boolean {
  const isOnCard = blocksOf(card).some((block) => 'picture' in block && block.picture?.id === id);
  return isOnCard || shotIn(board, id) !== undefined;
}

/** Returns the shot on a board whose clip is that of a task; `undefined`: none. */
export function shotIn(board: Message['board'], task: string): BoardShot | undefined {
  return board?.shots.find((shot) => shot.task === task && shot.state === null);
}

/**
 * Returns a card as sent over HTTP: `blocks` are its layout, `lines` the same as plain lines.
 * @param message the one that it is on, which has its pictures; default: none, and they are left out
 */
export function wireCard(card: Card, message: string | null = null) {
  const pictureOf = ({ id, alt }: Picture) => (message === null ? null : { url: posterPath(message, id), alt });
  return { lines: linesOf(card), ...withPictures(card, pictureOf) };
}

/** Returns the message as sent over HTTP: the fields of the public API, and more that the page needs. */
export function toWire(message: Message) {
  const card = wireCard(message.card, message.id);
  const { lines } = card;
  return {
    ...message,
    card,
    board: boardToWire(message),
    thread: message.thread ?? null,
    replyTo: message.replyTo?.message ?? null,
    replyChannel: message.replyTo?.channel ?? null,
    text: plainText(lines),
    mentions: mentionsIn(lines),
    attachments: message.attachments.map((attachment) => ({
      ...attachment,
      url: `/playground/files/${message.id}/${encodeURIComponent(attachment.name)}`,
    })),
    buttons: buttonsOf(message.card),
  };
}

/** Returns the board of a card with the addresses of its clips. */
function boardToWire({ id, board }: Message) {
  if (board === undefined || board === null) return null;
  const shots = board.shots.map((shot) => {
    if (shot.state !== null) return { ...shot, url: null, poster: null };
    return { ...shot, url: `/playground/clips/${id}/${shot.task}`, poster: posterPath(id, shot.task) };
  });
  return { ...board, shots };
}

/** Returns the ids of the users whom lines mention. */
function mentionsIn(lines: readonly Line[]): readonly string[] {
  return lines.flat().flatMap((part) => (typeof part === 'object' && 'mention' in part ? [part.mention.id] : []));
}

/** Fields of a message that shows no task. */
export const NO_TASK = { task: null, state: null, progress: null, clip: null, board: null } as const;

const EMPTY = {
  ...NO_TASK,
  author: BOT_NAME,
  replyTo: null,
  visibleTo: null,
  asked: null,
  attachments: [],
  reactions: {},
  edits: 0,
} as const satisfies Partial<Message>;

function indexesOf({ channel, thread }: Message): readonly string[] {
  return [messagesIndex(channel), ...(thread === undefined ? [] : [threadIndex(thread.card)])];
}

function threadIndex(card: string): string {
  return `playground-thread:${card}`;
}

/** Names the index of the messages of a channel; scores are their {@link Message.order}, about their times in ms. */
export function messagesIndex(channel: string): string {
  return `playground:${channel}`;
}
