import { Gauge, type Registry } from 'prom-client';
import { type Clock, sleep } from '../clock.ts';

/** How long a scrape waits for what it has to ask; Prometheus itself gives up after 10 seconds. */
const PATIENCE_MS = 2_000;

/** One sample. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A gauge that is read when somebody asks for it. */
export interface OnScrapeGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly read: () => Promise<readonly Sample[]> | readonly Sample[];
  /** What is shown where that fails or takes too long. Default: nothing. */
  readonly otherwise?: readonly Sample[];
}

/**
 * Adds gauges that are read at each scrape. What cannot be read within two seconds is left out: the store is what is
 * likely to be away just when somebody looks, and then everything else is wanted all the more.
 */
export function addOnScrape(registry: Registry, clock: Clock, gauges: readonly OnScrapeGauge[]): void {
  for (const { name, help, labelNames = [], read, otherwise = [] } of gauges) {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const samples = await inTime(clock, async () => read()).catch(() => otherwise);
        this.reset();
        // Without labels, a reset says 0.
        if (labelNames.length === 0) this.remove();
        for (const { labels = {}, value } of samples) this.set(labels, value);
      },
    });
  }
}

/** What `read` gives. @throws Error where that takes more than two seconds, besides what `read` throws. */
async function inTime<T>(clock: Clock, read: () => Promise<T>): Promise<T> {
  const late = new AbortController();
  const tooLate = sleep(clock, PATIENCE_MS, late.signal).then(() => {
    throw new Error(`nothing within ${PATIENCE_MS} ms`);
  });
  tooLate.catch(() => undefined);
  try {
    return await Promise.race([read(), tooLate]);
  } finally {
    late.abort(new Error('in time'));
  }
}
