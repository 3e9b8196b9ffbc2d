import { storedRecord } from '../envelope.ts';
import type { StoreContents } from '../store.ts';
import type { SqliteAccess } from './keyv.ts';

const PAGE = 500;

/** What an SQLite store holds. */
export function createSqliteContents({ reads, clock, attempt }: SqliteAccess): StoreContents {
  return {
    async *records(namespace) {
      for (let after = ''; ; ) {
        const wanted = { after, nowMs: clock.now(), limit: PAGE };
        const page = attempt('reading all records', () => reads.page(namespace, wanted));
        if (page.length > 0) yield page.map(({ key, text }) => storedRecord(key, text));
        if (page.length < PAGE) return;
        after = page.at(-1)?.key ?? after;
      }
    },
    indexes: async () => attempt('listing the indexes', () => reads.indexes()),
    scores: async (index, members) =>
      attempt(`looking into index ${index}`, () => members.map((member) => reads.score(index, member))),
    // Whoever has the file has it for himself.
    leases: async () => [],
  };
}
