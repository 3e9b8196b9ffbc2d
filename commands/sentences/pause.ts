import type { PauseInEffect } from '#src/teams/index.ts';
import { formatMoment } from './dates.ts';
import { fullStop, shorten } from './format.ts';

/** Largest length of a reason, in characters. */
export const REASON_LENGTH = 200;

// Plain text that includes user input: adapters escape all of it.

/** Refuses a purchase while spending is paused: who paused it, why and until when. */
export function pausedSentence({ reason, by, untilMs, timeZone }: PauseInEffect): string {
  const because = reason === '' ? '.' : `: ${shorten(reason, REASON_LENGTH)}${fullStop(reason)}`;
  const until =
    untilMs === undefined
      ? 'It lasts until an administrator ends it.'
      : `It lasts until ${formatMoment(untilMs, timeZone)}.`;
  return `${shorten(by.name, 60)} paused spending${because} ${until} Nothing was ordered; clips in progress go on.`;
}
