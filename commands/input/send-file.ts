import type { TeamNotice } from '#src/chat/index.ts';
import type { Caller, Reply } from '../bot-port.ts';
import { textCard } from '../ui/card.ts';
import { type BotPorts, privately, refused, teamOf } from './subcommand.ts';

interface FileForCaller {
  /** Kind of file, as part of the key under which it is sent once. */
  readonly key: string;
  readonly notice: TeamNotice;
  readonly sent: string;
  /** Said where it is sent later, since the platform did not take it now. */
  readonly follows: string;
}

/** Sends the caller a file, privately and once per interaction. */
export async function sendFile(
  { notices }: BotPorts,
  caller: Caller,
  { key, notice, sent, follows }: FileForCaller,
): Promise<Reply> {
  const { platform, channel, user, interaction } = caller;
  const outcome = await notices.postNow({
    key: [key, platform, interaction],
    of: teamOf(caller),
    to: { kind: 'person', person: user, near: channel },
    notice,
  });
  if (outcome === 'undeliverable' || outcome === 'failed') return refused(fileNotSent(outcome === 'undeliverable'));
  return privately(textCard([outcome === 'posted' ? sent : follows]));
}

/** Refuses a file that could not be sent. @param isClosed true if the person accepts no direct message */
function fileNotSent(isClosed: boolean): string {
  const remedy = isClosed
    ? 'Allow direct messages from this app, or from this server, and try again.'
    : 'Your administrator can find the reason in the log.';
  return `I couldn’t send you the file. ${remedy}`;
}
