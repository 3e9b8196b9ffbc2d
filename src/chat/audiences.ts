import { type Clock, within } from '../clock.ts';
import { asDailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Audience } from '../tasks/index.ts';
import type { Place, Platform } from './platform.ts';

/** Options of {@link Audiences}. */
interface AudiencesOptions {
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Timeout of the platform's look-up for an order, which must be acknowledged within 3 s. */
const WAIT_MS = 1_500;

/** Resolves the audience of channels. */
export class Audiences {
  readonly #options: AudiencesOptions;

  constructor(options: AudiencesOptions) {
    this.#options = options;
  }

  /** Looks up the audience of a new order. Never rejects: `channel` where the platform cannot determine it. */
  async at(platform: string, place: Place): Promise<Audience> {
    return (await within(this.#options.clock, WAIT_MS, this.#lookUp(platform, place), null)) ?? 'channel';
  }

  /** Returns `null` where the platform cannot determine the audience, temporarily or permanently. */
  async #lookUp(platform: string, place: Place): Promise<Audience | null> {
    try {
      return (await this.#options.platforms.get(platform)?.audience(place)) ?? null;
    } catch (thrown) {
      const err = asDailiesError(thrown, `looking up who may see channel ${place.channel}`);
      this.#options.logger.warn(
        { event: 'audience_unknown', platform, channel: place.channel, err },
        'failed to look up the audience of a channel',
      );
      return null;
    }
  }
}
