import type { Keyv } from 'keyv';
import type { Change, Namespace, Store } from '#src/engine/store/store.ts';

/** Thrown by every write of a killed process. */
class Killed extends Error {
  override readonly name = 'Killed';
}

/** A store whose process can be killed after any number of writes: each write after it fails, and nothing is written. */
export class MortalStore {
  readonly store: Store;
  /** Number of writes until the process is killed. Default: never. */
  writesLeft = Number.POSITIVE_INFINITY;

  constructor(inner: Store) {
    const write = async <Result>(doing: () => Promise<Result>): Promise<Result> => {
      if (this.writesLeft <= 0) throw new Killed('the process is dead');
      this.writesLeft -= 1;
      return doing();
    };
    const keyvs = new Map<Namespace, Keyv>();
    const keyv = (namespace: Namespace): Keyv => {
      const known = keyvs.get(namespace);
      if (known !== undefined) return known;
      const real = inner.keyv(namespace);
      const mortal = new Proxy(real, {
        get: (target, name) => {
          const found: unknown = Reflect.get(target, name);
          if (typeof found !== 'function') return found;
          if (name !== 'set' && name !== 'delete') return found.bind(target);
          return (...args: readonly unknown[]) => write(() => found.apply(target, args) as Promise<unknown>);
        },
      });
      keyvs.set(namespace, mortal);
      return mortal;
    };
    this.store = new Proxy(inner, {
      get: (target, name) => {
        if (name === 'keyv') return keyv;
        if (name === 'commit') return (change: Change) => write(() => target.commit(change));
        const found: unknown = Reflect.get(target, name);
        return typeof found === 'function' ? found.bind(target) : found;
      },
    });
  }
}
