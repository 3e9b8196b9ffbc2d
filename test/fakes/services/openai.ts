import type { RecordedRequest } from '../video-service.ts';
import { type HttpReply, type HttpService, startHttp } from './http.ts';

/** Video of the fake, as a poll shows it. */
export interface GatewayVideo {
  readonly id: string;
  /** Fields of the order, the file of a form as `{type, name, bytes}`. */
  readonly order: Readonly<Record<string, unknown>>;
  status: string;
  progress: number;
  error: { readonly code: string; readonly message: string } | null;
}

/** File of a form. */
interface Upload {
  readonly type: string;
  readonly name: string;
  readonly bytes: Buffer;
}

/** A gateway in the shape of OpenAI's Videos API, on loopback. */
export interface FakeGateway extends HttpService {
  readonly token: string;
  readonly videos: ReadonlyMap<string, GatewayVideo>;
  /** Replies in place of the gateway's own, by endpoint; may be changed at any time. */
  readonly replies: { create?: HttpReply; task?: HttpReply; content?: HttpReply };
}

export interface FakeGatewayOptions {
  readonly models: readonly string[];
  readonly clip: Buffer;
  /** Id of the next video. Default `video_1`, `video_2` … */
  readonly nextId?: () => string;
}

const TOKEN = 'sk-gateway-key';

/**
 * Starts a gateway that enforces what LiteLLM, new-api and OpenAI document; a comment names the source of each check.
 * LiteLLM: https://docs.litellm.ai/docs/videos (7 October 2026). new-api: QuantumNous/new-api at 05393ffc and 0d158eb9.
 * OpenAI: npm openai 7.57.0, `resources/videos.d.ts`.
 */
export async function startGateway({ models, clip, nextId }: FakeGatewayOptions): Promise<FakeGateway> {
  const videos = new Map<string, GatewayVideo>();
  const replies: FakeGateway['replies'] = {};
  const newId = nextId ?? (() => `video_${videos.size + 1}`);

  const answer = (request: RecordedRequest): HttpReply => {
    const { method, path } = request;
    // LiteLLM, new-api: every endpoint of /v1/videos takes the key as a bearer token, the content included.
    if (request.headers.authorization !== `Bearer ${TOKEN}`)
      return refuse(401, 'invalid_api_key', 'Incorrect API key.');
    if (method === 'POST' && path === '/v1/videos') return replies.create ?? create(request);
    const [, encoded, isContent] = /^\/v1\/videos\/([^/?]+)(\/content)?$/.exec(path) ?? [];
    // LiteLLM: the three paths of the workflow; there is no other one.
    if (method !== 'GET' || encoded === undefined) return refuse(404, 'not_found', `No ${method} ${path}.`);
    const video = videos.get(decodeURIComponent(encoded));
    if (isContent === undefined) return replies.task ?? poll(video);
    return replies.content ?? content(video);
  };

  const create = (request: RecordedRequest): HttpReply => {
    const fields = fieldsOf(request);
    if (fields === null) return refuse(415, 'invalid_content_type', 'Send JSON or a form.');
    const problem = problemOf(fields, request, models);
    if (problem !== null) return problem;
    const video: GatewayVideo = { id: newId(), order: fields, status: 'queued', progress: 0, error: null };
    videos.set(video.id, video);
    return { status: 200, json: videoObject(video) };
  };

  // new-api, relay_task.go: a task that the key's owner does not have is a 400 with this code.
  const poll = (video: GatewayVideo | undefined): HttpReply =>
    video === undefined ? refuse(400, 'task_not_exist', 'task_not_exist') : { status: 200, json: videoObject(video) };

  const content = (video: GatewayVideo | undefined): HttpReply => {
    // new-api, controller/video_proxy.go: both answers have a type and no code.
    if (video === undefined) return refuse(404, undefined, 'Task not found');
    if (video.status !== 'completed')
      return refuse(400, undefined, `Task is not completed yet, current status: ${video.status}`);
    return { status: 200, bytes: clip };
  };

  return { ...(await startHttp(answer)), token: TOKEN, videos, replies };
}

/** OpenAI: `Video` has these fields, and nulls among them. */
function videoObject({ id, order, status, progress, error }: GatewayVideo): object {
  const { model, prompt, seconds, size = '720x1280' } = order;
  const times = { created_at: 1_795_760_000, completed_at: null, expires_at: null };
  return {
    id,
    object: 'video',
    model,
    prompt,
    seconds,
    size,
    status,
    progress,
    error,
    remixed_from_video_id: null,
    ...times,
  };
}

/** OpenAI: an error is `{error: {message, type, param, code}}`. */
export function refuse(
  status: number,
  code: string | undefined,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  const error = { message, type: 'invalid_request_error', param: null, ...(code === undefined ? {} : { code }) };
  return { status, headers, json: { error } };
}

// OpenAI `VideoCreateParams`; LiteLLM adds `user`, new-api `metadata`.
const FIELDS = new Set(['model', 'prompt', 'seconds', 'size', 'input_reference', 'user', 'metadata']);

function problemOf(
  fields: Readonly<Record<string, unknown>>,
  { headers }: RecordedRequest,
  models: readonly string[],
): HttpReply | null {
  const { model, prompt, seconds, size, input_reference: image } = fields;
  const unknown = Object.keys(fields).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) return refuse(400, 'unknown_parameter', `Unknown parameter: '${unknown}'.`);
  // OpenAI: no field of the request may be null.
  const empty = Object.keys(fields).find((name) => fields[name] === null);
  if (empty !== undefined) return refuse(400, 'invalid_type', `Invalid type for '${empty}': null.`);
  // new-api, relay_utils.go: `missing_model`, `invalid_request`.
  if (typeof model !== 'string' || model.trim() === '') return refuse(400, 'missing_model', 'model field is required');
  if (typeof prompt !== 'string' || prompt.trim() === '') return refuse(400, 'invalid_request', 'prompt is required');
  // LiteLLM answers a model that its configuration does not have with this sentence.
  if (!models.includes(model)) return refuse(400, '400', `/v1/videos: Invalid model name passed in model=${model}.`);
  // OpenAI `VideoSeconds`, new-api `TaskSubmitReq.Seconds`: digits in a string, not a number.
  if (typeof seconds !== 'string' || !/^\d+$/.test(seconds))
    return refuse(400, 'invalid_type', 'Invalid type for seconds: expected digits in a string.');
  // OpenAI: "Output resolution formatted as width x height".
  if (size !== undefined && !(typeof size === 'string' && /^\d+x\d+$/.test(size)))
    return refuse(400, 'invalid_value', `Invalid size: ${JSON.stringify(size)}.`);
  return image === undefined
    ? null
    : problemOfImage(image, headers['content-type']?.startsWith('application/json') === true);
}

function problemOfImage(image: unknown, isJson: boolean): HttpReply | null {
  // new-api, relay_info.go: `InputReference string`, so an object breaks the JSON; LiteLLM, RunwayML page: a URL.
  if (isJson)
    return typeof image === 'string' && /^https?:\/\//.test(image)
      ? null
      : refuse(400, 'invalid_json', 'input_reference must be a URL.');
  // LiteLLM: `input_reference` of a form is a file object. OpenAI: of type image/jpeg, image/png or image/webp.
  const file = image as Partial<Upload>;
  const isImage = ['image/jpeg', 'image/png', 'image/webp'].includes(file.type ?? '');
  const isFile = isImage && file.name !== undefined && (file.bytes?.length ?? 0) > 0;
  return isFile ? null : refuse(400, 'invalid_file', 'input_reference must be an image file.');
}

/** LiteLLM, new-api: the body is JSON or `multipart/form-data`. @returns null for any other one */
function fieldsOf({ headers, body }: RecordedRequest): Readonly<Record<string, unknown>> | null {
  const type = headers['content-type'] ?? '';
  if (type.startsWith('application/json')) return JSON.parse(body) as Record<string, unknown>;
  const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(type)?.[1];
  if (boundary === undefined) return null;
  const parts = body.split(`--${boundary}`).slice(1, -1);
  return Object.fromEntries(parts.map(partOf));
}

/** @see https://www.rfc-editor.org/rfc/rfc7578 */
function partOf(part: string): [string, string | Upload] {
  const [head = '', ...rest] = part.replace(/^\r\n/, '').replace(/\r\n$/, '').split('\r\n\r\n');
  const bytes = Buffer.from(rest.join('\r\n\r\n'), 'latin1');
  const name = /[; ]name="([^"]*)"/.exec(head)?.[1] ?? '';
  const fileName = /filename="([^"]*)"/.exec(head)?.[1];
  const type = /content-type: (\S+)/i.exec(head)?.[1] ?? '';
  return [name, fileName === undefined ? bytes.toString('utf8') : { type, name: fileName, bytes }];
}
