import { collectSettings, idOf } from '../model.ts';
import type { RequestSettings } from '../request.ts';
import type { Dialect } from './dialect.ts';
import { acceptedId, decodeError, decodeTask, describesTask } from './tolerant.ts';

const PATH = '/v1/videos';

/**
 * The dialect of the specification. Its responses are read tolerantly, since services deviate in what it leaves open.
 * @see docs/video-service.md
 */
export const V1_VIDEOS: Dialect = {
  paths: {
    task: (id) => `${PATH}/${encodeURIComponent(id)}`,
    content: (id) => `${PATH}/${encodeURIComponent(id)}/content`,
  },
  // No other fields are sent but those of the catalog, and optional ones are absent, never null or empty.
  createCall(request, model) {
    const { prompt, seconds, media } = request;
    const body = {
      model: idOf(model),
      prompt,
      duration: model.billing === 'per_call' ? 1 : seconds,
      ...settingsBody(request),
      ...(media.image.length === 0 ? {} : { image_urls: media.image }),
      ...(media.audio.length === 0 ? {} : { audio_urls: media.audio }),
      ...(media.video.length === 0 ? {} : { video_urls: media.video }),
      ...model.parameters,
    };
    return { path: PATH, body };
  },
  decodeTask,
  acceptedId,
  describesTask,
  decodeError,
};

function settingsBody(request: RequestSettings): Readonly<Record<string, number | string>> {
  return collectSettings(({ field, wireName }) => [wireName, request[field]]);
}
