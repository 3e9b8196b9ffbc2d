import { z } from 'zod';
import { type Store, Topic } from '#src/engine/index.ts';
import type { Message } from './message-store.ts';

/** Change of a message, for the open pages. */
export type BoardEvent =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'gone'; readonly message: Pick<Message, 'id' | 'channel' | 'visibleTo'> }
  /** Events may have been lost: reload. */
  | { readonly kind: 'missed' };

/** Payload broadcast to the other replicas. Carries the id of a changed message only, since most have no page open. */
const broadcastSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('message'), id: z.string() }),
  z.object({
    kind: z.literal('gone'),
    message: z.object({ id: z.string(), channel: z.string(), visibleTo: z.string().nullable() }),
  }),
  z.object({ kind: z.literal('missed') }),
]);
type Broadcast = z.output<typeof broadcastSchema>;

/** Publishes message changes to the listeners of this process and, through the store's broadcast, of all replicas. */
export class LiveUpdates {
  readonly #topic: Topic<Broadcast>;
  readonly #read: (id: string) => Promise<Message | undefined>;
  readonly #listeners = new Set<(event: BoardEvent) => void>();

  /** @param read reads a message from the store. */
  constructor(store: Store, read: (id: string) => Promise<Message | undefined>) {
    this.#topic = new Topic(store, 'playground', broadcastSchema);
    this.#read = read;
    this.#topic.subscribe(
      (fact) => this.#onBroadcast(fact),
      () => this.#onMissed(),
    );
  }

  /** Subscribes `listener` to every change until the returned function is called. */
  subscribe(listener: (event: BoardEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publish(event: Exclude<BoardEvent, { kind: 'missed' }>): void {
    this.#notify(event);
    const { id, channel, visibleTo } = event.message;
    this.#topic.publish(
      event.kind === 'message' ? { kind: 'message', id } : { ...event, message: { id, channel, visibleTo } },
    );
  }

  #notify(event: BoardEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Handles a lost connection to the store: broadcasts may have been lost in both directions. */
  #onMissed(): void {
    this.#notify({ kind: 'missed' });
    this.#topic.publish({ kind: 'missed' });
  }

  #onBroadcast(event: Broadcast): void {
    if (this.#listeners.size === 0) return;
    if (event.kind === 'message') void this.#fetch(event.id);
    else this.#notify(event);
  }

  /** Reads a message that another replica changed. Reads may overtake each other: pages go by its revision. */
  async #fetch(id: string): Promise<void> {
    try {
      const message = await this.#read(id);
      if (message !== undefined) this.#notify({ kind: 'message', message });
    } catch {
      this.#notify({ kind: 'missed' });
    }
  }
}
