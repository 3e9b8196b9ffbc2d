import { pino } from 'pino';
import { type Clock, systemClock } from '#src/clock.ts';
import { createVideoClient, type VideoClientOptions } from '#src/videos/client.ts';
import type { VideoService } from '#src/videos/service.ts';
import type { FakeVideoService } from '#test/fakes/video-service.ts';
import { CATALOG } from './models.ts';

/** A clock on which every wait is over at once; `waits` remembers how long each would have been. */
export function hastyClock(nowMs = Date.UTC(2026, 10, 20, 12)): Clock & { readonly waits: number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => nowMs,
    monotonic: () => nowMs,
    after(delayMs, run) {
      waits.push(delayMs);
      const immediate = setImmediate(run);
      return () => clearImmediate(immediate);
    },
  };
}

/** A client of a fake service, logging to nowhere. */
export function clientOf(
  { baseUrl, token }: Pick<FakeVideoService, 'baseUrl' | 'token'>,
  options: Partial<VideoClientOptions> = {},
): VideoService {
  return createVideoClient({
    baseUrl,
    token,
    catalog: () => CATALOG,
    createTimeoutMs: 60_000,
    requestTimeoutMs: 30_000,
    clock: systemClock,
    random: () => 0.5,
    logger: pino({ level: 'silent' }),
    ...options,
  });
}
