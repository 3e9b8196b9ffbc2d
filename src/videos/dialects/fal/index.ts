import { z } from 'zod';
import type { Answer } from '../../failures.ts';
import { idOf, type Model } from '../../model.ts';
import type { VideoRequest } from '../../request.ts';
import type { UpstreamStatus } from '../../service.ts';
import type { ClipDestination, CreateCall, Dialect, ErrorReading, TaskReading } from '../dialect.ts';
import * as tolerant from '../tolerant.ts';

/** States of a request; it has failed if its result is an error. */
const STATUSES: ReadonlyMap<string, UpstreamStatus> = new Map([
  ['IN_QUEUE', 'queued'],
  ['IN_PROGRESS', 'in_progress'],
  ['COMPLETED', 'completed'],
]);

/** @see https://docs.fal.ai/documentation/deployment/requests ("`queue_position` indicating how many requests are ahead") */
const stateSchema = z.object({
  status: z.string(),
  request_id: z.string().nullish(),
  queue_position: z.int().min(0).optional().catch(undefined),
});

/** Result of a model: a video, or a list of them. */
const outputSchema = z.union([
  z.object({ video: z.object({ url: z.string() }) }),
  z.object({ videos: z.array(z.object({ url: z.string() })).min(1) }),
]);

const acceptedSchema = z.object({
  request_id: z.string().min(1),
  response_url: z.string().nullish(),
  detail: z.undefined().optional(),
});

/** Error: a sentence, for one of the queue with its type; or what a model does not like about its input. */
const errorSchema = z.object({
  detail: z.union([
    z.string(),
    z.array(
      z.object({
        loc: z.array(z.union([z.string(), z.number()])).nullish(),
        msg: z.string(),
        type: z.string().nullish(),
      }),
    ),
  ]),
  error_type: z.string().nullish(),
});

/**
 * The queue of fal.ai, for the models of all vendors there. An id is the path of the request's result below the base URL.
 *
 * Headers of the platform are not sent. `x-fal-no-retry` would end fal's own retries after a fault of a runner: they
 * continue the same request, which is billed once, and whose failures with 5xx are free. Nor is the life of the output
 * shortened: a bot that was down for a day still finds its clips.
 * @see https://fal.ai/docs/api-reference/inference-api (paths, states, errors: October 2026)
 * @see https://fal.ai/docs/inference-api/queue/cancel (November 2026)
 * @see https://fal.ai/docs/documentation/model-apis/errors.md
 * @see https://fal.ai/docs/documentation/model-apis/request-errors.md
 */
export const FAL: Dialect = {
  // Not documented.
  inlineImageBytes: 6 * 1024 ** 2,
  base: 'https://queue.fal.run',
  authorize: (key) => ({ authorization: `Key ${key}` }),
  paths: {
    task: (id) => `${pathOf(id)}/status`,
    result: pathOf,
    content: pathOf,
  },
  // One that a runner has is only sent a signal, which the model may ignore.
  forgetsCancelled: true,
  cancelCall: (id) => ({ method: 'PUT', path: `${pathOf(id)}/cancel` }),
  createCall: (request, model) => ({ path: pathOf(idOf(model)), body: bodyOf(request, model) }),
  acceptedId,
  decodeTask,
  describesTask: (answer) => decodeTask(answer) !== null,
  decodeError,
  clipIn,
};

/** Returns the path of a model, or of a request. */
function pathOf(id: string): string {
  return `/${id.split('/').map(encodeURIComponent).join('/')}`;
}

/**
 * Returns the body of a request, whose fields are those that most video models have; `fields`, `secondsFormat` and
 * `parameters` of the catalog say what a model wants otherwise. A parameter that is null leaves a field out.
 * @see https://fal.ai/docs/model-api-reference/video-generation-api
 */
function bodyOf(request: VideoRequest, model: Model): object {
  const { prompt, aspectRatio, resolution, media } = request;
  const { fields = {}, sound, imageRole = 'first_frame', parameters = {} } = model;
  const [first, last] = media.image;
  const body = {
    prompt,
    duration: durationOf(request, model),
    aspect_ratio: aspectRatio,
    resolution,
    [fields.sound ?? 'generate_audio']: sound,
    ...(imageRole === 'reference'
      ? { [fields.images ?? 'image_urls']: media.image }
      : { [fields.firstFrame ?? 'image_url']: first, [fields.lastFrame ?? 'end_image_url']: last }),
    [fields.audio ?? 'audio_urls']: media.audio,
    [fields.video ?? 'video_urls']: media.video,
    ...parameters,
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => !isMissing(value)));
}

function durationOf({ seconds }: VideoRequest, { secondsFormat = 'text' }: Model): string | number {
  if (secondsFormat === 'number') return seconds;
  return secondsFormat === 'text_s' ? `${seconds}s` : String(seconds);
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** Matches an app as a path begins with it: owner and name, for some behind a namespace. */
const APP = /^\/((?:(?:workflows|comfy)\/)?[^/]+\/[^/]+)/;

/** Matches the path of a result, as a proxy may have put it below a path of its own. */
const RESULT = /\/((?:(?:workflows|comfy)\/)?[\w.~-]+\/[\w.~-]+\/requests\/([\w.~-]+))$/;

/**
 * Returns the path of the result, as the answer names it: the model may be an alias of another app. The host there makes
 * no difference, as only the base URL is ever asked; an URL of any other shape is made up from the path of the model.
 */
function acceptedId(answer: unknown, call: Pick<CreateCall, 'path'>): string | null {
  const accepted = acceptedSchema.safeParse(answer);
  if (!accepted.success) return null;
  const { request_id: id, response_url } = accepted.data;
  const url = typeof response_url === 'string' && URL.canParse(response_url) ? new URL(response_url).pathname : '';
  const [, path, named] = RESULT.exec(url) ?? [];
  if (path !== undefined && named === id) return path;
  const app = APP.exec(decodeURIComponent(call.path))?.[1] ?? '';
  return `${app}/requests/${id}`;
}

/** Header of a result with what fal bills it by; its documentation does not mention it. @see @tanstack/ai-fal 0.10.1 */
const UNITS = 'x-fal-billable-units';

/** Decodes the answer to a create, to a look at the state, or to one at the result. */
function decodeTask(answer: unknown, headers: Answer['headers'] = {}): TaskReading | null {
  const state = stateSchema.safeParse(answer);
  if (state.success) {
    const { status, request_id: id = null, queue_position: ahead } = state.data;
    const place = status === 'IN_QUEUE' && ahead !== undefined ? { ahead } : {};
    return { id, status: STATUSES.get(status) ?? 'unknown', progress: null, failure: null, ...place };
  }
  if (clipIn(answer) !== undefined) {
    const { [UNITS]: units } = headers;
    const billed = typeof units === 'string' ? { units } : {};
    return { id: null, status: 'completed', progress: null, failure: null, ...billed };
  }
  const error = errorSchema.safeParse(answer);
  if (!error.success) return null;
  const { detail, error_type: type } = error.data;
  if (typeof detail === 'string' && EARLY.test(detail)) {
    return { id: null, status: 'in_progress', progress: null, failure: null };
  }
  // The faults of the gateway itself are sentences without a type.
  const isFinal = typeof detail !== 'string' || typeof type === 'string' || UNKNOWN_PATH.test(detail);
  if (!isFinal) return null;
  const reading = decodeError(answer);
  const code = tolerant.isModeration(reading) ? 'moderated' : 'generation_failed';
  return { id: null, status: 'failed', progress: null, failure: { code, words: reading.words } };
}

/** Matches the answer of a result that does not exist yet; it has the status 400, as a failure. @see @ai-sdk/fal 3.0.41 */
const EARLY = /^request is still in progress/i;

/** Matches the answer of an app without the rest of a model's path. @see https://github.com/fal-ai/fal/pull/100 */
const UNKNOWN_PATH = /^(path|application) \S+ not found/i;

/** Matches the answer about a request that is not known, or not any more. */
const UNKNOWN = /^request (?:\S+ )?(?:was )?not found/i;

function decodeError(answer: unknown): ErrorReading {
  const error = errorSchema.safeParse(answer);
  if (!error.success) return tolerant.decodeError(answer);
  const { detail, error_type } = error.data;
  const isText = typeof detail === 'string';
  const types = isText ? [] : detail.map(({ type }) => type);
  const missing =
    isText && (UNKNOWN_PATH.test(detail) ? 'model_not_found' : UNKNOWN.test(detail) ? 'task_not_found' : null);
  const codes = [...types, error_type, missing];
  const words = isText ? detail : detail.map(({ loc, msg }) => `${fieldOf(loc ?? [])}${msg}`).join(' ');
  return {
    codes: codes.filter((code): code is string => typeof code === 'string').map((code) => code.toLowerCase()),
    words: words === '' ? null : words,
    success: undefined,
  };
}

/** Returns the field that an error is about, as it begins a sentence; its place begins with `body`. */
function fieldOf(place: readonly (string | number)[]): string {
  const field = place.slice(1).join('.');
  return field === '' ? '' : `${field}: `;
}

function clipIn(answer: unknown): ClipDestination | undefined {
  const output = outputSchema.safeParse(answer);
  if (!output.success) return undefined;
  const address = 'video' in output.data ? output.data.video.url : output.data.videos[0]?.url;
  return address === undefined ? undefined : { address };
}
