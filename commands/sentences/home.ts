/** Headings of a person's own page. */
export const HOME_WORDS = {
  open: 'Your open clips',
  latest: 'Your latest clips',
  usage: 'This month',
  start: 'Type /video and what the clip shows, in any channel. /video help shows the rest.',
} as const;
