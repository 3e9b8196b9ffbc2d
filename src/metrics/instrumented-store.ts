import type { Keyv } from 'keyv';
import type { Clock } from '../clock.ts';
import { asDailiesError, type ErrorCode } from '../errors.ts';
import type { Namespace, Store } from '../store/store.ts';

/** What is asked of a store. */
export const STORE_OPERATIONS = ['commit', 'scan', 'count', 'read', 'write', 'lease', 'ping'] as const;
export type StoreOperation = (typeof STORE_OPERATIONS)[number];

/** Who wants to know how calls of the store end. */
export interface StoreMeter {
  /** @param failure absent where it answered. */
  called(operation: StoreOperation, durationMs: number, failure?: ErrorCode): void;
}

/** The methods of Keyv that reach the backend. */
const KEYV_OPERATIONS: Readonly<Record<string, StoreOperation>> = {
  get: 'read',
  getMany: 'read',
  has: 'read',
  hasMany: 'read',
  set: 'write',
  setMany: 'write',
  delete: 'write',
  deleteMany: 'write',
  clear: 'write',
};

/** `store`, every call of it told to `meter`. */
export function instrumentStore(store: Store, clock: Clock, meter: StoreMeter): Store {
  const measure = async <T>(operation: StoreOperation, call: () => Promise<T>): Promise<T> => {
    const beganMs = clock.monotonic();
    try {
      const answer = await call();
      meter.called(operation, clock.monotonic() - beganMs);
      return answer;
    } catch (thrown) {
      meter.called(operation, clock.monotonic() - beganMs, asDailiesError(thrown, operation).code);
      throw thrown;
    }
  };
  const keyvs = new Map<Namespace, Keyv>();
  const { leases } = store;
  return {
    exclusive: store.exclusive,
    broadcast: store.broadcast,
    contents: store.contents,
    leases: {
      owner: leases.owner,
      take: (...given) => measure('lease', () => leases.take(...given)),
      holder: (...given) => measure('lease', () => leases.holder(...given)),
    },
    keyv(namespace) {
      const known = keyvs.get(namespace) ?? measureKeyv(store.keyv(namespace), measure);
      keyvs.set(namespace, known);
      return known;
    },
    commit: (...given) => measure('commit', () => store.commit(...given)),
    scan: (...given) => measure('scan', () => store.scan(...given)),
    count: (...given) => measure('count', () => store.count(...given)),
    ping: () => measure('ping', () => store.ping()),
    close: () => store.close(),
  };
}

type Measure = <T>(operation: StoreOperation, call: () => Promise<T>) => Promise<T>;

/** Keyv's methods stay Keyv's own; from outside, they are watched. */
function measureKeyv(keyv: Keyv, measure: Measure): Keyv {
  const watched = new Map<string | symbol, unknown>();
  for (const [name, operation] of Object.entries(KEYV_OPERATIONS)) {
    const method = keyv[name as 'get'].bind(keyv) as (...given: readonly unknown[]) => Promise<unknown>;
    watched.set(name, (...given: readonly unknown[]) => measure(operation, () => method(...given)));
  }
  return new Proxy(keyv, {
    get: (target, name): unknown => watched.get(name) ?? Reflect.get(target, name, target),
  });
}
