import type { IndexBound, Store } from '../store/store.ts';
import { channelHistoryIndex, channelOpenIndex, historyIndex, openIndex } from './indexes.ts';
import type { Task } from './task.ts';

/** Limits on the tasks of one user or one channel. */
export interface Limit {
  /** Maximum of open tasks, including cancelled ones that the service still works on. 0: no limit. */
  readonly open: number;
  /** Maximum of orders within any minute. 0: no limit. */
  readonly perMinute: number;
}

/** Limits on orders. */
export interface Limits {
  readonly person: Limit;
  readonly channel: Limit;
}

/** Limits that allow everything. */
export const NO_LIMITS: Limits = { person: { open: 0, perMinute: 0 }, channel: { open: 0, perMinute: 0 } };

/** A limit that an order would exceed. */
export interface LimitReached {
  readonly of: keyof Limits;
  readonly kind: keyof Limit;
  readonly max: number;
  /** Number of tasks found; with `perMinute`, a lower bound. */
  readonly found: number;
  /** Set with `perMinute`: delay until one more order is allowed, in milliseconds. */
  readonly freeInMs?: number;
}

/** A limit as a bound on an index. */
export interface BoundLimit extends Pick<LimitReached, 'of' | 'kind'> {
  readonly bound: IndexBound;
}

const MINUTE_MS = 60_000;
const KINDS = [
  { of: 'person', kind: 'open' },
  { of: 'person', kind: 'perMinute' },
  { of: 'channel', kind: 'open' },
  { of: 'channel', kind: 'perMinute' },
] as const;

/** Returns the bounds that have to hold for a new task to be claimed. */
export function boundsOf(limits: Limits, task: Pick<Task, 'origin' | 'createdAtMs'>): readonly BoundLimit[] {
  const { platform, team, user } = task.origin;
  const indexes = {
    person: { open: openIndex(platform, team, user.id), perMinute: historyIndex(platform, team, user.id) },
    channel: { open: channelOpenIndex(task.origin), perMinute: channelHistoryIndex(task.origin) },
  };
  return KINDS.filter(({ of, kind }) => limits[of][kind] > 0).map(({ of, kind }) => {
    const bound = { index: indexes[of][kind], below: limits[of][kind] };
    // An order that is exactly a minute old no longer counts.
    return { of, kind, bound: kind === 'open' ? bound : { ...bound, min: task.createdAtMs - MINUTE_MS + 1 } };
  });
}

/** Returns the first of these limits that is reached; `null` when none is any more. */
export async function reachedOf(
  store: Store,
  bounds: readonly BoundLimit[],
  nowMs: number,
): Promise<LimitReached | null> {
  for (const { of, kind, bound } of bounds) {
    const { index, below: max, min } = bound;
    if (min === undefined) {
      const found = await store.count(index);
      if (found >= max) return { of, kind, max, found };
      continue;
    }
    // One more order is allowed when the oldest of the newest `max` orders is a minute old.
    const newest = await store.scan(index, { min, limit: max });
    const oldest = newest.at(-1);
    if (oldest === undefined || newest.length < max) continue;
    return { of, kind, max, found: newest.length, freeInMs: Math.max(0, oldest.score + MINUTE_MS - nowMs) };
  }
  return null;
}
