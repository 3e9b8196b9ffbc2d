import { TtlCache } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';
import type { Clients, TeamRef } from './client.ts';

/** A removal from a group has to count soon. */
const CACHE_TTL_MS = 30_000;
const MAX_CACHED = 200;

export interface UserGroup {
  readonly id: string;
  /** Without the `@`. */
  readonly handle: string;
}

/** The user groups of the workspaces. Needs the optional scope `usergroups:read`. */
export class UserGroups {
  readonly #clients: Clients;
  readonly #members: TtlCache<ReadonlySet<string>>;
  readonly #groups: TtlCache<readonly UserGroup[]>;

  constructor(clients: Clients, clock: Pick<Clock, 'monotonic'>) {
    this.#clients = clients;
    this.#members = new TtlCache(clock, CACHE_TTL_MS, MAX_CACHED);
    this.#groups = new TtlCache(clock, CACHE_TTL_MS, MAX_CACHED);
  }

  /**
   * Returns the user groups of a workspace, by handle; none without the scope. Never rejects.
   * @see https://docs.slack.dev/reference/methods/usergroups.list
   */
  list(to: TeamRef): Promise<readonly UserGroup[]> {
    const groups = this.#groups.of(to.team, async () => {
      const { usergroups = [] } = await this.#clients.answer(to, 'reading the user groups', (client) =>
        client.usergroups.list(),
      );
      const named = usergroups.flatMap(({ id, handle }) =>
        id === undefined || handle === undefined ? [] : [{ id, handle }],
      );
      return named.toSorted((one, other) => one.handle.localeCompare(other.handle, 'en'));
    });
    return groups.catch(() => []);
  }

  /**
   * Returns whether a user belongs to a user group.
   * @throws DailiesError `missing_permission` without the scope
   * @see https://docs.slack.dev/reference/methods/usergroups.users.list
   */
  async includes(to: TeamRef, group: string, user: string): Promise<boolean> {
    const members = await this.#members.of(`${to.team}:${group}`, async () => {
      const { users = [] } = await this.#clients.answer(to, 'reading the members of a user group', (client) =>
        client.usergroups.users.list({ usergroup: group }),
      );
      return new Set(users);
    });
    return members.has(user);
  }
}
