import { asDailiesError } from '#src/errors.ts';
import type { Approver } from '#src/tasks/index.ts';
import type { Caller } from '../bot-port.ts';
import type { BotPorts } from './subcommand.ts';

/** Membership of a caller among people, roles and user groups. */
interface Membership {
  readonly isAmong: boolean;
  /** A group that could not be looked up, and may include the caller; `reason`: `null` for a failure that passes. */
  readonly unread: { readonly name: string; readonly reason: string | null } | null;
}

/**
 * Returns whether the caller is one of some people, has one of their roles, or belongs to one of their groups. A group that
 * cannot be looked up has no members.
 */
export async function membershipIn(
  { chat, logger }: Pick<BotPorts, 'chat' | 'logger'>,
  caller: Caller,
  some: readonly Approver[],
): Promise<Membership> {
  const { platform, team, channel, address, user, roles } = caller;
  if (some.some(({ kind, id }) => kind === 'person' && id === user.id)) return { isAmong: true, unread: null };
  const groups = some.filter(({ kind }) => kind !== 'person');
  // The roles of the interaction are those of now; a list of members may be cached.
  if (roles !== undefined) return { isAmong: groups.some(({ id }) => roles.includes(id)), unread: null };
  let unread: Membership['unread'] = null;
  for (const { id, name } of groups) {
    try {
      const isIn = await chat.platform(platform).channels.isInGroup({ team, channel, address }, id, user.id);
      if (isIn) return { isAmong: true, unread: null };
    } catch (thrown) {
      const error = asDailiesError(thrown, 'looking up the members of a group');
      logger.warn({ event: 'group_lookup_failed', err: error }, 'failed to look up the members of a group');
      unread = { name, reason: error.code === 'missing_permission' ? (error.words ?? null) : null };
    }
  }
  return { isAmong: false, unread };
}

/** Returns whether a person is a member of the caller's team. Rejects where the platform does not respond. */
export function isMemberHere({ chat }: Pick<BotPorts, 'chat'>, caller: Caller, id: string): Promise<boolean> {
  const { platform, team, channel, address } = caller;
  return chat.platform(platform).channels.isMember({ team, channel, address }, id);
}
