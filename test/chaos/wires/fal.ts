import { detail, falProblems } from '../../fakes/services/fal.ts';
import type { HttpReply } from '../../fakes/services/http.ts';
import { fieldOf, LATER, pathOf, type Wire, type WireError, type WireTask } from './wire.ts';

/** @see https://fal.ai/docs/documentation/model-apis/request-errors.md */
const ERRORS: Readonly<Record<Exclude<WireError, 'refused'>, readonly [number, string]>> = {
  unauthorised: [401, 'Cannot access application. Authentication is required to access this application.'],
  busy: [429, 'Too many requests'],
  broken: [500, 'Internal Server Error'],
  unavailable: [503, 'Service Unavailable'],
  missing: [404, 'Request not found'],
  early: [400, 'Request is still in progress'],
};

/** The queue of fal: it says the place in the queue, and forgets what it cancelled. */
export const FAL_WIRE: Wire = {
  basePath: '',
  reportsCost: false,
  keyOf: ({ headers }) => /^Key (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '',
  callOf(request) {
    const { method } = request;
    const path = decodeURIComponent(pathOf(request));
    const [, id, what] = /^\/([^/]+\/[^/]+\/requests\/[^/]+)(\/status|\/cancel)?$/.exec(path) ?? [];
    if (method === 'POST' && id === undefined) return { kind: 'create' };
    if (id === undefined) return null;
    if (method === 'PUT') return what === '/cancel' ? { kind: 'cancel', id } : null;
    if (method !== 'GET' || what === '/cancel') return null;
    return { kind: what === undefined ? 'result' : 'task', id };
  },
  problemOf(request) {
    if (request.headers['content-type'] !== 'application/json') return detail(415, 'Unsupported media type');
    const problems = falProblems(request.path.slice(1), JSON.parse(request.body));
    return problems.length === 0 ? null : { status: 422, json: { detail: problems } };
  },
  modelOf: ({ path }) => path.slice(1),
  promptOf: (request) => fieldOf(request, 'prompt'),
  // Status and result are known by owner and name alone, without the rest of the model.
  idOf: (number, { path }) =>
    `${path.slice(1).split('/').slice(0, 2).join('/')}/requests/764cabcf-b745-4b3e-ae38-${String(number).padStart(12, '0')}`,
  created: (task) => ({ status: 200, json: { status: 'IN_QUEUE', queue_position: 2, ...urlsOf(task) } }),
  state: stateOf,
  result({ status, failure, clipUrl }) {
    if (status === 'failed')
      return {
        status: 422,
        json: { detail: [{ loc: ['body', 'prompt'], msg: failure?.message, type: 'value_error' }] },
      };
    if (status !== 'completed') return detail(400, 'Request is still in progress');
    const video = { url: clipUrl, content_type: 'video/mp4', file_name: 'clip.mp4' };
    return { status: 200, json: { video, seed: 7 }, headers: { 'x-fal-billable-units': '5' } };
  },
  withdrawal: {
    forgets: true,
    deletesEnded: false,
    // A running request is only sent a signal, which its model may ignore.
    withdrawn: (became) =>
      became === 'ended'
        ? { status: 400, json: { status: 'ALREADY_COMPLETED' } }
        : { status: 202, json: { status: 'CANCELLATION_REQUESTED' } },
  },
  refuse(why) {
    if (why === 'refused') {
      const msg = 'The prompt is against the content policy.';
      return { status: 422, json: { detail: [{ loc: ['body', 'prompt'], msg, type: 'content_policy_violation' }] } };
    }
    const [status, words] = ERRORS[why];
    return detail(status, words, undefined, why === 'busy' ? LATER : {});
  },
};

/** It answers 202 until the request is completed, also if it has failed. */
function stateOf(task: WireTask): HttpReply {
  const urls = urlsOf(task);
  switch (task.status) {
    case 'queued':
      return { status: 202, json: { status: 'IN_QUEUE', queue_position: 1, ...urls } };
    case 'in_progress':
      return { status: 202, json: { status: 'IN_PROGRESS', logs: null, ...urls } };
    case 'unknown':
      return { status: 202, json: { status: 'WARMING', ...urls } };
    case 'completed':
    case 'failed':
    case 'cancelled':
      return { status: 200, json: { status: 'COMPLETED', metrics: { inference_time: 41.2 }, ...urls } };
  }
}

function urlsOf({ id }: WireTask): object {
  const url = `https://queue.fal.run/${id}`;
  return {
    request_id: id.split('/').at(-1),
    response_url: url,
    status_url: `${url}/status`,
    cancel_url: `${url}/cancel`,
  };
}
