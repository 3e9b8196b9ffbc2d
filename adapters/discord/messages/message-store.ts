import type { APIMessageTopLevelComponent } from 'discord.js';
import { BoundedMap } from '#src/bounded-map.ts';
import type { MessageRef } from '#src/chat/platform.ts';
import type { Store } from '#src/store/store.ts';
import type { TaskId } from '#src/tasks/task.ts';

/** The token of an interaction whose original answer a message is. */
export interface MessageToken {
  readonly application: string;
  readonly token: string;
  /** Until when it may be used. */
  readonly expiresAtMs: number;
}

/** The clip that a message carries. */
export interface KeptClip {
  /** Discord's id of the attachment; `null` where its answer did not say. */
  readonly id: string | null;
  readonly name: string;
  readonly description: string;
}

/** What is remembered of a task's message. */
export interface MessageRecord {
  readonly revision: number;
  readonly task: TaskId;
  readonly channel: string;
  readonly message: string;
  /** `null`: there was none, or Discord no longer takes it. */
  readonly token: MessageToken | null;
  readonly clip: KeptClip | null;
  /** Whether an upload was begun whose end nobody knows: the clip may be there. */
  readonly isUploading?: boolean;
  /** What it shows, where only the token can change it: the reminder to press is added to that. */
  readonly shown: readonly APIMessageTopLevelComponent[] | null;
}

/** A message that is to ask for a press. */
export interface WaitingMessage {
  readonly message: string;
  readonly atMs: number;
}

/** Tokens remembered as refused; each ends by itself after 15 minutes. */
const MOST_REFUSED = 10_000;
const WAITING_AT_ONCE = 100;
const WAITING_INDEX = 'discord-following';

/** What the adapter remembers, in the store: a restart finds it again. */
export class MessageStore {
  readonly #store: Store;
  /** Of this process alone: another one may find it out once more. */
  readonly #refused = new BoundedMap<string, true>(MOST_REFUSED);

  constructor(store: Store) {
    this.#store = store;
  }

  /** Remembers that Discord refused an interaction's token. */
  refused(token: string): void {
    this.#refused.set(token, true);
  }

  /** Whether Discord refused an interaction's token. */
  isRefused(token: string): boolean {
    return this.#refused.has(token);
  }

  /** The message of a task. */
  async ofTask(task: TaskId): Promise<MessageRef | undefined> {
    return this.#records.get<MessageRef>(`discord:task:${task}`);
  }

  /** The task that a notice of ours is about. */
  async taskOfNotice(message: string): Promise<TaskId | undefined> {
    return (await this.#records.get<{ readonly task: TaskId }>(`discord:notice-of:${message}`))?.task;
  }

  /** Remembers which task a notice is about, for reactions to it. */
  async noticed(message: string, task: TaskId): Promise<void> {
    await this.#records.set(`discord:notice-of:${message}`, { task });
  }

  /** What is known of a task's message. */
  message(id: string): Promise<MessageRecord | undefined> {
    return this.#records.get<MessageRecord>(messageKey(id));
  }

  /** Remembers a task's message for the first time; where another replica did already, what it knows stays. */
  async opened(record: Omit<MessageRecord, 'revision'>): Promise<void> {
    const { task, channel, message } = record;
    const key = `discord:task:${task}`;
    await this.#store.commit({
      records: [
        { namespace: 'adapters', key: messageKey(message), value: { revision: 1, ...record }, expected: 'absent' },
        { namespace: 'adapters', key, value: { revision: 1, channel, message }, expected: 'absent' },
      ],
    });
  }

  /** Changes what is known of a message; nothing happens where nothing is. */
  async change(
    id: string,
    changes: Partial<Pick<MessageRecord, 'token' | 'clip' | 'isUploading' | 'shown'>>,
  ): Promise<void> {
    for (;;) {
      const there = await this.message(id);
      if (there === undefined) return;
      const value = { ...there, ...changes, revision: there.revision + 1 };
      const expected = there.revision;
      if (await this.#store.commit({ records: [{ namespace: 'adapters', key: messageKey(id), value, expected }] }))
        return;
    }
  }

  /** Plans, or with `null` forgets, when a message is to ask for a press. */
  async waitFor(message: string, atMs: number | null): Promise<void> {
    await this.#store.commit({ records: [], index: [{ index: WAITING_INDEX, member: message, score: atMs }] });
  }

  /** The messages that are to ask for a press next, and when. */
  async waiting(): Promise<readonly WaitingMessage[]> {
    const entries = await this.#store.scan(WAITING_INDEX, { order: 'oldest', limit: WAITING_AT_ONCE });
    return entries.map(({ member, score }) => ({ message: member, atMs: score }));
  }

  /** A small value of its own, such as the hash of what was registered. */
  recall<Value>(key: string): Promise<Value | undefined> {
    return this.#records.get<Value>(`discord:${key}`);
  }

  async remember(key: string, value: unknown): Promise<void> {
    await this.#records.set(`discord:${key}`, value);
  }

  /** Deletes what {@link remember} kept. */
  async forget(key: string): Promise<void> {
    await this.#records.delete(`discord:${key}`);
  }

  get #records() {
    return this.#store.keyv('adapters');
  }
}

function messageKey(id: string): string {
  return `discord:message:${id}`;
}
