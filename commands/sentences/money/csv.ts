import { formatMonth } from '../format.ts';

export function csvSent(month: string): string {
  return `I sent you the CSV for ${formatMonth(month)}. Only you can see it.`;
}

/** Says that the file is on its way, or sent later since the platform did not take it now. */
export function csvFollows(month: string): string {
  return `I’m putting the CSV for ${formatMonth(month)} together. I’ll send it to you alone.`;
}

/** Refuses a file that could not be sent. @param isClosed true if the person accepts no direct message */
export function fileNotSent(isClosed: boolean): string {
  const remedy = isClosed
    ? 'Allow direct messages from this app, or from this server, and try again.'
    : 'Your administrator can find the reason in the log.';
  return `I couldn’t send you the file. ${remedy}`;
}
