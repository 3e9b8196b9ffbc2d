import { fakeClip } from '../clip.ts';
import type { RecordedRequest } from '../video-service.ts';
import { type HttpReply, type HttpService, startHttp } from './http.ts';

/** Options of {@link startGoogle}. */
export interface GoogleOptions {
  /** Answers to polls, in their order; the last one is repeated. Default: one of a running task, then a clip. */
  readonly polls?: readonly HttpReply[];
  /** Answer to every valid create, in place of an id. Default: none. */
  readonly refusal?: HttpReply;
  /** Downloads for which the file is not ready yet. Default 0. */
  readonly processing?: number;
}

export interface GoogleService extends HttpService {
  readonly token: string;
  /** Another origin, with the clip: every request that it got. */
  readonly storage: HttpService;
}

export const VEO_ID = 'models/veo-3.1-generate-preview/operations/vz341u0pmdlc';
/** Ids of interactions contain characters of base64. */
export const OMNI_ID = 'v1_ChAz/Nyc+YQ==';
export const GOOGLE_CLIP = fakeClip(120_000);

const TOKEN = 'AIza-fake-token-1234';
const FILE = '/v1beta/files/abc-123:download?alt=media';

/**
 * Starts a strict fake of the Gemini API's two ways to make clips: it refuses what the documentation does not allow.
 * @see https://ai.google.dev/gemini-api/docs/veo and https://ai.google.dev/gemini-api/docs/omni as of September 2026,
 *   from which all rules are that name no other source.
 */
export async function startGoogle(options: GoogleOptions = {}): Promise<GoogleService> {
  const storage = await startHttp(() => ({ status: 200, bytes: GOOGLE_CLIP }));
  let created = '';
  let polled = 0;
  let processing = options.processing ?? 0;
  const createdAs = (id: string, answer: object): HttpReply => {
    created = id;
    return options.refusal ?? { status: 200, json: answer };
  };
  const http = await startHttp((request, baseUrl) => {
    const { method, path } = request;
    const unauthorised = authorisationOf(request);
    if (unauthorised !== null) return unauthorised;
    const [, model] = /^\/v1beta\/models\/([^/]+):predictLongRunning$/.exec(path) ?? [];
    if (method === 'POST' && model !== undefined)
      return veoProblem(model, request) ?? createdAs(VEO_ID, { name: VEO_ID });
    if (method === 'POST' && path === '/v1beta/interactions')
      return omniProblem(request) ?? createdAs(OMNI_ID, { id: OMNI_ID, status: 'in_progress', object: 'interaction' });
    if (method === 'GET' && path === FILE) {
      processing -= 1;
      // "Poll until the video is ACTIVE before downloading"; the status of an early download is assumed.
      if (processing >= 0) return googleError(400, 'FAILED_PRECONDITION', 'The file is not ACTIVE.');
      // "-L: follow redirects." The target is another origin, which must not get the key.
      return { status: 302, headers: { location: `${storage.baseUrl}/signed.mp4?sig=1` } };
    }
    const isOmni = created === OMNI_ID;
    const taskPath = isOmni ? `/v1beta/interactions/${encodeURIComponent(OMNI_ID)}` : `/v1beta/${VEO_ID}`;
    if (method !== 'GET' || created === '' || path !== taskPath) return unknownTask(path);
    const done = isOmni ? interaction(omniVideo({ uri: baseUrl + FILE })) : veoDone(baseUrl + FILE);
    const running = isOmni ? { id: OMNI_ID, status: 'in_progress' } : { name: VEO_ID };
    const answers = options.polls ?? [
      { status: 200, json: running },
      { status: 200, json: done },
    ];
    polled += 1;
    return answers[Math.min(polled, answers.length) - 1] ?? { status: 500 };
  });
  return {
    ...http,
    token: TOKEN,
    storage,
    async close() {
      await Promise.all([http.close(), storage.close()]);
    },
  };
}

/** A finished operation with a clip. */
export function veoDone(uri: string): object {
  const result = {
    '@type': 'type.googleapis.com/…',
    generateVideoResponse: { generatedSamples: [{ video: { uri } }] },
  };
  return { name: VEO_ID, done: true, response: result };
}

/** A completed interaction with the contents of its output. */
export function interaction(...content: readonly object[]): object {
  return {
    id: OMNI_ID,
    object: 'interaction',
    model: 'gemini-omni-1.1-flash',
    status: 'completed',
    steps: [
      // The input may hold a video of its own.
      { type: 'user_input', content: [{ type: 'video', uri: 'https://input.example/a.mp4' }] },
      { type: 'thought', summary: [] },
      { type: 'model_output', content },
    ],
  };
}

/**
 * A clip in the output: by URI as asked for, or inline. "GET returns the video as inline base64 data even if the
 * interaction was created with delivery: uri"; Bike4Mind/bike4mind reads URIs as of October 2026.
 */
export function omniVideo(clip: { readonly uri: string } | { readonly data: string }): object {
  return { type: 'video', mime_type: 'video/mp4', ...clip };
}

/** An error in the shape of the API. @see https://ai.google.dev/gemini-api/docs/troubleshooting */
export function googleError(code: number, status: string, message: string, details: readonly object[] = []): HttpReply {
  return { status: code, json: { error: { code, message, status, details } } };
}

/** An unknown interaction is a 400 with an error code in words. @see Bike4Mind/bike4mind, GeminiOmniVideoProvider.ts */
function unknownTask(path: string): HttpReply {
  if (!path.startsWith('/v1beta/interactions/')) return googleError(404, 'NOT_FOUND', 'Operation not found.');
  return {
    status: 400,
    json: { error: { message: 'Invalid interaction name: interactions/x', code: 'invalid_request' } },
  };
}

function authorisationOf({ headers }: RecordedRequest): HttpReply | null {
  const key = headers['x-goog-api-key'];
  if (key === TOKEN && headers.authorization === undefined) return null;
  if (key === undefined) return googleError(403, 'PERMISSION_DENIED', 'Method doesn’t allow unregistered callers.');
  // "Multiple authentication credentials received." @see Bike4Mind/bike4mind, GeminiOmniVideoProvider.test.ts
  if (key === TOKEN) return googleError(400, 'INVALID_ARGUMENT', 'Multiple authentication credentials received.');
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' };
  return googleError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [info]);
}

const VEO_MODELS = ['veo-3.1-generate-preview', 'veo-3.1-fast-generate-preview', 'veo-3.1-lite-generate-preview'];

function veoProblem(model: string, { headers, body: text }: RecordedRequest): HttpReply | null {
  if (!VEO_MODELS.includes(model)) {
    const words = `models/${model} is not found for API version v1beta, or is not supported for predictLongRunning.`;
    return googleError(404, 'NOT_FOUND', words);
  }
  if (headers['content-type'] !== 'application/json') return invalid('Expected JSON.');
  const { instances, parameters, ...others } = JSON.parse(text) as Record<string, unknown>;
  if (Object.keys(others).length > 0 || !Array.isArray(instances) || instances.length !== 1)
    return invalid('Bad body.');
  const [instance] = instances as readonly Record<string, unknown>[];
  return veoInstanceProblem(model, instance ?? {}) ?? veoParameterProblem(parameters, instance ?? {});
}

/** Table "Veo API parameters and specifications", rows of `instances`. */
function veoInstanceProblem(model: string, instance: Record<string, unknown>): HttpReply | null {
  const { prompt, image, lastFrame, referenceImages, ...others } = instance;
  if (Object.keys(others).length > 0) return invalid(`Unknown field ${Object.keys(others)[0]}.`);
  if (typeof prompt !== 'string' || prompt === '') return invalid('A prompt is required.');
  for (const each of [image, lastFrame]) if (each !== undefined && !isVeoImage(each)) return invalid('Bad image.');
  // "Must be used in combination with the image parameter."
  if (lastFrame !== undefined && image === undefined) return invalid('lastFrame needs image.');
  if (referenceImages === undefined) return null;
  // "Up to three images"; "n/a" for Lite; `referenceType: "asset"` in every sample.
  if (!Array.isArray(referenceImages) || referenceImages.length > 3 || model.includes('lite'))
    return invalid('Bad references.');
  const isAsset = (one: { image?: unknown; referenceType?: unknown }) =>
    one.referenceType === 'asset' && isVeoImage(one.image);
  return referenceImages.every(isAsset) ? null : invalid('Bad reference.');
}

/** Rows of `parameters`. */
function veoParameterProblem(given: unknown, { referenceImages }: Record<string, unknown>): HttpReply | null {
  const { aspectRatio, resolution, durationSeconds, personGeneration, seed, ...others } = given as Record<
    string,
    unknown
  >;
  if (Object.keys(others).length > 0) return invalid(`Unknown field ${Object.keys(others)[0]}.`);
  if (![undefined, '16:9', '9:16'].includes(aspectRatio as string)) return invalid('Bad aspect ratio.');
  if (![undefined, '720p', '1080p', '4k'].includes(resolution as string)) return invalid('Bad resolution.');
  if (![undefined, 'allow_all', 'allow_adult'].includes(personGeneration as string)) return invalid('Bad value.');
  if (seed !== undefined && !Number.isInteger(seed)) return invalid('Bad seed.');
  // The service refuses the documented string. @see its message, quoted in several repositories of July 2026
  if (typeof durationSeconds !== 'number') return invalid('The value type for `durationSeconds` needs to be a number.');
  if (![4, 6, 8].includes(durationSeconds)) return invalid('Bad duration.');
  // "Must be 8 with extension, reference images, 1080p or 4k."
  const isLong = referenceImages !== undefined || resolution === '1080p' || resolution === '4k';
  return isLong && durationSeconds !== 8 ? invalid('Must be 8 seconds.') : null;
}

/** "`inlineData` isn’t supported by this model": base64 only, with a media type. */
function isVeoImage(value: unknown): boolean {
  const { bytesBase64Encoded: data, mimeType, ...others } = value as Record<string, unknown>;
  const isBase64 = typeof data === 'string' && /^[A-Za-z0-9+/]+=*$/.test(data);
  return isBase64 && typeof mimeType === 'string' && mimeType.startsWith('image/') && Object.keys(others).length === 0;
}

const OMNI_FIELDS = ['model', 'input', 'background', 'response_format', 'generation_config', 'store', 'stream'];

function omniProblem({ headers, body: text }: RecordedRequest): HttpReply | null {
  if (headers['content-type'] !== 'application/json') return omniInvalid('Expected JSON.');
  const body = JSON.parse(text) as Record<string, unknown>;
  const unknown = Object.keys(body).find((name) => !OMNI_FIELDS.includes(name));
  if (unknown !== undefined) return omniInvalid(`Unknown parameter '${unknown}'.`);
  const { model, input, background, response_format: format, generation_config: config } = body;
  // The error of an unknown model is assumed: none was found.
  if (!['gemini-omni-1.1-flash', 'gemini-omni-1.2-flash'].includes(String(model)))
    return { status: 404, json: { error: { message: `Model '${String(model)}' not found.`, code: 'not_found' } } };
  // The fake insists on background work: without it, the response waits for the clip.
  if (background !== true) return omniInvalid('Not in the background.');
  return inputProblem(input) ?? formatProblem(format) ?? configProblem(config, input);
}

function inputProblem(input: unknown): HttpReply | null {
  if (typeof input === 'string') return input === '' ? omniInvalid('Empty input.') : null;
  if (!Array.isArray(input)) return omniInvalid('Bad input.');
  // "Media content as base64 `data`, or by `uri`."
  const isContent = (one: Record<string, unknown>) =>
    one['type'] === 'text' ? typeof one['text'] === 'string' : one['type'] === 'image' && isOmniImage(one);
  return input.every(isContent) && input.some(({ type }) => type === 'text') ? null : omniInvalid('Bad input.');
}

function isOmniImage({ type: _type, data, uri, mime_type: mimeType, ...others }: Record<string, unknown>): boolean {
  if (Object.keys(others).length > 0 || (data === undefined) === (uri === undefined)) return false;
  return data === undefined ? String(uri).startsWith('https://') : typeof mimeType === 'string';
}

/** `VideoResponseFormat`. @see https://ai.google.dev/api/interactions */
function formatProblem(format: unknown): HttpReply | null {
  const { type, delivery, aspect_ratio: ratio, resolution, duration, ...others } = format as Record<string, unknown>;
  if (type !== 'video' || Object.keys(others).length > 0) return omniInvalid('Bad response_format.');
  if (!['inline', 'uri'].includes(String(delivery))) return omniInvalid('Bad delivery.');
  if (![undefined, '16:9', '9:16'].includes(ratio as string)) return omniInvalid('Bad aspect_ratio.');
  if (![undefined, '360p', '720p', '1080p', '4k'].includes(resolution as string)) return omniInvalid('Bad resolution.');
  // A protobuf duration: a bare number is a 400. @see Bike4Mind/bike4mind, GeminiOmniVideoProvider.ts
  return /^([3-9]|1[0-5])s$/.test(String(duration)) ? null : omniInvalid('Bad duration.');
}

/** "Tasks parameter": `image_to_video` takes up to two images. */
function configProblem(config: unknown, input: unknown): HttpReply | null {
  const { video_config: { task } = {} } = (config ?? {}) as { video_config?: { task?: unknown } };
  const images = Array.isArray(input) ? input.length - 1 : 0;
  const isImages = task === 'image_to_video' && images > 0 && images <= 2;
  const isTask = task === undefined || task === 'text_to_video' || isImages || task === 'reference_to_video';
  return isTask ? null : omniInvalid('Bad task.');
}

function invalid(message: string): HttpReply {
  return googleError(400, 'INVALID_ARGUMENT', message);
}

function omniInvalid(message: string): HttpReply {
  return { status: 400, json: { error: { message, code: 'invalid_request' } } };
}
