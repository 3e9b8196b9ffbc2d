import { z } from 'zod';
import { idOf, type Model } from '../../model.ts';
import type { AspectRatio, Resolution, VideoRequest } from '../../request.ts';
import type { UpstreamStatus } from '../../service.ts';
import type { ClipDestination, Dialect, ErrorReading, ListedTask, TaskReading } from '../dialect.ts';
import { notTaken } from '../images.ts';
import { isModeration } from '../tolerant.ts';

const PATH = '/contents/generations/tasks';

/** States of a task. One that expired was not done within 48 hours. */
const STATUSES: ReadonlyMap<string, UpstreamStatus> = new Map([
  ['queued', 'queued'],
  ['running', 'in_progress'],
  ['succeeded', 'completed'],
  ['failed', 'failed'],
  ['cancelled', 'failed'],
  ['expired', 'failed'],
]);

/** Codes of refusals, by what every service is understood to mean. @see https://docs.byteplus.com/en/docs/ModelArk/1299023 */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['InvalidEndpointOrModel.NotFound', 'model_not_found'],
  ['InvalidEndpointOrModel.ModelIDAccessDisabled', 'model_not_available'],
  ['ModelNotOpen', 'model_not_available'],
  ['ServiceNotOpen', 'model_not_available'],
  ['AccountOverdueError', 'insufficient_balance'],
  ['ServiceOverdue', 'insufficient_balance'],
  ['QuotaExceeded', 'insufficient_quota'],
  // The limit of the “safe experience mode”, which ends when someone raises it.
  ['SetLimitExceeded', 'insufficient_quota'],
]);

const errorSchema = z.object({ code: z.string().nullish(), message: z.string().nullish() });
const refusalSchema = z.object({ error: errorSchema });
const acceptedSchema = z.object({ id: z.string().min(1), error: z.null().optional() });
const taskSchema = z.object({
  id: z.string().nullish(),
  status: z.string(),
  error: errorSchema.nullish(),
  usage: z.object({ completion_tokens: z.int().positive() }).nullish().catch(null),
});
const listSchema = z.object({
  items: z.array(
    z.object({
      id: z.string().min(1),
      model: z.string().nullish(),
      created_at: z.coerce.number().positive(),
      duration: z.number().nullish(),
      ratio: z.string().nullish(),
      resolution: z.string().nullish(),
      generate_audio: z.boolean().nullish(),
    }),
  ),
  total: z.number(),
});
const contentSchema = z.object({ content: z.object({ video_url: z.string().min(1) }) });

/**
 * Ark, the platform of ByteDance's Seedance: ModelArk of BytePlus, and Volcengine Ark in China. A key is good for one
 * region, so each service names its base URL, such as `https://ark.ap-southeast.bytepluses.com/api/v3`.
 * @see https://docs.byteplus.com/en/docs/ModelArk/create-video-generation-task-api (September 2026)
 * @see https://docs.byteplus.com/en/docs/ModelArk/get-video-generation-task-api
 * @see https://docs.byteplus.com/en/docs/ModelArk/list-video-generation-tasks-api
 * @see https://docs.byteplus.com/en/docs/ModelArk/cancel-or-delete-video-generation-task-api
 */
export const ARK: Dialect = {
  // Of the 64 MB of a request, for three images in base64.
  inlineImageBytes: 15 * 1024 ** 2,
  inlineRequestBytes: 45 * 1024 ** 2,
  paths: {
    task: (id) => `${PATH}/${encodeURIComponent(id)}`,
    // The URL of the clip is valid for 24 hours, and the task known for 7 days.
    content: (id) => `${PATH}/${encodeURIComponent(id)}`,
  },
  list: {
    // Of the last 7 days. Which tasks of another tier it has is not documented, and those of an endpoint are under its model.
    path: (page, model) =>
      model.parameters?.['service_tier'] === undefined && !idOf(model).startsWith('ep-')
        ? `${PATH}?page_num=${page}&page_size=100`
        : null,
    decode: decodeList,
  },
  // The same call deletes the record of a task that has ended.
  cancelCall: (id) => ({ method: 'DELETE', path: `${PATH}/${encodeURIComponent(id)}` }),
  createCall: (request, model) => ({ path: PATH, body: bodyOf(request, model) }),
  acceptedId(answer) {
    const accepted = acceptedSchema.safeParse(answer);
    return accepted.success ? accepted.data.id : null;
  },
  decodeTask,
  describesTask: (answer, id) => decodeTask(answer)?.id === id,
  decodeError,
  clipIn,
};

/**
 * Models that read options in a prompt, such as `--dur 12`: whether these win over the fields is not documented. An
 * endpoint of one's own (`ep-…`) may be one of them.
 */
const READS_OPTIONS = /^(?:(?:doubao-)?seedance-1[-.]|ep-)/;
const OPTION = /(?:^|\s)--[a-z]/i;

function optionWords(title: string): string {
  return `${title} reads “--” in a prompt as an option, which may change the price. Write the prompt without it.`;
}

function bodyOf(request: VideoRequest, model: Model): object {
  const { prompt, seconds, aspectRatio, resolution, media } = request;
  const { sound, parameters = {} } = model;
  if (READS_OPTIONS.test(idOf(model)) && OPTION.test(prompt)) throw notTaken(optionWords(model.title));
  return {
    model: idOf(model),
    content: [
      { type: 'text', text: prompt },
      ...media.image.map((url, index) => part('image_url', url, imageRoleOf(model, index))),
      ...media.video.map((url) => part('video_url', url, 'reference_video')),
      ...media.audio.map((url) => part('audio_url', url, 'reference_audio')),
    ],
    ...(aspectRatio === undefined ? {} : { ratio: aspectRatio }),
    ...(resolution === undefined ? {} : { resolution }),
    duration: seconds,
    ...(sound === undefined ? {} : { generate_audio: sound }),
    ...parameters,
  };
}

/** Returns a file of the input: an https URL, or a `data:` URI. */
function part(type: 'image_url' | 'video_url' | 'audio_url', url: string, role: string): object {
  return { type, [type]: { url }, role };
}

function imageRoleOf({ imageRole }: Model, index: number): string {
  if (imageRole === 'reference') return 'reference_image';
  return index === 0 ? 'first_frame' : 'last_frame';
}

function decodeTask(answer: unknown): TaskReading | null {
  const parsed = taskSchema.safeParse(answer);
  if (!parsed.success) return null;
  const { id = null, status: state, usage } = parsed.data;
  const status = STATUSES.get(state) ?? 'unknown';
  const units = usage == null ? {} : { units: String(usage.completion_tokens) };
  return { id, status, progress: null, failure: status === 'failed' ? failureOf(answer, state) : null, ...units };
}

function decodeList(answer: unknown): readonly ListedTask[] | null {
  const parsed = listSchema.safeParse(answer);
  if (!parsed.success) return null;
  return parsed.data.items.map(({ id, created_at: createdAtSeconds, model, duration, ratio, resolution, ...more }) => ({
    id,
    createdAtMs: createdAtSeconds * 1_000,
    ...(model == null ? {} : { model }),
    ...(duration == null ? {} : { seconds: duration }),
    ...(ratio == null ? {} : { aspectRatio: ratio as AspectRatio }),
    ...(resolution == null ? {} : { resolution: resolution as Resolution }),
    ...(more.generate_audio == null ? {} : { sound: more.generate_audio }),
  }));
}

/** Returns why a task failed; one that expired has no error, nor one that was cancelled, which only a queued one can be. */
function failureOf(answer: unknown, state: string): TaskReading['failure'] {
  if (state === 'cancelled') return { code: 'cancelled', words: null };
  const reading = decodeError(answer);
  const code = isModeration(reading) ? 'moderated' : 'generation_failed';
  return { code, words: reading.words ?? (state === 'failed' ? null : state) };
}

function decodeError(answer: unknown): ErrorReading {
  const refusal = refusalSchema.safeParse(answer);
  if (!refusal.success) return { codes: [], words: null, success: undefined };
  const { code, message } = refusal.data.error;
  const meaning = MEANINGS.get(code ?? '');
  const codes = code === undefined || code === null || code === '' ? [] : [wordsOf(code)];
  return {
    codes: meaning === undefined ? codes : [...codes, meaning],
    words: message === undefined || message === null || message === '' ? null : message,
    success: undefined,
  };
}

/** Returns a code such as `InputTextSensitiveContentDetected.PolicyViolation` as `lower_case_words`. */
function wordsOf(code: string): string {
  return code
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z\d]+/g, '_')
    .toLowerCase();
}

function clipIn(answer: unknown): ClipDestination | undefined {
  const parsed = contentSchema.safeParse(answer);
  return parsed.success ? { address: parsed.data.content.video_url } : undefined;
}
