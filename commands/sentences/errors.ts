import type { DailiesError, ErrorCode } from '#src/errors.ts';
import { isSoon, type StepRetry } from '#src/tasks/index.ts';
import type { AddressRefusal } from '#src/videos/index.ts';
import { type Line, present } from '../ui/card.ts';
import { tryAgainIn } from './format.ts';

/**
 * Explains a failed command or press to the user: the problem and the remedy, with the error message of the chat or the
 * video service if it helps. Failures of a task appear on its card instead, see {@link failureLine}.
 * Plain text that includes external text: the adapter escapes all of it.
 */
export function sentenceOf({ code, words, retryAfterMs }: DailiesError): string {
  const later = retryAfterMs === undefined ? TRY_AGAIN.later : tryAgainIn(retryAfterMs);
  const ofTheService =
    code === 'refused_address' ? refusedAddressSentence(words ?? null) : explain(code, { ...TRY_AGAIN, later });
  const sentence = ofTheChat(code, later) ?? ofTheService;
  const quote = helpfulWords(code, words ?? null);
  return quote === null ? sentence : `${sentence} It said: “${quote}”`;
}

/** Returns the sentence for a code with a different meaning for the chat than for the video service. */
function ofTheChat(code: ErrorCode, later: string): string | null {
  if (code === 'rate_limited') return `The chat is taking no more calls from me right now. ${later}`;
  if (code !== 'unauthorised') return null;
  return 'The chat no longer accepts my token. Your administrator can see why in the log; then try again.';
}

/** Reply if the chat did not identify the user in time: nothing was done, and nothing will be. */
export const NOT_BEGUN =
  'The chat isn’t answering me right now, so I couldn’t start. Nothing was created. Try again in a moment.';

/** Reply to a command whose outcome is not known in time: it may still be lost. */
export const STILL_WORKING = 'Still working on this. If nothing follows within a minute, try again.';

/** Reason why a task has no clip; `words` is external text. */
type Failure = { readonly code: ErrorCode; readonly words: string | null };

/** Explains on a card why a task ended without a clip; external text is marked as untrusted. */
export function failureLine(failure: Failure): Line {
  return reasonLine(failure, TRY_AGAIN);
}

/** Explains on a card why a finished clip could not be fetched; suggests fetching, since a retry would be charged. */
export function unfetchedLine(failure: Failure): Line {
  return reasonLine(failure, FETCH_AGAIN);
}

function reasonLine({ code, words }: Failure, way: WayOut): Line {
  if (code === 'refused_address') return [refusedAddressSentence(words)];
  const helpful = helpfulWords(code, words);
  return helpful === null ? [explain(code, way)] : [explain(code, way), ' It said: “', { untrusted: helpful }, '”'];
}

/** Explains on a card that a finished clip could not be fetched. @param stake what it may cost all the same */
export function lostLines(failure: Failure | null, stake: string): readonly Line[] {
  return present([
    ['The video service finished this clip, but I couldn’t download it.'],
    failure && unfetchedLine(failure),
    [`It may charge ${stake} all the same.`],
  ]);
}

/** Explains on a card that it is unknown whether a request was accepted. @param stake what it may cost then */
export function unconfirmedLine(stake: string): Line {
  return [
    `The video service didn’t confirm this request. It may be processing it and may charge ${stake}. I won’t send it again on my own.`,
  ];
}

/** Remedies: `mended` after the cause is fixed, `later` for a cause that passes by itself. */
interface WayOut {
  readonly mended: string;
  readonly later: string;
}
const TRY_AGAIN: WayOut = { mended: 'then try again.', later: 'Try again in a moment.' };
const FETCH_AGAIN: WayOut = { mended: 'then fetch it again.', later: 'Fetch it again in a moment.' };

/** Returns the fixed sentences of an error code, without external text. */
// oxlint-disable-next-line max-lines-per-function -- one sentence per error code
function explain(code: ErrorCode, { mended, later }: WayOut): string {
  switch (code) {
    case 'bad_request':
      return 'The video service rejected this request. Change what it names and send it again.';
    case 'unauthorised':
      return `The video service doesn’t accept my token. Ask your administrator to check VIDEO_API_TOKEN or SERVICES; ${mended}`;
    case 'no_balance':
      return `The video service account is out of credit. Ask your administrator to top it up; ${mended}`;
    case 'forbidden':
      return 'The video service doesn’t allow this for my account. Your administrator can check the account in the service’s console.';
    case 'unknown_model':
      return 'The video service doesn’t have this model right now. Pick another one: /video models shows them.';
    case 'moderated':
      return 'The video service’s content rules stopped this. Different wording may pass.';
    case 'rate_limited':
      return `The video service is taking no more requests right now. ${later}`;
    case 'unavailable':
      return `The video service can’t be reached right now. ${later}`;
    case 'timed_out':
      return `The video service took too long to answer. ${later}`;
    case 'lost_answer':
      return 'The video service didn’t answer. It may have accepted this and may charge for it, so I won’t send it again on my own.';
    case 'bad_answer':
      return 'I couldn’t understand the video service’s answer. Your administrator can find it in the log.';
    case 'task_unknown':
      return 'The video service no longer knows this task. Its console may still show it.';
    case 'frame_gone':
      return 'The clip whose last frame this one should start with isn’t here any more, so I didn’t send it.';
    case 'id_taken':
      return 'Another clip already has that ID.';
    case 'id_attempts':
      return 'Too many IDs were entered for this clip. Try again later.';
    case 'generation_failed':
      return 'The video service couldn’t make this clip.';
    case 'cancelled':
      return 'The video service cancelled this clip before it began.';
    case 'not_ready':
      return `The video service isn’t handing the clip out yet. ${later}`;
    case 'gone':
      return 'The video service has already deleted the clip.';
    case 'not_a_video':
      return 'What the video service handed out isn’t a video.';
    case 'refused_address':
      return refusedAddressSentence(null);
    case 'store_unavailable':
      // A write without a response may have been stored, and is carried out once the store is back.
      return 'I can’t reach my database right now, so most likely nothing was done. If nothing shows up here within a minute or two, try again.';
    case 'storage_unavailable':
      return `I can’t reach the place where I keep clips right now. ${later}`;
    case 'store_locked':
      return 'Another program is using my database. Your administrator has to stop it first.';
    case 'record_damaged':
      return 'My record of this clip is damaged, so I can’t show or change it. Your administrator can find the details in the log.';
    case 'message_gone':
      return 'The message this is about was deleted.';
    case 'missing_permission':
      return 'I’m missing a permission in this channel. A channel manager can grant it.';
    case 'too_large':
      return 'The file is too large for this chat.';
    case 'platform_unavailable':
      return 'The chat can’t be reached right now. I’ll keep trying.';
    case 'shots_differ':
      return 'These shots differ in format, and joining them takes ffmpeg, which isn’t installed here. Your administrator can install it.';
    case 'overloaded':
      return 'I’m too busy to take this right now. Nothing was created. Try again in a minute.';
    case 'disk_full':
      return `My disk is full. Your administrator has to free some space; ${mended}`;
    case 'data_full':
      return `My storage for clips has reached its limit, so I’m not taking new orders, and nothing was ordered. What’s in progress is still delivered. Your administrator has to remove old clips or raise the limit; ${mended}`;
    case 'internal':
      return 'Something went wrong on my side. Your administrator can find it in the log.';
  }
}

/** Begins the sentence on a task that was cancelled once it was sent: some services can cancel one that is queued. */
export const CANNOT_CANCEL = 'The video service can’t cancel what has begun';

const REFUSED_ADDRESSES: Readonly<Record<AddressRefusal, string>> = {
  private_network: 'The clip is at an address in a private network, and I don’t download from there.',
  not_https: 'The clip is at an http:// address, and I only download over https://.',
  not_web: 'The video service gave an address for the clip that isn’t a web address.',
  credentials: 'The address of the clip contains a user name or a password, and I don’t follow such addresses.',
  redirects: 'The video service keeps redirecting me from one address to the next.',
  no_address: 'The video service sent me to an address that can’t be read.',
};

/** @param words an {@link AddressRefusal}; older records have none. */
function refusedAddressSentence(words: string | null): string {
  const reason = words !== null && Object.hasOwn(REFUSED_ADDRESSES, words) ? (words as AddressRefusal) : null;
  if (reason !== null) return REFUSED_ADDRESSES[reason];
  return 'The video service gave an address for the clip that I don’t download from. The log says why.';
}

/** Returns the external error message if a user can act on it. */
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

/** Returns the lines on a failed step of a task: its reason, the time of the next attempt, and the remedy. */
export function retryLines(retry: StepRetry | null, nowMs: number): readonly Line[] {
  if (retry === null) return [];
  const next: Line = isSoon(retry.nextAtMs, nowMs)
    ? ['Next try in less than a minute. ']
    : ['Next try ', { timeMs: retry.nextAtMs }, '. '];
  return [
    [
      `${STEP_FAILED[retry.step]}: ${STEP_REASONS[retry.code] ?? 'something went wrong'}. `,
      ...next,
      STEP_REMEDIES[retry.step],
    ],
  ];
}

const STEP_FAILED: Readonly<Record<StepRetry['step'], string>> = {
  send: 'Not sent yet',
  poll: 'I can’t check on this clip right now',
  fetch: 'The clip is finished, but I couldn’t fetch it yet',
};

const STEP_REMEDIES: Readonly<Record<StepRetry['step'], string>> = {
  send: 'Cancelling now costs nothing.',
  poll: 'You don’t need to do anything: I’ll post the clip when it arrives.',
  fetch: 'I’ll keep trying; Fetch it again tries at once.',
};

const STEP_REASONS: Partial<Readonly<Record<ErrorCode, string>>> = {
  unauthorised:
    'the video service doesn’t accept this bot’s token (your administrator has to check VIDEO_API_TOKEN or SERVICES)',
  no_balance: 'the video service’s account is out of credit (your administrator can top it up)',
  forbidden:
    'the video service doesn’t allow this to the bot’s account (your administrator can see why in its console)',
  rate_limited: 'the video service takes no more requests at the moment',
  unavailable: 'the video service can’t be reached',
  timed_out: 'the video service took too long to answer',
  lost_answer: 'the video service didn’t answer',
  bad_answer: 'the video service’s answer makes no sense',
  task_unknown: 'the video service says it doesn’t know it',
  not_ready: 'the video service doesn’t hand it out yet',
  gone: 'the video service has deleted it',
  not_a_video: 'what the video service handed out isn’t a video',
  refused_address: 'the video service named an address that I don’t open',
  disk_full: 'this bot’s disk is full (your administrator has to free some space)',
};
