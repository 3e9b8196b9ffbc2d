import type { Store, Versioned } from '../engine/index.ts';

/** Periodic deletions whose last completion is recorded. */
export const SWEEPS = ['retention'] as const;

/** One of {@link SWEEPS}. */
type Sweep = (typeof SWEEPS)[number];

/** Time of the last completed run of a sweep, in the namespace `waits`; before the first one, that of its begin. */
interface SweepRecord extends Versioned {
  readonly atMs: number;
}

/** Records that a sweep begins for the first time, so that its age is known even if it never completes. */
export async function sweepBegins(store: Pick<Store, 'commit'>, sweep: Sweep, nowMs: number): Promise<void> {
  const value: SweepRecord = { revision: 1, atMs: nowMs };
  await store.commit({ records: [{ namespace: 'waits', key: keyOf(sweep), value, expected: 'absent' }] });
}

export async function sweepEnds(store: Pick<Store, 'keyv'>, sweep: Sweep, nowMs: number): Promise<void> {
  await store.keyv('waits').set(keyOf(sweep), { revision: 1, atMs: nowMs } satisfies SweepRecord);
}

/** Returns the time since a sweep was last complete, or first began; `null` before that. */
export async function sweepAgeMs(store: Pick<Store, 'keyv'>, sweep: Sweep, nowMs: number): Promise<number | null> {
  const record = await store.keyv('waits').get<SweepRecord>(keyOf(sweep));
  return record === undefined ? null : Math.max(0, nowMs - record.atMs);
}

function keyOf(sweep: Sweep): string {
  return `swept:${sweep}`;
}
