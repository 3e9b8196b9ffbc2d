import type { IndexEntry, Store } from '../engine/index.ts';
import { channelHistoryIndex, historyIndex, sharedIndex, type Viewer } from '../tasks/index.ts';

/** Scope of a search: tasks of a team, and the user who views them. */
export interface VisibleScope {
  readonly platform: string;
  readonly team: string;
  /** Only this user's tasks. Default: all users'. */
  readonly user?: string | undefined;
  readonly viewer: Viewer;
}

export interface HistoryPage {
  readonly offset: number;
  readonly limit: number;
}

/**
 * Returns the index entries of the tasks that a viewer may see, newest first. Merges indexes that hold nothing else
 * (shared tasks, the viewer's own, those of the channel), so pages are full and no record of a hidden task is read.
 */
export async function visibleEntries(
  store: Pick<Store, 'scan'>,
  scope: VisibleScope,
  { offset, limit }: HistoryPage,
): Promise<readonly IndexEntry[]> {
  const { platform, team, user, viewer } = scope;
  const indexes = indexesFor(scope);
  // The index of one user holds no tasks of others, so it needs no filter.
  const isOwn = user === viewer.user && viewer.isExternal !== true;
  const wanted = user === undefined || isOwn ? null : await membersOf(store, historyIndex(platform, team, user));
  // The first entries of a union are among the first ones of each part.
  const most = wanted === null ? { limit: offset + limit } : {};
  const parts = await Promise.all(indexes.map((index) => store.scan(index, most)));
  const entries = merge(parts);
  const fitting = wanted === null ? entries : entries.filter(({ member }) => wanted.has(member));
  return fitting.slice(offset, offset + limit);
}

/** Returns the indexes that together hold what a viewer may see; where `user` is the viewer, only the viewer's own. */
function indexesFor({ platform, team, user, viewer }: VisibleScope): readonly string[] {
  const here = channelHistoryIndex({ platform, team, channel: viewer.channel });
  if (viewer.isExternal === true) return [here];
  const own = historyIndex(platform, team, viewer.user);
  return user === viewer.user ? [own] : [sharedIndex(platform, team), here, own];
}

async function membersOf(store: Pick<Store, 'scan'>, index: string): Promise<ReadonlySet<string>> {
  return new Set((await store.scan(index)).map(({ member }) => member));
}

/** Merges the entries of several indexes in index order, each member once. */
function merge(parts: readonly (readonly IndexEntry[])[]): readonly IndexEntry[] {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const byMember = new Map(parts.flat().map((entry) => [entry.member, entry]));
  return [...byMember.values()].sort((one, other) => other.score - one.score || (one.member < other.member ? 1 : -1));
}
