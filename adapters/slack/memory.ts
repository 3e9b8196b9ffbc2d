import type { MessageRef } from '#src/chat/platform.ts';
import type { Store } from '#src/store/store.ts';
import type { TaskId } from '#src/tasks/task.ts';

/** A message on its way: written before Slack is asked, so that a lost answer is known as one. */
export interface PostRecord {
  readonly channel: string;
  readonly thread: string | null;
  /** When it was first asked for, ms since the epoch. */
  readonly sinceMs: number;
  /** Slack's `ts`; `null`: whether it is there is not known. */
  readonly message: string | null;
}

/** A file on its way. */
export interface FileRecord {
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
  /** Its address for people in the workspace; `null` as long as it is not known. */
  readonly permalink: string | null;
}

/** What the adapter remembers, in the store: a restart finds it again. */
export class SlackMemory {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** A message by the key under which it is posted once. */
  post(key: string): Promise<PostRecord | undefined> {
    return this.#records.get<PostRecord>(`slack:post:${key}`);
  }

  async rememberPost(key: string, record: PostRecord): Promise<void> {
    await this.#records.set(`slack:post:${key}`, record);
    const { channel, thread, message } = record;
    if (thread !== null && message !== null) await this.#records.set(`slack:thread:${channel}:${message}`, thread);
  }

  /** The first message of the thread in which one of ours stands; itself where it stands in none. */
  async rootOf({ channel, message }: MessageRef): Promise<string> {
    return (await this.#records.get<string>(`slack:thread:${channel}:${message}`)) ?? message;
  }

  /** What was to be posted was certainly not. */
  async forgetPost(key: string): Promise<void> {
    await this.#records.delete(`slack:post:${key}`);
  }

  /** The file of a task's message. */
  file(message: MessageRef): Promise<FileRecord | undefined> {
    return this.#records.get<FileRecord>(fileKey(message));
  }

  async rememberFile(message: MessageRef, record: FileRecord): Promise<void> {
    await this.#records.set(fileKey(message), record);
  }

  async forgetFile(message: MessageRef): Promise<void> {
    await this.#records.delete(fileKey(message));
  }

  get #records() {
    return this.#store.keyv('adapters');
  }
}

/** The key of a task's own message. */
export function taskKey(task: TaskId): string {
  return `task:${task}`;
}

/** The key of a notice. */
export function noticeKey(key: string): string {
  return `notice:${key}`;
}

function fileKey({ channel, message }: MessageRef): string {
  return `slack:file:${channel}:${message}`;
}
