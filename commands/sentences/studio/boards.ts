import { type Task, typedPrompt } from '#src/tasks/task.ts';
import { shorten } from '../format.ts';

/** Title, labels and notes of the form of **Edit board**. */
export const BOARD_WORDS = {
  title: 'Edit board',
  submit: 'Save',
  order: 'Shots in the cut, in their order',
  orderNote: 'Leave a number out to skip that shot, write it again to bring it back.',
  take: 'Use another take',
  takeNone: 'Leave them as they are',
} as const;

/** Reply to an edit that changed the board. */
export const BOARD_EDITED = 'The board is changed.';

/** Reply to an edit that changed nothing. */
export const BOARD_UNCHANGED = 'The board stays as it is.';

/** Refuses an edit of a board that another one has changed meanwhile. */
export const BOARD_CHANGED =
  'Someone changed this board meanwhile. Nothing was changed; press Edit board again to see it.';

/** Refuses a number that is no shot of the storyboard. */
export function notAShot(given: string, count: number): string {
  return `order: “${shorten(given, 20)}” isn’t a shot. Write numbers from 1 to ${count}, such as 2 1 3.`;
}

/** Refuses a shot that is named twice. */
export function shotTwice(at: number): string {
  return `order: shot ${at} is there twice. A shot is in the cut once.`;
}

/** Names a take of a shot: `Shot 4 · take 2 · 6 s · a fox wakes up`. */
export function takeLabel(at: number, take: number, { request }: Pick<Task, 'request'>): string {
  return shorten(`Shot ${at} · take ${take} · ${request.seconds} s · ${typedPrompt(request)}`, 75);
}
