import type { Clock } from '../clock.ts';
import type { VideoService } from '../videos/service.ts';

/** What is asked of the video service. */
export const VIDEO_CALLS = ['create', 'retrieve', 'download'] as const;

/** Who wants to know how long calls of the video service take, whatever they come to. */
export type VideoMeter = (call: (typeof VIDEO_CALLS)[number], durationMs: number) => void;

/** `videos`, every call of it timed. */
export function instrumentVideos(videos: VideoService, clock: Clock, meter: VideoMeter): VideoService {
  const measure = async <T>(call: (typeof VIDEO_CALLS)[number], ask: () => Promise<T>): Promise<T> => {
    const beganMs = clock.monotonic();
    try {
      return await ask();
    } finally {
      meter(call, clock.monotonic() - beganMs);
    }
  };
  return {
    create: (...given) => measure('create', () => videos.create(...given)),
    retrieve: (...given) => measure('retrieve', () => videos.retrieve(...given)),
    download: (...given) => measure('download', () => videos.download(...given)),
    close: () => videos.close(),
  };
}
