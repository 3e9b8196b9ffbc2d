import { z } from 'zod';
import { fakeClip } from '../clip.ts';
import type { RecordedRequest } from '../video-service.ts';
import { type HttpReply, type HttpService, startHttp } from './http.ts';

export const ARK_KEY = 'ark-2f9c-4d11-key';

export interface FakeArk {
  /** Without the path: a client gets `${api.baseUrl}/api/v3`. */
  readonly api: HttpService;
  /** The storage of clips, on an origin of its own. */
  readonly storage: HttpService;
  readonly clip: Buffer;
  /** Answers of the next creates, in place of Ark's own. */
  readonly refusals: HttpReply[];
  /** Answers of the next lists, in place of Ark's own. */
  readonly lists: HttpReply[];
  /** Ends of the next tasks, in place of a clip. */
  readonly ends: TaskEnd[];
  /** Takes creates without answering. */
  losesAnswers(areLost: boolean): void;
  /** Leaves the newest tasks out of the list. */
  listsLate(newest: number): void;
  /** Keeps every task queued. @returns a function that ends this. */
  pause(): () => void;
  /** Cancels the next task that is to be, without answering. @returns once that was asked for */
  holdsWithdrawal(): Promise<void>;
  /** Number of tasks that Ark took: what would be billed. */
  readonly taken: number;
  close(): Promise<void>;
}

export interface TaskEnd {
  readonly status: string;
  readonly error?: { readonly code: string; readonly message: string };
}

const FRAMES = ['first_frame', 'last_frame'] as const;
const url = (media: string) =>
  z.strictObject({ url: z.string().regex(new RegExp(`^(https?://|data:${media}/[a-z0-9]+;base64,)`)) });

/** Parts of the input. @see https://docs.byteplus.com/en/docs/ModelArk/create-video-generation-task-api "content" */
const partSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1) }),
  z.strictObject({
    type: z.literal('image_url'),
    image_url: url('image'),
    role: z.enum([...FRAMES, 'reference_image']).optional(),
  }),
  z.strictObject({ type: z.literal('video_url'), video_url: url('video'), role: z.literal('reference_video') }),
  z.strictObject({ type: z.literal('audio_url'), audio_url: url('audio'), role: z.literal('reference_audio') }),
]);

/**
 * Request of a task, with all documented fields; others are refused, which is stricter than Ark.
 * @see https://docs.byteplus.com/en/docs/ModelArk/create-video-generation-task-api "Request parameters" (September 2026)
 */
const requestSchema = z.strictObject({
  model: z.string().min(1),
  content: z.array(partSchema).min(1),
  resolution: z.enum(['480p', '720p', '1080p', '4k']).optional(),
  ratio: z.enum(['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive']).optional(),
  duration: z.union([z.int().min(2).max(30), z.literal(-1)]).optional(),
  frames: z.int().optional(),
  generate_audio: z.boolean().optional(),
  watermark: z.boolean().optional(),
  seed: z.int().min(-1).optional(),
  camera_fixed: z.boolean().optional(),
  return_last_frame: z.boolean().optional(),
  draft: z.boolean().optional(),
  service_tier: z.enum(['default', 'flex']).optional(),
  execution_expires_after: z.int().min(3600).max(259_200).optional(),
});

interface Limits {
  readonly seconds: readonly [number, number];
  readonly resolutions: readonly string[];
  /** Takes references, of images and of other media. */
  readonly hasReferences: boolean;
  /** Takes frames only with the ratio `adaptive`. */
  readonly adaptsFrames?: true;
  /** Takes no last frame. */
  readonly hasNoLast?: true;
}

/**
 * Limits of the models that are offered.
 * @see https://docs.byteplus.com/en/docs/ModelArk/2298881 "Model capabilities" (22 September 2026), and TanStack/ai
 *   `packages/ai-byteplus/src/model-meta.ts`, which tried them on 31 July 2026
 */
const MODELS: Readonly<Record<string, Limits>> = {
  'dreamina-seedance-2-5-260628': {
    seconds: [4, 30],
    resolutions: ['480p', '720p', '1080p'],
    hasReferences: true,
    // @see https://docs.byteplus.com/en/docs/modelark/seedance-2-5 "Read before use"
    adaptsFrames: true,
  },
  'dreamina-seedance-2-0-260128': {
    seconds: [4, 15],
    resolutions: ['480p', '720p', '1080p', '4k'],
    hasReferences: true,
  },
  'dreamina-seedance-2-0-fast-260128': { seconds: [4, 15], resolutions: ['480p', '720p'], hasReferences: true },
  'dreamina-seedance-2-0-mini-260615': { seconds: [4, 15], resolutions: ['480p', '720p'], hasReferences: true },
  'seedance-1-5-pro-251215': { seconds: [4, 12], resolutions: ['480p', '720p', '1080p'], hasReferences: false },
  'seedance-1-0-pro-250528': { seconds: [2, 12], resolutions: ['480p', '720p', '1080p'], hasReferences: false },
  'seedance-1-0-pro-fast-251015': {
    seconds: [2, 12],
    resolutions: ['480p', '720p', '1080p'],
    hasReferences: false,
    hasNoLast: true,
  },
};

/** Returns what is wrong with the body of a request; null where Ark takes it. */
export function arkProblem(body: unknown): HttpReply | null {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) {
    const { path = [], message } = parsed.error.issues[0] ?? {};
    return refusal(
      400,
      'InvalidParameter',
      `The parameter \`${path.join('.')}\` specified in the request is not valid: ${message}`,
    );
  }
  const { model, content, duration = 5, resolution = '720p', ratio = 'adaptive' } = parsed.data;
  const limits = MODELS[model];
  if (limits === undefined) {
    return refusal(
      404,
      'InvalidEndpointOrModel.NotFound',
      `The model or endpoint ${model} does not exist or you do not have access to it.`,
    );
  }
  const roles = content.flatMap((part) => ('role' in part && part.role !== undefined ? [part.role] : []));
  const wrong = wrongIn(limits, { roles, duration, resolution, ratio });
  return wrong === undefined
    ? null
    : refusal(400, 'InvalidParameter', `The parameter \`${wrong}\` specified in the request is not valid.`);
}

function wrongIn(
  limits: Limits,
  given: {
    readonly roles: readonly string[];
    readonly duration: number;
    readonly resolution: string;
    readonly ratio: string;
  },
): string | undefined {
  const { roles, duration, resolution, ratio } = given;
  const [least, most] = limits.seconds;
  const count = (role: string) => roles.filter((each) => each === role).length;
  const hasFrames = count('first_frame') + count('last_frame') > 0;
  const hasReferences = roles.some((role) => role.startsWith('reference_'));
  if (duration !== -1 && (duration < least || duration > most)) return 'duration';
  if (!limits.resolutions.includes(resolution)) return 'resolution';
  // Frames and references are different tasks, which cannot be mixed; a last frame needs a first.
  // @see TanStack/ai packages/ai-byteplus/src/adapters/video.ts
  if (hasFrames && hasReferences) return 'content.role';
  if (count('first_frame') > 1 || count('last_frame') > count('first_frame')) return 'content.role';
  if (count('last_frame') > 0 && limits.hasNoLast) return 'content.role';
  if (hasReferences && !limits.hasReferences) return 'content.role';
  if (hasFrames && limits.adaptsFrames && ratio !== 'adaptive') return 'ratio';
  return undefined;
}

interface Task {
  readonly id: string;
  readonly model: string;
  /** What it says of its request. */
  readonly says: Readonly<Record<'duration' | 'ratio' | 'resolution' | 'generate_audio', unknown>>;
  readonly createdAtSeconds: number;
  readonly end: TaskEnd;
  isCancelled?: true;
  looks: number;
}

/** Starts a fake of Ark, and of the storage of its clips. @param now its clock. Default: the machine's */
export async function startArk(now: () => number = Date.now, clip = fakeClip(50_000)): Promise<FakeArk> {
  const tasks = new Map<string, Task>();
  const refusals: HttpReply[] = [];
  const lists: HttpReply[] = [];
  const ends: TaskEnd[] = [];
  const storage = await startHttp((request) => fileOf(request, clip));
  let isPaused = false;
  let onHeld: (() => void) | null = null;
  let areAnswersLost = false;
  let unlisted = 0;
  const api = await startHttp((request) => {
    const { method, headers } = request;
    const { pathname: path, searchParams } = new URL(request.path, 'http://ark');
    // The key is a bearer token; the answer without one was observed on 10 September 2026 (aimock 1.43.0).
    if (headers.authorization !== `Bearer ${ARK_KEY}`) {
      return refusal(401, 'AuthenticationError', 'The API key in the request is missing or invalid.');
    }
    const [, id] = /^\/api\/v3\/contents\/generations\/tasks(?:\/([^/]+))?$/.exec(path) ?? [];
    if (path === '/api/v3/contents/generations/tasks' && method === 'GET') return listOf(searchParams);
    if (method === 'POST' && path === '/api/v3/contents/generations/tasks') return create(request);
    const task = tasks.get(id ?? '');
    if (method === 'DELETE' && task !== undefined) return withdraw(task);
    if (method !== 'GET' || task === undefined) return refusal(404, 'NotFound', 'The specified task is not found.');
    return { status: 200, json: look(task) };
  });

  /**
   * Lists the tasks of the last 7 days, the newest first.
   * @see https://docs.byteplus.com/en/docs/ModelArk/list-video-generation-tasks-api
   */
  function listOf(query: URLSearchParams): HttpReply {
    const given = lists.shift();
    if (given !== undefined) return given;
    const [page, size] = ['page_num', 'page_size'].map((name) => Number(query.get(name) ?? Number.NaN));
    if (!(isPageNumber(page) && isPageNumber(size))) {
      return refusal(400, 'InvalidParameter', 'page_num and page_size are whole numbers from 1 to 500.');
    }
    const listed = [...tasks.values()].toReversed().slice(unlisted);
    const items = listed.slice((page - 1) * size, page * size).map((task) => ({ ...stateOf(task), ...task.says }));
    return { status: 200, json: { items, total: listed.length } };
  }

  function create({ body }: RecordedRequest): HttpReply | null {
    const given = refusals.shift();
    if (given !== undefined) return given;
    const parsed = JSON.parse(body) as { readonly model: string } & Task['says'];
    const problem = arkProblem(parsed);
    if (problem !== null) return problem;
    const id = `cgt-20261127${String(tasks.size).padStart(6, '0')}-x7k2p`;
    const { model, duration, ratio, resolution, generate_audio } = parsed;
    const says = { duration, ratio, resolution, generate_audio };
    const end = ends.shift() ?? { status: 'succeeded' };
    tasks.set(id, { id, model, says, createdAtSeconds: Math.floor(now() / 1_000), end, looks: 0 });
    if (areAnswersLost) return null;
    // Nothing but the id. @see TanStack/ai packages/ai-byteplus/src/video/wire-types.ts
    return { status: 200, json: { id } };
  }

  /**
   * Cancels a task that is queued; deletes the record of one that has ended, and its clip with it.
   * @see https://docs.byteplus.com/en/docs/ModelArk/cancel-or-delete-video-generation-task-api
   */
  function withdraw(task: Task): HttpReply | null {
    if (task.looks === 2) return refusal(409, 'InvalidAction.RunningTaskDeletion', 'The task is running.');
    if (task.looks < 2) task.isCancelled = true;
    else tasks.delete(task.id);
    const held = onHeld;
    onHeld = null;
    held?.();
    return held === null ? { status: 200, json: {} } : null;
  }

  /** Moves a task on by one state with each look. A task has its clip only once it succeeded. */
  function look(task: Task): object {
    if (!isPaused || task.looks === 0) task.looks += 1;
    return stateOf(task);
  }

  function stateOf(task: Task): object {
    const { id, model, end, createdAtSeconds } = task;
    const times = { created_at: createdAtSeconds, updated_at: createdAtSeconds + task.looks };
    if (task.isCancelled === true) return { id, model, status: 'cancelled', ...times };
    if (task.looks <= 1) return { id, model, status: 'queued', ...times };
    if (task.looks === 2) return { id, model, status: 'running', ...times };
    if (end.status !== 'succeeded') return { id, model, ...end, ...times };
    const content = {
      video_url: `${storage.baseUrl}/clip.mp4?X-Tos-Signature=9f`,
      last_frame_url: `${storage.baseUrl}/last.png`,
    };
    const usage = { completion_tokens: 108_900, total_tokens: 108_900 };
    return { id, model, status: 'succeeded', content, usage, error: null, ...times, framespersecond: 24 };
  }

  return {
    api,
    storage,
    clip,
    refusals,
    lists,
    ends,
    pause() {
      isPaused = true;
      return () => {
        isPaused = false;
      };
    },
    losesAnswers(areLost) {
      areAnswersLost = areLost;
    },
    listsLate(newest) {
      unlisted = newest;
    },
    holdsWithdrawal() {
      const { promise, resolve } = Promise.withResolvers<void>();
      onHeld = resolve;
      return promise;
    },
    get taken() {
      return tasks.size;
    },
    async close() {
      await Promise.all([api.close(), storage.close()]);
    },
  };
}

function isPageNumber(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 1 && value <= 500;
}

/** Returns an error. @see https://docs.byteplus.com/en/docs/ModelArk/1299023 */
export function refusal(status: number, code: string, message: string, headers = {}): HttpReply {
  return { status, headers, json: { error: { code, message, param: '', type: 'BadRequest' } } };
}

/** Serves the clip to those with its signed URL; a request with a key is refused. */
function fileOf({ path, headers }: RecordedRequest, clip: Buffer): HttpReply {
  if (headers.authorization !== undefined) return { status: 400, json: { error: 'only one auth mechanism allowed' } };
  return path === '/clip.mp4?X-Tos-Signature=9f' ? { status: 200, bytes: clip } : { status: 403 };
}
