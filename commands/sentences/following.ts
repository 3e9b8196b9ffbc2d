/** Where the bot itself is not: only a press lets it go on changing a message. */
export const KEEP_FOLLOWING = {
  line: 'I can update this message for only 15 minutes at a time. Press Keep following to see the result.',
  label: 'Keep following',
} as const;

/** For a form that could not be opened in time. */
export const PRESS_AGAIN = 'The form took too long to open. Try again.';
