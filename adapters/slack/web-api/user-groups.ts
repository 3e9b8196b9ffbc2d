import { BoundedMap } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';
import { SingleFlight } from '#src/single-flight.ts';
import type { Clients, TeamRef } from './client.ts';

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
  readonly #lookups = new SingleFlight<string, ReadonlySet<string>>();

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
    const known = this.#cache.get(key);
    if (known !== undefined && this.#clock.monotonic() - known.atMs < CACHE_TTL_MS) return known.members.has(user);
    const members = await this.#lookups.run(key, () => this.#lookUp(to, group, key));
    return members.has(user);
  }

  async #lookUp(to: TeamRef, group: string, key: string): Promise<ReadonlySet<string>> {
    const atMs = this.#clock.monotonic();
    const { users = [] } = await this.#clients.answer(to, 'reading the members of a user group', (client) =>
      client.usergroups.users.list({ usergroup: group }),
    );
    const members = new Set(users);
    this.#cache.set(key, { members, atMs });
    return members;
  }
}
