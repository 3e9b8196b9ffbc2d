import { z } from 'zod';
import { fakeClip } from '../clip.ts';
import type { RecordedRequest } from '../video-service.ts';
import { type HttpReply, type HttpService, startHttp } from './http.ts';

export const FAL_KEY = '0d1a8c1e-key-id:fa1c0ffee';

export interface FakeFal {
  /** The queue: what clients get as base URL. */
  readonly queue: HttpService;
  /** The storage of clips, on an origin of its own. */
  readonly storage: HttpService;
  readonly clip: Buffer;
  /** Answers of the next creates, in place of the queue's own. */
  readonly refusals: HttpReply[];
  /** Results of the next requests, in place of a clip. A status of 400 and above: the request has failed. */
  readonly results: HttpReply[];
  /** Number of requests that the queue took: what would be billed. */
  readonly taken: number;
  close(): Promise<void>;
}

const seconds = (from: number, to: number) =>
  z.enum(Array.from({ length: to - from + 1 }, (_, index) => String(from + index)));
const image = z.string().regex(/^(https?:\/\/|data:image\/)/, 'Input should be a URL or a data URI');
const prompt = z.string().min(1);
const veo = {
  prompt,
  duration: z.enum(['4s', '6s', '8s']).optional(),
  resolution: z.enum(['720p', '1080p', '4k']).optional(),
  generate_audio: z.boolean().optional(),
};
const kling = { prompt, duration: seconds(3, 15).optional(), generate_audio: z.boolean().optional() };
const ratio = z.enum(['16:9', '9:16', '1:1']).optional();

/**
 * Inputs of some models, by their ids. Unknown fields are refused, which is stricter than fal: only documented ones may
 * be sent.
 * @see https://fal.ai/models/fal-ai/veo3.1/llms.txt and so on for each: `https://fal.ai/models/<id>/llms.txt` (October 2026)
 */
const INPUTS: Readonly<Record<string, z.ZodType>> = {
  'fal-ai/veo3.1': z.strictObject({ ...veo, aspect_ratio: z.enum(['16:9', '9:16']).optional() }),
  'fal-ai/veo3.1/fast/first-last-frame-to-video': z.strictObject({
    ...veo,
    aspect_ratio: z.enum(['auto', '16:9', '9:16']).optional(),
    first_frame_url: image,
    last_frame_url: image,
  }),
  'fal-ai/veo3.1/reference-to-video': z.strictObject({
    ...veo,
    duration: z.literal('8s').optional(),
    aspect_ratio: z.enum(['16:9', '9:16']).optional(),
    image_urls: z.array(image).min(1),
  }),
  'fal-ai/kling-video/v3/standard/text-to-video': z.strictObject({ ...kling, aspect_ratio: ratio }),
  'fal-ai/kling-video/v3/pro/image-to-video': z.strictObject({
    ...kling,
    start_image_url: image,
    end_image_url: image.optional(),
  }),
  'fal-ai/kling-video/v3/turbo/pro/text-to-video': z.strictObject({
    prompt,
    duration: seconds(3, 15).optional(),
    aspect_ratio: ratio,
  }),
  'fal-ai/kling-video/o3/standard/image-to-video': z.strictObject({
    ...kling,
    image_url: image,
    end_image_url: image.optional(),
  }),
  'fal-ai/kling-video/v2.5-turbo/pro/image-to-video': z.strictObject({
    prompt,
    image_url: image,
    tail_image_url: image.optional(),
    duration: z.enum(['5', '10']).optional(),
    negative_prompt: z.string().optional(),
    cfg_scale: z.number().min(0).max(1).optional(),
  }),
  'bytedance/seedance-2.0/fast/text-to-video': z.strictObject({
    prompt,
    resolution: z.enum(['480p', '720p']).optional(),
    duration: z.union([z.literal('auto'), seconds(4, 15)]).optional(),
    aspect_ratio: z.enum(['auto', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16']).optional(),
    generate_audio: z.boolean().optional(),
    seed: z.int().optional(),
  }),
};

/** Returns what is wrong with an input of a model, as fal words it; empty where the model takes it. */
export function falProblems(model: string, input: unknown): readonly object[] {
  const parsed = INPUTS[model]?.safeParse(input);
  if (parsed === undefined) return [{ loc: ['path'], msg: `no such model: ${model}`, type: 'value_error' }];
  return (parsed.error?.issues ?? []).map(({ path, message }) => ({
    loc: ['body', ...path],
    msg: message,
    type: 'value_error',
  }));
}

interface Request {
  readonly id: string;
  /** Owner and name: the part of the model in the URLs of a request. */
  readonly app: string;
  readonly result: HttpReply;
  looks: number;
}

/** Starts a fake of the queue of fal.ai, and of its storage. */
export async function startFal(): Promise<FakeFal> {
  const clip = fakeClip(50_000);
  const requests = new Map<string, Request>();
  const refusals: HttpReply[] = [];
  const results: HttpReply[] = [];
  let taken = 0;
  const storage = await startHttp((request) => fileOf(request, clip));
  const queue = await startHttp((request, baseUrl) => {
    const { method, path, headers } = request;
    // The header is `Authorization: Key …`. @see https://fal.ai/docs/api-reference/inference-api "Authentication"
    if (headers.authorization !== `Key ${FAL_KEY}`)
      return detail(401, 'Cannot access application. Authentication is required to access this application.');
    if (method === 'POST') return create(request, baseUrl);
    // Status and result are known by owner and name alone, without the rest of the model.
    // @see https://fal.ai/docs/api-reference/inference-api "Model IDs and paths"
    const [, app, id, look] =
      /^\/([^/]+\/[^/]+)\/requests\/([^/]+?)(\/status)?$/.exec(path.replace(/\/cancel$/, '')) ?? [];
    const found = requests.get(id ?? '');
    if (method === 'PUT' && path.endsWith('/cancel')) return cancel(found);
    if (method !== 'GET' || found === undefined || found.app !== app) return detail(404, 'Request not found');
    return look === undefined ? resultOf(found) : stateOf(found, baseUrl);
  });

  function create(request: RecordedRequest, baseUrl: string): HttpReply {
    const refusal = refusals.shift();
    if (refusal !== undefined) return refusal;
    const model = request.path.slice(1);
    // An app that does not exist is refused; a path that its app does not have is not known before it runs.
    if (!Object.keys(INPUTS).some((known) => appOf(known) === appOf(model))) {
      return detail(404, `Application '${appOf(model)}' not found`);
    }
    if (request.headers['content-type'] !== 'application/json') return detail(415, 'Unsupported media type');
    const id = `764cabcf-b745-4b3e-ae38-1200304cf45${taken}`;
    taken += 1;
    const made = { id, app: appOf(model), result: outcomeOf(model, request.body), looks: 0 };
    requests.set(id, made);
    return { status: 200, json: { status: 'IN_QUEUE', queue_position: 2, ...urlsOf(made, baseUrl) } };
  }

  /**
   * Removes a request that is queued; what its runner does with the signal is for its model to decide.
   * @see https://fal.ai/docs/inference-api/queue/cancel
   */
  function cancel(found: Request | undefined): HttpReply {
    if (found === undefined) return { status: 404, json: { status: 'NOT_FOUND' } };
    if (found.looks >= 3) return { status: 400, json: { status: 'ALREADY_COMPLETED' } };
    if (found.looks < 2) requests.delete(found.id);
    return { status: 202, json: { status: 'CANCELLATION_REQUESTED' } };
  }

  function outcomeOf(model: string, body: string): HttpReply {
    const given = results.shift();
    if (given !== undefined) return given;
    if (INPUTS[model] === undefined) return detail(404, `Path /${model.split('/').slice(2).join('/')} not found`);
    // The model validates its input when it runs, so that the error is the result of the request.
    // @see https://fal.ai/docs/documentation/model-apis/errors.md
    const problems = falProblems(model, JSON.parse(body));
    if (problems.length > 0) return { status: 422, json: { detail: problems } };
    const video = { url: `${storage.baseUrl}/files/b/clip.mp4`, content_type: 'video/mp4', file_name: 'clip.mp4' };
    return { status: 200, json: { video, seed: 7 }, headers: { 'x-fal-billable-units': '5' } };
  }

  return {
    queue,
    storage,
    clip,
    refusals,
    results,
    get taken() {
      return taken;
    },
    async close() {
      await Promise.all([queue.close(), storage.close()]);
    },
  };
}

/** Returns a refusal of the queue. @see https://fal.ai/docs/documentation/model-apis/request-errors.md */
export function detail(status: number, words: string, type?: string, headers = {}): HttpReply {
  return { status, headers, json: { detail: words, ...(type === undefined ? {} : { error_type: type }) } };
}

function appOf(model: string): string {
  return model.split('/').slice(0, 2).join('/');
}

function urlsOf({ id, app }: Request, baseUrl: string): object {
  const url = `${baseUrl}/${app}/requests/${id}`;
  return { request_id: id, response_url: url, status_url: `${url}/status`, cancel_url: `${url}/cancel` };
}

/**
 * Moves a request on by one state with each look. It answers 202 until the request is completed, also if it has failed.
 * @see https://fal.ai/docs/api-reference/inference-api "Queue request lifecycle"
 */
function stateOf(request: Request, baseUrl: string): HttpReply {
  request.looks += 1;
  const urls = urlsOf(request, baseUrl);
  if (request.looks === 1) return { status: 202, json: { status: 'IN_QUEUE', queue_position: 1, ...urls } };
  if (request.looks === 2) return { status: 202, json: { status: 'IN_PROGRESS', logs: null, ...urls } };
  return { status: 200, json: { status: 'COMPLETED', metrics: { inference_time: 41.2 }, ...urls } };
}

/** Returns the result, which does not exist before the request is completed. @see `@ai-sdk/fal` 3.0.41, fal-video-model.ts */
function resultOf({ looks, result }: Request): HttpReply {
  return looks < 3 ? detail(400, 'Request is still in progress') : result;
}

/** Serves a file to everyone: the storage refuses keys of another service, as object storages do. */
function fileOf({ path, headers }: RecordedRequest, clip: Buffer): HttpReply {
  if (headers.authorization !== undefined) return { status: 400, json: { error: 'only one auth mechanism allowed' } };
  return path === '/files/b/clip.mp4' ? { status: 200, bytes: clip } : { status: 404 };
}
