import { type Clock, within } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Platform } from './platform.ts';

/** Startup timeout for platforms. An unreachable one may take half a minute to fail. */
const START_TIMEOUT_MS = 5_000;

/** Options of {@link PlatformStarter}. */
interface PlatformStarterOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Starts all platforms concurrently: a slow or unreachable one does not delay the others. */
export class PlatformStarter {
  readonly #platforms: readonly Platform[];
  readonly #options: PlatformStarterOptions;
  readonly #started: Platform[] = [];
  #isStopping = false;

  constructor(platforms: readonly Platform[], options: PlatformStarterOptions) {
    this.#platforms = platforms;
    this.#options = options;
  }

  /**
   * Resolves once all platforms have started, or after the startup timeout.
   * @param failedLate called with a permanent failure, such as a wrong token, that occurs after the startup timeout.
   * @throws the permanent failure of a platform.
   */
  async start(failedLate: (thrown: unknown) => void): Promise<void> {
    const { clock, logger } = this.#options;
    let isWaitedFor = true;
    const all = Promise.all(this.#platforms.map((platform) => this.#start(platform)));
    all.catch((thrown: unknown) => {
      if (!isWaitedFor && !this.#isStopping) failedLate(thrown);
    });
    await within<unknown>(clock, START_TIMEOUT_MS, all, null).finally(() => {
      isWaitedFor = false;
    });
    const late = this.#platforms.filter((platform) => !this.#started.includes(platform)).map(({ name }) => name);
    if (late.length > 0)
      logger.warn({ event: 'platforms_start_slow', platforms: late }, 'some platforms are slow to start; continuing');
  }

  /** Stops the started platforms, and each of the others as soon as it has started. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#started.map((platform) => platform.stop()));
  }

  async #start(platform: Platform): Promise<void> {
    await platform.start();
    if (this.#isStopping) await platform.stop();
    else this.#started.push(platform);
  }
}
