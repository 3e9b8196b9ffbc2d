/** Settings that turn off the limits per user and channel, which are on by default: for tests that order many clips. */
export const UNLIMITED = {
  MAX_OPEN_PER_PERSON: '0',
  MAX_OPEN_PER_CHANNEL: '0',
  MAX_PER_MINUTE_PER_PERSON: '0',
  MAX_PER_MINUTE_PER_CHANNEL: '0',
} as const;
