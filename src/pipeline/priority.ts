import type { Clock } from '../clock.ts';
import type { JobHandler } from '../queue/queue.ts';

/** How long a step gives way at the most, so that the work goes on however many people come. */
const PATIENCE_MS = 100;

/** People come first: while somebody waits for an answer, what nobody waits for gives way. */
export interface InteractivePriority {
  /** Answers somebody, who counts as waiting until `answer` is done. */
  during<Answer>(answer: () => Promise<Answer>): Promise<Answer>;
  /** A step that begins once nobody waits, a tenth of a second late at the most. */
  after(step: JobHandler): JobHandler;
}

/** One process's courtesy: a burst of commands and the creates that follow from it share one thread. */
export function createInteractivePriority(clock: Clock): InteractivePriority {
  let waiting = 0;
  const givingWay = new Set<() => void>();

  const turn = (): Promise<void> =>
    new Promise((resolve) => {
      const begin = (): void => {
        cancel();
        givingWay.delete(begin);
        resolve();
      };
      const cancel = clock.after(PATIENCE_MS, begin);
      givingWay.add(begin);
    });

  return {
    async during(answer) {
      waiting += 1;
      try {
        return await answer();
      } finally {
        waiting -= 1;
        if (waiting === 0) for (const begin of givingWay) begin();
      }
    },
    after: (step) => async (id, signal) => {
      if (waiting > 0) await turn();
      return step(id, signal);
    },
  };
}
