import type { Audience, Origin } from './task.ts';

/** A person looking at tasks from a channel of their team. */
export interface Viewer {
  /** The platform's user id. */
  readonly user: string;
  readonly channel: string;
  /** Whether the person is a guest or of another organisation, and so sees the tasks of this channel only. Default: no. */
  readonly isExternal?: boolean | undefined;
}

/**
 * Decides whether somebody may see a task of their own team. This is the only rule: a task with the audience `channel` is
 * visible in its channel and to its requester, any other one to the whole team.
 */
export function isVisible(origin: Pick<Origin, 'user' | 'channel'>, audience: Audience, viewer: Viewer): boolean {
  if (origin.channel === viewer.channel) return true;
  if (viewer.isExternal === true) return false;
  return audience === 'team' || origin.user.id === viewer.user;
}
