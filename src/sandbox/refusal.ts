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

type Details = Pick<ErrorResponse, 'retryAfterSeconds'>;

function refusal(status: ErrorResponse['status'], code: string, message: string, details: Details = {}): ErrorResponse {
  return { status, code, message, ...details };
}

/** The request violates the specification or the limits of the model. */
export const invalidRequest = (problems: readonly string[]) => refusal(400, 'invalid_request', problems.join('; '));
export const moderated = refusal(400, 'content_policy_violation', 'The prompt was refused by moderation.');

const TOKEN_NEEDED = 'Send the header "Authorization: Bearer <token>" with a token of this service.';
export const unauthorised = refusal(401, 'unauthorized', TOKEN_NEEDED);
export const insufficientBalance = (price: string, currency: string) =>
  refusal(403, 'insufficient_quota', `The balance does not cover this clip, which costs ${price} ${currency}.`);
export const modelNotFound = (name: string, known: readonly string[]) =>
  refusal(404, 'model_not_found', `model: there is no ${JSON.stringify(name)}; the catalog has ${known.join(', ')}`);

/** The task has no clip, either yet or at all. */
export const noContent = (status: string) =>
  refusal(409, 'task_not_completed', `The task is ${status}; only a completed task has content.`);
/** The clip was deleted from disk. */
export const contentGone = refusal(410, 'content_gone', 'The clip of this task was removed.');
export const noSuchRange = refusal(416, 'range_not_satisfiable', 'The clip has no such bytes.');

/** Nothing was created. */
export const tooManyRequests = (retryAfterSeconds: number) =>
  refusal(429, 'rate_limited', `Come back in ${retryAfterSeconds} seconds.`, { retryAfterSeconds });
const UNRECORDED = 'The request could not be recorded; nothing was created.';
export const unavailable = refusal(503, 'unavailable', UNRECORDED, { retryAfterSeconds: 5 });
/** A defect of the embedded service. */
export const internalError = refusal(500, 'internal_error', 'Something broke in the service; its log says what.');
