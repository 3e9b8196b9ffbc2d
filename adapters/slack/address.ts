import type { Place } from '#src/chat/platform.ts';
import type { TeamRef } from './clients.ts';

/** How an {@link Origin.address} of Slack reads. */
export interface SlackAddress {
  /** The `ts` of the message whose thread it was said in; `null`: in the channel itself. */
  readonly thread: string | null;
  /** The organisation, where the app is installed in the whole of it. */
  readonly enterprise: string | undefined;
}

/** Reads an address. */
export function readAddress({ thread, enterprise }: Readonly<Record<string, string>>): SlackAddress {
  return { thread: thread ?? null, enterprise };
}

/** Writes an address. */
export function writeAddress({ thread, enterprise }: SlackAddress): Readonly<Record<string, string>> {
  return { ...(thread === null ? {} : { thread }), ...(enterprise === undefined ? {} : { enterprise }) };
}

/** The workspace of a place. */
export function teamOf({ team, address }: Pick<Place, 'team' | 'address'>): TeamRef {
  return { team, enterprise: readAddress(address).enterprise };
}
