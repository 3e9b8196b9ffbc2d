import { type Clock, within } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Platform } from './platform.ts';

/** How long the rest of the house waits for platforms. One that is out of reach may take half a minute to say so. */
const PATIENCE_MS = 5_000;

/** Collaborators of {@link startPlatforms}. */
export interface StartingOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of what keeps a platform from ever starting, such as a wrong token, when nobody waits for it any more. */
  readonly failedLate: (thrown: unknown) => void;
}

/** Platforms on their way. */
export interface StartingPlatforms {
  /**
   * Resolves once all of them have started, or the others need not wait any longer.
   * @throws what keeps one from ever starting.
   */
  readonly begun: Promise<void>;
  /** Stops those that have started, and each of the others as soon as it has. */
  readonly stop: () => Promise<void>;
}

/** Starts platforms all at once: one that is slow or dead does not hold up the others. */
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
    await within<unknown>(clock, PATIENCE_MS, all, null).finally(() => {
      isWaitedFor = false;
    });
    const late = platforms.filter((platform) => !started.includes(platform)).map(({ name }) => name);
    if (late.length > 0) logger.warn({ platforms: late }, 'some platforms take long to start; the others do not wait');
  };

  return {
    begun: begin(),
    async stop() {
      isStopping = true;
      await Promise.all(started.map((platform) => platform.stop()));
    },
  };
}
