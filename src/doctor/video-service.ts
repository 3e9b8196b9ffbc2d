import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/index.ts';
import { asDailiesError, type DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { type Catalog, createVideoClient, type UpstreamId } from '../videos/index.ts';
import { CHECK_TIMEOUT_MS, type Finding, type Findings, ok, warning, wrong } from './diagnosis.ts';

/** Dependencies of {@link checkVideoService}. */
interface VideoServiceDeps {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Asks the video service for a task that does not exist, once: nothing is created. */
export async function checkVideoService(
  { videoService }: Pick<Config, 'videoService'>,
  { catalog, ...deps }: VideoServiceDeps,
): Promise<Findings> {
  if (videoService === undefined) {
    return ok('none is configured; the embedded sandbox renders clips by itself, and bills nothing');
  }
  const timeoutMs = CHECK_TIMEOUT_MS - 1_000;
  const timing = { createTimeoutMs: timeoutMs, requestTimeoutMs: timeoutMs, maxConnections: 1 };
  const client = createVideoClient({ ...videoService, ...timing, ...deps, catalog: () => catalog });
  const { origin } = new URL(videoService.baseUrl);
  try {
    const { status } = await client.retrieve(`dailies-doctor-${randomUUID()}` as UpstreamId);
    return warning(
      `${origin} answers, but with a task (${status}) for an id that does not exist; it may not be the service`,
      'Check VIDEO_API_BASE_URL.',
    );
  } catch (thrown) {
    return meaningOf(asDailiesError(thrown, 'asking the video service'), origin);
  } finally {
    await client.close();
  }
}

/** Says what the answer to the lookup of an unknown task means. */
function meaningOf({ code, retryable, message }: DailiesError, origin: string): Finding {
  switch (code) {
    case 'task_unknown':
      return retryable
        ? warning(
            `${origin} answered 404 without the error code of an unknown task: a proxy, another path, or the service`,
            'Check that VIDEO_API_BASE_URL is the service’s own base, without /v1; if clips are made, it is.',
          )
        : ok(
            `${origin} answers that it has no such task, as it should, and did not refuse the token; whether the account has credit only an order shows`,
          );
    case 'unauthorised':
    case 'forbidden':
      return wrong(
        `${origin} refuses the token (${message})`,
        'Put a new token from the service’s console into VIDEO_API_TOKEN.',
      );
    case 'rate_limited':
      return warning(`${origin} answers, but limits the rate (${message})`, 'Wait a minute, then run this again.');
    case 'bad_answer':
      return wrong(
        `${origin} answers something else than the video service does (${message})`,
        'Check VIDEO_API_BASE_URL: it is the base without /v1 (docs/video-service.md).',
      );
    default:
      return wrong(
        `${origin} cannot be reached (${message})`,
        'Check VIDEO_API_BASE_URL, the network and the service’s status page.',
      );
  }
}
