import { pino } from 'pino';
import { type Clock, systemClock } from '#src/clock.ts';
import { createVideoClient, type VideoClientOptions } from '#src/videos/client.ts';
import type { VideoService } from '#src/videos/service.ts';
import type { FakeVideoService } from '#test/fakes/video-service.ts';
import { CATALOG } from './models.ts';

/** Creates a clock whose timers fire at once; `waits` lists their delays in milliseconds. */
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

/** Creates a client of a fake service, with a silent logger. */
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
