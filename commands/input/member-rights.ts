import type { MemberRights } from '#src/chat/platform.ts';
import { within } from '#src/clock.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Caller } from '../bot-port.ts';
import type { BotPorts } from './subcommand.ts';

const NOTHING: MemberRights = { view: false, post: false, manage: false };
/** An answer is due within 3 s. */
const WAIT_MS = 1_500;

/** What a caller may do in a channel. Never rejects: nothing where that cannot be found out in time. */
export async function rightsIn(
  { chat, clock, logger }: BotPorts,
  caller: Caller,
  channel: string,
): Promise<MemberRights> {
  const { platform, team, user, address } = caller;
  const isHere = channel === caller.channel;
  // People of another organisation see this channel and no other one.
  if (caller.isExternal === true && !isHere) return NOTHING;
  const told = caller.rights?.[channel];
  if (told !== undefined) return told;
  // The address is that of this channel alone.
  const place = { team, channel, address: isHere ? address : {} };
  const asked = chat.rights(platform, place, user.id).catch((thrown: unknown) => {
    const err = asDailiesError(thrown, 'looking up what somebody may do in a channel');
    logger.warn({ event: 'rights_unknown', platform, channel, err }, 'the rights of a person are not known');
    return NOTHING;
  });
  const found = await within(clock, WAIT_MS, asked, NOTHING);
  // Whoever does something in a channel sees it.
  return isHere ? { view: true, post: found.post, manage: found.manage || caller.mayManage } : found;
}
