import type { LimitReached } from '#src/tasks/limits.ts';
import { count, formatDuration } from './format.ts';

/** Why nothing more is made right now, how much there is, and when it goes on. */
export function limitSentence(limit: LimitReached): string {
  return limit.kind === 'open' ? openSentence(limit) : minuteSentence(limit);
}

function openSentence({ of, max, found }: LimitReached): string {
  const clips = `${count(found, 'clip')} not done yet`;
  const status = '/video status shows how far yours are';
  const most = `the most at a time is ${max}`;
  if (of === 'person') {
    return `You have ${clips}, and ${most}. Send this again when one is done; ${status}. A cancelled one counts until the service is done with it.`;
  }
  return `This channel has ${clips}, and ${most} for everybody here together. Send this again when one is done, or in another channel; ${status}.`;
}

function minuteSentence({ of, max, freeInMs = 0 }: LimitReached): string {
  const again = `Send this again in ${formatDuration(Math.ceil(freeInMs / 1_000) * 1_000)}.`;
  const most = `${count(max, 'clip')} a minute`;
  if (of === 'person') return `That was quick: ${most} is the most for one person. ${again}`;
  return `Much is going on here: ${most} is the most for this channel. ${again}`;
}
