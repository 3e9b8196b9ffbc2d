import type { Origin } from './task.ts';

/** A user who views tasks from a channel of their team. */
export interface Viewer {
  /** The platform's user id. */
  readonly user: string;
  readonly channel: string;
  /** `true` for a guest or a member of another organisation, who sees only this channel's tasks. Default: false. */
  readonly isExternal?: boolean | undefined;
}

/**
 * Returns whether a user may see a task of their own team. This is the only rule: a task with the audience `channel` is
 * visible in its channel and to its requester, any other one to the whole team, except its external users.
 */
export function isVisible(origin: Pick<Origin, 'user' | 'channel' | 'audience'>, viewer: Viewer): boolean {
  if (origin.channel === viewer.channel) return true;
  if (viewer.isExternal === true) return false;
  return origin.audience === 'team' || origin.user.id === viewer.user;
}
