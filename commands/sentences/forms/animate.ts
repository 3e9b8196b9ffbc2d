/** Name of the message action that makes a clip from an image. At most 32 characters. */
export const ANIMATE_ACTION = 'Animate this';

/** Title of the action's form. */
export const ANIMATE_TITLE = 'Animate this image';

/** Refuses a message without an image. */
export const NO_IMAGE =
  'There is no image in that message. Pick one that has an image, or attach one to /video create.';

/** Refuses a form that was open for too long, so that its image is no longer stored. */
export const IMAGE_FORGOTTEN = 'I no longer know which image this was for. Use “Animate this” on its message again.';
