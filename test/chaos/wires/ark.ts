import { arkProblem, refusal } from '../../fakes/services/ark.ts';
import { bearerOf, fieldOf, LATER, pathOf, type Wire, type WireError, type WireTask } from './wire.ts';

const PATH = '/api/v3/contents/generations/tasks';

/** @see https://docs.byteplus.com/en/docs/ModelArk/1299023 */
const ERRORS: Readonly<Record<WireError, readonly [number, string, string]>> = {
  unauthorised: [401, 'AuthenticationError', 'The API key in the request is missing or invalid.'],
  busy: [429, 'RateLimitExceeded.EndpointRPMExceeded', 'The requests per minute limit is exceeded.'],
  broken: [500, 'InternalServiceError', 'The service encountered an unexpected internal error.'],
  refused: [400, 'InputTextSensitiveContentDetected', 'The request failed because the input text is sensitive.'],
  unavailable: [503, 'InternalServiceError', 'The service encountered an unexpected internal error.'],
  missing: [404, 'NotFound', 'The specified task is not found.'],
  early: [404, 'NotFound', 'The specified task is not found.'],
};

const STATUSES: Readonly<Record<WireTask['status'], string>> = {
  queued: 'queued',
  in_progress: 'running',
  completed: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  // A state that is not documented.
  unknown: 'warming',
};

/** Ark: a list of tasks, and a DELETE that cancels what is queued and deletes what has ended. */
export const ARK_WIRE: Wire = {
  basePath: '/api/v3',
  reportsCost: false,
  keyOf: bearerOf,
  callOf(request) {
    const { method } = request;
    const path = pathOf(request);
    if (path === PATH) return method === 'POST' ? { kind: 'create' } : method === 'GET' ? pageOf(request.path) : null;
    const [, id] = /\/tasks\/([^/]+)$/.exec(path) ?? [];
    if (!path.startsWith(`${PATH}/`) || id === undefined) return null;
    if (method === 'GET') return { kind: 'task', id: decodeURIComponent(id) };
    return method === 'DELETE' ? { kind: 'cancel', id: decodeURIComponent(id) } : null;
  },
  problemOf: ({ body }) => arkProblem(JSON.parse(body)),
  modelOf: (request) => fieldOf(request, 'model'),
  promptOf({ body }) {
    const { content } = JSON.parse(body) as { readonly content: readonly { readonly text?: string }[] };
    return content.flatMap(({ text = [] }) => text).join(' ');
  },
  idOf: (number) => `cgt-20261127${String(number).padStart(6, '0')}-x7k2p`,
  // Nothing but the id. @see TanStack/ai packages/ai-byteplus/src/video/wire-types.ts
  created: ({ id }) => ({ status: 200, json: { id } }),
  state: (task) => ({ status: 200, json: stateOf(task) }),
  list: (tasks, total) => ({
    status: 200,
    json: { items: tasks.map((task) => ({ ...stateOf(task), ...saidOf(task) })), total },
  }),
  withdrawal: {
    forgets: false,
    deletesEnded: true,
    withdrawn: (became) =>
      became === 'running'
        ? refusal(409, 'InvalidAction.RunningTaskDeletion', 'The task is running.')
        : { status: 200, json: {} },
  },
  refuse(why) {
    const [status, code, message] = ERRORS[why];
    return refusal(status, code, message, why === 'busy' ? LATER : {});
  },
};

/** @see https://docs.byteplus.com/en/docs/ModelArk/list-video-generation-tasks-api: whole numbers from 1 to 500 */
function pageOf(path: string): ReturnType<Wire['callOf']> {
  const query = new URL(path, 'http://ark').searchParams;
  const [page = 0, size = 0] = ['page_num', 'page_size'].map((name) => Number(query.get(name)));
  const isRight = [page, size].every((value) => Number.isInteger(value) && value >= 1 && value <= 500);
  return isRight ? { kind: 'list', page, size } : null;
}

function stateOf(task: WireTask): object {
  const { id, model, status, createdAtMs, failure, clipUrl } = task;
  const createdAt = Math.floor(createdAtMs / 1_000);
  const base = { id, model, status: STATUSES[status], created_at: createdAt, updated_at: createdAt + 1 };
  if (status === 'failed') return { ...base, error: failure };
  if (status !== 'completed') return base;
  return { ...base, content: { video_url: clipUrl }, usage: { completion_tokens: 108_900 }, error: null };
}

/** Returns what the list says of the request of a task. */
function saidOf({ body }: WireTask): object {
  const { duration, ratio, resolution, generate_audio } = body;
  return { duration, ratio, resolution, generate_audio };
}
