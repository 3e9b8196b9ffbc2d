import type { TaskView } from '#src/chat/index.ts';
import type { Dropped, ShotEnd } from '#src/tasks/index.ts';
import type { Line } from '../ui/card.ts';

export const CHAIN_PACE = 'A shot that starts with the last frame of another waits for its clip.';

/** Refuses another take of a chained shot to those who may not decide on its storyboard, or elsewhere. */
export const CHAINED_ELSEWHERE =
  'This shot starts with the last frame of the shot before it, so it can only be made again in the channel of its storyboard, by its requester or a manager.';

/** Explains why a shot was not ordered: `Shot 3 failed, so shot 4 was not ordered.` */
export function droppedSentence({ shot, end }: Dropped, at: number): string {
  return `${ENDS[end](shot)}, so shot ${at} was not ordered.`;
}

const ENDS: Readonly<Record<ShotEnd, (shot: number) => string>> = {
  failed: (shot) => `Shot ${shot} failed`,
  refused: (shot) => `Shot ${shot} was rejected`,
  lost: (shot) => `I couldn’t fetch shot ${shot}`,
  unconfirmed: (shot) => `Shot ${shot} was left unresolved`,
  cancelled: (shot) => `Shot ${shot} was cancelled`,
  declined: (shot) => `Shot ${shot} was not approved`,
  removed: (shot) => `Shot ${shot} was removed`,
  unframed: (shot) => `I couldn’t take the last frame of shot ${shot}`,
};

/** Explains the end of a task that was never sent: cancelled by a person, or for want of its first image. */
export function unsentWords({ dropped, set, takeOf }: TaskView['task'], by: Line): Line {
  const at = (takeOf ?? set)?.at;
  return dropped === undefined || at === undefined ? ['Cancelled', ...by, '.'] : [droppedSentence(dropped, at)];
}

/** Returns the number of the shot whose last frame a task starts with, by the storyboard as it was written. */
export function startOf({ request, set, takeOf }: TaskView['task']): number | undefined {
  const place = takeOf ?? set;
  return request.chain === undefined || place === undefined ? undefined : place.at - 1;
}

/** Explains that a chained shot is not sent yet. */
export function waitsWords(task: TaskView['task']): string {
  return `Waits for shot ${startOf(task) ?? 0}`;
}

/** Names the image that a chained shot starts with. */
export function lastFrameOf(shot: number): string {
  return `last frame of shot ${shot}`;
}
