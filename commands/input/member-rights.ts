import type { MemberRights } from '#src/chat/index.ts';
import { within } from '#src/clock.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Caller } from '../bot-port.ts';
import type { BotPorts } from './subcommand.ts';

const NOTHING: MemberRights = { view: false, post: false, manage: false };
/** Timeout of the lookup: the platforms require a response within 3 s. */
const WAIT_MS = 1_500;

/** Returns the caller's rights in a channel. Never rejects: no rights if they cannot be looked up in time. */
export async function rightsIn(
  { chat, clock, logger }: BotPorts,
  caller: Caller,
  channel: string,
): Promise<MemberRights> {
  const { platform, team, user, address } = caller;
  const isHere = channel === caller.channel;
  // Guests and members of other organisations see the current channel only.
  if (caller.isExternal === true && !isHere) return NOTHING;
  const supplied = caller.rights?.[channel];
  if (supplied !== undefined) return supplied;
  // The address belongs to the current channel only.
  const place = { team, channel, address: isHere ? address : {} };
  const asked = chat
    .platform(platform)
    .channels.rights(place, user.id)
    .catch((thrown: unknown) => {
      const err = asDailiesError(thrown, 'looking up permissions in a channel');
      logger.warn({ event: 'rights_unknown', platform, channel, err }, 'failed to look up the rights of a user');
      return NOTHING;
    });
  const found = await within(clock, WAIT_MS, asked, NOTHING);
  // The caller can see the channel of the interaction.
  return isHere ? { view: true, post: found.post, manage: found.manage || caller.mayManage } : found;
}
