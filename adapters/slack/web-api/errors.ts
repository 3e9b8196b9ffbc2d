import { webApi } from '@slack/bolt';
import { DailiesError, type ErrorCode } from '#src/errors.ts';

/** Maps Slack's error codes to ours, besides those in {@link REASONS}. @see https://docs.slack.dev/reference/methods/chat.postMessage#errors */
const CODES: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ['message_not_found', 'message_gone'],
  ['thread_not_found', 'message_gone'],
  ['channel_not_found', 'message_gone'],
  ['is_archived', 'message_gone'],
  ['is_inactive', 'message_gone'],
  ['duplicate_message_not_found', 'message_gone'],
  ['duplicate_channel_not_found', 'message_gone'],
  ['cannot_reply_to_message', 'message_gone'],
  ['file_too_large', 'too_large'],
  ['file_upload_size_restricted', 'too_large'],
  ['invalid_auth', 'unauthorised'],
  ['not_authed', 'unauthorised'],
  ['not_allowed_token_type', 'unauthorised'],
  ['org_login_required', 'unauthorised'],
  ['account_inactive', 'unauthorised'],
  ['token_revoked', 'unauthorised'],
  ['token_expired', 'unauthorised'],
  ['ratelimited', 'rate_limited'],
  ['rate_limited', 'rate_limited'],
  ['message_limit_exceeded', 'rate_limited'],
  ['internal_error', 'platform_unavailable'],
  ['fatal_error', 'platform_unavailable'],
  ['service_unavailable', 'platform_unavailable'],
  ['request_timeout', 'platform_unavailable'],
  ['team_added_to_org', 'platform_unavailable'],
  ['file_update_failed', 'platform_unavailable'],
  ['file_upload_failed', 'platform_unavailable'],
]);

/** Codes of a `missing_permission`, with the reason for users, worded to continue a sentence. @see https://docs.slack.dev/reference/methods/files.completeUploadExternal#errors */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['not_in_channel', 'the app is not in this channel; /invite brings it in'],
  ['user_not_in_channel', 'the person is not in this channel'],
  ['missing_scope', 'the app is missing a permission; an admin grants it by reinstalling the app'],
  ['no_permission', 'the app is missing a permission; an admin grants it by reinstalling the app'],
  ['no_such_subteam', 'Slack knows no such user group'],
  ['plan_upgrade_required', 'the workspace’s plan doesn’t include it'],
  ['access_denied', 'the workspace’s settings don’t allow it'],
  ['ekm_access_denied', 'the workspace’s encryption settings don’t allow it'],
  ['restricted_action', 'the workspace’s settings don’t let the app post here'],
  ['restricted_action_read_only_channel', 'this channel is read-only'],
  ['restricted_action_thread_only_channel', 'this channel only allows posts in threads'],
  ['restricted_action_non_threadable_channel', 'this channel doesn’t allow threads'],
  ['posting_to_channel_denied', 'the app isn’t allowed to post in this channel'],
  ['file_uploads_disabled', 'uploads are turned off in this workspace'],
  ['file_uploads_except_images_disabled', 'this workspace only allows images'],
  ['file_type_not_allowed', 'this workspace doesn’t allow this kind of file'],
  ['blocked_file_type', 'this workspace doesn’t allow this kind of file'],
  ['storage_limit_reached', 'the workspace has no storage left for files'],
  ['slack_connect_file_upload_sharing_blocked', 'files aren’t allowed in this shared channel'],
  ['slack_connect_blocked_file_type', 'this kind of file isn’t allowed in this shared channel'],
  ['slack_connect_clip_sharing_blocked', 'clips aren’t allowed in this shared channel'],
  ['cannot_dm_bot', 'bots can’t be messaged directly'],
  ['cant_update_message', 'the message can’t be changed'],
  ['cant_delete_message', 'the message can’t be deleted'],
  ['cant_delete_file', 'the file can’t be deleted'],
  ['delete_not_allowed', 'the file can’t be deleted'],
  ['file_deleting_disabled', 'the workspace’s settings don’t let files be deleted'],
  ['edit_window_closed', 'the workspace’s settings don’t let messages be changed so late'],
]);
/** Reason for an unlisted code, which only the log shows. */
const UNEXPLAINED = 'it gave no reason that I understand';

/** Errors of a person who takes no direct message. @see https://docs.slack.dev/reference/methods/conversations.open#errors */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'cannot_dm_bot',
  'user_disabled',
  'user_not_found',
  'user_not_visible',
  'invalid_user_combination',
]);

/** Errors after which the call may or may not have taken effect. */
const AMBIGUOUS: ReadonlySet<string> = new Set([
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
]);
const NO_ANSWER = 'no answer';

/** Slack's error response, without the request, which contains the token. */
class SlackAnswer extends Error {
  override readonly name = 'SlackAnswer';
  /** Slack's error code, such as `not_in_channel`; `HTTP 503` or `no answer` without one. */
  readonly error: string;
  /** The missing scope of a `missing_scope` error. */
  readonly needed: string | undefined;

  constructor(error: string, needed?: string) {
    super(error);
    this.error = error;
    this.needed = needed;
  }
}

/** Translates an SDK error to a DailiesError, with a {@link SlackAnswer} as its cause. */
export function translate(thrown: unknown, operation: string): DailiesError {
  if (thrown instanceof DailiesError) return thrown;
  if (thrown instanceof webApi.WebAPIRateLimitedError) return rateLimited(operation, thrown.retryAfter * 1000);
  const error = errorTextOf(thrown);
  const code = codeOf(error);
  const message = `${operation}: ${error}`;
  const needed = neededIn(thrown);
  const cause = new SlackAnswer(error, needed);
  const retryable = code === 'rate_limited' || code === 'platform_unavailable' || code === 'unauthorised';
  const isRefusal =
    code === 'missing_permission' || (code === 'internal' && thrown instanceof webApi.WebAPIPlatformError);
  const words = isRefusal ? { words: reasonOf(error, needed) } : {};
  return new DailiesError(message, { code, retryable, cause, isUnreachable: UNREACHABLE.has(error), ...words });
}

/** Creates the error of a call that Slack, or a local limit, deferred. */
export function rateLimited(operation: string, retryAfterMs: number): DailiesError {
  const cause = new SlackAnswer('ratelimited');
  return new DailiesError(`${operation}: too many calls`, {
    code: 'rate_limited',
    retryable: true,
    retryAfterMs,
    cause,
  });
}

/** Returns Slack's code of an error; `null` if it is not the failure of a call. */
export function slackCodeOf(error: unknown): string | null {
  return error instanceof DailiesError && error.cause instanceof SlackAnswer ? error.cause.error : null;
}

/** Returns the missing scope of a `missing_scope` error; `null` for other errors. */
export function neededScopeOf(error: unknown): string | null {
  if (slackCodeOf(error) !== 'missing_scope' || !(error instanceof DailiesError)) return null;
  return error.cause instanceof SlackAnswer ? (error.cause.needed ?? null) : null;
}

/** Returns the reason of a refusal; that of a missing scope names it, with the remedy. */
function reasonOf(error: string, needed: string | undefined): string {
  if (error !== 'missing_scope' || needed === undefined) return REASONS.get(error) ?? UNEXPLAINED;
  const where = 'under OAuth & Permissions at https://api.slack.com/apps';
  return `the app is missing ${needed}; an admin adds it ${where} and reinstalls the app`;
}

/** @see https://docs.slack.dev/authentication/tokens#scopes: `needed` names the scope that is missing */
function neededIn(thrown: unknown): string | undefined {
  if (!(thrown instanceof webApi.WebAPIPlatformError)) return undefined;
  const { needed } = thrown.data as { readonly needed?: unknown };
  return typeof needed === 'string' ? needed : undefined;
}

/** Returns whether a failed call may have taken effect. */
export function mayHaveHappened(error: unknown): boolean {
  const code = slackCodeOf(error);
  return code !== null && (code === NO_ANSWER || code.startsWith('HTTP 5') || AMBIGUOUS.has(code));
}

function errorTextOf(thrown: unknown): string {
  if (thrown instanceof webApi.WebAPIPlatformError) return codeOrStatus(thrown.data.error);
  if (thrown instanceof webApi.WebAPIHTTPError) return `HTTP ${thrown.statusCode}`;
  if (thrown instanceof webApi.WebAPIRequestError) return NO_ANSWER;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Replaces an error that is no code: for a response without JSON, the SDK returns the whole page. */
function codeOrStatus(error: string): string {
  return /^[\w.]{1,80}$/.test(error) ? error : 'HTTP 502';
}

function codeOf(error: string): ErrorCode {
  if (REASONS.has(error)) return 'missing_permission';
  const isUnavailable = error === NO_ANSWER || error.startsWith('HTTP 5');
  return CODES.get(error) ?? (isUnavailable ? 'platform_unavailable' : 'internal');
}
