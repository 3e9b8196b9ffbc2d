import type { RecordedRequest } from '../video-service.ts';
import { type HttpReply, type HttpService, startHttp } from './http.ts';

/** Capabilities of a model, as in the list of `GET /api/v1/videos/models`. */
export interface RouterModel {
  readonly durations: readonly number[];
  readonly resolutions: readonly string[];
  readonly aspectRatios: readonly string[];
  readonly frames: readonly string[];
}

/** Job of the fake. */
export interface RouterJob {
  readonly id: string;
  readonly order: Readonly<Record<string, unknown>>;
  status: string;
  error?: string;
}

/** OpenRouter's video API on loopback; its base URL ends with `/api`, as OpenRouter's. */
export interface FakeRouter extends HttpService {
  readonly token: string;
  readonly jobs: ReadonlyMap<string, RouterJob>;
  /** Replies in place of its own, by endpoint; may be changed at any time. */
  readonly replies: { create?: HttpReply; task?: HttpReply; content?: HttpReply };
}

export interface FakeRouterOptions {
  readonly models: Readonly<Record<string, RouterModel>>;
  readonly clip: Buffer;
  /** Id of the next job. Default `gen-vid-1`, `gen-vid-2` … */
  readonly nextId?: () => string;
}

const TOKEN = 'sk-or-v1-key';

/**
 * Starts a fake of OpenRouter that enforces what its documentation says; a comment names the source of each check:
 * "schema" is `openapi/openapi.yaml`, "guide" `guides/overview/multimodal/video-generation.mdx`, "errors"
 * `api_reference/errors-and-debugging.mdx`, all of OpenRouterTeam/docs at 22 August 2026; "SDK" is @openrouter/sdk 1.3.19.
 */
export async function startRouter({ models, clip, nextId }: FakeRouterOptions): Promise<FakeRouter> {
  const jobs = new Map<string, RouterJob>();
  const replies: FakeRouter['replies'] = {};
  const newId = nextId ?? (() => `gen-vid-${jobs.size + 1}`);

  const answer = (request: RecordedRequest): HttpReply => {
    const { method, path } = request;
    // schema: every one of these endpoints answers 401 without the key.
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return refuse(401, 'User not found.');
    if (method === 'POST' && path === '/api/v1/videos') return replies.create ?? create(request);
    const [, encoded, rest = ''] = /^\/api\/v1\/videos\/([^/?]+)(.*)$/.exec(path) ?? [];
    if (method !== 'GET' || encoded === undefined) return refuse(404, 'Not Found');
    const job = jobs.get(decodeURIComponent(encoded));
    if (rest === '') return replies.task ?? poll(job);
    // schema: `index` is a whole number from 0, and 0 where it is missing; the fake makes one clip.
    if (rest === '/content' || rest === '/content?index=0') return replies.content ?? content(job);
    return refuse(404, 'Not Found');
  };

  const create = (request: RecordedRequest): HttpReply => {
    const problem = routerProblem(request, models);
    if (problem !== null) return problem;
    const order = JSON.parse(request.body) as Record<string, unknown>;
    const job: RouterJob = { id: newId(), order, status: 'pending' };
    jobs.set(job.id, job);
    // schema: accepted with 202, and a polling URL that is relative.
    return { status: 202, json: { id: job.id, polling_url: `/api/v1/videos/${job.id}`, status: job.status } };
  };

  const poll = (job: RouterJob | undefined): HttpReply => {
    if (job === undefined) return refuse(404, 'Resource not found');
    const { id, status, error } = job;
    const done = {
      unsigned_urls: [`https://openrouter.ai/api/v1/videos/${id}/content?index=0`],
      usage: { cost: 0.25, is_byok: false },
    };
    // guide: a completed job has its URLs and its cost, a failed one its reason as a text.
    const json = {
      id,
      generation_id: `gen-${id}`,
      polling_url: `/api/v1/videos/${id}`,
      status,
      ...(status === 'completed' ? done : {}),
      ...(error === undefined ? {} : { error }),
    };
    return { status: 200, json };
  };

  const content = (job: RouterJob | undefined): HttpReply => {
    if (job === undefined) return refuse(404, 'Resource not found');
    // schema: 400 for an invalid request; SDK: 409 and 410 as well. aimock answers 400 before a job is completed.
    if (job.status !== 'completed') return refuse(400, `Job is not completed (status: ${job.status})`);
    return { status: 200, bytes: clip };
  };

  const service = await startHttp(answer);
  return { ...service, baseUrl: `${service.baseUrl}/api`, token: TOKEN, jobs, replies };
}

/** errors: `{error: {code, message, metadata?}}`, with the HTTP status as a number in `code`. */
export function refuse(
  status: number,
  message: string,
  more: object = {},
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  return { status, headers, json: { error: { code: status, message, ...more } } };
}

// schema: `VideoGenerationRequest`.
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  model: isText,
  prompt: isText,
  // schema: an integer from 1.
  duration: (value) => Number.isInteger(value) && Number(value) >= 1,
  resolution: (value) => ['360p', '480p', '720p', '768p', '1080p', '1K', '2K', '4K'].includes(String(value)),
  aspect_ratio: (value) => ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9', '9:21'].includes(String(value)),
  size: (value) => isText(value) && /^\d+x\d+$/.test(String(value)),
  generate_audio: (value) => typeof value === 'boolean',
  seed: Number.isInteger,
  // schema: `FrameImage`: each has a type, a URL and which frame it is.
  frame_images: (value) =>
    Array.isArray(value) &&
    value.every((each) => isReference(each, ['image_url'], ['frame_type']) && isFrame(Reflect.get(each, 'frame_type'))),
  // schema: `InputReference`: an image, an audio or a video.
  input_references: (value) =>
    Array.isArray(value) && value.every((each) => isReference(each, ['image_url', 'audio_url', 'video_url'])),
  provider: (value) => typeof value === 'object' && value !== null,
  user: isText,
};

/** Returns what is wrong with the request of a job; null where OpenRouter takes it. */
export function routerProblem(
  { headers, body }: RecordedRequest,
  models: FakeRouterOptions['models'],
): HttpReply | null {
  // schema: the body is application/json only.
  if (headers['content-type'] !== 'application/json') return refuse(400, 'Send application/json.');
  const order = JSON.parse(body) as Record<string, unknown>;
  for (const [name, value] of Object.entries(order)) {
    if (FIELDS[name]?.(value) !== true)
      return refuse(400, `Invalid request parameters: ${name}`, typed('invalid_request'));
  }
  // The fields have the types of the schema.
  return problemOfModel(order, models);
}

interface CheckedOrder {
  readonly model: string;
  readonly prompt: string;
  readonly duration: number;
  readonly resolution: string;
  readonly aspect_ratio: string;
  readonly frame_images: readonly { readonly frame_type: string }[];
  readonly input_references: readonly unknown[];
}

function problemOfModel(order: Partial<CheckedOrder>, models: FakeRouterOptions['models']): HttpReply | null {
  const { duration, resolution, aspect_ratio: ratio, frame_images: frames = [], input_references: others } = order;
  // schema: `model` is required; guide: so is `prompt`.
  if (order.model === undefined || order.prompt === undefined) return refuse(400, 'Invalid request parameters');
  const model = models[order.model];
  // errors: a model that does not exist is a 400, with an availability code.
  if (model === undefined)
    return refuse(400, 'This is not a valid model ID', { ...typed('invalid_request'), ...UNKNOWN });
  // guide, skill: only the values that the model list names for the model are accepted.
  if (duration !== undefined && !model.durations.includes(duration)) return unsupported('duration');
  if (resolution !== undefined && !model.resolutions.includes(resolution)) return unsupported('resolution');
  if (ratio !== undefined && !model.aspectRatios.includes(ratio)) return unsupported('aspect_ratio');
  const types = frames.map((frame) => frame.frame_type);
  if (types.some((type) => !model.frames.includes(type))) return unsupported('frame_images');
  if (new Set(types).size < types.length) return unsupported('frame_images');
  // guide: "If both fields are provided, frame_images takes precedence": the references would be lost.
  return types.length > 0 && others !== undefined ? unsupported('input_references') : null;
}

function unsupported(name: string): HttpReply {
  return refuse(400, `${name} is not supported by this model`, typed('invalid_request'));
}

/** errors: the typed code is in the metadata. */
export function typed(error_type: string): object {
  return { metadata: { error_type } };
}

const UNKNOWN = { availability: { code: 'model_not_found', retryable: false, requested_models: [] } };

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isFrame(value: unknown): boolean {
  return value === 'first_frame' || value === 'last_frame';
}

/** Returns whether a value is `{type, [type]: {url}}` and has the further fields, and no others. */
function isReference(value: unknown, types: readonly string[], others: readonly string[] = []): boolean {
  const { type, ...rest } = value as Record<string, unknown>;
  if (typeof type !== 'string' || !types.includes(type)) return false;
  const { [type]: target, ...more } = rest as Record<string, { readonly url?: unknown } | undefined>;
  // guide, services: a URL, or an image as a data URI.
  const isUrl = typeof target?.url === 'string' && /^(https?:\/\/|data:)/.test(target.url);
  return isUrl && Object.keys(more).join() === others.join();
}
