import { resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import { asDailiesError, DailiesError } from '../errors.ts';
import { isStoreUrl, sqlitePath, withoutPassword } from './address.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { Store } from './store.ts';
import type { StoreDeps } from './surroundings.ts';

/** {@link StoreDeps}, the machine's clock where none is given. */
export type StoreOptions = Pick<StoreDeps, 'logger'> & Partial<StoreDeps>;

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
  if (!isStoreUrl(url)) {
    throw new DailiesError('opening the store: STORE_URL is neither sqlite:PATH nor a redis:// or rediss:// address', {
      code: 'internal',
      retryable: false,
    });
  }
  const path = sqlitePath(url);
  if (path !== null) return openSqliteStore(path, surroundings);
  // A file needs no client of Redis, which takes half a second to load.
  const { openRedisStore } = await import('./redis/store.ts');
  return openRedisStore(url, surroundings);
}

/**
 * {@link openStore} for whoever starts the bot: of a store that is not there it also says where it was looked for, and
 * what `STORE_URL` has to lead to.
 */
export async function openConfiguredStore(url: string, options: StoreOptions): Promise<Store> {
  try {
    return await openStore(url, options);
  } catch (thrown) {
    const { code, retryable, message } = asDailiesError(thrown, 'opening the store');
    // Whatever no repetition mends says by itself what to do.
    if (code !== 'store_unavailable' || !retryable) throw thrown;
    const path = sqlitePath(url);
    const wanted =
      path !== null
        ? `${resolve(path)}: it has to be a new file or a store of Dailies, in a folder that this user can write to`
        : `${withoutPassword(url)}: a Redis has to run there, be reachable from here, and let this user in`;
    throw new DailiesError(`${message}; STORE_URL means ${wanted}`, { code, retryable, cause: thrown });
  }
}
