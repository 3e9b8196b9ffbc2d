import { z } from 'zod';
import { idOf, type Model } from '../../model.ts';
import type { AspectRatio, RequestSettings, Resolution, VideoRequest } from '../../request.ts';
import type { UpstreamStatus } from '../../service.ts';
import type { CreateCall, Dialect, ErrorReading, TaskReading } from '../dialect.ts';
import { notTaken } from '../images.ts';
import { decodeError as decodeAnyError, isModeration, percentOf } from '../tolerant.ts';

const PATH = '/v1/videos';

/**
 * Pixels of a clip, as width x height; OpenAI's own documentation names those of 16:9 and 9:16.
 * @see https://developers.openai.com/api/docs/guides/video-generation
 */
const SIZES: Readonly<Record<Resolution, Readonly<Record<AspectRatio, string>>>> = {
  '480p': { '16:9': '854x480', '9:16': '480x854', '4:3': '640x480', '3:4': '480x640', '1:1': '480x480' },
  '720p': { '16:9': '1280x720', '9:16': '720x1280', '4:3': '960x720', '3:4': '720x960', '1:1': '720x720' },
  '1080p': { '16:9': '1920x1080', '9:16': '1080x1920', '4:3': '1440x1080', '3:4': '1080x1440', '1:1': '1080x1080' },
};

/** The first four are OpenAI's; the others are those of LiteLLM (`processing`), APIYI (`submitted`) and Azure. */
const STATUSES: Readonly<Record<string, UpstreamStatus>> = {
  queued: 'queued',
  in_progress: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  submitted: 'queued',
  processing: 'in_progress',
  cancelled: 'failed',
  canceled: 'failed',
  expired: 'failed',
};
const STATUS_NAMED: ReadonlyMap<string, UpstreamStatus> = new Map(Object.entries(STATUSES));

/** Codes of LiteLLM for what the other gateways call by the second name. @see BerriAI/litellm, `ProxyErrorTypes` */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['budget_exceeded', 'insufficient_quota'],
  ['key_model_access_denied', 'model_not_available'],
  ['team_model_access_denied', 'model_not_available'],
  ['user_model_access_denied', 'model_not_available'],
  ['org_model_access_denied', 'model_not_available'],
  ['token_not_found_in_db', 'invalid_api_key'],
  ['expired_key', 'invalid_api_key'],
]);

/** Object `video`. new-api repeats its id as `task_id`, for clients of its older API. */
const videoSchema = z.object({
  id: z.string().min(1).optional().catch(undefined),
  task_id: z.string().min(1).optional().catch(undefined),
  object: z.string().optional().catch(undefined),
  status: z.unknown().optional(),
  progress: z.number().optional().catch(undefined),
});

/**
 * Gateways in the shape of OpenAI’s Videos API, which outlived that API itself (shut down on 24 September 2026): LiteLLM,
 * new-api and their kin. A request is JSON; one with a `data:` URI is a form, with the image as a file.
 *
 * The shape has one image, `input_reference`, without a role, and neither audio nor video.
 *
 * @see https://docs.litellm.ai/docs/videos (7 October 2026) and docs/providers/runwayml/videos: `input_reference` is a
 *   URL or a file
 * @see https://docs.newapi.pro/en/docs/api/ai-model/videos/sora/create-video; QuantumNous/new-api `dto/openai_video.go`,
 *   `relay/common/relay_info.go` (`TaskSubmitReq.InputReference` is a string), `controller/video_proxy.go`
 * @see npm openai 7.57.0 `resources/videos.d.ts`
 */
export const OPENAI: Dialect = {
  // Not documented; small enough for the limits of the services behind gateways.
  inlineImageBytes: 6 * 1024 ** 2,
  paths: {
    task: (id) => `${PATH}/${encodeURIComponent(id)}`,
    content: (id) => `${PATH}/${encodeURIComponent(id)}/content`,
  },
  createCall,
  decodeTask,
  acceptedId,
  describesTask,
  decodeError,
};

function createCall(request: VideoRequest, model: Model): CreateCall {
  const { prompt, seconds, media } = request;
  const [image, ...others] = media.image;
  if (others.length + media.audio.length + media.video.length > 0) throw notTaken(ONE_IMAGE);
  const size = sizeOf(request);
  const fields: Readonly<Record<string, unknown>> = {
    model: idOf(model),
    prompt,
    seconds: String(seconds),
    ...(size === undefined ? {} : { size }),
    // A string, as both gateways read it: OpenAI's own object with an `image_url` breaks the JSON of new-api.
    ...(image === undefined ? {} : { input_reference: image }),
    ...model.parameters,
  };
  return { path: PATH, body: isDataUri(fields['input_reference']) ? formOf(fields) : fields };
}

/** Returns the size of a clip; of a model with only one of the two settings, the other is 16:9 or 720p. */
function sizeOf({ aspectRatio, resolution }: RequestSettings): string | undefined {
  if (aspectRatio === undefined && resolution === undefined) return undefined;
  return SIZES[resolution ?? '720p'][aspectRatio ?? '16:9'];
}

/** Writes fields as a form: a `data:` URI as a file, and what is no text as JSON. */
function formOf(fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'input_reference' && isDataUri(value)) form.append(name, ...fileOf(value));
    else form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return form;
}

function isDataUri(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('data:');
}

/** Decodes an image in base64. @see https://www.rfc-editor.org/rfc/rfc2397 */
function fileOf(uri: string): [Blob, string] {
  const [, type = '', kind = ''] = /^data:(image\/([\w.-]+));base64,/.exec(uri.slice(0, MAX_PREFIX_LENGTH)) ?? [];
  if (type === '') throw notTaken('The image could not be read.');
  const bytes = Buffer.from(uri.slice(uri.indexOf(',') + 1), 'base64');
  return [new Blob([bytes], { type }), `input_reference.${kind === 'jpeg' ? 'jpg' : kind}`];
}

/** Longest start of a `data:` URI before its data, in characters. */
const MAX_PREFIX_LENGTH = 100;

const ONE_IMAGE = 'This service takes one image at most, and no audio or video.';

function decodeTask(answer: unknown): TaskReading | null {
  const { data: video } = videoSchema.safeParse(answer);
  if (video === undefined || typeof video.status !== 'string') return null;
  const status = STATUS_NAMED.get(video.status.toLowerCase()) ?? 'unknown';
  const id = video.id ?? video.task_id ?? null;
  return { id, status, progress: percentOf(video.progress), failure: failureOf(answer, status, video.status) };
}

function failureOf(answer: unknown, status: UpstreamStatus, said: string): TaskReading['failure'] {
  if (status !== 'failed') return null;
  const reading = decodeError(answer);
  const words = reading.words ?? (said.toLowerCase() === 'failed' ? null : said);
  return { code: isModeration(reading) ? 'moderated' : 'generation_failed', words };
}

function acceptedId(answer: unknown): string | null {
  const { data: video } = videoSchema.safeParse(answer);
  if (video === undefined || (typeof video.status !== 'string' && video.object !== 'video')) return null;
  return video.id ?? video.task_id ?? null;
}

function describesTask(answer: unknown, id: string): boolean {
  const { data: video } = videoSchema.safeParse(answer);
  return video !== undefined && (video.object === 'video' || video.id === id || video.task_id === id);
}

/** Decodes `{error: {message, type, param, code}}`; gateways also pass on the errors of the services behind them. */
function decodeError(answer: unknown): ErrorReading {
  const reading = decodeAnyError(answer);
  return { ...reading, codes: reading.codes.map((code) => SYNONYMS.get(code) ?? code) };
}
