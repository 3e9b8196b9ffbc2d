import { systemClock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import { openRedisStore } from './redis.ts';
import { openSqliteStore } from './sqlite.ts';
import type { Store } from './store.ts';
import type { StoreSurroundings } from './surroundings.ts';

/** {@link StoreSurroundings}, the machine's clock where none is given. */
export type StoreOptions = Pick<StoreSurroundings, 'logger'> & Partial<StoreSurroundings>;

/**
 * Opens the store that `STORE_URL` names: `sqlite:PATH`, a file for this process alone, or `redis://…` / `rediss://…`,
 * shared by any number of processes.
 *
 * @throws `store_unavailable` when the backend cannot be reached or opened.
 * @throws `store_locked` when another Dailies holds the file.
 * @throws `disk_full` when the file cannot be made for that reason.
 * @throws `internal` when `url` is none of these; it is not repeated, because it may hold a password.
 */
export async function openStore(url: string, { logger, clock = systemClock }: StoreOptions): Promise<Store> {
  const surroundings = { logger, clock };
  if (/^sqlite:./.test(url)) return openSqliteStore(url.slice('sqlite:'.length), surroundings);
  if (/^rediss?:\/\//.test(url) && URL.canParse(url)) return openRedisStore(url, surroundings);
  throw new DailiesError('opening the store: STORE_URL is neither sqlite:PATH nor a redis:// or rediss:// address', {
    code: 'internal',
    retryable: false,
  });
}
