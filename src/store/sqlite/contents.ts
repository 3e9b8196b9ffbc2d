import { storedRecord } from '../envelope.ts';
import type { StoreContents } from '../store.ts';
import type { SqliteAccess } from './keyv.ts';

const PAGE = 500;

/** Creates a reader of the whole contents of an SQLite store. */
export function createSqliteContents({ reads, clock, attempt }: SqliteAccess): StoreContents {
  return {
    async *records(namespace) {
      for (let after = ''; ; ) {
        const query = { after, nowMs: clock.now(), limit: PAGE };
        const page = attempt('reading all records', () => reads.page(namespace, query));
        if (page.length > 0) yield page.map(({ key, text }) => storedRecord(key, text));
        if (page.length < PAGE) return;
        after = page.at(-1)?.key ?? after;
      }
    },
    indexes: async () => attempt('listing the indexes', () => reads.indexes()),
    // The process that has the file open is the only one.
    leases: async () => [],
  };
}
