/** For files that only members of a chat can open, where there is no address to hand them on at. */
export const FILES_STAY_PRIVATE =
  'Files here are private, and the video service has to be able to open them. For me to hand them on, whoever runs me sets PUBLIC_URL and LINK_SECRET. Until then, give the address of a public one. Nothing was made.';

/** A file that the chat did not give: `image: fox.png could not be fetched here`. */
export function fileNotFetched(option: string, name: string): string {
  return `${option}: ${name} could not be fetched here. Whoever runs me finds why in the log; another copy of it may work.`;
}
