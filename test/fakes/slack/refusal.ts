import type { Json } from './records.ts';

/** Why a call is refused, beside its error. */
export interface RefusalDetails {
  /** What the app did wrong. Set where an app that keeps the rules never gets here: the refusal counts as a violation. */
  readonly violation?: string;
  /** Further fields of the answer, e.g. `response_metadata`. */
  readonly body?: Json;
  /** HTTP status. Default 200, as Slack answers nearly everything. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that says no: `{"ok": false, "error": …}`. @see docs.slack.dev/apis/web-api "Evaluating responses" */
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

/** A refusal with Slack's list of what was wrong. @see docs.slack.dev/apis/web-api "Error messages": `response_metadata.messages` */
export function malformed(error: string, messages: readonly string[], what: string): Refusal {
  return new Refusal(error, {
    violation: `${what}: ${messages.join('; ')}`,
    body: { errors: messages, response_metadata: { messages: messages.map((one) => `[ERROR] ${one}`) } },
  });
}

/** @see docs.slack.dev/apis/web-api/rate-limits: "HTTP 429 Too Many Requests … Retry-After", in seconds */
export function limited(leftMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(leftMs / 1000));
  return new Refusal('ratelimited', { status: 429, headers: { 'retry-after': String(seconds) } });
}
