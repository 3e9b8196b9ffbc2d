import { z } from 'zod';
import { Topic } from '#src/cluster/topic.ts';
import type { Store } from '#src/store/store.ts';
import type { Message } from './message-store.ts';

/** What happened on the board, for pages that are open. */
export type BoardEvent =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'gone'; readonly message: Pick<Message, 'id' | 'channel' | 'visibleTo'> }
  /** Something may have happened that nobody here was told of: read again. */
  | { readonly kind: 'missed' };

/** What replicas tell each other: which message changed, and not the message, since most have no page that asks for it. */
const told = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('message'), id: z.string() }),
  z.object({
    kind: z.literal('gone'),
    message: z.object({ id: z.string(), channel: z.string(), visibleTo: z.string().nullable() }),
  }),
  z.object({ kind: z.literal('missed') }),
]);
type Told = z.output<typeof told>;

/** What changes on the board, told to whoever listens in this process and, by the store's broadcast, in the others. */
export class LiveUpdates {
  readonly #others: Topic<Told>;
  readonly #read: (id: string) => Promise<Message | undefined>;
  readonly #listeners = new Set<(event: BoardEvent) => void>();
  /** The messages that are being read for the listeners; `true`: to be read once more. */
  readonly #reading = new Map<string, boolean>();

  /** @param read the message as the store has it. */
  constructor(store: Store, read: (id: string) => Promise<Message | undefined>) {
    this.#others = new Topic(store, 'playground', told);
    this.#read = read;
    this.#others.hear(
      (fact) => this.#heard(fact),
      () => this.#missed(),
    );
  }

  /** Tells `listener` of every change until the returned function is called. */
  listen(listener: (event: BoardEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Something changed, by this process. */
  tell(event: Exclude<BoardEvent, { kind: 'missed' }>): void {
    this.#tellHere(event);
    const { id, channel, visibleTo } = event.message;
    this.#others.tell(
      event.kind === 'message' ? { kind: 'message', id } : { ...event, message: { id, channel, visibleTo } },
    );
  }

  #tellHere(event: BoardEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** The store was away: neither did this process hear the others, nor they this one. */
  #missed(): void {
    this.#tellHere({ kind: 'missed' });
    this.#others.tell({ kind: 'missed' });
  }

  #heard(event: Told): void {
    if (this.#listeners.size === 0) return;
    if (event.kind === 'message') void this.#fetch(event.id);
    else this.#tellHere(event);
  }

  /** Reads a message that changed elsewhere; changes that come meanwhile are read together. */
  async #fetch(id: string): Promise<void> {
    if (this.#reading.has(id)) return void this.#reading.set(id, true);
    do {
      this.#reading.set(id, false);
      try {
        const message = await this.#read(id);
        if (message !== undefined) this.#tellHere({ kind: 'message', message });
      } catch {
        this.#tellHere({ kind: 'missed' });
      }
    } while (this.#reading.get(id) === true);
    this.#reading.delete(id);
  }
}
