import type { AppDeps } from '../app.ts';
import type { Config } from '../config/index.ts';
import { openQueue, queueNamesOf } from '../engine/index.ts';
import { instrumentVideos } from '../metrics/index.ts';
import { createVideoClient, type VideoService } from '../videos/index.ts';

/** Opens the queue, with the concurrency of each kind of job. */
export function openAppQueue({ config, store, platforms, clock, logger }: AppDeps) {
  const { creates: send, polls: poll, deliveries } = config.maxConcurrent;
  // Of two cuts, one is joined while the other is uploaded.
  const ofClips = { fetch: 2 * deliveries, join: 2, frame: 1 };
  const concurrency = { send, poll, deliver: deliveries, notify: deliveries, ...ofClips };
  const names = queueNamesOf(platforms.map(({ name }) => name));
  const { storeUrl: url, maxRate } = config;
  return openQueue({ url, maxRate, concurrency, names, store, clock, logger });
}

/** Creates the client of the video service. */
export function createVideos({ config, service, catalog, clock, random, logger, metrics }: AppDeps): VideoService {
  const { createTimeoutMs, requestTimeoutMs, maxConcurrent } = config;
  const timing = { createTimeoutMs, requestTimeoutMs, maxConnections: maxConcurrent.polls };
  const client = createVideoClient({ ...service, ...timing, catalog, clock, random, logger });
  return instrumentVideos(client, clock, metrics.meters.videos);
}

/** Returns the key that scopes task ids to their video service; constant for the embedded one, whose URL changes. */
function serviceKeyOf({ videoService }: Config): string {
  return videoService?.baseUrl ?? 'sandbox';
}

/** Returns the settings of the pipeline. */
export function pipelineSettingsOf(config: Config) {
  const { poll: pace, limits, refunds, createTimeoutMs, maxConcurrent } = config;
  const maxRepeatedFetches = maxConcurrent.deliveries;
  return { pace, limits, refunds, createTimeoutMs, maxRepeatedFetches, upstreamService: serviceKeyOf(config) };
}
