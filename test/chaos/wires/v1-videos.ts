import { DIALECTS } from '../../fakes/dialects.ts';
import type { HttpReply } from '../../fakes/services/http.ts';
import { bearerOf, fieldOf, LATER, pathOf, type Wire, type WireError, type WireTask } from './wire.ts';

const ERRORS: Readonly<Record<WireError, readonly [number, string, string]>> = {
  unauthorised: [401, 'invalid_api_key', 'The token is missing or wrong.'],
  busy: [429, 'rate_limited', 'Too many at once.'],
  broken: [500, 'internal_error', 'Something broke.'],
  refused: [400, 'content_policy_violation', 'Not this one.'],
  unavailable: [503, 'unavailable', 'Not now.'],
  missing: [404, 'task_not_exist', 'There is no such task.'],
  early: [409, 'not_ready', 'The clip is not there yet.'],
};

/** Creates the wire format of our own specification. @param name of the variant, out of {@link DIALECTS} */
export function v1Videos(name: string): Wire {
  const dialect = DIALECTS[name];
  if (dialect === undefined) throw new TypeError(`there is no dialect ${name}`);
  const said = ({ id, model, status, progress, failure, createdAtMs }: WireTask): unknown =>
    dialect.task({
      id,
      model,
      progress,
      failure,
      polls: 0,
      status: status === 'cancelled' ? 'failed' : status,
      created_at: Math.floor(createdAtMs / 1_000),
    });
  return {
    basePath: '',
    reportsCost: false,
    keyOf: bearerOf,
    callOf(request) {
      const { method } = request;
      const path = pathOf(request);
      if (method === 'POST' && path === '/v1/videos') return { kind: 'create' };
      const [, id, content] = /^\/v1\/videos\/([^/]+)(\/content)?$/.exec(path) ?? [];
      if (method !== 'GET' || id === undefined) return null;
      return { kind: content === undefined ? 'task' : 'content', id: decodeURIComponent(id) };
    },
    problemOf: () => null,
    modelOf: (request) => fieldOf(request, 'model'),
    promptOf: (request) => fieldOf(request, 'prompt'),
    // Ids may contain characters that a path may not. @see video-service-dialects.md "ids"
    idOf: (number) => `task:${number}/${Buffer.from(String(number)).toString('base64')}`,
    created: (task) => ({ status: dialect.createStatus ?? 200, json: said(task) }),
    state: (task) => ({ status: 200, json: said(task) }),
    refuse(why): HttpReply {
      const [status, code, message] = ERRORS[why];
      const json = { error: message, code, message, success: false };
      return { status, json, headers: why === 'busy' ? LATER : {} };
    },
  };
}
