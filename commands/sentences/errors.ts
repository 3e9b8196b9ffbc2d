import type { DailiesError, ErrorCode } from '#src/errors.ts';
import type { Line } from '../card.ts';
import { formatDuration } from './format.ts';

/**
 * What a person reads where something they said or pressed could not be answered: what happened and the way out, with
 * the other side's own words where they help. Where the video service refuses or is busy, a task's card says so.
 * Plain text with words from outside in it: the adapter escapes all of it.
 */
export function sentenceOf(error: DailiesError): string {
  const wait =
    error.retryAfterMs === undefined ? '' : ` It asked for ${formatDuration(error.retryAfterMs)} of patience.`;
  const words = helpfulWords(error.code, error.words ?? null);
  return `${OF_THE_CHAT[error.code] ?? explain(error.code)}${words === null ? '' : ` Its words: ${words}`}${wait}`;
}

/** What means another thing where the chat says it and not the video service. */
const OF_THE_CHAT: Partial<Readonly<Record<ErrorCode, string>>> = {
  unauthorised: 'The chat does not accept me any more. Whoever runs me finds in the log what to mend; then try again.',
  rate_limited: 'The chat takes no more calls from me right now. Try again in a little while.',
};

/** Where the chat did not say in time who it is that asks: nothing was done, and nothing will be. */
export const NOT_BEGUN =
  'The chat does not answer me at the moment, so I could not begin. Nothing was made; try again in a little while.';

/** Why a task has no clip; words from outside are in it as such. */
type Failure = { readonly code: ErrorCode; readonly words: string | null };

/** The same for a card: why a task ended without a clip, the words from outside marked as such. */
export function failureLine({ code, words }: Failure): Line {
  return withWords(explain(code), helpfulWords(code, words));
}

/** The same of a clip that was made and could not be fetched: sent again, it would be bought again. */
export function unfetchedLine({ code, words }: Failure): Line {
  return withWords(explain(code, FETCH_AGAIN), helpfulWords(code, words));
}

function withWords(sentence: string, words: string | null): Line {
  return words === null ? [sentence] : [sentence, ' Its words: ', { untrusted: words }];
}

/** What leads on once the reason is mended, and what may help by itself. */
interface WayOut {
  readonly mended: string;
  readonly later: string;
}
const TRY_AGAIN: WayOut = { mended: 'then try again.', later: 'Try again in a little while.' };
const FETCH_AGAIN: WayOut = { mended: 'then fetch it again.', later: 'Fetch it again in a little while.' };

/** One sentence or two per code, always the same, without words from outside. */
function explain(code: ErrorCode, { mended, later }: WayOut = TRY_AGAIN): string {
  switch (code) {
    case 'bad_request':
      return 'The video service did not accept this request. Change what it names and send it again.';
    case 'unauthorised':
      return `The video service does not know my token. Whoever runs me has to check VIDEO_API_TOKEN; ${mended}`;
    case 'no_balance':
      return `The video service’s account has not enough balance. Whoever runs me can top it up in the service’s console; ${mended}`;
    case 'forbidden':
      return 'The video service does not allow this to my account. Whoever runs me can see in the service’s console what the account may use.';
    case 'unknown_model':
      return 'The video service does not have this model at the moment. Pick another one: /video models shows them.';
    case 'moderated':
      return 'The video service’s content rules stopped this. Another wording may pass.';
    case 'rate_limited':
      return `The video service takes no more requests right now. ${later}`;
    case 'unavailable':
      return `The video service cannot be reached at the moment. ${later}`;
    case 'timed_out':
      return `The video service took too long to answer. ${later}`;
    case 'lost_answer':
      return 'The video service did not answer. It may have taken this and may bill it, so I do not send it again by myself.';
    case 'bad_answer':
      return 'The video service gave an answer that makes no sense to me. Whoever runs me finds it in the log.';
    case 'task_unknown':
      return 'The video service does not know this task any more. Its console may still show it.';
    case 'generation_failed':
      return 'The video service could not make this clip.';
    case 'not_ready':
      return `The video service does not hand the clip out yet. ${later}`;
    case 'gone':
      return 'The video service has deleted the clip already.';
    case 'not_a_video':
      return 'What the video service handed out is no video.';
    case 'refused_address':
      return 'The clip lies at an address in a private network, and I do not go there.';
    case 'store_unavailable':
      // A write whose answer was lost may be there, and is carried out once the store is back.
      return 'I cannot reach my memory right now, so most likely nothing was done. If nothing shows up here within a minute or two, try again.';
    case 'store_locked':
      return 'Another program holds my memory. Whoever runs me has to stop it first.';
    case 'message_gone':
      return 'The message this is about has been deleted.';
    case 'missing_permission':
      return 'I lack a right in this channel. Whoever manages it can give it to me.';
    case 'too_large':
      return 'The file is too large for this chat.';
    case 'platform_unavailable':
      return 'The chat cannot be reached at the moment. I keep trying.';
    case 'overloaded':
      return 'So much is asked of me at this moment that I cannot take this. Nothing was made; send it again in a minute.';
    case 'disk_full':
      return `My disk is full. Whoever runs me has to make room; ${mended}`;
    case 'internal':
      return 'Something went wrong on my side. Whoever runs me finds it in the log.';
  }
}

/** The words of the other side, where a person can do something with them. */
function helpfulWords(code: ErrorCode, words: string | null): string | null {
  const trimmed = words?.trim() ?? '';
  return trimmed === '' || !HELPFUL.has(code) ? null : trimmed;
}

const HELPFUL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'bad_request',
  'no_balance',
  'forbidden',
  'unknown_model',
  'moderated',
  'generation_failed',
  'missing_permission',
]);
