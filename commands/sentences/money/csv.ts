/** Refuses a file that could not be sent. @param isClosed true if the person accepts no direct message */
export function fileNotSent(isClosed: boolean): string {
  const remedy = isClosed
    ? 'Allow direct messages from this app, or from this server, and try again.'
    : 'Your administrator can find the reason in the log.';
  return `I couldn’t send you the file. ${remedy}`;
}
