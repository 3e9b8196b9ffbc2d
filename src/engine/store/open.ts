import { resolve } from 'node:path';
import { systemClock } from '../../clock.ts';
import { asDailiesError, DailiesError } from '../../errors.ts';
import { isStoreUrl, sqlitePath, withoutPassword } from './address.ts';
import { assertNotMigrating } from './migrate/migration.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { Store, StoreDeps } from './store.ts';

/** {@link StoreDeps}; `clock` defaults to the system clock. */
type StoreOptions = Pick<StoreDeps, 'logger'> & Partial<StoreDeps>;

/**
 * Opens the store that `STORE_URL` names: `sqlite:PATH`, a file that this process holds exclusively, or `redis://…` /
 * `rediss://…`, shared by any number of processes.
 *
 * @throws `store_unavailable` when the backend cannot be reached or opened.
 * @throws `store_locked` when another Dailies process holds the file.
 * @throws `disk_full` when there is no space to create the file.
 * @throws `internal` when `url` is none of these; the message leaves it out, because it may contain a password.
 */
export async function openStore(url: string, { logger, clock = systemClock }: StoreOptions): Promise<Store> {
  const deps = { logger, clock };
  if (!isStoreUrl(url)) {
    throw new DailiesError('opening the store: STORE_URL is neither sqlite:PATH nor a redis:// or rediss:// address', {
      code: 'internal',
      retryable: false,
    });
  }
  const path = sqlitePath(url);
  if (path !== null) return openSqliteStore(path, deps);
  // Imported on demand: the Redis client takes half a second to load, and SQLite does not need it.
  const { openRedisStore } = await import('./redis/store.ts');
  return openRedisStore(url, deps);
}

/**
 * Opens the store as {@link openStore} does, for an operator who starts the bot: when it is unavailable, the error also
 * names the location that was tried and what `STORE_URL` has to point to.
 *
 * @throws what {@link openStore} throws, and `store_locked` or `internal` by {@link assertNotMigrating}.
 */
export async function openConfiguredStore(url: string, options: StoreOptions): Promise<Store> {
  try {
    const store = await openStore(url, options);
    await assertNotMigrating(store).catch(async (thrown: unknown) => {
      await store.close();
      throw thrown;
    });
    return store;
  } catch (thrown) {
    const { code, retryable, message } = asDailiesError(thrown, 'opening the store');
    // A failure that a retry cannot fix already says what to do.
    if (code !== 'store_unavailable' || !retryable) throw thrown;
    const path = sqlitePath(url);
    const wanted =
      path !== null
        ? `${resolve(path)}: it has to be a new file or a store of Dailies, in a folder that this user can write to`
        : `${withoutPassword(url)}: a Redis has to run there, be reachable from here, and let this user in`;
    throw new DailiesError(`${message}; STORE_URL means ${wanted}`, { code, retryable, cause: thrown });
  }
}
