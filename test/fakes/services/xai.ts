import { fakeClip } from '../clip.ts';
import type { RecordedRequest } from '../video-service.ts';
import { type HttpReply, type HttpService, startHttp } from './http.ts';

/** Options of {@link startXai}. */
export interface XaiOptions {
  /** Answers to polls, in their order; the last one is repeated. Default: two of a running task, then a clip. */
  readonly polls?: readonly HttpReply[];
  /** Answer to every valid create, in place of an id. Default: none. */
  readonly refusal?: HttpReply;
}

export interface XaiService extends HttpService {
  readonly token: string;
  /** Number of created tasks. */
  readonly created: number;
  /** Another origin, with the clip: every request that it got. */
  readonly storage: HttpService;
}

export const XAI_ID = 'd97415a1-5796-b7ec-379f-4e6819e08fdf';
export const XAI_CLIP = fakeClip(120_000);

const TOKEN = 'xai-fake-token-1234';

/**
 * Starts a strict fake of xAI's video API: it refuses what the documentation does not allow.
 * @see https://docs.x.ai/developers/model-capabilities/video/generation as of autumn 2026, from which all rules are
 *   that name no other source.
 */
export async function startXai({ polls, refusal }: XaiOptions = {}): Promise<XaiService> {
  const storage = await startHttp(() => ({ status: 200, bytes: XAI_CLIP }));
  const done = { status: 200, json: xaiDone(`${storage.baseUrl}/xai-video.mp4`) };
  const answers = polls ?? [xaiPending(0), xaiPending(40), done];
  let created = 0;
  let polled = 0;
  const http = await startHttp((request) => {
    const { method, path } = request;
    const unauthorised = authorisationOf(request);
    if (unauthorised !== null) return unauthorised;
    if (method === 'POST' && path === '/v1/videos/generations') {
      const problem = xaiProblem(request);
      if (problem !== null) return problem;
      if (refusal !== undefined) return refusal;
      created += 1;
      return { status: 200, json: { request_id: XAI_ID } };
    }
    const [, id] = /^\/v1\/videos\/([^/?]+)$/.exec(path) ?? [];
    // "Poll with the request_id": no other id exists. Its status is assumed, as for any missing resource.
    if (method !== 'GET' || id !== XAI_ID || created === 0) return error(404, 'not-found', 'No such request.');
    const answer = answers[Math.min(polled, answers.length - 1)] ?? done;
    polled += 1;
    return answer;
  });
  return {
    ...http,
    token: TOKEN,
    storage,
    get created() {
      return created;
    },
    async close() {
      await Promise.all([http.close(), storage.close()]);
    },
  };
}

/** A task that runs. */
export function xaiPending(progress: number): HttpReply {
  return { status: 202, json: { status: 'pending', progress } };
}

/** A task with a clip. */
export function xaiDone(url: string): object {
  const video = { url, duration: 8, respect_moderation: true };
  const usage = { cost_in_usd_ticks: 11_200_000_000 };
  return { status: 'done', video, model: 'grok-imagine-video-1.5', usage, progress: 100 };
}

/** An error in the shape of the API. */
export function error(status: number, code: string, words: string): HttpReply {
  return { status, json: { code, error: words } };
}

function authorisationOf({ headers }: RecordedRequest): HttpReply | null {
  const { authorization = '' } = headers;
  if (authorization === `Bearer ${TOKEN}`) return null;
  if (!authorization.startsWith('Bearer ')) return error(401, 'unauthenticated', 'No authentication credentials.');
  // A wrong key is a 400, as users report. @see https://github.com/continuedev/continue/issues/10161
  return error(400, 'Client specified an invalid argument', 'Incorrect API key provided: xa***ys.');
}

const MODELS = ['grok-imagine-video', 'grok-imagine-video-1.5', 'grok-imagine-video-1.5-lite'];

/** Fields of the request. @see `@ai-sdk/xai` 5.0.12, `XaiVideoModel`, for those of images, audio and storage */
const FIELDS = new Set([
  'model',
  'prompt',
  'duration',
  'aspect_ratio',
  'resolution',
  'generate_audio',
  'image',
  'last_frame',
  'keyframes',
  'reference_images',
  'reference_audios',
  'storage_options',
  'user',
]);

/** Returns what is wrong with the request of a task; null where xAI takes it. */
export function xaiProblem({ headers, body: text }: RecordedRequest): HttpReply | null {
  // "-H Content-Type: application/json" in every example.
  if (headers['content-type'] !== 'application/json') return invalid('Expected JSON.');
  const body = JSON.parse(text) as Record<string, unknown>;
  // Legacy fields are a 422, as a user found. @see https://github.com/ddcat-ai/open-ai-canvas/issues/21
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) return error(422, 'unprocessable', `Unknown field ${unknown}.`);
  if (Object.values(body).includes(null)) return invalid('A field is null.');
  const { model, prompt } = body;
  // "Missing models are returned synchronously as standard API errors."
  if (typeof model !== 'string' || !MODELS.includes(model))
    return error(404, 'Some requested entity was not found', `The model ${String(model)} does not exist.`);
  // "Prompt cannot be empty", and a prompt that is too long is invalid: 4,096 characters. @see docs.comfy.org, xAI
  if (typeof prompt !== 'string' || prompt === '' || prompt.length > 4_096) return invalid('Prompt cannot be empty.');
  return settingsProblem(model, body) ?? mediaProblem(model, body);
}

const RATIOS = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '21:9', '5:2'];

function settingsProblem(model: string, body: Record<string, unknown>): HttpReply | null {
  const { duration, aspect_ratio: ratio, resolution, generate_audio: hasAudio, reference_images: references } = body;
  const isReference = references !== undefined || body['reference_audios'] !== undefined;
  // "1 to 15 seconds; reference-to-video on grok-imagine-video allows up to 10 seconds." The fake insists on the field:
  // its default costs money.
  const most = isReference && model === 'grok-imagine-video' ? 10 : 15;
  if (!Number.isInteger(duration) || Number(duration) < 1 || Number(duration) > most) return invalid('Bad duration.');
  if (ratio !== undefined && !RATIOS.includes(ratio as string)) return invalid('Bad aspect ratio.');
  if (!['480p', '720p', '1080p'].includes(resolution as string)) return invalid('Bad resolution.');
  // "grok-imagine-video supports up to 720p; reference-to-video goes up to 720p."
  if (resolution === '1080p' && (isReference || model === 'grok-imagine-video')) return invalid('Bad resolution.');
  if (hasAudio !== undefined && typeof hasAudio !== 'boolean') return invalid('Bad generate_audio.');
  return null;
}

function mediaProblem(model: string, body: Record<string, unknown>): HttpReply | null {
  const { image, last_frame: last, reference_images: references, reference_audios: audios } = body;
  for (const one of [image, last]) if (one !== undefined && !isFile(one)) return invalid('Bad image.');
  // "Up to 7 reference images", "up to 3 speakers".
  if (!isList(references, 7) || !isList(audios, 3)) return invalid('Bad references.');
  // "On grok-imagine-video-1.5, pins the last frame"; "reference audio on grok-imagine-video-1.5".
  if (model !== 'grok-imagine-video-1.5' && (last ?? audios) !== undefined) return invalid('Not of this model.');
  // "`reference_images` is not supported" by Lite; the classic model "rejects combining image with reference inputs".
  if (model === 'grok-imagine-video-1.5-lite' && references !== undefined) return invalid('Not of this model.');
  if (model === 'grok-imagine-video' && image !== undefined && references !== undefined) return invalid('Conflict.');
  return null;
}

function isList(value: unknown, most: number): boolean {
  return (
    value === undefined || (Array.isArray(value) && value.length > 0 && value.length <= most && value.every(isFile))
  );
}

/** "A public HTTPS URL or a base64 data URI", in an object. */
function isFile(value: unknown): boolean {
  const { url, ...others } = value as { readonly url?: unknown };
  return Object.keys(others).length === 0 && typeof url === 'string' && /^(https:\/\/|data:[^,]+;base64,)./.test(url);
}

function invalid(words: string): HttpReply {
  return error(400, 'Client specified an invalid argument', words);
}
