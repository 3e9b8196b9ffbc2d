import { Counter, Histogram, type Registry } from 'prom-client';
import type { PlatformMeter } from './instrumented-platform.ts';
import { STORE_OPERATIONS, type StoreMeter } from './instrumented-store.ts';
import { VIDEO_CALLS, type VideoMeter } from './instrumented-videos.ts';

/** Meters of the outgoing calls of this process. */
export interface Meters {
  readonly store: StoreMeter;
  readonly videos: VideoMeter;
  readonly platform: PlatformMeter;
}

const STORE_SECONDS = [0.000_5, 0.001, 0.002, 0.005, 0.02, 0.1, 0.5, 5];
const VIDEO_SECONDS = [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300];
/** Error codes of a store, initialized to 0 at start: Prometheus misses the first increase of a new series. */
const STORE_FAILURES = ['store_unavailable', 'disk_full'] as const;

/** Registers the counters and durations of calls to the store, the video service and the platforms. */
export function createMeters(registry: Registry): Meters {
  const registers = [registry];
  const storeSeconds = new Histogram({
    name: 'dailies_store_seconds',
    help: 'Duration of store calls, by operation',
    labelNames: ['operation'],
    buckets: STORE_SECONDS,
    registers,
  });
  const storeErrors = new Counter({
    name: 'dailies_store_errors_total',
    help: 'Store calls that failed, by operation and error code',
    labelNames: ['operation', 'code'],
    registers,
  });
  for (const operation of STORE_OPERATIONS) for (const code of STORE_FAILURES) storeErrors.inc({ operation, code }, 0);
  const videoSeconds = new Histogram({
    name: 'dailies_video_seconds',
    help: 'Duration of calls to the video service, failed ones included: create, retrieve, download',
    labelNames: ['call'],
    buckets: VIDEO_SECONDS,
    registers,
  });
  for (const call of VIDEO_CALLS) videoSeconds.zero({ call });
  const platformCalls = new Counter({
    name: 'dailies_platform_calls_total',
    help: 'Calls to a platform (open, progress, edit, attach, notify), by outcome: ok or an error code',
    labelNames: ['platform', 'call', 'outcome'],
    registers,
  });
  return {
    store: {
      called(operation, durationMs, failure) {
        storeSeconds.observe({ operation }, durationMs / 1_000);
        if (failure !== undefined) storeErrors.inc({ operation, code: failure });
      },
    },
    videos: (call, durationMs) => videoSeconds.observe({ call }, durationMs / 1_000),
    platform: (platform, call, outcome) => platformCalls.inc({ platform, call, outcome }),
  };
}
