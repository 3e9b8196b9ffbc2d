import type { IndexBound, IndexEntry, Store } from '../engine/index.ts';
import { channelHistoryIndex, channelOpenIndex, historyIndex, openIndex } from './indexes.ts';
import { readEntries } from './record-shape.ts';
import { MAX_SET_SIZE, orderIdOf, type Task } from './task.ts';

interface Limit {
  /** Maximum of open tasks, a set counting as one, including cancelled ones that the service still works on. 0: no limit. */
  readonly open: number;
  /** Maximum of orders within any minute. 0: no limit. */
  readonly perMinute: number;
}

/** Limits on orders. */
export interface Limits {
  readonly person: Limit;
  readonly channel: Limit;
}

export const NO_LIMITS: Limits = { person: { open: 0, perMinute: 0 }, channel: { open: 0, perMinute: 0 } };

/** A limit that an order would exceed. */
export interface LimitReached {
  readonly of: keyof Limits;
  readonly kind: keyof Limit;
  readonly max: number;
  /** Number of orders found, of which a set is one; with `perMinute`, a lower bound. */
  readonly found: number;
  /** Set with `perMinute`: delay until one more order is allowed, in milliseconds. */
  readonly freeInMs?: number;
}

interface BoundLimit extends Pick<LimitReached, 'of' | 'kind'> {
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

/** Room for one more order: the bounds that keep within the limits, or the limit that is reached. */
type Room = { readonly reached: LimitReached } | { readonly bounds: readonly BoundLimit[] };

/**
 * Returns the first of these limits that is reached, or bounds that allow as many more tasks as there are orders left.
 * Limits count orders: an index has an entry for each task, and those of one set count as one.
 */
export async function roomWithin(store: Store, limits: readonly BoundLimit[], nowMs: number): Promise<Room> {
  const bounds: BoundLimit[] = [];
  for (const limit of limits) {
    const { of, kind, bound } = limit;
    const { index, below: max, min } = bound;
    const since = min === undefined ? {} : { min };
    const newest = await store.scan(index, { ...since, limit: max * MAX_SET_SIZE });
    const orders = newest.length < max ? newest : await firstOfOrders(store, newest);
    if (orders.length < max) {
      // Exact as long as no set of these ends meanwhile: then it allows as many more as that set had.
      bounds.push({ ...limit, bound: { ...bound, below: newest.length + max - orders.length } });
      continue;
    }
    if (kind === 'open') return { reached: { of, kind, max, found: orders.length } };
    // One more order is allowed when the oldest of the newest `max` orders is a minute old.
    const oldest = orders[max - 1]?.score ?? nowMs;
    return { reached: { of, kind, max, found: max, freeInMs: Math.max(0, oldest + MINUTE_MS - nowMs) } };
  }
  return { bounds };
}

/** Returns the entries of an index without those of a set after its first one. */
async function firstOfOrders(store: Store, entries: readonly IndexEntry[]): Promise<readonly IndexEntry[]> {
  const tasks = await readEntries(store, entries);
  const orderOf = new Map<string, string>(tasks.map((task) => [task.id, orderIdOf(task)]));
  const seen = new Set<string>();
  return entries.filter(({ member }) => {
    const order = orderOf.get(member) ?? member;
    return !seen.has(order) && seen.add(order);
  });
}
