import { type RouterModel, refuse, routerProblem } from '../../fakes/services/openrouter.ts';
import { bearerOf, fieldOf, LATER, pathOf, type Wire, type WireError, type WireTask } from './wire.ts';

const ERRORS: Readonly<Record<WireError, readonly [number, string, object]>> = {
  unauthorised: [401, 'User not found.', {}],
  busy: [429, 'Rate limit exceeded', {}],
  broken: [500, 'Internal Server Error', {}],
  refused: [403, 'The input was flagged', { metadata: { reasons: ['violence'], flagged_input: '…' } }],
  unavailable: [503, 'Service Unavailable', {}],
  missing: [404, 'Resource not found', {}],
  early: [400, 'Job is not completed (status: pending)', {}],
};

const STATUSES: Readonly<Record<WireTask['status'], string>> = {
  queued: 'pending',
  in_progress: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  // A state that is not documented.
  unknown: 'warming',
};

const MODEL: RouterModel = {
  durations: [4, 6, 8],
  resolutions: ['720p'],
  aspectRatios: ['16:9', '9:16'],
  frames: ['first_frame', 'last_frame'],
};

/** Models that it serves, by their ids. */
const MODELS: Readonly<Record<string, RouterModel>> = {
  'google/veo-3.1-lite': MODEL,
  'google/veo-3.1-fast': MODEL,
  'kwaivgi/kling-v3.0-std': MODEL,
};

/** OpenRouter: its answers say what a clip has cost, and clips come from itself. */
export const OPENROUTER_WIRE: Wire = {
  basePath: '/api',
  reportsCost: true,
  keyOf: bearerOf,
  callOf(request) {
    const path = pathOf(request);
    if (request.method === 'POST') return path === '/api/v1/videos' ? { kind: 'create' } : null;
    const [, id, content] = /^\/api\/v1\/videos\/([^/]+)(\/content)?$/.exec(path) ?? [];
    if (request.method !== 'GET' || id === undefined) return null;
    return { kind: content === undefined ? 'task' : 'content', id: decodeURIComponent(id) };
  },
  problemOf: (request) => routerProblem(request, MODELS),
  modelOf: (request) => fieldOf(request, 'model'),
  promptOf: (request) => fieldOf(request, 'prompt'),
  idOf: (number) => `gen-vid-${number}`,
  created: ({ id }) => ({ status: 202, json: { id, polling_url: `/api/v1/videos/${id}`, status: 'pending' } }),
  state({ id, status, cost, failure }) {
    const hasEnded = status === 'completed' || status === 'failed';
    const json = {
      id,
      generation_id: `gen-${id}`,
      polling_url: `/api/v1/videos/${id}`,
      status: STATUSES[status],
      ...(status === 'failed' ? { error: failure?.message } : {}),
      ...(hasEnded && cost !== null ? { usage: { cost: Number(cost), is_byok: false } } : {}),
    };
    return { status: 200, json };
  },
  refuse(why) {
    const [status, message, more] = ERRORS[why];
    return refuse(status, message, more, why === 'busy' ? LATER : {});
  },
};
