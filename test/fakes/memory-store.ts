import { Keyv } from 'keyv';
import { systemClock } from '#src/clock.ts';
import { LocalBroadcast } from '#src/engine/cluster/broadcast.ts';
import { createLocalLeases } from '#src/engine/cluster/leases.ts';
import { type LimitCheck, type PreparedChange, prepared } from '#src/engine/store/prepared-change.ts';
import type {
  Bounds,
  Change,
  IndexEntry,
  IndexWrite,
  NamedSum,
  Namespace,
  Range,
  RecordWrite,
  Store,
  StoreContents,
  StoredRecord,
  SumParts,
  Versioned,
} from '#src/engine/store/store.ts';
import { addParts, isWithinBudget, usedBeyondExtra, ZERO_SUM } from '#src/engine/store/sums.ts';

/** An in-memory store: the port's rules on maps. Commits run one after the other. */
export class MemoryStore implements Store {
  readonly exclusive: boolean;
  leases = createLocalLeases(systemClock);
  readonly broadcast = new LocalBroadcast();
  readonly contents: StoreContents = {
    records: (namespace) => this.#records(namespace),
    namespaces: async () => {
      const all = [...this.#keyvs.keys()];
      const areUsed = await Promise.all(
        all.map(async (one) => (await Array.fromAsync(this.#records(one))).flat().length > 0),
      );
      return all.filter((_one, at) => areUsed[at]);
    },
    indexes: async () => [...this.#indexes].filter(([, entries]) => entries.size > 0).map(([name]) => name),
    sums: () => this.#allSums(),
    setSums: async (sums) => {
      for (const { sum, parts } of sums) {
        if (parts === null) this.#sums.delete(sum);
        else this.#sums.set(sum, parts);
      }
    },
    dropEmptySums: async (names) => {
      for (const name of names) {
        if (Object.values(this.#sums.get(name) ?? {}).every((part) => part === 0n)) this.#sums.delete(name);
      }
    },
    overwriteDeleted: async () => undefined,
    leases: async () => [],
  };
  readonly #keyvs = new Map<Namespace, Keyv>();
  readonly #indexes = new Map<string, Map<string, number>>();
  readonly #sums = new Map<string, SumParts>();
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

  async commit(change: Change): Promise<boolean> {
    const { sums, within } = prepared(change);
    const done = this.#last.then(() => this.#apply({ ...change, sums, within }));
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

  async sums(names: readonly string[]): Promise<readonly SumParts[]> {
    return names.map((name) => this.#sums.get(name) ?? ZERO_SUM);
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

  async *#allSums(): AsyncGenerator<readonly NamedSum[]> {
    yield [...this.#sums].map(([sum, parts]) => ({ sum, parts }));
  }

  async #apply({
    records,
    index = [],
    bounds = [],
    sums,
    within,
  }: Omit<Change, 'sums'> & Pick<PreparedChange, 'sums' | 'within'>): Promise<boolean> {
    for (const record of records) {
      if (!(await this.#holds(record))) return false;
    }
    for (const { index: bounded, min, below } of bounds) {
      if ((await this.scan(bounded, min === undefined ? {} : { min })).length >= below) return false;
    }
    for (const limit of within) {
      if (!(await this.#isAffordable(limit))) return false;
    }
    for (const { namespace, key, value } of records) {
      if (value === undefined) continue;
      const keyv = this.keyv(namespace);
      await (value === null ? keyv.delete(key) : keyv.set(key, structuredClone(value)));
    }
    for (const entry of index) this.#setEntry(entry);
    for (const [sum, parts] of sums) this.#sums.set(sum, addParts(this.#sums.get(sum) ?? ZERO_SUM, parts));
    return true;
  }

  async #isAffordable({ sum, adds, budgets, currency }: LimitCheck): Promise<boolean> {
    const used = usedBeyondExtra(this.#sums.get(sum) ?? ZERO_SUM) + adds;
    return isWithinBudget(used, await this.keyv('budgets').getMany([...budgets]), currency);
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
