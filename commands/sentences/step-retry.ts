import type { ErrorCode } from '#src/errors.ts';
import { isSoon, type StepRetry } from '#src/tasks/step-retry.ts';
import type { Line, Part } from '../ui/card.ts';

/** Returns the lines on a failed step of a task: its reason, the time of the next attempt, and the remedy. */
export function retryLines(retry: StepRetry | null, nowMs: number): readonly Line[] {
  if (retry === null) return [];
  const next: readonly Part[] = isSoon(retry.nextAtMs, nowMs)
    ? ['Next try in less than a minute. ']
    : ['Next try ', { timeMs: retry.nextAtMs }, '. '];
  return [[`${WHAT[retry.step]}: ${REASONS[retry.code] ?? 'something went wrong'}. `, ...next, TO_DO[retry.step]]];
}

const WHAT: Readonly<Record<StepRetry['step'], string>> = {
  send: 'Not sent yet',
  poll: 'I can’t check on this clip right now',
  fetch: 'The clip is finished, but I couldn’t fetch it yet',
};

const TO_DO: Readonly<Record<StepRetry['step'], string>> = {
  send: 'Cancelling now costs nothing.',
  poll: 'You don’t need to do anything: I’ll post the clip when it arrives.',
  fetch: 'I’ll keep trying; Fetch it again tries at once.',
};

const REASONS: Partial<Readonly<Record<ErrorCode, string>>> = {
  unauthorised: 'the video service doesn’t accept this bot’s token (your administrator has to check VIDEO_API_TOKEN)',
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
