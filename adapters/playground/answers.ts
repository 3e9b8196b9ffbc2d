import type { Form } from '#commands/command.ts';
import type { Store } from '#src/store/store.ts';

/** What the HTTP call of something somebody did is answered with. */
export interface Answer {
  readonly status: 202 | 400;
  readonly body:
    | { readonly message: string | null; readonly form?: Form }
    /** One clear sentence. */
    | { readonly error: string };
}

/** The answers given so far: what is done under one key is done once, however often it is asked for. */
export class AnswerBook {
  readonly #store: Store;
  readonly #running = new Map<string, Promise<Answer>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The answer to `key`: the stored one, the one that is being found, or what `find` finds. A rejection is not kept. */
  async once(key: string, find: () => Promise<Answer>): Promise<Answer> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const found = this.#recall(key, find).finally(() => this.#running.delete(key));
    this.#running.set(key, found);
    return found;
  }

  /** Resolves once no answer is being found any more. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.values());
  }

  async #recall(key: string, find: () => Promise<Answer>): Promise<Answer> {
    const kept = this.#store.keyv('playground');
    const stored = await kept.get<Answer>(`answer:${key}`);
    if (stored !== undefined) return stored;
    const answer = await find();
    await kept.set(`answer:${key}`, answer);
    return answer;
  }
}
