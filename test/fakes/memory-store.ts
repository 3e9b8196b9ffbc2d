import { Keyv } from 'keyv';
import { systemClock } from '#src/clock.ts';
import { createLocalBroadcast } from '#src/cluster/broadcast.ts';
import { createLocalLeases } from '#src/cluster/leases.ts';
import type {
  Bounds,
  Change,
  IndexEntry,
  IndexWrite,
  Namespace,
  Range,
  RecordWrite,
  Store,
  StoreContents,
  StoredRecord,
  Versioned,
} from '#src/store/store.ts';

/** An in-memory store: the port's rules on maps. Commits run one after the other. */
export class MemoryStore implements Store {
  readonly exclusive: boolean;
  leases = createLocalLeases(systemClock);
  readonly broadcast = createLocalBroadcast();
  readonly contents: StoreContents = {
    records: (namespace) => this.#records(namespace),
    indexes: async () => [...this.#indexes].filter(([, entries]) => entries.size > 0).map(([name]) => name),
    leases: async () => [],
  };
  readonly #keyvs = new Map<Namespace, Keyv>();
  readonly #indexes = new Map<string, Map<string, number>>();
  #last: Promise<unknown> = Promise.resolve();

  /** Simulates a crash of the process: releases its leases. */
  reopen(): void {
    this.leases = createLocalLeases(systemClock);
  }

  /** @param exclusive `false` if a test runs several replicas on it. */
  constructor(exclusive = true) {
    this.exclusive = exclusive;
  }

  keyv(namespace: Namespace): Keyv {
    const known = this.#keyvs.get(namespace);
    if (known !== undefined) return known;
    const made = new Keyv({ store: new Map(), namespace, throwOnErrors: true });
    this.#keyvs.set(namespace, made);
    return made;
  }

  commit(change: Change): Promise<boolean> {
    const done = this.#last.then(() => this.#apply(change));
    this.#last = done.catch(() => undefined);
    return done;
  }

  scan(index: string, range: Range = {}): Promise<readonly IndexEntry[]> {
    const { min = -Infinity, max = Infinity, order = 'newest', limit = Infinity, offset = 0 } = range;
    const direction = order === 'newest' ? -1 : 1;
    const entries = [...(this.#indexes.get(index) ?? [])]
      .map(([member, score]) => ({ member, score }))
      .filter(({ score }) => score >= min && score <= max)
      .sort((a, b) => direction * (a.score - b.score || (a.member < b.member ? -1 : 1)));
    return Promise.resolve(entries.slice(offset, offset + limit));
  }

  async count(index: string, bounds: Bounds = {}): Promise<number> {
    return (await this.scan(index, bounds)).length;
  }

  ping(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await this.#last;
  }

  async *#records(namespace: Namespace): AsyncGenerator<readonly StoredRecord[]> {
    const keyv = this.keyv(namespace);
    for await (const [key, value] of keyv.iterator?.(namespace) ?? []) {
      const { expires } = (await keyv.getRaw(key)) ?? {};
      yield [{ key, value, ...(typeof expires === 'number' ? { endsAtMs: expires } : {}) }];
    }
  }

  async #apply({ records, index = [], bounds = [] }: Change): Promise<boolean> {
    for (const record of records) {
      if (!(await this.#holds(record))) return false;
    }
    for (const { index: bounded, min, below } of bounds) {
      if ((await this.scan(bounded, min === undefined ? {} : { min })).length >= below) return false;
    }
    for (const { namespace, key, value } of records) {
      const keyv = this.keyv(namespace);
      await (value === null ? keyv.delete(key) : keyv.set(key, structuredClone(value)));
    }
    for (const entry of index) this.#setEntry(entry);
    return true;
  }

  async #holds({ namespace, key, expected }: RecordWrite): Promise<boolean> {
    if (expected === 'any') return true;
    const there = await this.keyv(namespace).get<Versioned>(key);
    return expected === 'absent' ? there === undefined : there?.revision === expected;
  }

  #setEntry({ index, member, score }: IndexWrite): void {
    const entries = this.#indexes.get(index) ?? new Map<string, number>();
    this.#indexes.set(index, entries);
    if (score === null) entries.delete(member);
    else entries.set(member, score);
  }
}
