import { error, xaiProblem } from '../../fakes/services/xai.ts';
import { bearerOf, fieldOf, LATER, pathOf, type Wire, type WireError, type WireTask } from './wire.ts';

/** The key that is wrong is a 400, as users report. @see https://github.com/continuedev/continue/issues/10161 */
const ERRORS: Readonly<Record<WireError, readonly [number, string, string]>> = {
  unauthorised: [400, 'Client specified an invalid argument', 'Incorrect API key provided: xa***ys.'],
  busy: [429, 'resource-exhausted', 'Too many requests.'],
  broken: [500, 'internal', 'Internal error.'],
  refused: [400, 'Client specified an invalid argument', 'Rejected by content moderation.'],
  unavailable: [503, 'unavailable', 'The service is unavailable.'],
  missing: [404, 'not-found', 'No such request.'],
  early: [404, 'not-found', 'No such request.'],
};

const STATUSES: Readonly<Record<WireTask['status'], string>> = {
  queued: 'pending',
  in_progress: 'pending',
  completed: 'done',
  failed: 'failed',
  cancelled: 'failed',
  // A state that is not documented.
  unknown: 'warming',
};

/** Units of the reported cost in a dollar. */
const TICKS_PER_DOLLAR = 10_000_000_000;

/** xAI: its answers say what a clip has cost, and one that its moderation blocks is billed. */
export const XAI_WIRE: Wire = {
  basePath: '',
  reportsCost: true,
  keyOf: bearerOf,
  callOf(request) {
    const path = pathOf(request);
    if (request.method === 'POST') return path === '/v1/videos/generations' ? { kind: 'create' } : null;
    const [, id] = /^\/v1\/videos\/([^/]+)$/.exec(path) ?? [];
    return request.method === 'GET' && id !== undefined ? { kind: 'task', id: decodeURIComponent(id) } : null;
  },
  problemOf: xaiProblem,
  modelOf: (request) => fieldOf(request, 'model'),
  promptOf: (request) => fieldOf(request, 'prompt'),
  idOf: (number) => `d97415a1-5796-b7ec-379f-${String(number).padStart(12, '0')}`,
  created: ({ id }) => ({ status: 200, json: { request_id: id } }),
  state(task) {
    const { status, model, progress, failure, clipUrl } = task;
    const isRunning = status === 'queued' || status === 'in_progress';
    if (isRunning) return { status: 202, json: { status: STATUSES[status], progress } };
    const usage = task.cost === null ? {} : { usage: { cost_in_usd_ticks: ticksOf(task.cost) } };
    // What it bills of a failure is what its moderation blocked.
    const isBlocked = status === 'failed' && task.cost !== null;
    if (status === 'failed' && !isBlocked) return { status: 200, json: { status: 'failed', model, error: failure } };
    if (status !== 'completed' && !isBlocked) return { status: 200, json: { status: STATUSES[status] } };
    const video = { url: clipUrl, duration: 4, respect_moderation: !isBlocked };
    return { status: 200, json: { status: 'done', video, model, progress: 100, ...usage } };
  },
  refuse(why) {
    const [status, code, words] = ERRORS[why];
    return { ...error(status, code, words), headers: why === 'busy' ? LATER : {} };
  },
};

function ticksOf(cost: string): number {
  return Math.round(Number(cost) * TICKS_PER_DOLLAR);
}
