/** A no of the embedded service, in the specification's one shape, with its status. */
export interface ErrorResponse {
  readonly status: 400 | 401 | 403 | 404 | 409 | 410 | 416 | 429 | 500 | 503;
  readonly code: string;
  /** The kind of error, in words. */
  readonly error: string;
  /** What is wrong in this very request. */
  readonly message: string;
  /** How long to wait before asking again, in seconds. */
  readonly retryAfterSeconds?: number;
}

/** The body of a refusal. @see docs/video-service.md "Contract" */
export function refusalBody({ error, code, message }: ErrorResponse) {
  return { error, code, message, success: false } as const;
}

/** The request is not what the specification or the model takes. */
export function invalidRequest(problems: readonly string[]): ErrorResponse {
  return { status: 400, code: 'invalid_request', error: 'Invalid request', message: problems.join('; ') };
}

/** Moderation refused the prompt. */
export const moderated: ErrorResponse = {
  status: 400,
  code: 'content_policy_violation',
  error: 'Content policy violation',
  message: 'The prompt was refused by moderation.',
};

/** No token, or a wrong one. */
export const unauthorised: ErrorResponse = {
  status: 401,
  code: 'unauthorized',
  error: 'Unauthorized',
  message: 'Send the header "Authorization: Bearer <token>" with a token of this service.',
};

/** The account cannot pay for the clip. */
export function insufficientBalance(price: string, currency: string): ErrorResponse {
  return {
    status: 403,
    code: 'insufficient_quota',
    error: 'Insufficient quota',
    message: `The balance does not cover this clip, which costs ${price} ${currency}.`,
  };
}

/** No such model. */
export function modelNotFound(name: string, known: readonly string[]): ErrorResponse {
  return {
    status: 404,
    code: 'model_not_found',
    error: 'Model not found',
    message: `model: there is no ${JSON.stringify(name)}; the catalog has ${known.join(', ')}`,
  };
}

/** No such task. */
export function taskNotFound(id: string): ErrorResponse {
  return { status: 404, code: 'task_not_found', error: 'Task not found', message: `There is no task ${id}.` };
}

/** No such path, or not with this method. */
export function routeNotFound(method: string, path: string): ErrorResponse {
  return { status: 404, code: 'not_found', error: 'Not found', message: `There is nothing at ${method} ${path}.` };
}

/** The clip is asked for before there is one, or though there will be none. */
export function noContent(status: string): ErrorResponse {
  return {
    status: 409,
    code: 'task_not_completed',
    error: 'Task not completed',
    message: `The task is ${status}; only a completed task has content.`,
  };
}

/** The clip is no longer on disk. */
export const contentGone: ErrorResponse = {
  status: 410,
  code: 'content_gone',
  error: 'Content gone',
  message: 'The clip of this task was removed.',
};

/** A part of the clip that it does not have. */
export const noSuchRange: ErrorResponse = {
  status: 416,
  code: 'range_not_satisfiable',
  error: 'Range not satisfiable',
  message: 'The clip has no such bytes.',
};

/** Too much at once. Nothing was created. */
export function tooManyRequests(retryAfterSeconds: number): ErrorResponse {
  return {
    status: 429,
    code: 'rate_limited',
    error: 'Too many requests',
    message: `Come back in ${retryAfterSeconds} seconds.`,
    retryAfterSeconds,
  };
}

/** The request could not be recorded, so nothing was created. */
export const unavailable: ErrorResponse = {
  status: 503,
  code: 'unavailable',
  error: 'Service unavailable',
  message: 'The request could not be recorded; nothing was created.',
  retryAfterSeconds: 5,
};

/** A defect of the embedded service itself. */
export const internalError: ErrorResponse = {
  status: 500,
  code: 'internal_error',
  error: 'Internal error',
  message: 'Something broke in the service; its log says what.',
};
