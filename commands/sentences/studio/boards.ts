import { type Task, typedPrompt } from '#src/tasks/index.ts';
import { shorten } from '../format.ts';

/** Title, labels and notes of the form of **Edit board**. */
export const BOARD_WORDS = {
  title: 'Edit board',
  submit: 'Save',
  order: 'Order of the cut; leave numbers out to skip',
  take: 'Use another take',
  takeNone: 'Leave them as they are',
} as const;

/** Longest note of a field. @see https://docs.discord.com/developers/components/reference#label */
const NOTE_LENGTH = 100;

/** Names the shots by their numbers, as far as they fit: `1 a fox wakes up · 2 it runs`. */
export function shotNotes(shots: readonly { readonly at: number; readonly chosen: Pick<Task, 'request'> }[]): string {
  const most = Math.floor((NOTE_LENGTH + 3) / Math.max(1, shots.length)) - 3;
  return shots.map(({ at, chosen }) => shorten(`${at} ${typedPrompt(chosen.request)}`, most)).join(' · ');
}

export const BOARD_EDITED = 'The board is changed.';

/** Reply to an edit that changed nothing. */
export const BOARD_UNCHANGED = 'The board stays as it is.';

/** Refuses an edit of a board that another one has changed meanwhile. */
export const BOARD_CHANGED =
  'Someone changed this board meanwhile. Nothing was changed; press Edit board again to see it.';

/** Refuses a number that is no shot of the storyboard. */
export function notAShot(given: string, count: number): string {
  return `“${shorten(given, 20)}” isn’t a shot. Write the numbers of the shots in the cut, 1 to ${count}, such as ${count > 2 ? '3 1 2' : '2 1'}.`;
}

export function shotTwice(at: number): string {
  return `Shot ${at} is there twice. A shot is in the cut once.`;
}

/** Names a take of a shot: `Shot 4 · take 2 · 6 s · a fox wakes up`. */
export function takeLabel(at: number, take: number, { request }: Pick<Task, 'request'>): string {
  return shorten(`Shot ${at} · take ${take} · ${request.seconds} s · ${typedPrompt(request)}`, 75);
}
