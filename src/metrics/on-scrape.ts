import { Gauge, type Registry } from 'prom-client';
import { type Clock, sleep } from '../clock.ts';

/** Timeout of each gauge at a scrape; Prometheus itself gives up after 10 seconds. */
const TIMEOUT_MS = 2_000;

/** One sample of a gauge. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A gauge that is read at each scrape. */
export interface OnScrapeGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly read: () => Promise<readonly Sample[]> | readonly Sample[];
  /** Fallback where the read fails or times out. Default: no samples. */
  readonly otherwise?: readonly Sample[];
}

/**
 * Registers gauges that are read at each scrape. One that cannot be read within two seconds is left out: during an
 * outage of the store, all other metrics are needed the most.
 */
export function addOnScrape(registry: Registry, clock: Clock, gauges: readonly OnScrapeGauge[]): void {
  for (const { name, help, labelNames = [], read, otherwise = [] } of gauges) {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const samples = await withTimeout(clock, async () => read()).catch(() => otherwise);
        this.reset();
        // Without labels, a reset sets the value to 0.
        if (labelNames.length === 0) this.remove();
        for (const { labels = {}, value } of samples) this.set(labels, value);
      },
    });
  }
}

/** Returns the result of `read`. @throws Error after a timeout of two seconds, and what `read` throws. */
async function withTimeout<T>(clock: Clock, read: () => Promise<T>): Promise<T> {
  const timer = new AbortController();
  const timeout = sleep(clock, TIMEOUT_MS, timer.signal).then(() => {
    throw new Error(`nothing within ${TIMEOUT_MS} ms`);
  });
  timeout.catch(() => undefined);
  try {
    return await Promise.race([read(), timeout]);
  } finally {
    timer.abort(new Error('in time'));
  }
}
