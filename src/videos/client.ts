import { Agent } from 'undici';
import { BoundedMap } from '../bounded-map.ts';
import { DailiesError } from '../errors.ts';
import { guardAddresses, parseBaseUrl, type Resolve } from './addresses.ts';
import { download } from './content/download.ts';
import { create } from './create.ts';
import { V1_VIDEOS } from './dialects/v1-videos.ts';
import { TOKEN, type Wire } from './exchange.ts';
import { scrubber } from './failures.ts';
import { retrieve } from './retrieve.ts';
import type { VideoService } from './service.ts';

/** Options of {@link createVideoClient}. */
export interface VideoClientOptions
  extends Pick<Wire, 'catalog' | 'createTimeoutMs' | 'requestTimeoutMs' | 'clock' | 'random' | 'logger'> {
  /** Base URL without `/v1`; https, or http for loopback hosts. */
  readonly baseUrl: string;
  /** Bearer token; sent to the origin of the base URL only. */
  readonly token: string;
  /** Size of the connection pool of retrieves, at least the concurrency of polls. Default 64. */
  readonly maxConnections?: number;
  /** Timeout of connecting, at most the timeout of the call. Default 10 seconds. */
  readonly connectTimeoutMs?: number;
  /** Largest clip in bytes. Default 4 GiB. */
  readonly maxClipBytes?: number;
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
  const { token } = options;
  const base = parseBaseUrl(options.baseUrl);
  if (!TOKEN.test(token)) {
    const details = { code: 'unauthorised', retryable: false } as const;
    throw new DailiesError('the video service’s token is empty or holds blanks or control characters', details);
  }
  const guard = guardAddresses(base, options.resolve);
  const agents = agentsOf(options, guard.lookup);
  const wire: Wire = {
    maxClipBytes: DEFAULT_MAX_CLIP_BYTES,
    ...options,
    origin: base.origin,
    basePath: base.pathname.replace(/\/$/, ''),
    dialect: V1_VIDEOS,
    authorization: `Bearer ${token}`,
    scrub: scrubber(token),
    agents,
    guard,
    doubtedSinceMs: new BoundedMap(MAX_TASK_STATES),
    memories: new BoundedMap(MAX_TASK_STATES),
  };
  return {
    create: (request, sending) => create(wire, request, sending),
    retrieve: (id, signal) => retrieve(wire, id, signal),
    download: (id, path, signal) => download(wire, { id, path, signal }),
    async close() {
      await Promise.all(Object.values(agents).map((agent) => agent.destroy()));
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
