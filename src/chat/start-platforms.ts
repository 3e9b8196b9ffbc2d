import { type Clock, within } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Platform } from './platform.ts';

/** Startup timeout for platforms. An unreachable one may take half a minute to fail. */
const START_TIMEOUT_MS = 5_000;

/** Options of {@link startPlatforms}. */
export interface StartingOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with a permanent start failure, such as a wrong token, that occurs after the startup timeout. */
  readonly failedLate: (thrown: unknown) => void;
}

/** Platforms that are starting. */
export interface StartingPlatforms {
  /**
   * Resolves once all platforms have started, or after the startup timeout.
   * @throws the permanent failure of a platform.
   */
  readonly begun: Promise<void>;
  /** Stops the started platforms, and each of the others as soon as it has started. */
  readonly stop: () => Promise<void>;
}

/** Starts all platforms concurrently: a slow or unreachable one does not delay the others. */
export function startPlatforms(
  platforms: readonly Platform[],
  { clock, logger, failedLate }: StartingOptions,
): StartingPlatforms {
  const started: Platform[] = [];
  let isStopping = false;
  let isWaitedFor = true;

  const start = async (platform: Platform): Promise<void> => {
    await platform.start();
    if (isStopping) await platform.stop();
    else started.push(platform);
  };

  const begin = async (): Promise<void> => {
    const all = Promise.all(platforms.map(start));
    all.catch((thrown: unknown) => {
      if (!isWaitedFor && !isStopping) failedLate(thrown);
    });
    await within<unknown>(clock, START_TIMEOUT_MS, all, null).finally(() => {
      isWaitedFor = false;
    });
    const late = platforms.filter((platform) => !started.includes(platform)).map(({ name }) => name);
    if (late.length > 0)
      logger.warn({ event: 'platforms_start_slow', platforms: late }, 'some platforms are slow to start; continuing');
  };

  return {
    begun: begin(),
    async stop() {
      isStopping = true;
      await Promise.all(started.map((platform) => platform.stop()));
    },
  };
}
