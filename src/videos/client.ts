import { Agent } from 'undici';
import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { guardAddresses, parseBaseUrl, type Resolve } from './addresses.ts';
import { type DownloadMemory, download } from './content/download.ts';
import { create } from './create.ts';
import { DIALECTS } from './dialects/registry.ts';
import { TOKEN, type Wire } from './exchange.ts';
import { scrubber } from './failures.ts';
import type { Catalog } from './model.ts';
import { retrieve } from './retrieve.ts';
import type { UpstreamId, VideoService } from './service.ts';

/** Options of {@link createVideoClient}. */
export interface VideoClientOptions {
  /** Base URL without `/v1`; https, or http for loopback hosts. */
  readonly baseUrl: string;
  /** Bearer token; sent to the origin of the base URL only. */
  readonly token: string;
  /** Returns the current catalog: each model's billing, and whether it is still offered. */
  readonly catalog: () => Catalog;
  /** Timeout of a create, from the call to the last byte of the response, in milliseconds. */
  readonly createTimeoutMs: number;
  /** Timeout of a retrieve, and of a stalled download, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Size of the connection pool of retrieves, at least the concurrency of polls. Default 64. */
  readonly maxConnections?: number;
  /** Timeout of connecting, at most the timeout of the call. Default 10 seconds. */
  readonly connectTimeoutMs?: number;
  /** Largest clip in bytes. Default 4 GiB. */
  readonly maxClipBytes?: number;
  readonly clock: Clock;
  /** Source of jitter for retries, from 0 to below 1, such as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
  /** DNS resolver of downloads. Default: the system's. */
  readonly resolve?: Resolve;
}

/** Capacity of the state kept per task between calls; more than the tasks in flight. */
const MAX_TASK_STATES = 50_000;
const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_CLIP_BYTES = 4 * 1024 ** 3;

/**
 * Creates a client of the video service of `docs/video-service.md`, for all of its dialects.
 * @throws DailiesError `refused_address` for a base URL that is not allowed, `unauthorised` for a token that is invalid
 *   in a header.
 */
export function createVideoClient(options: VideoClientOptions): VideoService {
  const { token, catalog, createTimeoutMs, requestTimeoutMs, clock, random, logger } = options;
  const base = parseBaseUrl(options.baseUrl);
  if (!TOKEN.test(token)) {
    const details = { code: 'unauthorised', retryable: false } as const;
    throw new DailiesError("the video service's token is empty or holds blanks or control characters", details);
  }
  const wire: Wire = {
    origin: base.origin,
    basePath: base.pathname.replace(/\/$/, ''),
    dialect: DIALECTS['v1-videos'],
    authorization: `Bearer ${token}`,
    scrub: scrubber(token),
    clock,
  };
  const guard = guardAddresses(base, options.resolve);
  const agents = agentsOf(options, guard.lookup);
  const doubtedSinceMs = new BoundedMap<UpstreamId, number>(MAX_TASK_STATES);
  const memories = new BoundedMap<UpstreamId, DownloadMemory>(MAX_TASK_STATES);
  const maxClipBytes = options.maxClipBytes ?? DEFAULT_MAX_CLIP_BYTES;

  return {
    create: (request, { key, mayStillSend }) =>
      create(wire, {
        request,
        catalog: catalog(),
        key,
        mayStillSend,
        timeoutMs: createTimeoutMs,
        dispatcher: agents.create,
      }),
    retrieve: (id, signal) =>
      retrieve(wire, { id, signal, timeoutMs: requestTimeoutMs, dispatcher: agents.retrieve, doubtedSinceMs }),
    download: (id, path, signal) =>
      download(wire, { id, path, signal, dispatcher: agents.download, guard, random, logger, maxClipBytes, memories }),
    async close() {
      await Promise.all([agents.create.destroy(), agents.retrieve.destroy(), agents.download.destroy()]);
    },
  };
}

/**
 * Creates one agent per call type. HTTP/2 is off because it retries refused streams, including POSTs. Each create uses
 * a new connection (`pipelining: 0`), because a kept-alive one may be closing while the POST is written; retrieves keep
 * theirs alive.
 * @see docs/video-service.md "Sending the POST"
 */
function agentsOf(options: VideoClientOptions, lookup: ReturnType<typeof guardAddresses>['lookup']) {
  const { createTimeoutMs, requestTimeoutMs, maxConnections = 64 } = options;
  const connectTimeoutMs = options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
  const timing = (timeoutMs: number) => ({
    allowH2: false,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: Math.min(connectTimeoutMs, timeoutMs) },
  });
  const forClips = timing(requestTimeoutMs);
  return {
    create: new Agent({ ...timing(createTimeoutMs), pipelining: 0 }),
    retrieve: new Agent({ ...timing(requestTimeoutMs), connections: maxConnections }),
    download: new Agent({ ...forClips, connect: { ...forClips.connect, lookup } }),
  };
}
