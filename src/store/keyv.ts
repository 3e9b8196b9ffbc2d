import { Keyv } from 'keyv';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { deserialize, serialize } from './envelope.ts';
import type { Namespace } from './store.ts';

/** What Keyv asks of a backend, in the types it really passes: text in, text out. Every method rejects when it failed. */
export interface TextAdapter {
  get(key: string): Promise<string | undefined>;
  /** In the order of `keys`; undefined where there is nothing. */
  getMany(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** @param ttlMs after how long the record is gone; without it, it stays. */
  set(key: string, text: string, ttlMs?: number): Promise<void>;
  /** @returns whether there was something to delete. */
  delete(key: string): Promise<boolean>;
  /** Deletes the whole namespace. */
  clear(): Promise<void>;
}

/**
 * The Keyv of one namespace. By default Keyv 5 answers `true` for a write that failed, and prefixes keys in a way that
 * its next major version does not find again: both are off. A damaged record rejects where it alone is asked for; among
 * many it is left out and the log says so, since the others have to go on.
 */
export function createKeyv(namespace: Namespace, adapter: TextAdapter, logger: Logger): Keyv {
  const keyv = new Keyv({
    store: adapter,
    namespace,
    useKeyPrefix: false,
    throwOnErrors: true,
    serialize,
    deserialize,
  });
  const getMany = keyv.getMany.bind(keyv);
  const getOne = async (key: string): Promise<unknown> => {
    try {
      return await keyv.get(key);
    } catch (thrown) {
      if (!isDamage(thrown)) throw thrown;
      logger.error({ namespace, key, err: thrown }, 'a record is damaged; it is left out');
      return undefined;
    }
  };
  const getWhole = async (keys: string[]): Promise<unknown[]> => {
    try {
      return await getMany(keys);
    } catch (thrown) {
      if (!isDamage(thrown)) throw thrown;
      return Promise.all(keys.map(getOne));
    }
  };
  return Object.assign(keyv, { getMany: getWhole });
}

/** Whether a record could be had, but not read. */
function isDamage(thrown: unknown): boolean {
  return thrown instanceof DailiesError && thrown.code === 'internal';
}
