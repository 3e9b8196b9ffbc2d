import type { Keyv } from 'keyv';
import type { Logger } from '../logger.ts';
import type { TaskObserver } from '../pipeline/repository.ts';
import type { Task } from './task.ts';

/** How many of the latest clips of a model are remembered. */
const REMEMBERED = 40;
/** With fewer than this nothing is said: two clips teach nothing. */
const ENOUGH = 3;
/** A task that the service took later than this after the order had to wait for something. */
const PROMPT_MS = 60_000;

/** What finished clips of a model took: the middle half of them. */
export interface UsualDuration {
  readonly fromMs: number;
  readonly toMs: number;
}

/** How long clips take, learned from those that were finished. */
export interface DurationEstimates {
  /** What is usual for a model; `null` until there are a few to learn from. Answers from memory. */
  usual(model: string): UsualDuration | null;
  /** A clip of the model took that long from order to finish. */
  learn(model: string, durationMs: number): Promise<void>;
}

/** Reads what was learned before. A lost update costs one clip's lesson, so no atomicity is asked for. */
export async function createDurationEstimates(keyv: Keyv): Promise<DurationEstimates> {
  const key = 'by-model';
  const read = async () => Object.entries((await keyv.get<Record<string, readonly number[]>>(key)) ?? {});
  const known = new Map(await read());
  let last: Promise<void> = Promise.resolve();

  const learn = async (model: string, durationMs: number): Promise<void> => {
    // Other processes learn too.
    for (const [name, durations] of await read()) known.set(name, durations);
    known.set(model, [...(known.get(model) ?? []), durationMs].slice(-REMEMBERED));
    await keyv.set(key, Object.fromEntries(known));
  };

  return {
    usual(model) {
      const durations = known.get(model) ?? [];
      if (durations.length < ENOUGH) return null;
      const sorted = durations.toSorted((a, b) => a - b);
      return { fromMs: quantile(sorted, 0.25), toMs: quantile(sorted, 0.75) };
    },
    learn(model, durationMs) {
      const learned = last.then(() => learn(model, durationMs));
      last = learned.catch(() => undefined);
      return learned;
    },
  };
}

/** Has `waits` learn from every clip that is finished. */
export function learningDurations(waits: DurationEstimates, logger: Logger): TaskObserver {
  return {
    changed(task, event) {
      const durationMs = event === 'completed' ? waitOf(task) : null;
      if (durationMs === null) return;
      waits
        .learn(task.request.model, durationMs)
        .catch((thrown: unknown) => logger.warn({ err: thrown }, 'how long a clip took could not be remembered'));
    },
  };
}

/**
 * How long a clip took from order to finish, in milliseconds. `null` where that says nothing about its model: it was
 * cancelled, sent more than once, or waited for a busy service or for a person.
 */
export function waitOf({ state, sends, createdAtMs, acceptedAtMs, endedAtMs }: Task): number | null {
  if (state !== 'completed' || acceptedAtMs === undefined || endedAtMs === undefined) return null;
  return sends > 1 || acceptedAtMs - createdAtMs > PROMPT_MS ? null : endedAtMs - createdAtMs;
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.round((sorted.length - 1) * share)] ?? 0;
}
