import { Keyv } from 'keyv';
import { DailiesError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { deserialize, serialize } from './envelope.ts';
import type { Namespace } from './store.ts';

/**
 * Storage adapter of a Keyv, with the types that Keyv really passes: text in, text out. Every method rejects on
 * failure.
 */
export interface TextAdapter {
  get(key: string): Promise<string | undefined>;
  /** @returns texts in the order of `keys`; undefined where there is no record. */
  getMany(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** @param ttlMs time to live; without it, the record does not expire. */
  set(key: string, text: string, ttlMs?: number): Promise<void>;
  /** @returns whether there was a record to delete. */
  delete(key: string): Promise<boolean>;
  clear(): Promise<void>;
}

/** Namespaces whose keys hold no id of a person. */
const NAMELESS: ReadonlySet<Namespace> = new Set([
  'tasks',
  'cards',
  'ledger',
  'drafts',
  'upstream',
  'messages',
  'playground_messages',
  'playground_responses',
  'durations',
]);

/**
 * Creates the Keyv of one namespace. By default Keyv 5 returns `true` for a failed write, and prefixes keys in a way
 * that its next major version does not find again: both are off. A damaged record rejects when it is read alone; in a
 * batch it is logged and skipped, so that the other records can still be processed.
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
  const get = keyv.get.bind(keyv);
  const shownOf = (key: string): string => (NAMELESS.has(namespace) ? key : '[hidden]');
  const getNamed = (key: string): Promise<unknown> =>
    get(key).catch((thrown: unknown) => {
      if (!isDamage(thrown)) throw thrown;
      const record = `reading the record ${shownOf(key)} of the namespace ${namespace}`;
      const message = `${record}: it is damaged; restore it from a backup, or delete it`;
      throw new DailiesError(message, { code: 'internal', retryable: false });
    });
  const getOne = (key: string): Promise<unknown> =>
    getNamed(key).catch((thrown: unknown) => {
      if (!isDamage(thrown)) throw thrown;
      const event = 'damaged_record_skipped';
      logger.error({ event, namespace, key: shownOf(key), err: thrown }, 'skipping a damaged record');
      return undefined;
    });
  const getWhole = (keys: string[]): Promise<unknown[]> =>
    getMany(keys).catch((thrown: unknown) => {
      if (!isDamage(thrown)) throw thrown;
      return Promise.all(keys.map(getOne));
    });
  return Object.assign(keyv, { get: getNamed, getMany: getWhole });
}

/** Returns whether a record was found but could not be parsed. */
function isDamage(thrown: unknown): boolean {
  return thrown instanceof DailiesError && thrown.code === 'internal';
}
