import type { MessageRef } from '#src/chat/platform.ts';
import type { View } from '#src/chat/view.ts';
import type { RecordWrite, Store, Versioned } from '#src/store/store.ts';
import type { TaskId } from '#src/tasks/task.ts';

/** A message on its way: written before Slack is asked, so that a lost answer is known as one. */
export interface PostRecord extends Versioned {
  readonly channel: string;
  readonly thread: string | null;
  /** When it was asked for the last time, ms since the epoch. */
  readonly sinceMs: number;
  /** Slack's `ts`; `null`: whether it is there is not known. */
  readonly message: string | null;
}

/** A file on its way. */
export interface FileRecord extends Versioned {
  /** Slack's id of it. */
  readonly file: string;
  /**
   * `uploaded`: Slack has the bytes, and nobody sees them. `sharing`: Slack was asked to show it, and may have.
   * `accepted`: Slack said that it will show it. `shared`: it is there for everybody.
   */
  readonly state: 'uploaded' | 'sharing' | 'accepted' | 'shared';
  readonly name: string;
  readonly bytes: number;
  /** Where it is shown: the channel of the task, or a direct message where that takes no file. */
  readonly channel: string;
  /** When Slack was first asked to show it, ms since the epoch. */
  readonly sinceMs: number;
  /** Whether its message mentions the requester, so that no notice follows. Default: no. */
  readonly isAnnounced?: boolean;
  /** Its address for people in the workspace; `null` as long as it is not known. */
  readonly permalink: string | null;
}

/** A record as it is to be next; its revision is counted here. */
type Next<Record extends Versioned> = Omit<Record, 'revision'>;

interface Writing<Record extends Versioned> {
  readonly before: Record | undefined;
  readonly next: Next<Record>;
  /** What is written with it. */
  readonly more?: readonly RecordWrite[];
}

/**
 * What the adapter remembers, in the store: a restart, and every replica, finds it again. Whoever writes says what was
 * there; one that was stopped for so long that another replica went on in its place writes nothing.
 */
export class MessageStore {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** A message by the key under which it is posted once. */
  post(key: string): Promise<PostRecord | undefined> {
    return this.#records.get<PostRecord>(postKey(key));
  }

  /** @returns what is there now; `null` where something else than `before` was there. */
  async rememberPost(key: string, before: PostRecord | undefined, next: Next<PostRecord>): Promise<PostRecord | null> {
    const { channel, thread, message } = next;
    const isReply = thread !== null && message !== null;
    const root: RecordWrite = {
      namespace: 'adapters',
      key: threadKey({ channel, message: message ?? '' }),
      value: { thread },
      expected: 'any',
    };
    return this.#write(postKey(key), { before, next, more: isReply ? [root] : [] });
  }

  /** What was to be posted was certainly not. */
  async forgetPost(key: string, there: PostRecord): Promise<void> {
    await this.#delete(postKey(key), there);
  }

  /** The first message of the thread in which one of ours stands; itself where it stands in none. */
  async rootOf(message: MessageRef): Promise<string> {
    // Earlier versions wrote a text.
    const found = await this.#records.get<string | { readonly thread: string }>(threadKey(message));
    return (typeof found === 'object' ? found.thread : found) ?? message.message;
  }

  /** The file of a task's message. */
  file(message: MessageRef): Promise<FileRecord | undefined> {
    return this.#records.get<FileRecord>(fileKey(message));
  }

  /**
   * @param shownAs the `ts` of the message that shows the file, once it is known: it stands for the task's message.
   * @returns what is there now; `null` where something else than `before` was there.
   */
  rememberFile(
    message: MessageRef,
    before: FileRecord | undefined,
    next: Next<FileRecord>,
    shownAs: string | null = null,
  ): Promise<FileRecord | null> {
    const more = shownAs === null ? [] : [standInWrite({ channel: next.channel, message: shownAs }, message)];
    return this.#write(fileKey(message), { before, next, more });
  }

  /** Records that a message, such as a notice, stands for a task's message: a reaction to the one counts for the other. */
  async rememberStandIn(standIn: MessageRef, message: MessageRef): Promise<void> {
    await this.#store.commit({ records: [standInWrite(standIn, message)] });
  }

  /** The task's message that a message stands for; the message itself where it stands for none. */
  async standsFor(message: MessageRef): Promise<MessageRef> {
    return (await this.#records.get<{ readonly message: MessageRef }>(standInKey(message)))?.message ?? message;
  }

  async forgetFile(message: MessageRef, there: FileRecord): Promise<void> {
    await this.#delete(fileKey(message), there);
  }

  async #write<Record extends Versioned>(
    key: string,
    { before, next, more = [] }: Writing<Record>,
  ): Promise<(Next<Record> & Versioned) | null> {
    const value = { ...next, revision: (before?.revision ?? 0) + 1 };
    const records = [{ namespace: 'adapters', key, value, expected: expectedOf(before) } as const, ...more];
    return (await this.#store.commit({ records })) ? value : null;
  }

  async #delete(key: string, there: Versioned): Promise<void> {
    const record = { namespace: 'adapters', key, value: null, expected: expectedOf(there) } as const;
    await this.#store.commit({ records: [record] });
  }

  get #records() {
    return this.#store.keyv('adapters');
  }
}

/** The key of a task's own message. */
export function taskKey(task: TaskId): string {
  return `task:${task}`;
}

/** The key of what is said beneath a task's message that cannot be changed any more: once for each thing that it says. */
export function endKey({ channel, message }: MessageRef, view: View): string {
  const says = view.kind === 'task' ? [view.phase, view.sends, view.handover?.kind, view.lateOutcome] : [view.phase];
  return ['end', channel, message, ...says].join(':');
}

/** The key of a notice. */
export function noticeKey(key: string): string {
  return `notice:${key}`;
}

/** Records of earlier versions have no revision, and nobody else to fear. */
function expectedOf(there: Partial<Versioned> | undefined): RecordWrite['expected'] {
  return there === undefined ? 'absent' : (there.revision ?? 'any');
}

function postKey(key: string): string {
  return `slack:post:${key}`;
}

function standInWrite(standIn: MessageRef, { channel, message }: MessageRef): RecordWrite {
  const value = { message: { channel, message } };
  return { namespace: 'adapters', key: standInKey(standIn), value, expected: 'any' };
}

function standInKey({ channel, message }: MessageRef): string {
  return `slack:stands-for:${channel}:${message}`;
}

function threadKey({ channel, message }: MessageRef): string {
  return `slack:thread:${channel}:${message}`;
}

function fileKey({ channel, message }: MessageRef): string {
  return `slack:file:${channel}:${message}`;
}
