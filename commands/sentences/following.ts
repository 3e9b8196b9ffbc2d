/** Texts for channels that the bot is not in, where it can edit a message only for 15 minutes after a press. */
export const KEEP_FOLLOWING = {
  line: 'I can update this message for only 15 minutes at a time. Press Keep following to see the result.',
  label: 'Keep following',
} as const;

/** Reply if a form could not be opened in time. */
export const PRESS_AGAIN = 'The form took too long to open. Try again.';
