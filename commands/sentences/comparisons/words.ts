import { formatPrice, labelAt, type Price, type TaskId } from '#src/tasks/index.ts';
import type { Card, CardButton } from '../../ui/card.ts';
import { remakeButtonId } from '../../ui/comparison-buttons.ts';

/** Refuses to tell, change or repeat a clip of a comparison before the reveal. */
export const BLIND_UNTIL_REVEAL =
  'This clip is part of a comparison, so its model and price are shown after the reveal. Try that again then.';

/** Refuses a vote for a clip that was not made. */
export const NO_CLIP_TO_VOTE_FOR = 'That clip isn’t there, so it can’t be voted for.';

/** Refuses a vote, or a reveal, before the clips have appeared. */
export const NOT_SHOWN_YET = 'The clips aren’t there yet. They appear together.';

/** Refuses a vote after the reveal. */
export const VOTE_IS_OVER = 'The models are revealed, so the vote is over.';

/** Refuses to set a channel's default to anyone who does not manage it. */
export const MANAGERS_SET_DEFAULT = 'Only those who manage this channel can change its default.';

/** Refuses a default before the reveal. */
export const REVEAL_FIRST = 'The models aren’t revealed yet.';

/** Confirms a reveal. */
export const REVEALED = 'The models are revealed.';

/** Reports that a clip could not be ordered again, without the amounts that would betray its model. */
export const REMAKE_REFUSED =
  'I couldn’t order this clip again: a limit, a budget or a missing permission is in the way. Nothing was bought. Retry it after the reveal to see which.';

/** Refuses to order a clip again above the threshold of approvals. */
export const REMAKE_NEEDS_APPROVAL = 'Ordering this clip again may need an approval. Retry it after the reveal.';

/** Confirms a vote. */
export function votedSentence(at: number, outcome: 'counted' | 'changed' | 'same'): string {
  const label = `clip ${labelAt(at)}`;
  if (outcome === 'same') return `You already voted for ${label}. You can change your vote until the reveal.`;
  const done = outcome === 'counted' ? 'You voted for' : 'You changed your vote to';
  return `${done} ${label}. You can change it until the reveal.`;
}

/** Confirms the default model of a channel. */
export function preferredSentence(title: string): string {
  return `${title} is this channel’s default now. Personal defaults take precedence; /video defaults shows both.`;
}

/** Returns the button that makes a blind clip again; its price is the highest of the comparison. */
export function remakeButton(clip: { readonly task: TaskId; readonly at: number; readonly upTo: Price }): CardButton {
  const { task, at, upTo } = clip;
  return {
    id: remakeButtonId(task, upTo),
    label: `Retry clip ${labelAt(at)} · up to ${formatPrice(upTo)}`,
    style: 'plain',
  };
}

/** Asks whether to make a blind clip again, with the most that it may cost. */
export function remakeQuestion({
  task,
  at,
  upTo,
}: {
  readonly task: TaskId;
  readonly at: number;
  readonly upTo: Price;
}): Card {
  const cost = `Making clip ${labelAt(at)} again costs at most ${formatPrice(upTo)}. What it costs shows its model, so that is told after the reveal.`;
  return {
    lines: [[cost]],
    progress: null,
    buttons: [
      { id: remakeButtonId(task, upTo, true), label: `Make it for up to ${formatPrice(upTo)}`, style: 'primary' },
    ],
  };
}
