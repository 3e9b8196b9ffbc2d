import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';

/** Dependencies of every store. */
export interface StoreDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}
