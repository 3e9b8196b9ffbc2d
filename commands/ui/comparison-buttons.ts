import type { Price, TaskId } from '#src/tasks/index.ts';

/** Press of a button of a comparison. No id tells the model of a clip: its number is that of its label. */
export type ComparisonPress =
  /** Votes for a clip by its number. */
  | { readonly action: 'vote'; readonly set: TaskId; readonly at: number }
  /** Ends the vote. */
  | { readonly action: 'reveal'; readonly set: TaskId }
  /** Makes the model of a clip the default of the channel, after the reveal. */
  | { readonly action: 'prefer'; readonly set: TaskId; readonly at: number }
  /** Makes a clip again that failed before the reveal, for at most the price shown; `isConfirmed`: on a question about it. */
  | { readonly action: 'remake'; readonly clip: TaskId; readonly upTo: string; readonly isConfirmed: boolean };

/** Returns the id of the button that votes for a clip: `vote:7f3a…:2`. */
export function voteButtonId(set: TaskId, at: number): string {
  return `vote:${set}:${at}`;
}

/** Returns the id of the button that reveals the models: `reveal:7f3a…`. */
export function revealButtonId(set: TaskId): string {
  return `reveal:${set}`;
}

/** Returns the id of the button that makes a model the channel's default: `prefer:7f3a…:2`. */
export function preferButtonId(set: TaskId, at: number): string {
  return `prefer:${set}:${at}`;
}

/** Returns the id of the button that makes a blind clip again: `remake:7f3a…:0.60USD`, on a question `…:confirmed`. */
export function remakeButtonId(clip: TaskId, { amount, currency }: Price, isConfirmed = false): string {
  return `remake:${clip}:${amount}${currency}${isConfirmed ? ':confirmed' : ''}`;
}

/** Parses the id of such a button; `null` for any other. */
export function parseComparisonButton(id: string): ComparisonPress | null {
  const [, action, set, number] = /^(vote|prefer):([^:]+):([1-9])$/u.exec(id) ?? [];
  if (set !== undefined && (action === 'vote' || action === 'prefer'))
    return { action, set: set as TaskId, at: Number(number) };
  const [, revealed] = /^reveal:([^:]+)$/u.exec(id) ?? [];
  if (revealed !== undefined) return { action: 'reveal', set: revealed as TaskId };
  const [, clip, upTo = '', mark] = /^remake:([^:]+):([^:]+)(:confirmed)?$/u.exec(id) ?? [];
  return clip === undefined ? null : { action: 'remake', clip: clip as TaskId, upTo, isConfirmed: mark !== undefined };
}
