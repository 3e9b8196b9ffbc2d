import { hash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { type Change, collection, type IndexWrite, type Store } from '../engine/index.ts';
import { DailiesError } from '../errors.ts';
import { isContentRemoved, readEntries, type Task, type TaskId } from '../tasks/index.ts';
import type { UpstreamId, VideoRequest } from '../videos/index.ts';

/** Writes that keep the index in step with a task. */
type IdWrites = Required<Pick<Change, 'records' | 'index'>>;

type OfService = Pick<VideoRequest, 'service'>;

/** Returns what identifies a service, such as its base URL: two services may give the same id. */
export type ServiceKey = (of: OfService) => string;

/** Record of the task that holds an id. */
interface Holder {
  readonly revision: number;
  readonly task: TaskId;
}

/** Record of the times at which ids were entered for a task. */
interface Attempts {
  readonly revision: number;
  readonly atMs: readonly number[];
}

interface UpstreamKey {
  readonly service: string;
  readonly id: UpstreamId;
}

const upstreamHolders = collection<UpstreamKey, Holder>({
  name: 'upstream',
  key: keyOf,
  holds: 'the task of each id at the service',
  personal: 'nobody',
});

const idAttempts = collection<TaskId, Attempts>({
  name: 'id_attempts',
  holds: 'the times at which ids were entered by hand for a task',
  personal: 'nobody',
});

const HOUR_MS = 3_600_000;
/** Limit on entered ids per task and hour, against guessing the id of another user's task. */
const MAX_ATTEMPTS_PER_HOUR = 5;

/** Index from the video service's task ids to ours: an id belongs to one task. */
export class UpstreamIds {
  readonly #store: Store;
  readonly #serviceKey: ServiceKey;

  constructor(store: Store, serviceKey: ServiceKey) {
    this.#store = store;
    this.#serviceKey = serviceKey;
  }

  /** @param of a request of the service that gave the id; `{}` for the only one. */
  async holder(id: UpstreamId, of: OfService): Promise<TaskId | undefined> {
    return (await this.holders([id], of))[0];
  }

  /** Returns the tasks that hold ids of a service, in the order of `ids`; undefined for an id that none holds. */
  async holders(ids: readonly UpstreamId[], of: OfService): Promise<readonly (TaskId | undefined)[]> {
    const service = this.#serviceKey(of);
    const keys = ids.map((id) => ({ service, id }));
    const found = await upstreamHolders.getMany(this.#store, keys);
    return Promise.all(ids.map(async (id, at) => found[at]?.task ?? this.#removedHolder({ service, id })));
  }

  /**
   * Returns the writes to commit together with a task's change, so that no two tasks hold one id.
   * @param isRead the holder of the id is read, as after an attempt to commit that was refused, perhaps since a task holds it.
   * Else the commit alone tells.
   * @throws `id_taken` when another task is found to hold the id that `after` takes.
   */
  async writes(before: Task, after: Task, isRead: boolean): Promise<IdWrites> {
    if (isContentRemoved(after) && !isContentRemoved(before)) return this.#moved(after, after.upstreamId);
    if (before.upstreamId === after.upstreamId) return NOTHING;
    const given = before.upstreamId;
    const service = this.#serviceKey(after.request);
    const isOurs = given !== undefined && (await this.holder(given, after.request)) === after.id;
    const left = isOurs ? [upstreamHolders.overwriting({ service, id: given }, null)] : [];
    const index = isOurs ? [entryOf(keyOf({ service, id: given }), after.id, false)] : [];
    if (after.upstreamId === undefined) return { records: left, index };
    const taking = { service, id: after.upstreamId };
    const held = isRead ? await this.holder(after.upstreamId, after.request) : await this.#removedHolder(taking);
    if (held !== undefined && held !== after.id) throw taken(after.id);
    const holding = upstreamHolders.overwriting({ service, id: after.upstreamId }, { revision: 1, task: after.id });
    return { records: [...left, { ...holding, expected: held === undefined ? 'absent' : 1 }], index };
  }

  /** Replaces the record of a removed task that holds an id by an entry of an index. */
  async #moved(task: Task, id: UpstreamId | undefined): Promise<IdWrites> {
    const held = id === undefined ? undefined : await this.holder(id, task.request);
    const service = this.#serviceKey(task.request);
    if (id === undefined || (held !== undefined && held !== task.id)) return NOTHING;
    return {
      records: [upstreamHolders.overwriting({ service, id }, null)],
      index: [entryOf(keyOf({ service, id }), task.id, true)],
    };
  }

  async #removedHolder(of: UpstreamKey): Promise<TaskId | undefined> {
    const { index, score } = bucketOf(keyOf(of));
    const tasks = await readEntries(this.#store, await this.#store.scan(index, { min: score, max: score }));
    return tasks.find(({ upstreamId }) => upstreamId === of.id)?.id;
  }
}

const NOTHING: IdWrites = { records: [], index: [] };

/** Number of the indexes of removed tasks by their ids: Redis stores one of up to 128 entries in a fifth of the memory. */
const BUCKETS = 2_048;

/**
 * Returns the entry of a removed task that holds an id. It takes less memory than a record, which matters since it is
 * kept forever. The score is a part of the hash, which the task's own id confirms.
 */
function entryOf(key: string, task: TaskId, isEntered: boolean): IndexWrite {
  const { index, score } = bucketOf(key);
  return { index, member: task, score: isEntered ? score : null };
}

function bucketOf(key: string): { readonly index: string; readonly score: number } {
  return {
    index: `upstream:${Number.parseInt(key.slice(0, 4), 16) % BUCKETS}`,
    // 52 bits: a score is a double.
    score: Number.parseInt(key.slice(4, 17), 16),
  };
}

/**
 * Counts an id that is entered for a task.
 * @throws `id_attempts` with `retryAfterMs` when five were entered within the last hour.
 */
export async function countAttempt(store: Store, clock: Clock, task: TaskId): Promise<void> {
  await idAttempts.change<undefined>(store, task, (known) => {
    const nowMs = clock.now();
    const recent = (known?.atMs ?? []).filter((atMs) => atMs > nowMs - HOUR_MS && atMs <= nowMs);
    const [oldest] = recent;
    if (oldest !== undefined && recent.length >= MAX_ATTEMPTS_PER_HOUR) {
      throw new DailiesError(`entering an id for task ${task}: too many were entered`, {
        code: 'id_attempts',
        retryable: true,
        retryAfterMs: oldest + HOUR_MS - nowMs,
      });
    }
    return { value: { atMs: [...recent, nowMs] }, result: undefined };
  });
}

/** Returns the key of an id: a hash, since ids may be long and contain any character. */
function keyOf({ service, id }: UpstreamKey): string {
  return hash('sha256', `${service.replace(/\/+$/, '')}\n${id}`, 'hex');
}

function taken(task: TaskId): DailiesError {
  return new DailiesError(`giving task ${task} an id: another task holds it`, { code: 'id_taken', retryable: false });
}
