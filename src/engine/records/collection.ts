import { changeRecord, type RecordEdit } from '../store/compare-and-set.ts';
import type { RecordWrite, Store, StoredRecord, Versioned } from '../store/store.ts';

/** Person of a team, by the platform's ids. */
export interface Member {
  readonly platform: string;
  readonly team: string;
  readonly person: { readonly id: string; readonly name: string };
}

/** Member who is forgotten, and the pseudonym that replaces them. */
export interface Forgotten extends Member {
  readonly pseudonym: { readonly id: string; readonly name: string };
}

/** Line of a person's export: facts, without the names of others. */
export type ExportLine = Readonly<Record<string, unknown>> & { readonly record: string };

/** Returns what is left of a record: the same value where it does not name the person, `null` where nothing is. */
type Without<Value> = (value: Value, of: Forgotten, key: string) => object | null;

/** What the records of a kind say about people, and what becomes of it. */
export interface PersonalFacts<Value> {
  /** Returns the key of the one record that can name a person. Default: each record of the kind is read. */
  readonly keyFor?: (of: Member) => string;
  /** Ends what the person would go on doing or getting by a record: at once when they ask to be forgotten, and at the end. */
  readonly withdraw?: Without<Value>;
  /** Replaces the person in what stays, once their own clips and messages are gone. */
  readonly forget?: Without<Value>;
  /** Its feature forgets the person itself, since more than the record has to change. Default: false. */
  readonly byOwner?: true;
  /** Returns the lines of the person's export. Default: none. */
  readonly export?: (value: Value, of: Member, key: string) => readonly ExportLine[];
}

/** Definition of a kind of record. */
interface CollectionOptions<Key, Value> {
  /** Namespace of the store, which holds nothing else. */
  readonly name: string;
  /** Returns the record's key within the namespace. Default: the key is given as it is. */
  readonly key?: (of: Key) => string;
  /** What `docs/privacy.md` says that it holds. */
  readonly holds: string;
  /** What it says of how long. Default: `kept`. */
  readonly kept?: string;
  /**
   * `nobody`: no record ever names a person. `with its task`: what it says of a person or a prompt goes with the content of its
   * task, mostly the record with it.
   */
  readonly personal: 'nobody' | 'with its task' | PersonalFacts<Value>;
}

/** A kind of record: its namespace, key, personal facts and ways of reading and writing. */
export interface Collection<Key, Value extends object> extends Required<CollectionOptions<Key, Value>> {
  get(store: Pick<Store, 'keyv'>, of: Key): Promise<Value | undefined>;
  /** @returns values in the order of `keys`; undefined where there is no record. */
  getMany(store: Pick<Store, 'keyv'>, of: readonly Key[]): Promise<readonly (Value | undefined)[]>;
  /** Reads all records, each once, in pages and in no order. */
  all(store: Pick<Store, 'contents'>): AsyncIterable<readonly (StoredRecord & { readonly value: Value })[]>;
  /** Writes a record that needs no atomicity. @param ttlMs time to live. Default: it does not expire. */
  set(store: Pick<Store, 'keyv'>, of: Key, value: Value, ttlMs?: number): Promise<void>;
  delete(store: Pick<Store, 'keyv'>, of: Key): Promise<void>;
  /**
   * Returns the write that replaces `before` for a commit, which is refused where the record is another by then.
   * @param before `undefined`: there is no record
   * @param next `null` deletes it; its revision is counted here
   */
  replacing(of: Key, before: Versioned | undefined, next: Omit<Value, 'revision'> | null): RecordWrite;
  /** Returns the precondition of a commit that the record is still the one that was read. @param read as in {@link replacing} */
  comparing(of: Key, read: Versioned | undefined): RecordWrite;
  /** Returns the write that puts a value, or with `null` nothing, in place of whatever is there. */
  overwriting(of: Key, value: Value | null): RecordWrite;
  /** Changes a record by compare-and-set. @see changeRecord */
  change<Result>(
    store: Pick<Store, 'keyv' | 'commit'>,
    of: Key,
    edit: (
      before: Value | undefined,
    ) => RecordEdit<Value & Versioned, Result> | Promise<RecordEdit<Value & Versioned, Result>>,
  ): Promise<Result>;
}

/** Any {@link Collection}, for what is done to all kinds alike. */
interface AnyCollection extends Pick<Collection<never, object>, 'name' | 'holds' | 'kept'> {
  readonly personal: 'nobody' | 'with its task' | PersonalFacts<never>;
}

const kinds = new Map<string, AnyCollection>();

/** Every kind of record that the modules loaded so far define, by name. */
export const recordKinds: ReadonlyMap<string, AnyCollection> = kinds;

/** Defines a kind of record, which is then one of {@link recordKinds}. */
export function collection<Key, Value extends object>(
  options: CollectionOptions<Key, Value> & (Key extends string ? object : { readonly key: (of: Key) => string }),
): Collection<Key, Value> {
  const { name: namespace, key = String, kept = 'kept' } = options;
  const kind: Collection<Key, Value> = {
    ...options,
    key,
    kept,
    get: (store, of) => store.keyv(namespace).get<Value>(key(of)),
    getMany: (store, of) => (of.length === 0 ? Promise.resolve([]) : store.keyv(namespace).getMany<Value>(of.map(key))),
    all: (store) => store.contents.records(namespace) as AsyncIterable<(StoredRecord & { value: Value })[]>,
    set: async (store, of, value, ttlMs) => void (await store.keyv(namespace).set(key(of), value, ttlMs)),
    delete: async (store, of) => void (await store.keyv(namespace).delete(key(of))),
    replacing: (of, before, next) => ({
      namespace,
      key: key(of),
      value: next === null ? null : { ...next, revision: (before?.revision ?? 0) + 1 },
      expected: before?.revision ?? 'absent',
    }),
    comparing: (of, read) => ({ namespace, key: key(of), expected: read?.revision ?? 'absent' }),
    overwriting: (of, value) => ({ namespace, key: key(of), value, expected: 'any' }),
    change: (store, of, edit) => changeRecord(store, { namespace, key: key(of) }, edit),
  };
  kinds.set(namespace, kind);
  return kind;
}
