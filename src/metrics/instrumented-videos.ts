import type { Clock } from '../clock.ts';
import type { VideoService } from '../videos/service.ts';

/** Calls to the video service that are measured. */
export const VIDEO_CALLS = ['create', 'retrieve', 'download'] as const;

/** Records the duration of a call to the video service, whether it succeeds or fails. */
export type VideoMeter = (call: (typeof VIDEO_CALLS)[number], durationMs: number) => void;

/** Wraps `videos` so that `meter` records the duration of every call. */
export function instrumentVideos(videos: VideoService, clock: Clock, meter: VideoMeter): VideoService {
  const measure = async <T>(call: (typeof VIDEO_CALLS)[number], ask: () => Promise<T>): Promise<T> => {
    const startedMs = clock.monotonic();
    try {
      return await ask();
    } finally {
      meter(call, clock.monotonic() - startedMs);
    }
  };
  return {
    create: (...args) => measure('create', () => videos.create(...args)),
    retrieve: (...args) => measure('retrieve', () => videos.retrieve(...args)),
    download: (...args) => measure('download', () => videos.download(...args)),
    close: () => videos.close(),
  };
}
