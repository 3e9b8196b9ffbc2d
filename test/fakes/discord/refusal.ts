/** A JSON object of Discord's wire format. */
export type Json = Readonly<Record<string, unknown>>;

/** Messages of Discord's JSON error codes. @see discord docs: topics/opcodes-and-status-codes, "JSON Error Codes" */
const MEANINGS: Readonly<Record<number, string>> = {
  0: 'General error',
  10003: 'Unknown Channel',
  10004: 'Unknown Guild',
  10008: 'Unknown Message',
  10013: 'Unknown User',
  10015: 'Unknown Webhook',
  10062: 'Unknown interaction',
  10063: 'Unknown application command',
  20012: 'You are not authorized to perform this action on this application',
  30032: 'Maximum number of application commands reached',
  30046: 'Maximum number of edits to messages older than 1 hour reached. Try again later',
  40001: 'Unauthorized',
  40005: 'Request entity too large',
  40060: 'Interaction has already been acknowledged.',
  40094: 'This interaction has hit the maximum number of follow up messages',
  50001: 'Missing Access',
  50005: 'Cannot edit a message authored by another user',
  50006: 'Cannot send an empty message',
  50013: 'Missing Permissions',
  50024: 'Cannot execute action on this channel type',
  50027: 'Invalid Webhook Token',
  50035: 'Invalid Form Body',
  160002: 'Cannot reply without permission to read message history',
  160004: 'A thread has already been created for this message',
};

/** Details of a rejected request besides its status and code. */
export interface RefusalDetails {
  /** Rule that the bot broke. Set where a correct bot never gets: the rejection counts as a violation. */
  readonly violation?: string;
  /** Discord's tree of invalid fields. @see discord docs: reference, "Error Messages" */
  readonly errors?: Json;
  /** Further fields of the response's body. */
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error response in Discord's format. */
export class Refusal extends Error {
  readonly status: number;
  /** Discord's JSON error code; 0 if there is none for the case. */
  readonly code: number;
  readonly violation: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;

  constructor(status: number, code: number, details: RefusalDetails = {}) {
    super(MEANINGS[code] ?? `Error ${code}`);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.violation = details.violation ?? null;
    this.headers = details.headers ?? {};
    const { errors } = details;
    this.body = { message: this.message, code, ...(errors === undefined ? {} : { errors }), ...details.body };
  }
}
