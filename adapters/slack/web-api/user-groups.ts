import { BoundedMap } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';
import type { Clients, TeamRef } from './client.ts';

/** Members of a user group. */
interface CachedMembers {
  readonly members: ReadonlySet<string>;
  readonly atMs: number;
}

/** A removal from a group has to count soon. */
const CACHE_TTL_MS = 30_000;
const MAX_CACHED = 200;

/** The user groups of the workspaces. Needs the optional scope `usergroups:read`. */
export class UserGroups {
  readonly #clients: Clients;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #cache = new BoundedMap<string, CachedMembers>(MAX_CACHED);

  constructor(clients: Clients, clock: Pick<Clock, 'monotonic'>) {
    this.#clients = clients;
    this.#clock = clock;
  }

  /**
   * Returns whether a user belongs to a user group.
   * @throws DailiesError `missing_permission` without the scope
   * @see https://docs.slack.dev/reference/methods/usergroups.users.list
   */
  async includes(to: TeamRef, group: string, user: string): Promise<boolean> {
    const key = `${to.team}:${group}`;
    const nowMs = this.#clock.monotonic();
    const known = this.#cache.get(key);
    if (known !== undefined && nowMs - known.atMs < CACHE_TTL_MS) return known.members.has(user);
    const { users = [] } = await this.#clients.call({
      to,
      priority: 'answer',
      operation: 'reading the members of a user group',
      run: (client) => client.usergroups.users.list({ usergroup: group }),
    });
    const members = new Set(users);
    this.#cache.set(key, { members, atMs: nowMs });
    return members.has(user);
  }
}
