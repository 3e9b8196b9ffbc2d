import type { AppDeps } from '../app.ts';
import type { Config } from '../config/index.ts';
import { openQueue, type QueueLimits, type QueueName, queueNamesOf } from '../engine/index.ts';
import { serviceQueue } from '../pipeline/index.ts';
import { createVideoServices, type ServiceConfig, serviceKeys, type VideoServices } from '../videos/index.ts';

/** Opens the queue: each platform, and each named service, has queues of its own. */
export function openAppQueue({ config, services, store, platforms, clock, logger }: AppDeps) {
  const { creates: send, polls: poll, deliveries } = config.maxConcurrent;
  // Of two cuts, one is joined while the other is uploaded.
  const ofClips = { fetch: 2 * deliveries, join: 2, frame: 1 };
  const named = services().flatMap((one) => (one.name === undefined ? [] : [{ ...one, name: one.name }]));
  const concurrency = {
    send,
    poll,
    deliver: deliveries,
    notify: deliveries,
    ...ofClips,
    ...Object.assign({}, ...named.map(concurrencyOf)),
  };
  const names = queueNamesOf(
    platforms.map(({ name }) => name),
    named.map(({ name }) => name),
  );
  const limits: QueueLimits = Object.assign({}, ...[{ limits: {} }, ...named].map((one) => limitsOf(config, one)));
  return openQueue({ url: config.storeUrl, limits, concurrency, names, store, clock, logger });
}

/** Returns the calls in flight that a service states for itself, by its queues. */
function concurrencyOf({ name, limits = {} }: ServiceConfig): { readonly [Name in QueueName]?: number } {
  const { creates, polls } = limits;
  const of = name === undefined ? {} : { service: name };
  return {
    ...(creates === undefined ? {} : { [serviceQueue('send', of)]: creates }),
    ...(polls === undefined ? {} : { [serviceQueue('poll', of)]: polls }),
  };
}

/** Returns the rate limits of a service's queues, its own or those of the environment. */
function limitsOf({ maxRate }: Config, { name, limits = {} }: Pick<ServiceConfig, 'name' | 'limits'>): QueueLimits {
  const { createsPerMinute, pollsPerSecond } = { ...maxRate, ...limits };
  const of = name === undefined ? {} : { service: name };
  return {
    ...(createsPerMinute === 0 ? {} : { [serviceQueue('send', of)]: { max: createsPerMinute, perMs: 60_000 } }),
    ...(pollsPerSecond === 0 ? {} : { [serviceQueue('poll', of)]: { max: pollsPerSecond, perMs: 1_000 } }),
  };
}

/** Creates the clients of the video services. */
export function createVideos(deps: AppDeps): VideoServices {
  const { config, services, relay, catalog, clock, random, logger, metrics } = deps;
  const { createTimeoutMs, requestTimeoutMs, maxConcurrent } = config;
  return createVideoServices({
    services,
    createTimeoutMs,
    requestTimeoutMs,
    catalog,
    clock,
    random,
    logger,
    fileOf: (url) => relay.fileOf(url),
    maxConcurrentPolls: maxConcurrent.polls,
    wrapped: (client, { name: service }) => metrics.instrument.videos(client, clock, service),
  });
}

/** Returns the settings of the pipeline. */
export function pipelineSettingsOf({ config, services, catalog }: Pick<AppDeps, 'config' | 'services' | 'catalog'>) {
  const { poll: pace, limits, refunds, createTimeoutMs, maxConcurrent, videoService } = config;
  const maxRepeatedFetches = maxConcurrent.deliveries;
  // The URL of the embedded one changes.
  const serviceKey = serviceKeys(services, videoService?.baseUrl ?? 'sandbox');
  const billingOf = (name: string) => catalog().models.find((model) => model.name === name);
  return { pace, limits, refunds, createTimeoutMs, maxRepeatedFetches, serviceKey, billingOf };
}
