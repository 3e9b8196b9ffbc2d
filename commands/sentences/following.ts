/** Where the bot itself is not: only a press lets it go on changing a message. */
export const KEEP_FOLLOWING = {
  line: 'Here I can change this message for 15 minutes at a time only.',
  label: 'Keep following',
} as const;

/** For a form that could not be opened in time. */
export const PRESS_AGAIN = 'That took too long to open. Press it once more.';
