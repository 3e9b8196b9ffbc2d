/** Texts of a user's home page; its sections have the headings of the cards that they show. */
export const HOME_WORDS = {
  start: 'Type /video and what the clip should show, in any channel. /video help shows the rest.',
  where: 'Models and Usage are shown in your messages with me.',
  create: 'New clip',
  models: 'Models',
  usage: 'Usage',
} as const;
