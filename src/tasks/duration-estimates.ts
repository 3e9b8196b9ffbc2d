import { collection, type Store } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import type { TaskObserver } from '../pipeline/index.ts';
import type { Task } from './task.ts';

/** Number of durations kept per model, the latest ones. */
const MAX_SAMPLES = 40;
/** Smallest number of durations for an estimate. */
const MIN_SAMPLES = 3;

/** Interquartile range of the durations of a model's finished clips. */
export interface UsualDuration {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Estimates of clip durations, from finished clips. */
export interface DurationEstimates {
  /** Returns the usual duration for a model; `null` until three of its clips are finished. Reads no store. */
  usual(model: string): UsualDuration | null;
  /** Records the time for which a clip of the model was made. */
  learn(model: string, durationMs: number): Promise<void>;
}

const durations = collection<'by model', Readonly<Record<string, readonly number[]>>>({
  name: 'durations',
  holds: 'generation times by model',
  personal: 'nobody',
});

/** Loads the stored durations. Updates are not atomic: a lost one costs a single sample. */
export async function createDurationEstimates(store: Pick<Store, 'keyv'>): Promise<DurationEstimates> {
  const read = async () => Object.entries((await durations.get(store, 'by model')) ?? {});
  const known = new Map(await read());
  let last: Promise<void> = Promise.resolve();

  const learn = async (model: string, durationMs: number): Promise<void> => {
    // Other processes write durations, too.
    for (const [name, found] of await read()) known.set(name, found);
    known.set(model, [...(known.get(model) ?? []), durationMs].slice(-MAX_SAMPLES));
    await durations.set(store, 'by model', Object.fromEntries(known));
  };

  return {
    usual(model) {
      const samples = known.get(model) ?? [];
      if (samples.length < MIN_SAMPLES) return null;
      const sorted = samples.toSorted((a, b) => a - b);
      return { fromMs: quantile(sorted, 0.25), toMs: quantile(sorted, 0.75) };
    },
    learn(model, durationMs) {
      const learned = last.then(() => learn(model, durationMs));
      last = learned.catch(() => undefined);
      return learned;
    },
  };
}

/** Returns an observer that records the duration of every finished clip. */
export function learningDurations(estimates: DurationEstimates, logger: Logger): TaskObserver {
  return {
    changed(task, event) {
      const durationMs = event === 'completed' ? durationOf(task) : null;
      if (durationMs === null) return;
      estimates
        .learn(task.request.model, durationMs)
        .catch((thrown: unknown) =>
          logger.warn({ event: 'clip_duration_not_stored', err: thrown }, 'failed to store the duration of a clip'),
        );
    },
  };
}

/**
 * Returns the time that the service made a clip for, in milliseconds; `null` where that is not known: it was cancelled,
 * sent more than once, or found by a user.
 */
export function durationOf({ state, sends, turnAtMs, endedAtMs }: Task): number | null {
  if (state !== 'completed' || sends > 1 || turnAtMs === undefined || endedAtMs === undefined) return null;
  return endedAtMs - turnAtMs;
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.round((sorted.length - 1) * share)] ?? 0;
}
