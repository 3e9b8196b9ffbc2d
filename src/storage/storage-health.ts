import type { Clock } from '../clock.ts';
import { asDailiesError } from '../errors.ts';
import { SingleFlight } from '../single-flight.ts';
import type { Bucket } from './bucket.ts';

/** TTL of a check. */
const CACHE_TTL_MS = 10_000;

/**
 * Health of a bucket, for `/readyz`. Until it answers for the first time, any failure is a reason not to be ready; later
 * only one that a person has to remove: while the bucket is away, clips are kept and delivered from this machine.
 */
export class StorageHealth {
  readonly #bucket: Pick<Bucket, 'check'>;
  readonly #clock: Clock;
  readonly #checking = new SingleFlight<'check', string | null>();
  #wasThere = false;
  #reason: string | null = null;
  #validUntilMs = Number.NEGATIVE_INFINITY;

  constructor(bucket: Pick<Bucket, 'check'>, clock: Clock) {
    this.#bucket = bucket;
    this.#clock = clock;
  }

  /** Returns why this process is not ready; `null`: it is. Never rejects. */
  async problem(): Promise<string | null> {
    if (this.#clock.monotonic() < this.#validUntilMs) return this.#reason;
    return this.#checking.run('check', async () => {
      this.#reason = await this.#check();
      this.#validUntilMs = this.#clock.monotonic() + CACHE_TTL_MS;
      return this.#reason;
    });
  }

  async #check(): Promise<string | null> {
    try {
      await this.#bucket.check();
      this.#wasThere = true;
      return null;
    } catch (thrown) {
      const { message, retryable } = asDailiesError(thrown, 'looking for the bucket');
      return retryable && this.#wasThere ? null : message;
    }
  }
}
