import { webApi } from '@slack/bolt';
import { DailiesError, type ErrorCode } from '#src/errors.ts';

/** What Slack's own error codes mean here. @see https://docs.slack.dev/reference/methods/chat.postMessage#errors */
const CODES: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ['message_not_found', 'message_gone'],
  ['thread_not_found', 'message_gone'],
  ['channel_not_found', 'message_gone'],
  ['is_archived', 'message_gone'],
  ['is_inactive', 'message_gone'],
  ['duplicate_message_not_found', 'message_gone'],
  ['duplicate_channel_not_found', 'message_gone'],
  ['cannot_reply_to_message', 'message_gone'],
  ['cant_update_message', 'missing_permission'],
  ['edit_window_closed', 'missing_permission'],
  ['not_in_channel', 'missing_permission'],
  ['user_not_in_channel', 'missing_permission'],
  ['missing_scope', 'missing_permission'],
  ['no_permission', 'missing_permission'],
  ['access_denied', 'missing_permission'],
  ['ekm_access_denied', 'missing_permission'],
  ['restricted_action', 'missing_permission'],
  ['restricted_action_read_only_channel', 'missing_permission'],
  ['restricted_action_thread_only_channel', 'missing_permission'],
  ['restricted_action_non_threadable_channel', 'missing_permission'],
  ['posting_to_channel_denied', 'missing_permission'],
  ['file_uploads_disabled', 'missing_permission'],
  ['file_uploads_except_images_disabled', 'missing_permission'],
  ['file_type_not_allowed', 'missing_permission'],
  ['blocked_file_type', 'missing_permission'],
  ['storage_limit_reached', 'missing_permission'],
  ['slack_connect_file_upload_sharing_blocked', 'missing_permission'],
  ['slack_connect_blocked_file_type', 'missing_permission'],
  ['slack_connect_clip_sharing_blocked', 'missing_permission'],
  ['cannot_dm_bot', 'missing_permission'],
  ['file_too_large', 'too_large'],
  ['file_upload_size_restricted', 'too_large'],
  ['invalid_auth', 'unauthorised'],
  ['not_authed', 'unauthorised'],
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

/** What is lacking, in words, where Slack's code is none. */
const LACKING: ReadonlyMap<string, string> = new Map([
  ['not_in_channel', 'the app is not in the channel; /invite brings it there'],
  ['user_not_in_channel', 'the person is not in the channel'],
  ['missing_scope', 'the app has not been given the right; installing it again gives it'],
  ['restricted_action', 'the workspace’s settings do not let the app post here'],
  ['restricted_action_read_only_channel', 'the channel is read-only'],
  ['restricted_action_non_threadable_channel', 'the channel takes no threads'],
  ['file_uploads_disabled', 'uploads are turned off in the workspace'],
  ['file_uploads_except_images_disabled', 'the workspace takes no files but images'],
  ['file_type_not_allowed', 'the workspace takes no files of this kind'],
  ['blocked_file_type', 'the workspace takes no files of this kind'],
  ['storage_limit_reached', 'the workspace has no room left for files'],
  ['slack_connect_file_upload_sharing_blocked', 'files are not allowed in this shared channel'],
  ['edit_window_closed', 'the workspace’s settings do not let messages be changed so late'],
]);

/** Errors of Slack after which nobody knows whether it acted. */
const AMBIGUOUS: ReadonlySet<string> = new Set([
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
]);
const NO_ANSWER = 'no answer';

/** What Slack answered, without the request: it holds the token. */
class SlackAnswer extends Error {
  override readonly name = 'SlackAnswer';
  /** Slack's own code, such as `not_in_channel`; `HTTP 503` or `no answer` where it gave none. */
  readonly error: string;

  constructor(error: string) {
    super(error);
    this.error = error;
  }
}

/** What the SDK threw, as one of ours with a {@link SlackAnswer} as its cause. */
export function translate(thrown: unknown, doing: string): DailiesError {
  if (thrown instanceof DailiesError) return thrown;
  if (thrown instanceof webApi.WebAPIRateLimitedError) return rateLimited(doing, thrown.retryAfter * 1000);
  const error = answerOf(thrown);
  const code = codeOf(error);
  const message = `${doing}: ${error}`;
  const cause = new SlackAnswer(error);
  const retryable = code === 'rate_limited' || code === 'platform_unavailable' || code === 'unauthorised';
  const isRefusal =
    code === 'missing_permission' || (code === 'internal' && thrown instanceof webApi.WebAPIPlatformError);
  const words = isRefusal ? { words: LACKING.get(error) ?? error } : {};
  return new DailiesError(message, { code, retryable, cause, ...words });
}

/** A call that Slack put off, or that would be one too many. */
export function rateLimited(doing: string, retryAfterMs: number): DailiesError {
  const cause = new SlackAnswer('ratelimited');
  return new DailiesError(`${doing}: too many calls`, { code: 'rate_limited', retryable: true, retryAfterMs, cause });
}

/** Slack's own code behind an error; `null` where it is no failure of a call. */
export function slackCodeOf(error: unknown): string | null {
  return error instanceof DailiesError && error.cause instanceof SlackAnswer ? error.cause.error : null;
}

/** Whether Slack may have done what was asked, although nothing says so. */
export function mayHaveHappened(error: unknown): boolean {
  const code = slackCodeOf(error);
  return code !== null && (code === NO_ANSWER || code.startsWith('HTTP 5') || AMBIGUOUS.has(code));
}

function answerOf(thrown: unknown): string {
  if (thrown instanceof webApi.WebAPIPlatformError) return shortened(thrown.data.error);
  if (thrown instanceof webApi.WebAPIHTTPError) return `HTTP ${thrown.statusCode}`;
  if (thrown instanceof webApi.WebAPIRequestError) return NO_ANSWER;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Where the answer is no JSON, the SDK gives the whole page as the error. */
function shortened(error: string): string {
  return /^[\w.]{1,80}$/.test(error) ? error : 'HTTP 502';
}

function codeOf(error: string): ErrorCode {
  const known = CODES.get(error);
  if (known !== undefined) return known;
  return error === NO_ANSWER || error.startsWith('HTTP 5') ? 'platform_unavailable' : 'internal';
}
