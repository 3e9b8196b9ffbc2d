import type { Keyv } from 'keyv';
import type { Clock } from '../clock.ts';
import { asDailiesError, type ErrorCode } from '../errors.ts';
import type { Namespace, Store } from '../store/store.ts';

/** Operations of a store that are measured. */
export const STORE_OPERATIONS = ['commit', 'scan', 'count', 'read', 'write', 'lease', 'ping'] as const;
export type StoreOperation = (typeof STORE_OPERATIONS)[number];

/** Records the duration and outcome of store calls. */
export interface StoreMeter {
  /** Records one call. @param failure absent where it succeeded. */
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

/** Wraps `store` so that `meter` records every call. */
export function instrumentStore(store: Store, clock: Clock, meter: StoreMeter): Store {
  const measure = async <T>(operation: StoreOperation, call: () => Promise<T>): Promise<T> => {
    const startedMs = clock.monotonic();
    try {
      const result = await call();
      meter.called(operation, clock.monotonic() - startedMs);
      return result;
    } catch (thrown) {
      meter.called(operation, clock.monotonic() - startedMs, asDailiesError(thrown, operation).code);
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
      take: (...args) => measure('lease', () => leases.take(...args)),
      holder: (...args) => measure('lease', () => leases.holder(...args)),
    },
    keyv(namespace) {
      const known = keyvs.get(namespace) ?? measureKeyv(store.keyv(namespace), measure);
      keyvs.set(namespace, known);
      return known;
    },
    commit: (...args) => measure('commit', () => store.commit(...args)),
    scan: (...args) => measure('scan', () => store.scan(...args)),
    count: (...args) => measure('count', () => store.count(...args)),
    ping: () => measure('ping', () => store.ping()),
    close: () => store.close(),
  };
}

type Measure = <T>(operation: StoreOperation, call: () => Promise<T>) => Promise<T>;

/** Wraps a Keyv in a proxy that measures calls from outside; its internal calls are not measured. */
function measureKeyv(keyv: Keyv, measure: Measure): Keyv {
  const measured = new Map<string | symbol, unknown>();
  for (const [name, operation] of Object.entries(KEYV_OPERATIONS)) {
    const method = keyv[name as 'get'].bind(keyv) as (...args: readonly unknown[]) => Promise<unknown>;
    measured.set(name, (...args: readonly unknown[]) => measure(operation, () => method(...args)));
  }
  return new Proxy(keyv, {
    get: (target, name): unknown => measured.get(name) ?? Reflect.get(target, name, target),
  });
}
