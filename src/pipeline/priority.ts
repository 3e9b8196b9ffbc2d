import type { Clock } from '../clock.ts';
import type { JobHandler } from '../queue/queue.ts';

/** Longest delay of a job, so that background work proceeds under any load. */
const MAX_DELAY_MS = 100;

/** Priority of interactions over background work, which yields while an interaction is in flight. */
export interface InteractivePriority {
  /** Runs an interaction, which is in flight until `answer` settles. */
  during<Answer>(answer: () => Promise<Answer>): Promise<Answer>;
  /** Wraps a job handler so that it starts once no interaction is in flight, 100 ms late at the most. */
  after(step: JobHandler): JobHandler;
}

/** Creates the priority of one process: a burst of commands and the resulting creates share one thread. */
export function createInteractivePriority(clock: Clock): InteractivePriority {
  let inFlight = 0;
  const yielding = new Set<() => void>();

  const untilIdle = (): Promise<void> =>
    new Promise((resolve) => {
      const begin = (): void => {
        cancel();
        yielding.delete(begin);
        resolve();
      };
      const cancel = clock.after(MAX_DELAY_MS, begin);
      yielding.add(begin);
    });

  return {
    async during(answer) {
      inFlight += 1;
      try {
        return await answer();
      } finally {
        inFlight -= 1;
        if (inFlight === 0) for (const begin of yielding) begin();
      }
    },
    after: (step) => async (id, signal) => {
      if (inFlight > 0) await untilIdle();
      return step(id, signal);
    },
  };
}
