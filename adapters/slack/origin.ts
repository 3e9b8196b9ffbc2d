import type { Place } from '#src/chat/index.ts';
import type { TeamRef } from './web-api/client.ts';

/** Parsed {@link Origin.address} of Slack. */
interface SlackAddress {
  /** The `ts` of the thread's first message; `null`: in the channel itself. */
  readonly thread: string | null;
  /** The organisation's id, where the app is installed organisation-wide. */
  readonly enterprise: string | undefined;
  /** True for a group message: where the bot is not a member, only the channel's name shows it. */
  readonly isGroup: boolean;
}

export function readAddress({ thread, enterprise, group }: Readonly<Record<string, string>>): SlackAddress {
  return { thread: thread ?? null, enterprise, isGroup: group !== undefined };
}

export function writeAddress({ thread, enterprise, isGroup }: SlackAddress): Readonly<Record<string, string>> {
  return {
    ...(thread === null ? {} : { thread }),
    ...(enterprise === undefined ? {} : { enterprise }),
    ...(isGroup ? { group: 'yes' } : {}),
  };
}

export function teamOf({ team, address }: Pick<Place, 'team' | 'address'>): TeamRef {
  return { team, enterprise: readAddress(address).enterprise };
}
