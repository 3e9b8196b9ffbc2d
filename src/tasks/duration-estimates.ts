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

/** Durations in milliseconds, by model. */
type Samples = Readonly<Record<string, readonly number[]>>;

const durations = collection<'by model', Samples>({
  name: 'durations',
  holds: 'generation times by model',
  personal: 'nobody',
});

/** Estimates of clip durations, from finished clips. Updates are not atomic: a lost one costs a single sample. */
export class DurationEstimates implements TaskObserver {
  readonly #store: Pick<Store, 'keyv'>;
  readonly #logger: Logger;
  #known: Samples = {};
  #last: Promise<void> = Promise.resolve();

  private constructor(store: Pick<Store, 'keyv'>, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Loads the stored durations. */
  static async load(store: Pick<Store, 'keyv'>, logger: Logger): Promise<DurationEstimates> {
    const estimates = new DurationEstimates(store, logger);
    estimates.#known = await estimates.#read();
    return estimates;
  }

  /** Returns the usual duration for a model; `null` until three of its clips are finished. Reads no store. */
  usual(model: string): UsualDuration | null {
    const samples = this.#known[model] ?? [];
    if (samples.length < MIN_SAMPLES) return null;
    const sorted = samples.toSorted((a, b) => a - b);
    return { fromMs: quantile(sorted, 0.25), toMs: quantile(sorted, 0.75) };
  }

  /** Records the time for which a clip of the model was made. */
  learn(model: string, durationMs: number): Promise<void> {
    const learned = this.#last.then(async () => {
      // Other processes write durations, too.
      const known = { ...this.#known, ...(await this.#read()) };
      this.#known = { ...known, [model]: [...(known[model] ?? []), durationMs].slice(-MAX_SAMPLES) };
      await durations.set(this.#store, 'by model', this.#known);
    });
    this.#last = learned.catch(() => undefined);
    return learned;
  }

  changed(task: Task, event: Parameters<TaskObserver['changed']>[1]): void {
    const durationMs = event === 'completed' ? durationOf(task) : null;
    if (durationMs === null) return;
    this.learn(task.request.model, durationMs).catch((thrown: unknown) =>
      this.#logger.warn({ event: 'clip_duration_not_stored', err: thrown }, 'failed to store the duration of a clip'),
    );
  }

  async #read(): Promise<Samples> {
    return (await durations.get(this.#store, 'by model')) ?? {};
  }
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
