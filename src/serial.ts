/** Runs work of the same key one after the other, in the order of the calls, within this process. */
export class Serial<Key> {
  readonly #last = new Map<Key, Promise<unknown>>();

  /** Runs `work` once all earlier work of its key has ended, also with a failure. */
  run<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const running = before.catch(() => undefined).then(work);
    this.#last.set(key, running);
    const forget = (): void => {
      if (this.#last.get(key) === running) this.#last.delete(key);
    };
    running.then(forget, forget);
    return running;
  }
}
