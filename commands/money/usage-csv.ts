import type { Person } from '#src/tasks/index.ts';
import type { Caller, OptionDeclaration, Reply } from '../bot-port.ts';
import { type BotPorts, privately, refused, teamOf } from '../input/subcommand.ts';
import { csvFollows, csvSent, fileNotSent } from '../sentences/money/csv.ts';
import { textCard } from '../ui/card.ts';

/** Option of `/video usage` that sends the rows as a file. */
export const CSV_OPTION: OptionDeclaration = {
  name: 'csv',
  description: 'Sends you the rows as a file instead',
  kind: 'flag',
};

const TYPED = /(?:^|\s)csv$/i;

/** Splits `ada csv`, as typed without a flag, into the person and the wish for a file. */
export function withoutCsv(named: string): { readonly named: string; readonly isCsv: boolean } {
  const rest = named.replace(TYPED, '').trim();
  return { named: rest === '' ? 'everyone' : rest, isCsv: TYPED.test(named) };
}

/** Sends the CSV of a month to the caller, privately and once per interaction. */
export async function sendUsageCsv(
  ports: BotPorts,
  caller: Caller,
  { month, who }: { readonly month: string; readonly who: Person | null },
): Promise<Reply> {
  const { platform, channel, user, interaction, isExternal = false } = caller;
  // Guests and members of other organisations see the current channel only.
  const notice = { kind: 'export', period: month, who, ...(isExternal ? { channel } : {}) } as const;
  const outcome = await ports.notices.postNow({
    key: ['export', platform, interaction],
    of: teamOf(caller),
    to: { kind: 'person', person: user, near: channel },
    notice,
  });
  if (outcome === 'undeliverable' || outcome === 'failed') return refused(fileNotSent(outcome === 'undeliverable'));
  const line = [outcome === 'posted' ? csvSent(month) : csvFollows(month)];
  return privately(textCard(line));
}
