import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '#src/clock.ts';
import { createVideoClient, type VideoClientOptions } from '#src/videos/client.ts';
import type { VideoService } from '#src/videos/service.ts';
import { type FakeVideoService, type FakeVideoServiceOptions, startVideoService } from '#test/fakes/video-service.ts';
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

/** Starts a fake service for one test. */
export async function startService(options: FakeVideoServiceOptions = {}): Promise<FakeVideoService> {
  const service = await startVideoService(options);
  onTestFinished(() => service.close());
  return service;
}

/** Creates a client of a fake service for one test, with a silent logger. */
export function clientOf(
  { baseUrl, token }: Pick<FakeVideoService, 'baseUrl' | 'token'>,
  options: Partial<VideoClientOptions> = {},
): VideoService {
  const client = createVideoClient({
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
  onTestFinished(() => client.close());
  return client;
}
