import type { CardButton } from '#commands/ui/card.ts';
import type { Phase } from '#src/chat/view.ts';
import type { Clock } from '#src/clock.ts';
import { DailiesError } from '#src/errors.ts';
import type { IndexEntry, IndexWrite, Store, Versioned } from '#src/store/store.ts';
import type { TaskId, TaskState } from '#src/tasks/task.ts';
import type { AspectRatio } from '#src/videos/request.ts';
import { LiveUpdates } from './live-updates.ts';
import { buttonsIn, type KeptCard, mentionsOf, plainText } from './render.ts';
import { BOT_NAME } from './schema.ts';

/** What the page needs of a task besides words: to keep a place of the clip's shape, and to count the seconds. */
export interface ClipFacts {
  readonly phase: Phase;
  readonly prompt: string;
  readonly aspectRatio: AspectRatio | null;
  /** Who asked for it. */
  readonly by: string;
  /** Whether it repeats another one; absent in older records. */
  readonly isRetry?: boolean;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  /** When its words were made: the elapsed time in them is of then, and the page counts on from there. */
  readonly wordedAtMs: number;
}

/** The ways in which a person does something. */
export type DeedKind = 'interaction' | 'press' | 'reaction' | 'form';

/** A file that stands in a message. */
export interface Attachment {
  readonly name: string;
  readonly description: string;
  readonly contentType: string;
  readonly bytes: number;
}

/** A message as it is kept: one record per message. */
export interface Message extends Versioned {
  readonly id: string;
  readonly channel: string;
  /** Where it stands in its channel: later messages have higher numbers. */
  readonly order: number;
  readonly createdAtMs: number;
  readonly author: string;
  /** The message it answers, and the channel that one stands in. */
  readonly replyTo: { readonly channel: string; readonly message: string } | null;
  /** The only person who sees it; `null`: everybody. */
  readonly visibleTo: string | null;
  /** What a person did that this answers, such as `/video list`; `null` where the card says it. Older records lack `how`. */
  readonly asked: { readonly user: string; readonly what: string; readonly how?: DeedKind } | null;
  readonly card: KeptCard;
  /** Of the task whose own message this is. */
  readonly task: TaskId | null;
  readonly state: TaskState | null;
  readonly progress: number | null;
  readonly clip: ClipFacts | null;
  readonly attachments: readonly Attachment[];
  /** Who reacted, by emoji. */
  readonly reactions: Readonly<Record<string, readonly string[]>>;
  /** How often what it says was replaced. */
  readonly edits: number;
}

/** What a new message needs; the rest is empty. */
export type NewMessage = Pick<Message, 'id' | 'channel' | 'card'> & Partial<Omit<Message, 'revision' | 'order'>>;

/** A message as the HTTP calls give it: the fields of the outward interface, then what the page needs besides. */
export interface WireMessage extends Omit<Message, 'replyTo' | 'attachments'> {
  readonly replyTo: string | null;
  readonly replyChannel: string | null;
  readonly text: string;
  /** Whom it pings. */
  readonly mentions: readonly string[];
  readonly attachments: readonly (Attachment & { readonly url: string })[];
  readonly buttons: readonly CardButton[];
}

/** Which messages of a channel are wanted. */
export interface MessagesWanted {
  readonly channel: string;
  /** Leaves out what only others can see. */
  readonly user?: string | undefined;
  /** Most messages of the page. Default {@link DEFAULT_PAGE}. */
  readonly limit?: number | undefined;
  /** At most one of the three, the id of a message: those before it, those after it, or it and those around it. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly around?: string | undefined;
}

/** A page of a channel, oldest message first. */
export interface MessagesPage {
  readonly messages: readonly Message[];
  /** Whether there are older messages that the reader may see. */
  readonly hasEarlier: boolean;
  /** Whether there are newer ones. */
  readonly hasLater: boolean;
}

/** Messages of a page for which no other length was asked. */
const DEFAULT_PAGE = 500;

/** How many records are read at once. */
const READ_AT_ONCE = 200;

interface Direction {
  readonly channel: string;
  readonly user: string | undefined;
  readonly order: 'newest' | 'oldest';
  /** The message that reading starts behind; `undefined`: the end of the channel. */
  readonly anchor: Message | undefined;
  readonly count: number;
}

/** Messages in the order they were read. */
interface Read {
  readonly messages: Message[];
  readonly hasMore: boolean;
}

const CHANNELS_INDEX = 'playground-channels';

/** The messages of all channels, kept in the store; every change is told to whoever listens, in any process. */
export class MessageStore {
  readonly news: LiveUpdates;
  readonly #store: Store;
  readonly #clock: Clock;
  /** The highest numbers that this process gave away: those given at the same time are not in the store yet. */
  readonly #newest = new Map<string, number>();
  readonly #listed = new Set<string>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.news = new LiveUpdates(store, (id) => this.get(id));
  }

  /** The message, or `undefined`. */
  get(id: string): Promise<Message | undefined> {
    return this.#store.keyv('playground').get<Message>(recordKey(id));
  }

  /**
   * Reads a page of a channel's messages.
   * @returns `null` where `before`, `after` or `around` names no message of the channel that `user` may see.
   */
  async list(wanted: MessagesWanted): Promise<MessagesPage | null> {
    const { channel, user, limit = DEFAULT_PAGE } = wanted;
    const anchorId = wanted.around ?? wanted.before ?? wanted.after;
    const anchor = anchorId === undefined ? undefined : await this.get(anchorId);
    if (anchorId !== undefined && !(anchor?.channel === channel && (user === undefined || maySee(anchor, user)))) {
      return null;
    }
    const read = (order: 'newest' | 'oldest', count: number): Promise<Read> =>
      this.#readVisible({ channel, user, order, anchor, count });
    if (anchor === undefined || wanted.around !== undefined || wanted.before !== undefined) {
      const isAround = anchor !== undefined && wanted.around !== undefined;
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

  /** Reads what a person may see, in one direction from `anchor` (excluded) or from the end of the channel. */
  async #readVisible({ channel, user, order, anchor, count }: Direction): Promise<Read> {
    const messages: Message[] = [];
    let from = anchor === undefined ? undefined : { member: anchor.id, score: anchor.order };
    for (;;) {
      const entries = await this.#entriesBehind(channel, order, from);
      if (entries.length === 0) return { messages, hasMore: false };
      from = entries.at(-1);
      const keys = entries.map(({ member }) => recordKey(member));
      for (const message of await this.#store.keyv('playground').getMany<Message>(keys)) {
        if (message === undefined || !(user === undefined || maySee(message, user))) continue;
        if (messages.length >= count) return { messages, hasMore: true };
        messages.push(message);
      }
    }
  }

  /** The next entries of a channel's index behind `from`; several may have the same score. */
  async #entriesBehind(
    channel: string,
    order: 'newest' | 'oldest',
    from: IndexEntry | undefined,
  ): Promise<readonly IndexEntry[]> {
    const bounds = from === undefined ? {} : order === 'newest' ? { max: from.score } : { min: from.score };
    for (let offset = 0; ; offset += READ_AT_ONCE) {
      const entries = await this.#store.scan(indexOf(channel), { ...bounds, order, offset, limit: READ_AT_ONCE });
      const behind = entries.filter(({ member, score }) => {
        if (from === undefined || score !== from.score) return true;
        return order === 'newest' ? member < from.member : member > from.member;
      });
      if (behind.length > 0 || entries.length < READ_AT_ONCE) return behind;
    }
  }

  /** The channels that ever had a message, oldest first. */
  async channels(): Promise<readonly string[]> {
    const entries = await this.#store.scan(CHANNELS_INDEX, { order: 'oldest' });
    return entries.map(({ member }) => member);
  }

  /** Adds a message under its id, or finds the one that is there. */
  async post(given: NewMessage): Promise<Message> {
    const there = await this.get(given.id);
    if (there !== undefined) return there;
    const order = await this.#nextOrder(given.channel);
    const message: Message = { ...EMPTY, createdAtMs: this.#clock.now(), ...given, order, revision: 1 };
    const isNew = await this.#store.commit({
      records: [{ namespace: 'playground', key: recordKey(message.id), value: message, expected: 'absent' }],
      index: [
        { index: indexOf(message.channel), member: message.id, score: order },
        ...(await this.#channelEntry(message.channel)),
      ],
    });
    if (!isNew) return (await this.get(message.id)) ?? message;
    this.news.tell({ kind: 'message', message });
    return message;
  }

  /**
   * Replaces a message by what `change` makes of it; the same object back changes nothing.
   * @throws DailiesError `message_gone` when there is none.
   */
  async change(id: string, change: (message: Message) => Message): Promise<Message> {
    for (;;) {
      const there = await this.get(id);
      if (there === undefined) throw gone(id);
      const changed = change(there);
      if (changed === there) return there;
      const message = { ...changed, revision: there.revision + 1 };
      const done = await this.#store.commit({
        records: [{ namespace: 'playground', key: recordKey(id), value: message, expected: there.revision }],
      });
      if (!done) continue;
      this.news.tell({ kind: 'message', message });
      return message;
    }
  }

  /** Takes a message away; one that is not there stays so. */
  async remove(id: string): Promise<void> {
    const message = await this.get(id);
    if (message === undefined) return;
    await this.#store.commit({
      records: [{ namespace: 'playground', key: recordKey(id), value: null, expected: 'any' }],
      index: [{ index: indexOf(message.channel), member: id, score: null }],
    });
    this.news.tell({ kind: 'gone', message });
  }

  /** After everything that is in the channel, whoever's clock said when that was. */
  async #nextOrder(channel: string): Promise<number> {
    const [stored] = await this.#store.scan(indexOf(channel), { limit: 1 });
    const newest = Math.max(stored?.score ?? 0, this.#newest.get(channel) ?? 0);
    const order = Math.max(this.#clock.now(), newest + 1);
    this.#newest.set(channel, order);
    return order;
  }

  /** A channel's first message puts it on the list; there it keeps its place. */
  async #channelEntry(channel: string): Promise<readonly IndexWrite[]> {
    if (!this.#listed.has(channel)) for (const known of await this.channels()) this.#listed.add(known);
    if (this.#listed.has(channel)) return [];
    return [{ index: CHANNELS_INDEX, member: channel, score: this.#clock.now() }];
  }
}

/** Whether `user` may see, press and react to `message`. */
export function maySee(message: Pick<Message, 'visibleTo'>, user: string): boolean {
  return message.visibleTo === null || message.visibleTo === user;
}

/** The message as it goes over the wire. */
export function toWire(message: Message): WireMessage {
  return {
    ...message,
    replyTo: message.replyTo?.message ?? null,
    replyChannel: message.replyTo?.channel ?? null,
    text: plainText(message.card),
    mentions: mentionsOf(message.card),
    attachments: message.attachments.map((attachment) => ({
      ...attachment,
      url: `/playground/files/${message.id}/${encodeURIComponent(attachment.name)}`,
    })),
    buttons: buttonsIn(message.card),
  };
}

const EMPTY = {
  author: BOT_NAME,
  replyTo: null,
  visibleTo: null,
  asked: null,
  task: null,
  state: null,
  progress: null,
  clip: null,
  attachments: [],
  reactions: {},
  edits: 0,
} as const satisfies Partial<Message>;

function recordKey(id: string): string {
  return `message:${id}`;
}

function indexOf(channel: string): string {
  return `playground:${channel}`;
}

function gone(id: string): DailiesError {
  return new DailiesError(`changing message ${id}: there is none`, { code: 'message_gone', retryable: false });
}
