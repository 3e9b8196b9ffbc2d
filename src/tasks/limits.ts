import type { IndexBound, Store } from '../store/store.ts';
import { channelHistoryIndex, channelOpenIndex, historyIndex, openIndex } from './indexes.ts';
import type { Task } from './task.ts';

/** The most that one person, or one channel, may have. */
export interface Limit {
  /** Tasks that are not ended, also those that the service still works on after they were cancelled. 0: no limit. */
  readonly open: number;
  /** Orders within any minute. 0: no limit. */
  readonly perMinute: number;
}

/** How much may be ordered. */
export interface Limits {
  readonly person: Limit;
  readonly channel: Limit;
}

/** Nothing is limited. */
export const NO_LIMITS: Limits = { person: { open: 0, perMinute: 0 }, channel: { open: 0, perMinute: 0 } };

/** A limit that stands in the way of an order. */
export interface LimitReached {
  readonly of: keyof Limits;
  readonly kind: keyof Limit;
  readonly max: number;
  /** How many there are; with `perMinute`, at least. */
  readonly found: number;
  /** With `perMinute`: when there is room for one more, in ms from now. */
  readonly freeInMs?: number;
}

/** A limit, and what it means for an index. */
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

/** What has to hold for a new task to be claimed. */
export function boundsOf(limits: Limits, task: Pick<Task, 'origin' | 'createdAtMs'>): readonly BoundLimit[] {
  const { platform, team, user } = task.origin;
  const indexes = {
    person: { open: openIndex(platform, team, user.id), perMinute: historyIndex(platform, team, user.id) },
    channel: { open: channelOpenIndex(task.origin), perMinute: channelHistoryIndex(task.origin) },
  };
  return KINDS.filter(({ of, kind }) => limits[of][kind] > 0).map(({ of, kind }) => {
    const bound = { index: indexes[of][kind], below: limits[of][kind] };
    // What is just a minute old no longer counts.
    return { of, kind, bound: kind === 'open' ? bound : { ...bound, min: task.createdAtMs - MINUTE_MS + 1 } };
  });
}

/** The first of these limits that nothing more fits into; `null`: there is room in all of them by now. */
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
    // Room comes free when the oldest of the newest so many is a minute old.
    const newest = await store.scan(index, { min, limit: max });
    const oldest = newest.at(-1);
    if (oldest === undefined || newest.length < max) continue;
    return { of, kind, max, found: newest.length, freeInMs: Math.max(0, oldest.score + MINUTE_MS - nowMs) };
  }
  return null;
}
