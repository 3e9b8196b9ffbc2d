import { collection, type Store, type Versioned } from '../engine/index.ts';

/** Periodic deletions whose last completion is recorded. */
export const SWEEPS = ['retention'] as const;

/** One of {@link SWEEPS}. */
type Sweep = (typeof SWEEPS)[number];

/** Time of the last completed run of a sweep; before the first one, that of its begin. */
interface SweepRecord extends Versioned {
  readonly atMs: number;
}

export const sweepTimes = collection<Sweep, SweepRecord>({
  name: 'sweeps',
  holds: 'when expired clips were last removed',
  personal: 'nobody',
});

/** Records that a sweep begins for the first time, so that its age is known even if it never completes. */
export async function sweepBegins(store: Pick<Store, 'commit'>, sweep: Sweep, nowMs: number): Promise<void> {
  await store.commit({ records: [sweepTimes.replacing(sweep, undefined, { atMs: nowMs })] });
}

export async function sweepEnds(store: Pick<Store, 'keyv'>, sweep: Sweep, nowMs: number): Promise<void> {
  await sweepTimes.set(store, sweep, { revision: 1, atMs: nowMs });
}

/** Returns the time since a sweep was last complete, or first began; `null` before that. */
export async function sweepAgeMs(store: Pick<Store, 'keyv'>, sweep: Sweep, nowMs: number): Promise<number | null> {
  const record = await sweepTimes.get(store, sweep);
  return record === undefined ? null : Math.max(0, nowMs - record.atMs);
}
