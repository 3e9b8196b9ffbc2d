import { formatCount } from './format.ts';

/** Titles (at most 45 characters) and buttons of the forms. */
export const FORM_WORDS = {
  create: { title: 'New clip', submit: 'Create clip' },
  edit: { title: 'Edit & retry', submit: 'Create clip' },
  insert: { title: 'Insert a shot', submit: 'Create clip' },
  fix: { title: 'Fix it', submit: 'Create' },
  storyboard: { title: 'New storyboard', submit: 'Continue', field: 'Shots, one per line' },
  lookup: { title: 'Enter its ID', submit: 'Track it', field: 'The task’s ID in the service’s console' },
  deny: { title: 'Deny this request', submit: 'Deny', field: 'Reason, for the requester' },
} as const;

export const PROMPT_EXAMPLE = 'a red fox running through snow, cinematic';

/** Names of what is done with a message or, by `clips`, with a person. At most 32 characters each. */
export const ACTIONS = {
  animate: 'Animate this',
  storyboard: 'Make a storyboard of this',
  retake: 'Another take',
  clips: 'Show this person’s clips',
} as const;

export const ANIMATE_TITLE = 'Animate this image';

/** Refuses a message without an image. */
export const NO_IMAGE =
  'There is no image in that message. Pick one that has an image, or attach one to /video create.';

/** Refuses a message without words or a text file. */
export const NO_SCRIPT =
  'There are no words in that message. Pick one whose lines are shots, or use /video storyboard.';

/** Refuses a message that is not a clip’s. */
export const NO_CLIP = 'That isn’t the message of a clip of mine. /video list shows the latest clips.';

/** Refuses a form that was open for too long, so that its image is no longer stored. */
export const IMAGE_FORGOTTEN = 'I no longer know which image this was for. Use “Animate this” on its message again.';

/** Reply if a form could not be opened in time. */
export const PRESS_AGAIN = 'The form took too long to open. Try again.';

/** Notes that a prompt was cut to fit into a form. @param most number of characters that fit. */
export function cutNote(most: number): string {
  return `Too long for a form: only the first ${formatCount(most)} characters are here, and only they would be sent.`;
}
