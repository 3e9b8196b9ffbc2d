import { z } from 'zod';
import { idOf, type Model } from '../../model.ts';
import type { VideoRequest } from '../../request.ts';
import type { UpstreamStatus } from '../../service.ts';
import type { Credit, Dialect, ErrorReading, TaskReading } from '../dialect.ts';
import { notTaken } from '../images.ts';
import { isModeration } from '../tolerant.ts';
import { MODEL_LIST } from './models.ts';

const PATH = '/v1/videos';

const STATUS_NAMED: ReadonlyMap<string, UpstreamStatus> = new Map([
  ['pending', 'queued'],
  ['in_progress', 'in_progress'],
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['cancelled', 'failed'],
  ['expired', 'failed'],
]);

/** Codes of OpenRouter for what others call by the second name. @see openrouter.ai/docs "Errors and debugging" */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  // `availability.code`: the model exists, but no provider serves it to this account.
  ['no_endpoints', 'model_not_available'],
  ['model_deprecated', 'model_not_available'],
  ['model_unavailable_upstream', 'model_not_available'],
  ['free_variant_ended', 'model_not_available'],
  // `error_type`: the model would not make it.
  ['refusal', 'moderated'],
]);

const text = z.string().optional().catch(undefined);

const jobSchema = z.object({
  id: z.string().min(1).optional().catch(undefined),
  status: text,
  polling_url: text,
  error: text,
  usage: z
    .object({ cost: z.number().nullish().catch(undefined), is_byok: z.boolean().nullish().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** `code` repeats the HTTP status, as a number. */
const errorSchema = z.object({
  error: z.object({
    message: text,
    error_type: text,
    metadata: z
      .object({
        error_type: text,
        /** Why a moderated input was flagged. */
        reasons: z.array(z.string()).optional().catch(undefined),
      })
      .optional()
      .catch(undefined),
    availability: z.object({ code: text }).optional().catch(undefined),
  }),
});

/**
 * OpenRouter's video API. Images are the clip's first and last frame, or references; audio and video are references,
 * which OpenRouter ignores beside frames: such an order is refused.
 *
 * @see https://github.com/OpenRouterTeam/docs (22 August 2026): `guides/overview/multimodal/video-generation.mdx`,
 *   `openapi/openapi.yaml`, `api_reference/errors-and-debugging.mdx`, `cookbook/video-generation`
 * @see https://openrouter.ai/docs/api_reference/videos (autumn 2026)
 * @see npm @openrouter/sdk 1.3.19
 */
export const OPENROUTER: Dialect = {
  // Not documented.
  inlineImageBytes: 6 * 1024 ** 2,
  base: 'https://openrouter.ai/api',
  models: MODEL_LIST,
  credit: { path: '/v1/key', decode: decodeCredit },
  paths: {
    task: (id) => `${PATH}/${encodeURIComponent(id)}`,
    content: (id) => `${PATH}/${encodeURIComponent(id)}/content?index=0`,
  },
  createCall(request, model) {
    const { prompt, seconds, resolution, aspectRatio } = request;
    const body = {
      model: idOf(model),
      prompt,
      duration: seconds,
      ...(resolution === undefined ? {} : { resolution }),
      ...(aspectRatio === undefined ? {} : { aspect_ratio: aspectRatio }),
      // Its default is documented as true in the guide and as false in the schema, and decides the price.
      ...(model.sound === undefined ? {} : { generate_audio: model.sound }),
      ...mediaOf(request, model),
      ...model.parameters,
    };
    return { path: PATH, body };
  },
  decodeTask,
  acceptedId,
  describesTask,
  decodeError,
};

const FRAMES = ['first_frame', 'last_frame'] as const;

function mediaOf({ media }: VideoRequest, { imageRole = 'first_frame' }: Model): object {
  const references = [
    ...(imageRole === 'reference' ? media.image.map((url) => ({ type: 'image_url', image_url: { url } })) : []),
    ...media.audio.map((url) => ({ type: 'audio_url', audio_url: { url } })),
    ...media.video.map((url) => ({ type: 'video_url', video_url: { url } })),
  ];
  const images = imageRole === 'reference' ? [] : media.image;
  if (images.length > FRAMES.length) throw notTaken('This service takes a first and a last frame, and no other image.');
  if (images.length > 0 && references.length > 0)
    throw notTaken('This service takes no audio or video together with a first frame.');
  const frames = images.map((url, at) => ({ type: 'image_url', image_url: { url }, frame_type: FRAMES[at] }));
  return {
    ...(frames.length === 0 ? {} : { frame_images: frames }),
    ...(references.length === 0 ? {} : { input_references: references }),
  };
}

function decodeTask(answer: unknown): TaskReading | null {
  const { data: job } = jobSchema.safeParse(answer);
  if (job?.status === undefined) return null;
  const status = STATUS_NAMED.get(job.status) ?? 'unknown';
  const failure = status === 'failed' ? failureOf(job) : null;
  // No progress is documented.
  return { id: job.id ?? null, status, progress: null, failure, ...costOf(job) };
}

/** Reads the cost in USD; with a key of one's own at the provider, that one bills, and the cost is OpenRouter's part alone. */
function costOf({ usage }: z.infer<typeof jobSchema>): Pick<TaskReading, 'cost'> {
  const { cost, is_byok: isByok } = usage ?? {};
  return typeof cost !== 'number' || isByok === true ? {} : { cost: { amount: String(cost), currency: 'USD' } };
}

/** Reads the reason of a failure: `error` is a text; the states `cancelled` and `expired` are reasons themselves. */
function failureOf({ error, status = '' }: z.infer<typeof jobSchema>): TaskReading['failure'] {
  const words = error ?? (status === 'failed' ? null : status);
  const isModerated = isModeration({ codes: [], words, success: undefined });
  return { code: isModerated ? 'moderated' : 'generation_failed', words };
}

function acceptedId(answer: unknown): string | null {
  const { data: job } = jobSchema.safeParse(answer);
  return job?.status === undefined && job?.polling_url === undefined ? null : (job.id ?? null);
}

function describesTask(answer: unknown, id: string): boolean {
  return jobSchema.safeParse(answer).data?.id === id;
}

/** Decodes `{error: {code, message, metadata, availability}}`. */
function decodeError(answer: unknown): ErrorReading {
  const { data } = errorSchema.safeParse(answer);
  if (data === undefined) return { codes: [], words: null, success: undefined };
  const { message = null, error_type, metadata, availability } = data.error;
  const said = [availability?.code, metadata?.error_type, error_type].filter((code) => code !== undefined);
  const codes = said.map((code) => SYNONYMS.get(code) ?? code.toLowerCase());
  const isFlagged = metadata?.reasons !== undefined && metadata.reasons.length > 0;
  return { codes: isFlagged ? [...codes, 'moderated'] : codes, words: message, success: undefined };
}

const keySchema = z.object({ data: z.object({ limit_remaining: z.number().nullable() }) });

/** @see https://openrouter.ai/docs/api/api-reference/api-keys/get-current-key (November 2026) */
function decodeCredit(answer: unknown): Credit | null {
  const key = keySchema.safeParse(answer);
  if (!key.success) return null;
  const { limit_remaining: left } = key.data.data;
  return { left: left === null ? null : { amount: left.toFixed(2), currency: 'USD' } };
}
