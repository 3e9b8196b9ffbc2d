/** Refuses files that only members of a chat can open, if the bot has no public address to relay them. */
export const FILES_STAY_PRIVATE =
  'I can’t pass files from here on yet (your administrator has to set PUBLIC_URL and LINK_SECRET). Use a public link instead, such as --image https://… Nothing was created.';

/** Reports a file that could not be downloaded from the chat: `image: I couldn’t fetch fox.png`. */
export function fileNotFetched(option: string, name: string): string {
  return `${option}: I couldn’t fetch ${name}. Another copy of it may work; your administrator can see the reason in the log.`;
}
