import type { FieldProblem, Form } from '#commands/bot-port.ts';
import { type Clock, sleep } from '#src/clock.ts';
import { overloaded } from '#src/errors.ts';
import type { Store } from '#src/store/store.ts';

/** Most answers that are being found at once. */
const MOST_IN_HAND = 5_000;

/** What the HTTP call of something somebody did is answered with. */
export interface CachedResponse {
  readonly status: 202 | 400;
  readonly body:
    | { readonly message: string | null; readonly form?: Form }
    /** One clear sentence; for a form, also by field. */
    | { readonly error: string; readonly problems?: readonly FieldProblem[] };
}

/** How long a replica that died while it found an answer keeps the others from finding it. */
const LEASE_MS = 10_000;
const LOOK_AGAIN_MS = 50;

/** The answers given so far: what is done under one key is done once, however often and wherever it is asked for. */
export class ResponseCache {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #mostInHand: number;
  readonly #running = new Map<string, Promise<CachedResponse>>();

  constructor(store: Store, clock: Clock, mostInHand = MOST_IN_HAND) {
    this.#store = store;
    this.#clock = clock;
    this.#mostInHand = mostInHand;
  }

  /**
   * The answer to `key`: the stored one, the one that is being found, or what `find` finds. A rejection is not kept.
   * @throws `overloaded` where too many are being found.
   */
  async once(key: string, find: () => Promise<CachedResponse>): Promise<CachedResponse> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    if (this.#running.size >= this.#mostInHand) throw overloaded(`finding the answer to ${key}`);
    const found = this.#recall(key, find).finally(() => this.#running.delete(key));
    this.#running.set(key, found);
    return found;
  }

  /** Resolves once no answer is being found any more. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.values());
  }

  /** One replica finds it; the others wait for what it found. */
  async #recall(key: string, find: () => Promise<CachedResponse>): Promise<CachedResponse> {
    for (;;) {
      const lease = await this.#store.leases.take(`playground:answer:${key}`, LEASE_MS);
      try {
        const stored = await this.#stored(key);
        if (stored !== undefined) return stored;
        if (lease !== null) return await this.#find(key, find);
      } finally {
        await lease?.release();
      }
      await sleep(this.#clock, LOOK_AGAIN_MS);
    }
  }

  /** Whoever was stopped for so long that another one found an answer gives that one. */
  async #find(key: string, find: () => Promise<CachedResponse>): Promise<CachedResponse> {
    const answer = await find();
    const record = { namespace: 'playground', key: recordKey(key), value: answer, expected: 'absent' } as const;
    if (await this.#store.commit({ records: [record] })) return answer;
    return (await this.#stored(key)) ?? answer;
  }

  #stored(key: string): Promise<CachedResponse | undefined> {
    return this.#store.keyv('playground').get<CachedResponse>(recordKey(key));
  }
}

function recordKey(key: string): string {
  return `answer:${key}`;
}
