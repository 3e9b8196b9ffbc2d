import { asDailiesError } from '../../errors.ts';
import type { Origin } from '../../tasks/index.ts';
import { hasCode } from '../attachment-plan.ts';
import type { MessageRef, Notice, Platform } from '../platform.ts';

/** Returns whether an error of a notice says that its channel takes none: that is gone, or the bot may not post there. */
export async function isClosed(
  thrown: unknown,
  platform: Pick<Platform, 'missingRight'>,
  { team, channel }: Pick<Origin, 'team' | 'channel'>,
): Promise<boolean> {
  if (hasCode(thrown, 'message_gone')) return true;
  if (!hasCode(thrown, 'missing_permission')) return false;
  return (await platform.missingRight({ team, channel, address: {} }, 'words')) !== null;
}

/**
 * Posts a notice that its channel does not take to the requester, by direct message.
 * @returns its message; `null` where they take none either.
 * @throws DailiesError, retryable
 */
export async function notifyDirectly(
  notice: Omit<Notice, 'place' | 'replyTo'>,
  platform: Platform,
  { team, channel: from, address, user }: Origin,
): Promise<MessageRef | null> {
  if (!platform.limits.hasDirectMessages) return null;
  try {
    const channel = await platform.directChannel({ team, channel: from, address }, user.id);
    const place = { team, channel, address: {} };
    return await platform.notify({ ...notice, key: `${notice.key}:direct`, place, replyTo: null });
  } catch (thrown) {
    if (asDailiesError(thrown, 'posting a notice by direct message').retryable) throw thrown;
    return null;
  }
}
