import type { Store } from '#src/engine/store/store.ts';

/** Returns every record of a store with its kind, as JSON. */
export async function storedIn(store: Store): Promise<string> {
  const records: unknown[] = [];
  for (const namespace of await store.contents.namespaces())
    for await (const page of store.contents.records(namespace))
      records.push(...page.map((record) => ({ kind: namespace, ...record })));
  return JSON.stringify(records);
}
