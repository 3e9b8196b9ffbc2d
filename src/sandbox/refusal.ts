/** Error response of the embedded service, in the shape of the specification. */
export interface ErrorResponse {
  readonly status: 400 | 401 | 403 | 404 | 409 | 410 | 416 | 429 | 500 | 503;
  /** Snake case; the title of the error is made of it. */
  readonly code: string;
  readonly message: string;
  /** Seconds to wait before a retry (`Retry-After`). */
  readonly retryAfterSeconds?: number;
}

export class Refused extends Error {
  override readonly name = 'Refused';
  readonly response: ErrorResponse;

  constructor(response: ErrorResponse) {
    super(response.message);
    this.response = response;
  }
}

/** Error 400: the request violates the specification or the limits of the model. */
export function invalidRequest(problems: readonly string[]): ErrorResponse {
  return { status: 400, code: 'invalid_request', message: problems.join('; ') };
}

/** Error 400: moderation refused the prompt. */
export const moderated: ErrorResponse = {
  status: 400,
  code: 'content_policy_violation',
  message: 'The prompt was refused by moderation.',
};

/** Error 401: no token, or a wrong one. */
export const unauthorised: ErrorResponse = {
  status: 401,
  code: 'unauthorized',
  message: 'Send the header "Authorization: Bearer <token>" with a token of this service.',
};

/** Error 403: the balance does not cover the clip. */
export function insufficientBalance(price: string, currency: string): ErrorResponse {
  return {
    status: 403,
    code: 'insufficient_quota',
    message: `The balance does not cover this clip, which costs ${price} ${currency}.`,
  };
}

/** Error 404: no such model. */
export function modelNotFound(name: string, known: readonly string[]): ErrorResponse {
  return {
    status: 404,
    code: 'model_not_found',
    message: `model: there is no ${JSON.stringify(name)}; the catalog has ${known.join(', ')}`,
  };
}

/** Error 409: the task has no clip, either yet or at all. */
export function noContent(status: string): ErrorResponse {
  return {
    status: 409,
    code: 'task_not_completed',
    message: `The task is ${status}; only a completed task has content.`,
  };
}

/** Error 410: the clip was deleted from disk. */
export const contentGone: ErrorResponse = {
  status: 410,
  code: 'content_gone',
  message: 'The clip of this task was removed.',
};

/** Error 416: the range is outside of the clip. */
export const noSuchRange: ErrorResponse = {
  status: 416,
  code: 'range_not_satisfiable',
  message: 'The clip has no such bytes.',
};

/** Error 429: rate limited; nothing was created. */
export function tooManyRequests(retryAfterSeconds: number): ErrorResponse {
  return {
    status: 429,
    code: 'rate_limited',
    message: `Come back in ${retryAfterSeconds} seconds.`,
    retryAfterSeconds,
  };
}

/** Error 503: the request could not be recorded, so nothing was created. */
export const unavailable: ErrorResponse = {
  status: 503,
  code: 'unavailable',
  message: 'The request could not be recorded; nothing was created.',
  retryAfterSeconds: 5,
};

/** Error 500: a defect of the embedded service. */
export const internalError: ErrorResponse = {
  status: 500,
  code: 'internal_error',
  message: 'Something broke in the service; its log says what.',
};
