import type { Keyv } from 'keyv';
import type { Broadcast } from '#src/engine/cluster/broadcast.ts';
import type { Leases } from '#src/engine/cluster/leases.ts';
import type {
  Bounds,
  Change,
  IndexEntry,
  Namespace,
  Range,
  Store,
  StoreContents,
  SumParts,
} from '#src/engine/store/store.ts';
import { DailiesError } from '#src/errors.ts';
import type { Task } from '#src/tasks/task.ts';

/** Failure of a commit: before it was written, or after it with its response lost. */
export type CommitFailure = 'unwritten' | 'answer_lost';

/** A store whose commits fail on demand. */
export class FlakyStore implements Store {
  readonly exclusive: boolean;
  readonly broadcast: Broadcast;
  readonly contents: StoreContents;
  readonly #store: Store;
  readonly #failures: { readonly how: CommitFailure; readonly applies: (change: Change) => boolean }[] = [];

  constructor(store: Store) {
    this.#store = store;
    this.exclusive = store.exclusive;
    this.broadcast = store.broadcast;
    this.contents = store.contents;
  }

  get leases(): Leases {
    return this.#store.leases;
  }

  /** Fails the next commit for which `applies` returns true. */
  failNext(how: CommitFailure, applies: (change: Change) => boolean = () => true): void {
    this.#failures.push({ how, applies });
  }

  async commit(change: Change): Promise<boolean> {
    const position = this.#failures.findIndex(({ applies }) => applies(change));
    const failure = position < 0 ? undefined : this.#failures.splice(position, 1)[0];
    if (failure === undefined) return this.#store.commit(change);
    if (failure.how === 'answer_lost') await this.#store.commit(change);
    throw new DailiesError('writing to the store: the connection broke', {
      code: 'store_unavailable',
      retryable: true,
    });
  }

  keyv(namespace: Namespace): Keyv {
    return this.#store.keyv(namespace);
  }

  scan(index: string, range?: Range): Promise<readonly IndexEntry[]> {
    return this.#store.scan(index, range);
  }

  count(index: string, bounds?: Bounds): Promise<number> {
    return this.#store.count(index, bounds);
  }

  sums(names: readonly string[]): Promise<readonly SumParts[]> {
    return this.#store.sums(names);
  }

  ping(): Promise<void> {
    return this.#store.ping();
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

/** Returns a predicate for commits that write a task for which `holds` returns true. */
export function writesTask(holds: (task: Task) => boolean): (change: Change) => boolean {
  return ({ records }) =>
    records.some(({ namespace, value }) => namespace === 'tasks' && value !== null && holds(value as Task));
}
