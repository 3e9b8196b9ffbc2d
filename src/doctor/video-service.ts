import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { asDailiesError, type DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { formatPrice } from '../tasks/index.ts';
import {
  type Catalog,
  type Credit,
  createVideoServices,
  DIALECTS,
  fetchCredit,
  fetchListing,
  idOf,
  type ModelListing,
  type ServiceConfig,
  type UpstreamId,
} from '../videos/index.ts';
import { CHECK_TIMEOUT_MS, type Check, type Finding, type Findings, ok, warning, wrong } from './diagnosis.ts';

/** Dependencies of {@link checkVideoService}. */
interface VideoServiceDeps {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Returns the checks of the video services: one for each, or one that says that there is none. */
export function videoServiceChecks(services: readonly ServiceConfig[], deps: VideoServiceDeps): readonly Check[] {
  if (services.length === 0) {
    const run = () => ok('none is configured; the embedded sandbox renders clips by itself, and bills nothing');
    return [{ subject: 'Video service', run }];
  }
  return services.map((service) => {
    const subject = service.name === undefined ? 'Video service' : `Video service ${service.name}`;
    return { subject, run: () => checkVideoService(service, deps) };
  });
}

/** Asks a video service for a task that does not exist, once: nothing is created. */
export async function checkVideoService(
  service: ServiceConfig,
  { catalog, ...deps }: VideoServiceDeps,
): Promise<Findings> {
  const timeoutMs = CHECK_TIMEOUT_MS - 1_000;
  const timing = { createTimeoutMs: timeoutMs, requestTimeoutMs: timeoutMs, maxConcurrentPolls: 1 };
  const clients = createVideoServices({ ...timing, ...deps, services: () => [service], catalog: () => catalog });
  const { origin } = new URL(service.baseUrl);
  const from = service.name === undefined ? ENVIRONMENT : { base: 'its base in SERVICES', key: 'its key in SERVICES' };
  try {
    const { status } = await clients.of({}).retrieve(`dailies-doctor-${randomUUID()}` as UpstreamId);
    return warning(
      `${origin} answers, but with a task (${status}) for an id that does not exist; it may not be the service`,
      `Check ${from.base}.`,
    );
  } catch (thrown) {
    const answered = meaningOf(asDailiesError(thrown, 'asking the video service'), origin, from);
    return [answered, ...(answered.level === 'wrong' ? [] : await accountOf(service, catalog, deps.clock))];
  } finally {
    await clients.close();
  }
}

/** Says what a service tells of the account: the models that it lists, and what is left to spend; as far as it does. */
async function accountOf(service: ServiceConfig, catalog: Catalog, clock: Clock): Promise<readonly Finding[]> {
  const { models, credit } = DIALECTS[service.dialect ?? ''] ?? {};
  const asked = [
    models && fetchListing(service, clock).then((listing) => listed(listing, service, catalog)),
    credit && fetchCredit(service, clock).then(affordable),
  ];
  return Promise.all(
    asked.flatMap((finding) =>
      finding === undefined ? [] : finding.catch((err: Error) => warning(err.message, 'Try again later.')),
    ),
  );
}

function listed({ models, unread }: ModelListing, { name }: ServiceConfig, catalog: Catalog): Finding {
  const there = new Set([...models.map(({ id }) => id), ...unread]);
  const ours = catalog.models.filter(({ service }) => service === name);
  const missing = ours.filter((model) => !there.has(idOf(model))).map(idOf);
  if (missing.length === 0) return ok('it lists every model of the catalog');
  return warning(`it does not list ${missing.join(', ')}`, 'Correct the id in the catalog, or take the model out.');
}

function affordable({ left }: Credit): Finding {
  if (left === null) return ok('its key has no limit of its own; whether the account has credit only an order shows');
  const found = `its key has ${formatPrice(left)} left to spend`;
  return Number(left.amount) > 0 ? ok(found) : warning(found, 'Raise its limit in the service’s console.');
}

/** Where the settings of a service come from. */
const ENVIRONMENT = { base: 'VIDEO_API_BASE_URL', key: 'VIDEO_API_TOKEN' };

/** Says what the answer to the lookup of an unknown task means. */
function meaningOf(
  { code, retryable, message }: DailiesError,
  origin: string,
  { base, key }: typeof ENVIRONMENT,
): Finding {
  switch (code) {
    case 'task_unknown':
      return retryable
        ? warning(
            `${origin} answered 404 without the error code of an unknown task: a proxy, another path, or the service`,
            `Check that ${base} is the service’s own base, without /v1; if clips are made, it is.`,
          )
        : ok(
            `${origin} answers that it has no such task, as it should, and did not refuse the token; whether the account has credit only an order shows`,
          );
    case 'unauthorised':
    case 'forbidden':
      return wrong(
        `${origin} refuses the token (${message})`,
        `Put a new token from the service’s console into ${key}.`,
      );
    case 'rate_limited':
      return warning(`${origin} answers, but limits the rate (${message})`, 'Wait a minute, then run this again.');
    case 'bad_answer':
      return wrong(
        `${origin} answers something else than the video service does (${message})`,
        `Check ${base}: it is the base without /v1 (docs/video-service.md).`,
      );
    default:
      return wrong(
        `${origin} cannot be reached (${message})`,
        `Check ${base}, the network and the service’s status page.`,
      );
  }
}
