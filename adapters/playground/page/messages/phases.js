/** Words below the frame of a clip that is still to come, by phase. */
export const PENDING_WORDS = { queued: 'Waiting in queue', running: 'Rendering', fetching: 'Fetching the clip' };

/** Returns whether the message of a clip will change by itself; `clip` is null for other messages. */
export function isPending(clip) {
  return clip !== null && clip.phase in PENDING_WORDS;
}
