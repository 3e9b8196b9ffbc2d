import { z } from 'zod';
import { readableMedia } from '../../media-kind.ts';
import { idOf } from '../../model.ts';
import type { UpstreamStatus } from '../../service.ts';
import { imagesByRole, notTaken } from '../images.ts';
import { inlineImage } from './images.ts';
import type { Reading } from './reading.ts';

const PATH = '/v1beta/interactions';

/**
 * Gemini Omni: `POST interactions` with `background` returns an id at once, and its `steps` contain the clip, by URI or
 * as base64: the answer to a GET is documented to ignore the requested `delivery`.
 * @see https://ai.google.dev/gemini-api/docs/omni
 */
export const INTERACTIONS: Reading = {
  createCall(request, model) {
    const { prompt, seconds, aspectRatio, resolution, media } = request;
    const { first, last, references } = imagesByRole(request, model);
    if (media.audio.length + media.video.length > 0) throw notTaken(`${model.title} takes no audio and no videos.`);
    const frames = [first, last].filter((frame) => frame !== undefined);
    const images = [...frames, ...references].map(imageContent);
    const task = references.length > 0 ? 'reference_to_video' : 'image_to_video';
    const body = {
      model: idOf(model),
      input: images.length === 0 ? prompt : [...images, { type: 'text', text: prompt }],
      // Without it, the response waits for the clip, and a lost one would lose a paid clip.
      background: true,
      response_format: {
        type: 'video',
        delivery: 'uri',
        ...(aspectRatio === undefined ? {} : { aspect_ratio: aspectRatio }),
        ...(resolution === undefined ? {} : { resolution }),
        duration: `${seconds}s`,
      },
      ...(images.length === 0 ? {} : { generation_config: { video_config: { task } } }),
      ...model.parameters,
    };
    return { path: PATH, body };
  },
  taskPath: (id) => `${PATH}/${encodeURIComponent(id)}`,
  read(answer) {
    const { data: found } = interactionSchema.safeParse(answer);
    if (found === undefined || (found.id === undefined && found.status === undefined)) return null;
    const contents = found.steps.filter(({ type }) => type === 'model_output').flatMap(({ content }) => content);
    const video = contents.findLast(({ type, data, uri }) => type === 'video' && (data ?? uri) !== undefined);
    const words = contents.flatMap(({ type, text: said }) => (type === 'text' && said !== undefined ? [said] : []));
    return {
      id: found.id ?? null,
      status: STATUSES.get(found.status ?? '') ?? 'unknown',
      ...(video?.data === undefined ? {} : { clip: { bytes: Buffer.from(video.data, 'base64') } }),
      ...(video?.uri === undefined ? {} : { clip: { address: video.uri } }),
      ...(words.length === 0 ? {} : { words: words.join(' ') }),
    };
  },
};

/**
 * The statuses of the documentation, except `requires_action`, which no video model has.
 * @see https://ai.google.dev/api/interactions
 */
const STATUSES: ReadonlyMap<string, UpstreamStatus> = new Map([
  ['queued', 'queued'],
  ['in_progress', 'in_progress'],
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['cancelled', 'failed'],
  ['incomplete', 'failed'],
  ['budget_exceeded', 'failed'],
]);

/** Returns an image of the input: inline, or by a URL that the service fetches. */
function imageContent(given: string): object {
  const image = inlineImage(given);
  if (image !== null) return { type: 'image', data: image.base64, mime_type: image.mimeType };
  const mimeType = readableMedia({ name: new URL(given).pathname })?.contentType;
  return { type: 'image', uri: given, ...(mimeType === undefined ? {} : { mime_type: mimeType }) };
}

const text = z.string().min(1).optional().catch(undefined);

/** One part that cannot be read must not hide the clip in another. */
const contentSchema = z.object({ type: text, text, data: text, uri: text }).catch({});
const stepSchema = z.object({ type: text, content: z.array(contentSchema).catch([]) }).catch({ content: [] });

const interactionSchema = z.object({ id: text, status: text, steps: z.array(stepSchema).catch([]) });
