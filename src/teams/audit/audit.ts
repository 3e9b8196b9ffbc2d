import { randomUUID } from 'node:crypto';
import type { Keyv } from 'keyv';
import { chunked } from '../../chunked.ts';
import type { Clock } from '../../clock.ts';
import {
  atMost,
  type Change,
  collection,
  commitWithRetries,
  type RecordWrite,
  type Store,
  type Versioned,
} from '../../engine/index.ts';
import type { Person } from '../../tasks/index.ts';
import {
  type Actor,
  type AuditEntry,
  type AuditLog,
  type AuditValue,
  type ChainedEntry,
  type ChainedValue,
  hashOf,
  type LoggedEntry,
  type LoggedValue,
  type Sealed,
  sealOf,
} from './audit-entry.ts';

/** Result of checking a log: the number of its entries, or that of the first one that is missing or was changed. */
type Verification =
  | { readonly ok: true; readonly entries: number }
  | { readonly ok: false; readonly number: number; readonly reason: 'missing' | 'changed' };

/** End of a log, compared by every append. */
interface Head extends Versioned {
  readonly entries: number;
  readonly hash: string;
}

/** Heads, entries, and the persons and notes behind the ids of these. */
const auditRecords = collection<string, object>({
  name: 'audit',
  holds:
    'administrative changes with who made them and whom they concern. The chained entries hold random ids only; a separate record names the person behind each, another the text of a note',
  kept: 'kept: the chain shows that nothing was removed',
  personal: { byOwner: true },
});

/** Hash before the first entry. */
const GENESIS = '';
/** Appends before giving up; each failed one means that another append to the same log succeeded. */
const MAX_TRIES = 100;
const VERIFIED_PER_READ = 500;

/** A change to commit with its entries; without entries, nothing has changed and nothing is committed. */
export interface AuditedChange<Result> {
  /** Default: the entries alone. */
  readonly change?: Change;
  /** Default: none. */
  readonly entries?: readonly AuditEntry[];
  readonly result: Result;
}

/**
 * Logs of administrative changes. An entry is written in the commit of its change, and contains the hash of the entry
 * before it, so that a later manipulation is found. Entries name persons by ids that seal them: the person and the notes
 * behind an id can be erased without breaking the chain, but not replaced.
 */
export class AuditTrail {
  readonly #store: Store;
  readonly #records: Keyv;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(store: Store, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#records = store.keyv(auditRecords.name);
    this.#clock = clock;
  }

  /**
   * Commits a change and its entries at once.
   * @param prepare reads the current state and returns the change; called again after a concurrent change.
   */
  async commitAudited<Result>(
    log: AuditLog,
    actor: Actor,
    prepare: () => Promise<AuditedChange<Result>>,
  ): Promise<Result> {
    const attempt = async () => {
      const { change = { records: [] }, entries = [], result } = await prepare();
      if (entries.length === 0) return { result };
      const records = await this.append(log, actor, entries);
      return { change: { ...change, records: [...change.records, ...records] }, result };
    };
    return commitWithRetries(this.#store, attempt, atMost(MAX_TRIES, `logging a change in ${nameOf(log)}`));
  }

  /**
   * Returns the writes that append entries to a log, to commit with the changes that they describe. The commit fails if
   * the log has grown meanwhile: then call this again.
   */
  async append(log: AuditLog, actor: Actor, entries: readonly AuditEntry[]): Promise<readonly RecordWrite[]> {
    const name = nameOf(log);
    const head = await this.#records.get<Head>(headKey(name));
    const references = new References(name, this.#records);
    const by = actor.person === null ? null : await references.ofPerson(actor.person);
    const chained: Omit<ChainedEntry, 'revision'>[] = [];
    let end = head?.hash ?? GENESIS;
    for (const { action, subject = [], before = [], after = [] } of entries) {
      const entry = {
        number: (head?.entries ?? 0) + chained.length + 1,
        atMs: this.#clock.now(),
        action,
        by,
        surface: actor.surface,
        subject: await references.ofAll(subject),
        before: await references.ofAll(before),
        after: await references.ofAll(after),
      };
      end = hashOf(end, entry);
      chained.push({ ...entry, hash: end });
    }
    const newHead: Omit<Head, 'revision'> = { entries: (head?.entries ?? 0) + chained.length, hash: end };
    return [
      auditRecords.replacing(headKey(name), head, newHead),
      ...chained.map((entry) => auditRecords.replacing(entryKey(name, entry.number), undefined, entry)),
      ...references.writes,
    ];
  }

  /**
   * Erases who a person is from a log, with the notes that they wrote and those that name them. The entries stay, and
   * the chain holds. Idempotent.
   */
  async erase(log: AuditLog, { id, name }: Person): Promise<void> {
    const logName = nameOf(log);
    const known = await this.#records.get<{ readonly id: string }>(personKey(logName, id));
    const head = await this.#records.get<Head>(headKey(logName));
    const written = new Set<string>();
    for await (const entries of this.#pages(logName, 1, known === undefined ? 0 : (head?.entries ?? 0))) {
      for (const entry of entries.filter((one) => one?.by === known?.id)) {
        for (const value of [...(entry?.before ?? []), ...(entry?.after ?? []), ...(entry?.subject ?? [])])
          if (value.kind === 'note') written.add(referenceKey(logName, value.id));
      }
    }
    const isNamedIn = (value: AuditValue): boolean =>
      value.kind === 'note' && (namesWord(value.text, id) || namesWord(value.text, name));
    for await (const { key, value } of this.#all()) {
      if (key.startsWith(referenceKey(logName, '')) && (written.has(key) || isNamedIn(value as AuditValue)))
        await this.#records.delete(key);
    }
    // The record of the id last: until then, a repeated call finds what they wrote.
    if (known !== undefined) await this.#records.delete(referenceKey(logName, known.id));
    await this.#records.delete(personKey(logName, id));
  }

  /** Returns entries, newest first, and the number of all. */
  async page(
    log: AuditLog,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly entries: readonly LoggedEntry[]; readonly total: number }> {
    const name = nameOf(log);
    const total = (await this.#records.get<Head>(headKey(name)))?.entries ?? 0;
    const numbers = Array.from(
      { length: Math.max(0, Math.min(limit, total - offset)) },
      (_, at) => total - offset - at,
    );
    const found = await this.#entries(name, numbers);
    return {
      entries: await Promise.all(found.flatMap((entry) => entry ?? []).map((one) => this.#logged(name, one))),
      total,
    };
  }

  /** Checks every entry of a log by the chain of hashes. */
  async verify(log: AuditLog): Promise<Verification> {
    return this.#verify(nameOf(log));
  }

  /** Checks every log of the store. @returns the logs that fail. */
  async verifyAll(): Promise<readonly { readonly log: string; readonly result: Verification }[]> {
    const names = new Set<string>();
    // An entry without a head is one of a log whose head was removed.
    for await (const { key } of this.#all()) {
      const [, name] = /^(?:head|entry):(.+?)(?:#\d+)?$/u.exec(key) ?? [];
      if (name !== undefined) names.add(name);
    }
    const checked = await Promise.all([...names].map(async (log) => ({ log, result: await this.#verify(log) })));
    return checked.filter(({ result }) => !result.ok);
  }

  /** Returns the heads of all logs: the number of entries, and the hash that stands for all of them. */
  async heads(): Promise<readonly { readonly log: string; readonly entries: number; readonly hash: string }[]> {
    const found: { log: string; entries: number; hash: string }[] = [];
    for await (const { key, value } of this.#all()) {
      const { entries, hash } = value as Head;
      if (key.startsWith(headKey(''))) found.push({ log: key.slice(headKey('').length), entries, hash });
    }
    return found;
  }

  /** Returns whether a log has the entry with a hash: then, if it is intact, it has all entries before it as well. */
  async hasEntry(hash: string): Promise<boolean> {
    const heads = new Map((await this.heads()).map(({ log, entries }) => [log, entries]));
    for await (const { key, value } of this.#all()) {
      const [, log = '', number] = /^entry:(.+)#(\d+)$/u.exec(key) ?? [];
      // An entry beyond the head is left over from an end that was cut off.
      const isLogged = Number(number) <= (heads.get(log) ?? 0);
      if (isLogged && (value as ChainedEntry).hash === hash) return true;
    }
    return false;
  }

  async #verify(name: string): Promise<Verification> {
    let [previous, verified] = [GENESIS, 0];
    for (;;) {
      const head = await this.#records.get<Head>(headKey(name));
      const entries = head?.entries ?? 0;
      let number = verified;
      for await (const read of this.#pages(name, verified + 1, entries)) {
        const replaced = await this.#replaced(
          name,
          new Set(read.flatMap((entry) => (entry === undefined ? [] : sealsOf(entry)))),
        );
        for (const entry of read) {
          number += 1;
          if (entry === undefined) return { ok: false, number, reason: 'missing' };
          previous = hashOf(previous, entry);
          const isIntact = entry.number === number && entry.hash === previous;
          if (!isIntact || sealsOf(entry).some((id) => replaced.has(id)))
            return { ok: false, number, reason: 'changed' };
        }
      }
      if (previous !== (head?.hash ?? GENESIS)) return { ok: false, number: entries, reason: 'changed' };
      const [beyond] = await this.#entries(name, [entries + 1]);
      if (beyond === undefined) return { ok: true, entries };
      const now = await this.#records.get<Head>(headKey(name));
      // Entries beyond the head: the end of the log was cut off, unless the log has grown since the head was read.
      if (now?.revision === head?.revision) return { ok: false, number: entries + 1, reason: 'changed' };
      verified = entries;
    }
  }

  /** Reads all records of all logs. */
  async *#all(): AsyncGenerator<{ readonly key: string; readonly value: unknown }> {
    for await (const page of auditRecords.all(this.#store)) yield* page;
  }

  /** Reads the entries of a log from one number to another, in pages. */
  async *#pages(name: string, from: number, to: number): AsyncGenerator<readonly (ChainedEntry | undefined)[]> {
    const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);
    for (const some of chunked(numbers, VERIFIED_PER_READ)) yield this.#entries(name, some);
  }

  async #entries(name: string, numbers: readonly number[]): Promise<readonly (ChainedEntry | undefined)[]> {
    if (numbers.length === 0) return [];
    return this.#records.getMany<ChainedEntry>(numbers.map((number) => entryKey(name, number)));
  }

  /** Returns the ids behind which there is another person or note than was logged; what was erased is none. */
  async #replaced(name: string, ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const all = [...ids];
    const found = all.length === 0 ? [] : await this.#records.getMany<Sealed>(all.map((id) => referenceKey(name, id)));
    return new Set(all.filter((id, at) => found[at] !== undefined && sealOf(found[at]) !== id));
  }

  async #logged(name: string, entry: ChainedEntry): Promise<LoggedEntry> {
    const { number, atMs, action, surface } = entry;
    const by = entry.by === null ? null : await this.#resolved(name, { kind: 'person', id: entry.by });
    const all = (values: readonly ChainedValue[]) => Promise.all(values.map((value) => this.#resolved(name, value)));
    return {
      number,
      atMs,
      action,
      by: by === null ? null : by.kind === 'person' ? by.person : 'erased',
      surface,
      subject: await all(entry.subject),
      before: await all(entry.before),
      after: await all(entry.after),
    };
  }

  async #resolved(name: string, value: ChainedValue): Promise<LoggedValue> {
    if (!('id' in value)) return value;
    const found = await this.#records.get<Sealed>(referenceKey(name, value.id));
    if (found === undefined) return { kind: 'erased' };
    const { salt: _salt, ...content } = found;
    return content;
  }
}

/** Returns the ids of the persons and notes of an entry. */
function sealsOf({ by, subject, before, after }: ChainedEntry): readonly string[] {
  const ids = [...subject, ...before, ...after].flatMap((value) => ('id' in value ? [value.id] : []));
  return by === null ? ids : [by, ...ids];
}

/** Ids of the persons and notes of an append, with the records behind them. */
class References {
  readonly writes: RecordWrite[] = [];
  readonly #name: string;
  readonly #records: Keyv;
  readonly #known = new Map<string, string>();

  constructor(name: string, records: Keyv) {
    this.#name = name;
    this.#records = records;
  }

  /** Returns the id of a person, who has one per log; a new name replaces the old one. */
  async ofPerson(person: Person): Promise<string> {
    const seen = this.#known.get(person.id);
    if (seen !== undefined) return seen;
    const key = personKey(this.#name, person.id);
    const found = await this.#records.get<{ readonly id: string; readonly salt: string }>(key);
    const sealed: Sealed = { kind: 'person', person, salt: found?.salt ?? randomUUID() };
    const id = sealOf(sealed);
    this.#known.set(person.id, id);
    if (found === undefined) this.#write(key, { revision: 1, id, salt: sealed.salt }, 'absent');
    this.#write(referenceKey(this.#name, id), sealed, 'any');
    return id;
  }

  async ofAll(values: readonly AuditValue[]): Promise<readonly ChainedValue[]> {
    const chained: ChainedValue[] = [];
    for (const value of values) {
      if (value.kind === 'person') chained.push({ kind: 'person', id: await this.ofPerson(value.person) });
      else
        chained.push(
          value.kind === 'note' ? { kind: 'note', id: this.#ofNote({ ...value, salt: randomUUID() }) } : value,
        );
    }
    return chained;
  }

  #ofNote(note: Sealed): string {
    const id = sealOf(note);
    this.#write(referenceKey(this.#name, id), note, 'absent');
    return id;
  }

  #write(key: string, value: object, expected: RecordWrite['expected']): void {
    this.writes.push({ namespace: auditRecords.name, key, value, expected });
  }
}

/** Returns whether a text has a name as words of their own. */
function namesWord(text: string, name: string): boolean {
  const escaped = name.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
  return name !== '' && new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'iu').test(text);
}

function nameOf(log: AuditLog): string {
  return log === 'deployment' ? log : `${log.platform}:${log.team}`;
}

function headKey(name: string): string {
  return `head:${name}`;
}

function entryKey(name: string, number: number): string {
  return `entry:${name}#${number}`;
}

/** Names the record of the content behind an id. */
function referenceKey(name: string, id: string): string {
  return `reference:${name}:${id}`;
}

function personKey(name: string, person: string): string {
  return `person:${name}:${person}`;
}
