import {
  CannotSendMessagesToThisUserErrorCodes as CLOSED,
  DiscordAPIError,
  HTTPError,
  RateLimitError,
  RESTJSONErrorCodes,
} from 'discord.js';
import { DailiesError, type ErrorCode } from '#src/errors.ts';

/** Pause before the next edit of a message older than an hour; Discord allows about 3 in 6 s. @see 30046 */
const OLD_MESSAGE_PAUSE_MS = 6_000;

const CODES: ReadonlyMap<number | string, ErrorCode> = new Map<number | string, ErrorCode>([
  [RESTJSONErrorCodes.UnknownMessage, 'message_gone'],
  [RESTJSONErrorCodes.UnknownChannel, 'message_gone'],
  [RESTJSONErrorCodes.UnknownGuild, 'message_gone'],
  [RESTJSONErrorCodes.MissingAccess, 'missing_permission'],
  [RESTJSONErrorCodes.MissingPermissions, 'missing_permission'],
  [RESTJSONErrorCodes.CannotSendMessagesToThisUser, 'missing_permission'],
  [RESTJSONErrorCodes.CannotReplyWithoutPermissionToReadMessageHistory, 'missing_permission'],
  // A channel manager can fix these, and Discord's message names the cause.
  [RESTJSONErrorCodes.MessageWasBlockedByAutomaticModeration, 'missing_permission'],
  [RESTJSONErrorCodes.MessageBlockedByHarmfulLinksFilter, 'missing_permission'],
  [RESTJSONErrorCodes.AccessToFileUploadsHasBeenLimitedForThisGuild, 'missing_permission'],
  [RESTJSONErrorCodes.ExplicitContentCannotBeSentToTheDesiredRecipient, 'missing_permission'],
  [RESTJSONErrorCodes.InvalidActionOnArchivedThread, 'missing_permission'],
  [RESTJSONErrorCodes.ThreadLocked, 'missing_permission'],
  [RESTJSONErrorCodes.MaximumThreadParticipantsReached, 'missing_permission'],
  [RESTJSONErrorCodes.CannotSendMessagesInNonTextChannel, 'missing_permission'],
  [RESTJSONErrorCodes.CannotExecuteActionOnThisChannelType, 'missing_permission'],
  [RESTJSONErrorCodes.CannotSendAMessageInAForumChannel, 'missing_permission'],
  [RESTJSONErrorCodes.RequestEntityTooLarge, 'too_large'],
  [RESTJSONErrorCodes.FileUploadedExceedsMaximumSize, 'too_large'],
  [RESTJSONErrorCodes.SendMessagesHasBeenTemporarilyDisabled, 'platform_unavailable'],
  [RESTJSONErrorCodes.FeatureTemporarilyDisabledServerSide, 'platform_unavailable'],
  [RESTJSONErrorCodes.MaximumNumberOfEditsToMessagesOlderThanOneHourReached, 'rate_limited'],
]);

/**
 * Error codes of an expired or invalid token, besides status 401.
 * @see https://discord.com/developers/docs/topics/opcodes-and-status-codes
 */
const DEAD_TOKEN: ReadonlySet<number | string> = new Set([
  RESTJSONErrorCodes.InvalidWebhookToken,
  RESTJSONErrorCodes.UnknownWebhook,
  RESTJSONErrorCodes.UnknownInteraction,
]);

/** Error response of Discord, without the request: its URL may hold an interaction's token. */
class DiscordErrorResponse extends Error {
  override readonly name = 'DiscordErrorResponse';
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** Discord's own code, such as 50027; 0 if there was none. */
  readonly code: number | string;

  constructor(message: string, { status, code }: { readonly status: number; readonly code: number | string }) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * Translates an error of discord.js to a {@link DailiesError} with a {@link DiscordErrorResponse} as its cause.
 * @see https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
 */
export function translate(thrown: unknown, doing: string): DailiesError {
  if (thrown instanceof DailiesError) return thrown;
  const cause = toErrorResponse(thrown);
  const message = `${doing}: ${cause.message}`;
  if (thrown instanceof RateLimitError) {
    const retryAfterMs = Math.ceil(Math.max(thrown.retryAfter, thrown.timeToReset, 0));
    return new DailiesError(message, { code: 'rate_limited', retryable: true, retryAfterMs, cause });
  }
  const code = codeOf(cause);
  switch (code) {
    case 'rate_limited':
      return new DailiesError(message, { code, retryable: true, retryAfterMs: OLD_MESSAGE_PAUSE_MS, cause });
    case 'platform_unavailable':
    case 'unauthorised':
      return new DailiesError(message, { code, retryable: true, cause });
    default: {
      const isUnreachable = CLOSED.some((one) => one === cause.code);
      return new DailiesError(message, { code, retryable: false, words: cause.message, cause, isUnreachable });
    }
  }
}

function codeOf({ status, code }: DiscordErrorResponse): ErrorCode {
  const known = CODES.get(code);
  if (known !== undefined) return known;
  if (status === 413) return 'too_large';
  if (status === 401) return 'unauthorised';
  if (status === 403) return 'missing_permission';
  return status === 0 || status >= 500 ? 'platform_unavailable' : 'internal';
}

function toErrorResponse(thrown: unknown): DiscordErrorResponse {
  if (thrown instanceof DiscordAPIError) {
    return new DiscordErrorResponse(`${thrown.message} (${thrown.code})`, { status: thrown.status, code: thrown.code });
  }
  if (thrown instanceof HTTPError)
    return new DiscordErrorResponse(`HTTP ${thrown.status}`, { status: thrown.status, code: 0 });
  if (thrown instanceof RateLimitError) {
    const scope = thrown.global ? 'all calls' : 'the route';
    return new DiscordErrorResponse(`the rate limit of ${scope} is reached`, { status: 0, code: 0 });
  }
  return new DiscordErrorResponse(thrown instanceof Error ? thrown.message : String(thrown), { status: 0, code: 0 });
}

/** Returns Discord's response behind `error`; `null` if it is not the failure of a call. */
export function errorResponseOf(error: DailiesError): DiscordErrorResponse | null {
  return error.cause instanceof DiscordErrorResponse ? error.cause : null;
}

/** Returns whether an interaction's token is expired or invalid. */
export function isDeadToken(error: DailiesError): boolean {
  const answer = errorResponseOf(error);
  return answer !== null && (answer.status === 401 || DEAD_TOKEN.has(answer.code));
}
