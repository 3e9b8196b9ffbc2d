/** For files that only members of a chat can open, where there is no address to hand them on at. */
export const FILES_STAY_PRIVATE =
  'I can’t pass files from here on yet (whoever runs this bot has to set PUBLIC_URL and LINK_SECRET). Use a public link instead, such as --image https://… Nothing was created.';

/** A file that the chat did not give: `image: I couldn’t fetch fox.png`. */
export function fileNotFetched(option: string, name: string): string {
  return `${option}: I couldn’t fetch ${name}. Another copy of it may work; whoever runs this bot finds the reason in the log.`;
}
