import type { Json } from './records.ts';

/** Details of a rejected call besides its error code. */
export interface RefusalDetails {
  /** Rule that the app broke. Set where a correct app never gets: the rejection counts as a violation. */
  readonly violation?: string;
  /** Further fields of the response, e.g. `response_metadata`. */
  readonly body?: Json;
  /** HTTP status. Default 200, as for nearly all responses of Slack. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error response: `{"ok": false, "error": …}`. @see docs.slack.dev/apis/web-api "Evaluating responses" */
export class Refusal extends Error {
  readonly error: string;
  readonly status: number;
  readonly violation: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;

  constructor(error: string, details: RefusalDetails = {}) {
    super(error);
    this.name = 'Refusal';
    this.error = error;
    this.status = details.status ?? 200;
    this.violation = details.violation ?? null;
    this.headers = details.headers ?? {};
    this.body = { ok: false, error, ...details.body };
  }
}

/**
 * Creates an error response with Slack's list of messages. @see docs.slack.dev/apis/web-api "Error messages":
 * `response_metadata.messages`
 */
export function malformed(error: string, messages: readonly string[], what: string): Refusal {
  return new Refusal(error, {
    violation: `${what}: ${messages.join('; ')}`,
    body: { errors: messages, response_metadata: { messages: messages.map((one) => `[ERROR] ${one}`) } },
  });
}

/**
 * Creates the response to a rate-limited call. @see docs.slack.dev/apis/web-api/rate-limits: "HTTP 429 Too Many
 * Requests … Retry-After", in seconds
 */
export function limited(leftMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(leftMs / 1000));
  return new Refusal('ratelimited', { status: 429, headers: { 'retry-after': String(seconds) } });
}
