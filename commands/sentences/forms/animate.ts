/** The message action that makes a clip of an image. At most 32 characters. */
export const ANIMATE_ACTION = 'Animate this';

/** The title of its form. */
export const ANIMATE_TITLE = 'Animate this image';

/** For a message without an image. */
export const NO_IMAGE =
  'There is no image in that message. Pick one that has an image, or attach one to /video create.';

/** For a form that was left open for very long. */
export const IMAGE_FORGOTTEN = 'I no longer know which image this was for. Use “Animate this” on its message again.';
