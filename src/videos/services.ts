import { DailiesError } from '../errors.ts';
import { createVideoClient, type VideoClientOptions } from './client.ts';
import { DIALECTS } from './dialects/registry.ts';
import type { MediaKind, VideoRequest } from './request.ts';
import type { VideoService, VideoServices } from './service.ts';
import type { ServiceConfig } from './services-file.ts';

type OfService = Pick<VideoRequest, 'service'>;

/** Options of {@link createVideoServices}. */
interface VideoServicesOptions extends Omit<VideoClientOptions, 'baseUrl' | 'token' | 'dialect' | 'maxConnections'> {
  /** Returns the services as they are configured now: a key may change. */
  readonly services: () => readonly ServiceConfig[];
  /** Polls in flight at a service that has no limit of its own. */
  readonly maxConcurrentPolls: number;
  /** Wraps the client of a service, such as to measure its calls. Default: nothing. */
  readonly wrapped?: (client: VideoService, service: ServiceConfig) => VideoService;
}

/**
 * Finds a service by its name. Without one, that of the environment, or the embedded one, or the only one.
 * @returns `undefined` where it is not configured any more: of several, no other has its tasks
 */
export function serviceNamed(services: readonly ServiceConfig[], { service }: OfService): ServiceConfig | undefined {
  const named = services.find(({ name }) => name === service);
  return service === undefined && services.length === 1 ? services[0] : named;
}

/**
 * Returns the largest file that this bot keeps, in bytes, that can be given without a public address of the bot to each
 * service, or to the one that a request names.
 */
export function keptBytes(services: readonly ServiceConfig[], kind: MediaKind, of?: OfService): readonly number[] {
  const meant = of?.service === undefined ? services : [serviceNamed(services, of)];
  return meant.map((service) => {
    if (service?.takesKept === true) return Number.POSITIVE_INFINITY;
    return kind === 'image' ? (DIALECTS[service?.dialect ?? '']?.inlineImageBytes ?? 0) : 0;
  });
}

/**
 * Returns the lookup of what identifies the service of a request, its base URL: two services may give the same id.
 * @param unnamed that of the service without a name
 */
export function serviceKeys(services: () => readonly ServiceConfig[], unnamed: string): (of: OfService) => string {
  return (of) => {
    const found = serviceNamed(services(), of);
    // An id of a service that is not configured any more is none of another's.
    if (found === undefined) return of.service ?? unnamed;
    return found.name === undefined ? unnamed : found.baseUrl;
  };
}

/** Creates the clients of the services, each when it is first needed, and anew once its key or base has changed. */
export function createVideoServices({
  services,
  maxConcurrentPolls,
  wrapped = (client) => client,
  ...options
}: VideoServicesOptions): VideoServices {
  const clients = new Map<string, VideoService>();
  const clientOf = (config: ServiceConfig): VideoService => {
    const { name, dialect = 'v1-videos', baseUrl, token, limits = {}, takesKept } = config;
    const key = JSON.stringify([name, dialect, baseUrl, token]);
    const known = clients.get(key);
    if (known !== undefined) return known;
    const { polls: maxConnections = maxConcurrentPolls } = limits;
    const spoken = DIALECTS[dialect];
    const client = createVideoClient({
      ...options,
      baseUrl,
      token,
      maxConnections,
      ...(takesKept === undefined ? {} : { takesKept }),
      ...(spoken === undefined ? {} : { dialect: spoken }),
    });
    const created = wrapped(client, config);
    clients.set(key, created);
    return created;
  };
  return {
    of(request) {
      const config = serviceNamed(services(), request);
      if (config !== undefined) return clientOf(config);
      const { service = 'of VIDEO_API_BASE_URL' } = request;
      const doing = `calling the service ${service}: it is not configured any more`;
      throw new DailiesError(doing, { code: 'unavailable', retryable: true });
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}
