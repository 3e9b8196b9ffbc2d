import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';

/** What a store takes from the process it lives in. */
export interface StoreDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}
