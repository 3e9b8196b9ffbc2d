import type { Place } from '#src/chat/platform.ts';
import type { TeamRef } from './web-api/client.ts';

/** How an {@link Origin.address} of Slack reads. */
export interface SlackAddress {
  /** The `ts` of the message whose thread it was said in; `null`: in the channel itself. */
  readonly thread: string | null;
  /** The organisation, where the app is installed in the whole of it. */
  readonly enterprise: string | undefined;
  /** Whether the channel is known as a group message: where the bot is not in it, only its name says so. */
  readonly isGroup: boolean;
}

/** Reads an address. */
export function readAddress({ thread, enterprise, group }: Readonly<Record<string, string>>): SlackAddress {
  return { thread: thread ?? null, enterprise, isGroup: group !== undefined };
}

/** Writes an address. */
export function writeAddress({ thread, enterprise, isGroup }: SlackAddress): Readonly<Record<string, string>> {
  return {
    ...(thread === null ? {} : { thread }),
    ...(enterprise === undefined ? {} : { enterprise }),
    ...(isGroup ? { group: 'yes' } : {}),
  };
}

/** Whether a channel's name is one that Slack gives to group messages, such as `mpdm-ada--bob-1`. */
export function isGroupName(name: string | undefined): boolean {
  return name?.startsWith('mpdm-') === true;
}

/** The workspace of a place. */
export function teamOf({ team, address }: Pick<Place, 'team' | 'address'>): TeamRef {
  return { team, enterprise: readAddress(address).enterprise };
}
