import { isAskedOf, type MessageRef } from '#src/chat/index.ts';
import { collection, type RecordWrite, type Store, type Versioned } from '#src/engine/index.ts';
import type { TaskId } from '#src/tasks/index.ts';

/** Outbox record of a message, persisted before the call to Slack, so that a lost response can be detected. */
export interface PostRecord extends Versioned {
  readonly channel: string;
  readonly thread: string | null;
  /** Time of the last request to post it, ms since the epoch. */
  readonly sinceMs: number;
  /** Slack's `ts`; `null`: unconfirmed, the message may or may not exist. */
  readonly message: string | null;
}

export interface FileRecord extends Versioned {
  /** Slack's file id. */
  readonly file: string;
  /**
   * `uploaded`: Slack has the bytes, not visible yet. `sharing`: Slack was asked to share it, the outcome is unknown.
   * `accepted`: Slack confirmed that it will share it. `shared`: it is visible.
   */
  readonly state: 'uploaded' | 'sharing' | 'accepted' | 'shared';
  readonly name: string;
  readonly bytes: number;
  /** Destination: the task's channel, or a direct message if that refuses files. */
  readonly channel: string;
  /** Time of the upload, or of the last request to share it, ms since the epoch. */
  readonly sinceMs: number;
  /** True if its message mentions the requester, so that no separate notification follows. Default: false. */
  readonly isAnnounced?: boolean;
  /** `ts` of its message, once known. */
  readonly message?: string;
  /** Its URL for members of the workspace; `null` until known. */
  readonly permalink: string | null;
  /** Its task, on the card of a set. Absent: it is the only file of its message. */
  readonly task?: TaskId;
}

/** Files of a message in one record, so that a single compare-and-set guards them all. */
interface FilesRecord extends FileRecord {
  readonly more?: readonly Next<FileRecord>[];
}

const KEPT = 'kept; what is made of a prompt, such as the name of a clip’s file, until that is removed or expires';
const keyOf = ({ channel, message }: MessageRef): string => `${channel}:${message}`;

const slackPosts = collection<string, PostRecord>({
  name: 'slack_posts',
  holds: 'messages of Slack by the key that they were posted under, which names whom a request for approval asked',
  kept: KEPT,
  personal: { forget: (post, of, key) => (isAskedOf(key, of) ? null : post) },
});

const slackFiles = collection<MessageRef, FilesRecord>({
  name: 'slack_files',
  key: keyOf,
  holds: 'the files of messages of Slack, with their names',
  kept: KEPT,
  personal: 'with its task',
});

/** The first message of a reply's thread. */
const slackThreads = collection<MessageRef, { readonly thread: string }>({
  name: 'slack_threads',
  key: keyOf,
  holds: 'the thread of each reply on Slack',
  personal: 'nobody',
});

/** The task's message that another one, such as a notification, stands for. */
const slackStandIns = collection<MessageRef, { readonly message: MessageRef }>({
  name: 'slack_stand_ins',
  key: keyOf,
  holds: 'which message of Slack another one stands for',
  personal: 'nobody',
});

/** The replies with the state of a message that could not be edited any more. */
const slackReplies = collection<MessageRef, readonly MessageRef[]>({
  name: 'slack_replies',
  key: keyOf,
  holds: 'the replies that take the place of an edit on Slack',
  personal: 'nobody',
});

/** The next version of a record; its revision is incremented by the write. */
type Next<Record extends Versioned> = Omit<Record, 'revision'>;

/**
 * The adapter's messages and files in the store, shared by all replicas. Writes are compare-and-set: a replica that was
 * paused while another one took over writes nothing.
 */
export class MessageStore {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns the outbox record of a message by its idempotency key. */
  post(key: string): Promise<PostRecord | undefined> {
    return slackPosts.get(this.#store, key);
  }

  /** @returns the record as written; `null` if the stored one differs from `before`. */
  async rememberPost(
    key: string,
    before: PostRecord | undefined,
    next: Next<PostRecord>,
    also: readonly RecordWrite[] = [],
  ): Promise<PostRecord | null> {
    const { channel, thread, message } = next;
    const isReply = thread !== null && message !== null;
    const more = isReply ? [slackThreads.overwriting({ channel, message }, { thread })] : [];
    const record = slackPosts.replacing(key, before, next);
    const isWritten = await this.#store.commit({ records: [record, ...more, ...also] });
    return isWritten ? { ...next, revision: (before?.revision ?? 0) + 1 } : null;
  }

  /** Deletes the record of a message that was certainly not posted. */
  async forgetPost(key: string, there: PostRecord): Promise<void> {
    await this.#store.commit({ records: [slackPosts.replacing(key, there, null)] });
  }

  /** Returns the `ts` of the first message of a message's thread; its own if it is in none. */
  async rootOf(message: MessageRef): Promise<string> {
    return (await slackThreads.get(this.#store, message))?.thread ?? message.message;
  }

  /** Returns the file of a message that has one alone. */
  async file(message: MessageRef): Promise<FileRecord | undefined> {
    return (await this.files(message))[0];
  }

  async files(message: MessageRef): Promise<readonly FileRecord[]> {
    return filesIn(await slackFiles.get(this.#store, message));
  }

  /**
   * @param shownAs `ts` of the file's message, once known: it is recorded as a stand-in for the task's message.
   * @returns the record as written; `null` if the stored one differs from `before`.
   */
  async rememberFile(
    message: MessageRef,
    before: FileRecord | undefined,
    next: Next<FileRecord>,
    shownAs: string | null = null,
  ): Promise<FileRecord | null> {
    const more = shownAs === null ? [] : [standInWrite({ channel: next.channel, message: shownAs }, message)];
    const written = await this.replaceFiles(message, before === undefined ? [] : [before], [next], more);
    return written === null ? null : { ...next, ...written };
  }

  /**
   * Replaces some files of a message, all read at once, by others.
   * @returns the revision as written; `null` if the stored files differ from those in `before`, or have the next one already.
   */
  async replaceFiles(
    message: MessageRef,
    before: readonly FileRecord[],
    next: readonly Next<FileRecord>[],
    more: readonly RecordWrite[] = [],
  ): Promise<Versioned | null> {
    const record = await slackFiles.get(this.#store, message);
    const others = filesIn(record).filter(({ file }) => before.every((one) => one.file !== file));
    const isThere = others.some(({ name, task }) => task === undefined || name === next[0]?.name);
    if (before.length === 0 && isThere) return null;
    const [read = record] = before;
    const [first, ...rest] = [...others, ...next];
    const files = first === undefined ? null : { ...first, ...(rest.length === 0 ? {} : { more: rest }) };
    const isWritten = await this.#store.commit({ records: [slackFiles.replacing(message, read, files), ...more] });
    return isWritten ? { revision: (read?.revision ?? 0) + 1 } : null;
  }

  /** Records that a message, such as a notification, stands for a task's message: reactions to it count for that. */
  async rememberStandIn(standIn: MessageRef, message: MessageRef): Promise<void> {
    await this.#store.commit({ records: [standInWrite(standIn, message)] });
  }

  /** Returns the task's message that a message stands for; the message itself if it stands for none. */
  async standsFor(message: MessageRef): Promise<MessageRef> {
    return (await slackStandIns.get(this.#store, message))?.message ?? message;
  }

  /** Records a reply with the state of a message that could not be edited any more. */
  async rememberReply(message: MessageRef, reply: MessageRef): Promise<void> {
    const known = await this.replies(message);
    if (known.some((one) => one.message === reply.message)) return;
    await slackReplies.set(this.#store, message, [...known, reply]);
  }

  /** Returns the replies of {@link rememberReply}. */
  async replies(message: MessageRef): Promise<readonly MessageRef[]> {
    return (await slackReplies.get(this.#store, message)) ?? [];
  }

  async forgetReplies(message: MessageRef): Promise<void> {
    await slackReplies.delete(this.#store, message);
  }
}

function filesIn(record: FilesRecord | undefined): readonly FileRecord[] {
  if (record === undefined) return [];
  const { more = [], ...first } = record;
  return [first, ...more.map((file) => ({ ...file, revision: record.revision }))];
}

function standInWrite(standIn: MessageRef, { channel, message }: MessageRef): RecordWrite {
  return slackStandIns.overwriting(standIn, { message: { channel, message } });
}
