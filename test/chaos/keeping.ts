import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@keyv/redis';
import { deserialize } from '#src/engine/store/envelope.ts';
import type { NamedSum } from '#src/engine/store/store.ts';
import { partsFrom } from '#src/engine/store/sums.ts';
import { ledgerKey, ledgerOf } from '#src/tasks/indexes.ts';
import type { LedgerEntry } from '#src/tasks/ledger.ts';
import { isContentRemoved } from '#src/tasks/removal.ts';
import type { Task } from '#src/tasks/task.ts';
import type { Kept } from './history.ts';

interface Raw {
  readonly records: readonly { readonly namespace: string; readonly key: string; readonly value: unknown }[];
  readonly sums: readonly NamedSum[];
  readonly entries: readonly { readonly index: string; readonly member: string; readonly score: number }[];
}

/** Reads the raw contents of a Redis. */
export async function readRedis(url: string): Promise<Kept> {
  const client = createClient({ url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const keys = await client.keys('dailies:*');
    const named = keys.flatMap((redisKey) => {
      const [, namespace, key] = /^dailies:(\w+)::(.+)$/s.exec(redisKey) ?? [];
      return namespace === undefined || key === undefined ? [] : [{ redisKey, namespace, key }];
    });
    const texts = named.length === 0 ? [] : await client.mGet(named.map(({ redisKey }) => redisKey));
    const records = named.map(({ namespace, key }, place) => ({
      namespace,
      key,
      value: readText(texts[place] ?? null),
    }));
    const indexes = keys.filter((key) => key.startsWith('dailies:index:'));
    const ranges = await Promise.all(indexes.map((key) => client.zRangeWithScores(key, 0, -1)));
    const entries = indexes.flatMap((key, place) =>
      (ranges[place] ?? []).map(({ value, score }) => ({
        index: key.slice('dailies:index:'.length),
        member: value,
        score,
      })),
    );
    const sums = await Promise.all(
      keys
        .filter((key) => key.startsWith('dailies:sum:'))
        .map(async (key) => {
          const fields = await client.hGetAll(key);
          return { sum: key.slice('dailies:sum:'.length), parts: partsFrom((part) => fields[part]) };
        }),
    );
    return keptOf({ records, entries, sums });
  } finally {
    client.destroy();
  }
}

/** Reads the raw contents of a database, even while the program has it open. */
export function readSqlite(path: string): Kept {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    const records = database.prepare('SELECT namespace, key, value FROM records').all();
    const entries = database.prepare('SELECT name, member, score FROM index_entries').all();
    const sums = database.prepare('SELECT * FROM sums');
    sums.setReadBigInts(true);
    return keptOf({
      sums: sums.all().map((row) => ({
        sum: String(row['name']),
        parts: partsFrom((part) => row[part] as bigint | undefined),
      })),
      records: records.map((row) => ({
        namespace: String(row['namespace']),
        key: String(row['key']),
        value: readText(String(row['value'])),
      })),
      entries: entries.map((row) => ({
        index: String(row['name']),
        member: String(row['member']),
        score: Number(row['score']),
      })),
    });
  } finally {
    database.close();
  }
}

function readText(text: string | null): unknown {
  return text === null ? undefined : deserialize(text).value;
}

function keptOf({ records, entries, sums }: Raw): Kept {
  const namespaceOf = <Value>(name: string): ReadonlyMap<string, Value> =>
    new Map(records.filter(({ namespace }) => namespace === name).map(({ key, value }) => [key, value as Value]));
  const indexes = new Map<string, Map<string, number>>();
  for (const { index, member, score } of entries) {
    indexes.set(index, (indexes.get(index) ?? new Map<string, number>()).set(member, score));
  }
  const tasks = namespaceOf<Task>('tasks');
  // Removed tasks have no records in the ledger: their entries are derived, as by `pipeline/ledger-reader.ts`.
  const removed = [...tasks.values()].filter(isContentRemoved).flatMap(ledgerOf);
  return {
    tasks,
    ledger: new Map([
      ...namespaceOf<LedgerEntry>('ledger'),
      ...removed.map((entry) => [ledgerKey(entry), entry] as const),
    ]),
    cards: namespaceOf('cards'),
    cuts: namespaceOf('cuts'),
    boards: namespaceOf('boards'),
    comparisons: namespaceOf('comparisons'),
    audit: namespaceOf('audit'),
    sums: new Map(sums.map(({ sum, parts }) => [sum, parts])),
    indexes,
  };
}
