import type { Keyv } from 'keyv';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Platform } from '../chat/index.ts';
import type { Clock } from '../clock.ts';
import type { Namespace, Store } from '../engine/index.ts';
import { asDailiesError, type ErrorCode } from '../errors.ts';
import type { VideoService } from '../videos/index.ts';

const STORE_OPERATIONS = ['commit', 'scan', 'count', 'read', 'write', 'lease', 'ping'] as const;
const VIDEO_CALLS = ['create', 'retrieve', 'download'] as const;

type StoreOperation = (typeof STORE_OPERATIONS)[number];

const STORE_SECONDS = [0.000_5, 0.001, 0.002, 0.005, 0.02, 0.1, 0.5, 5];
const VIDEO_SECONDS = [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300];
/** Error codes of a store, initialized to 0 at start: Prometheus misses the first increase of a new series. */
const STORE_FAILURES = ['store_unavailable', 'disk_full'] as const;

/** The methods of Keyv that reach the backend. */
const KEYV_OPERATIONS = {
  get: 'read',
  getMany: 'read',
  has: 'read',
  hasMany: 'read',
  set: 'write',
  setMany: 'write',
  delete: 'write',
  deleteMany: 'write',
  clear: 'write',
} as const satisfies Readonly<Record<string, StoreOperation>>;

/** Registers the durations and outcomes of calls, and returns what wraps a part so that each call from outside is counted. */
export function createInstruments(registry: Registry) {
  return { store: ofStore(registry), videos: ofVideos(registry), platform: ofPlatform(registry) };
}

function ofStore(registry: Registry) {
  const registers = [registry];
  const seconds = new Histogram({
    name: 'dailies_store_seconds',
    help: 'Duration of store calls, by operation',
    labelNames: ['operation'],
    buckets: STORE_SECONDS,
    registers,
  });
  const errors = new Counter({
    name: 'dailies_store_errors_total',
    help: 'Store calls that failed, by operation and error code',
    labelNames: ['operation', 'code'],
    registers,
  });
  for (const operation of STORE_OPERATIONS) for (const code of STORE_FAILURES) errors.inc({ operation, code }, 0);
  return (store: Store, clock: Clock): Store => {
    const as = (operation: StoreOperation) =>
      measure(clock, ({ ms, failure: code }) => {
        seconds.observe({ operation }, ms / 1_000);
        if (code !== undefined) errors.inc({ operation, code });
      });
    const ofKeyv = Object.fromEntries(Object.entries(KEYV_OPERATIONS).map(([name, one]) => [name, as(one)]));
    const keyvs = new Map<Namespace, Keyv>();
    const measured = { commit: as('commit'), scan: as('scan'), count: as('count'), sums: as('read'), ping: as('ping') };
    return intercept(store, measured, {
      leases: intercept(store.leases, { take: as('lease'), holder: as('lease') }),
      keyv(namespace: Namespace) {
        const keyv = keyvs.get(namespace) ?? intercept(store.keyv(namespace), ofKeyv);
        keyvs.set(namespace, keyv);
        return keyv;
      },
    });
  };
}

function ofVideos(registry: Registry) {
  const seconds = new Histogram({
    name: 'dailies_video_seconds',
    help: 'Duration of calls to the video services, failed ones included: create, retrieve, download',
    labelNames: ['call', 'service'],
    buckets: VIDEO_SECONDS,
    registers: [registry],
  });
  for (const call of VIDEO_CALLS) seconds.zero({ call });
  /** @param service its name. Absent: the one of the environment, or the embedded one. */
  return (videos: VideoService, clock: Clock, service?: string): VideoService => {
    const as = (call: (typeof VIDEO_CALLS)[number]) =>
      measure(clock, ({ ms }) => seconds.observe(service === undefined ? { call } : { call, service }, ms / 1_000));
    return intercept(videos, { create: as('create'), retrieve: as('retrieve'), download: as('download') });
  };
}

function ofPlatform(registry: Registry) {
  const calls = new Counter({
    name: 'dailies_platform_calls_total',
    help: 'Calls to a platform (open, progress, edit, attach, notify, retract), by outcome: ok or an error code',
    labelNames: ['platform', 'call', 'outcome'],
    registers: [registry],
  });
  return (platform: Platform, clock: Clock): Platform => {
    const as = (nameOf: (args: readonly unknown[]) => string) =>
      measure(clock, ({ failure: outcome = 'ok', args }) =>
        calls.inc({ platform: platform.name, call: nameOf(args), outcome }),
      );
    return intercept(platform, {
      open: as(() => 'open'),
      edit: as(([, , , urgency]) => (urgency === 'progress' ? 'progress' : 'edit')),
      attach: as(() => 'attach'),
      notify: as(() => 'notify'),
      retract: as(() => 'retract'),
    });
  };
}

interface EndedCall {
  readonly ms: number;
  /** Absent where the call succeeded. */
  readonly failure?: ErrorCode;
  readonly args: readonly unknown[];
}

/** Returns a wrapper of calls that passes each one to `record` when it ends. */
function measure(clock: Clock, record: (call: EndedCall) => void): Around {
  return async (call, args) => {
    const startedMs = clock.monotonic();
    try {
      const result = await call();
      record({ ms: clock.monotonic() - startedMs, args });
      return result;
    } catch (thrown) {
      record({ ms: clock.monotonic() - startedMs, failure: asDailiesError(thrown, 'calling').code, args });
      throw thrown;
    }
  };
}

/** Runs a call, with its arguments at hand. */
type Around = (call: () => Promise<unknown>, args: readonly unknown[]) => Promise<unknown>;

/**
 * Wraps an object in a proxy: calls of the methods in `around` from outside go through there, `replaced` properties are
 * replaced, and everything else is the object's own.
 */
function intercept<Target extends object>(
  target: Target,
  around: { readonly [Name in keyof Target]?: Around },
  replaced: Partial<Target> = {},
): Target {
  const methods = new Map<string | symbol, unknown>();
  const intercepted = (name: string | symbol): unknown => {
    const through = around[name as keyof Target];
    return (...args: readonly unknown[]): unknown => {
      const call = (): unknown => Reflect.apply(Reflect.get(target, name) as () => unknown, target, args);
      return through === undefined ? call() : through(call as () => Promise<unknown>, args);
    };
  };
  return new Proxy(target, {
    get(_target, name) {
      if (name in replaced) return Reflect.get(replaced, name);
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (!methods.has(name)) methods.set(name, intercepted(name));
      return methods.get(name);
    },
  });
}
