import {
  changeRecord,
  type ExportLine,
  type Forgotten,
  type Member,
  type PersonalFacts,
  recordKinds,
  type Store,
  type Versioned,
} from '../engine/index.ts';

type RecordStore = Pick<Store, 'keyv' | 'commit' | 'contents'>;

/** Kinds of record that say something about people, with what. */
type Personal = readonly { readonly name: string; readonly facts: PersonalFacts<object> }[];

function personalKinds(): Personal {
  // The facts of a kind are asked about its own records alone.
  return [...recordKinds.values()].flatMap(({ name, personal }) =>
    typeof personal === 'string' ? [] : [{ name, facts: personal as PersonalFacts<object> }],
  );
}

/** Called with the kind of a record that lacks what others of it have, and is left out. */
type Damaged = (kind: string, thrown: unknown) => void;

/** Ends what a person would go on doing or getting by the records of a store. Idempotent. */
export function withdrawFrom(store: RecordStore, person: Forgotten, damaged: Damaged): Promise<void> {
  return changeAll(store, person, { how: 'withdraw', damaged });
}

/** Replaces a person in what stays in a store. Idempotent. */
export function forgetIn(store: RecordStore, person: Forgotten, damaged: Damaged): Promise<void> {
  return changeAll(store, person, { how: 'forget', damaged });
}

/** Yields what the records of a store say about a person, and that one could not be read. */
export async function* linesAbout(store: Pick<Store, 'keyv' | 'contents'>, person: Member): AsyncGenerator<ExportLine> {
  for (const { name, facts } of personalKinds()) {
    if (facts.export === undefined) continue;
    for await (const { key, value } of recordsAbout(store, { name, facts }, person)) {
      try {
        yield* facts.export(value, person, key);
      } catch {
        yield { record: 'unreadable', kind: name };
      }
    }
  }
}

async function* recordsAbout(
  store: Pick<Store, 'keyv' | 'contents'>,
  { name, facts }: Personal[number],
  person: Member,
): AsyncGenerator<{ readonly key: string; readonly value: object }> {
  if (facts.keyFor !== undefined) {
    const key = facts.keyFor(person);
    const value = await store.keyv(name).get<object>(key);
    if (value !== undefined) yield { key, value };
    return;
  }
  for await (const page of store.contents.records(name)) {
    for (const { key, value } of page) if (typeof value === 'object' && value !== null) yield { key, value };
  }
}

/** Changes every record that a person is named in, by compare-and-set where it counts its writes. */
async function changeAll(
  store: RecordStore,
  person: Forgotten,
  { how, damaged }: { readonly how: 'withdraw' | 'forget'; readonly damaged: Damaged },
): Promise<void> {
  for (const { name, facts } of personalKinds()) {
    const { [how]: change } = facts;
    if (change === undefined) continue;
    for await (const { key, value: found } of recordsAbout(store, { name, facts }, person)) {
      try {
        if (isSame(change(found, person, key), found)) continue;
      } catch (thrown) {
        damaged(name, thrown);
        continue;
      }
      await changeRecord<Versioned, undefined>(store, { namespace: name, key }, (value) => {
        if (value === undefined) return { result: undefined };
        const next = change(value, person, key);
        return isSame(next, value) ? { result: undefined } : { value: next, result: undefined };
      });
    }
  }
}

function isSame(one: object | null, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
