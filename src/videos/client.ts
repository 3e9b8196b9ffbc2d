import { Agent } from 'undici';
import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { guardAddresses, parseBaseUrl, type Resolve } from './addresses.ts';
import { type DownloadMemory, download } from './content/download.ts';
import { create } from './create.ts';
import { scrubber } from './failures.ts';
import type { Catalog } from './model.ts';
import { retrieve } from './retrieve.ts';
import type { UpstreamId, VideoService } from './service.ts';
import { TOKEN, type Wire } from './wire.ts';

/** How to reach one video service. */
export interface VideoClientOptions {
  /** Without `/v1`; https, or http for loopback hosts. */
  readonly baseUrl: string;
  /** Bearer token; sent to the base's own origin only. */
  readonly token: string;
  /** The catalog of now: says how a model is billed, and whether it is still offered. */
  readonly catalog: () => Catalog;
  /** How long a create may take, from the call to the answer's last byte. */
  readonly createTimeoutMs: number;
  /** How long a retrieve may take; and how long a download may stand still. */
  readonly requestTimeoutMs: number;
  /** Connections kept for retrieving; at least as many as polls run at once. Default 64. */
  readonly maxConnections?: number;
  /** Default 10 seconds, and never more than the time-out of the call. */
  readonly connectTimeoutMs?: number;
  /** A longer clip is given up. Default 4 GiB. */
  readonly maxClipBytes?: number;
  readonly clock: Clock;
  /** From 0 to below 1, such as `Math.random`: spreads retries. */
  readonly random: () => number;
  readonly logger: Logger;
  /** How downloads resolve names. Default: the system's way. */
  readonly resolve?: Resolve;
}

/** Tasks of which something is remembered between two calls; more than are in flight. */
const MOST_REMEMBERED = 50_000;
const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_CLIP_BYTES = 4 * 1024 ** 3;

/**
 * A client of the video service of `docs/video-service.md`, in all its dialects.
 * @throws DailiesError `refused_address` for a base URL that may not be used, `unauthorised` for a token that no header can carry.
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
    videosPath: `${base.pathname.replace(/\/$/, '')}/v1/videos`,
    authorization: `Bearer ${token}`,
    scrub: scrubber(token),
    clock,
  };
  const guard = guardAddresses(base, options.resolve);
  const agents = agentsOf(options, guard.lookup);
  const doubtedSinceMs = new BoundedMap<UpstreamId, number>(MOST_REMEMBERED);
  const memories = new BoundedMap<UpstreamId, DownloadMemory>(MOST_REMEMBERED);
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
 * One agent for each call. HTTP/2 is off: it sends a refused stream again, POST or not. Creates use a new connection
 * each (`pipelining: 0`), because a kept one may be closing while the POST is written; retrieves keep theirs.
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
