import { TtlCache } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';
import type { Person } from '#src/tasks/index.ts';
import type { Workspace } from '../installation/workspaces.ts';
import type { Clients, TeamRef } from './client.ts';
import { slackCodeOf } from './errors.ts';

/** A user's profile, as seen by one workspace. */
interface Profile {
  /** Display name, or else the real name; `null` if unavailable. */
  readonly name: string | null;
  /** True for people of another organisation (Slack Connect). */
  readonly isExternal: boolean;
  readonly isGuest: boolean;
  /** True for a deactivated user. */
  readonly hasLeft: boolean;
  /** True for owners and admins of this workspace, who are never guests or external. */
  readonly isAdmin: boolean;
}

const CACHE_TTL_MS = 5 * 60_000;
/** Maximum age of a profile that grants the right to administer. */
const ADMIN_TTL_MS = 60_000;
const MAX_CACHED = 5_000;
/** Name of a user whose name is unavailable: never an id. */
const UNKNOWN_NAME = 'someone';
/** Errors for users outside of the workspace. @see https://docs.slack.dev/reference/methods/users.info#errors */
const STRANGER: ReadonlySet<string> = new Set(['user_not_found', 'user_not_visible', 'user_team_not_in_channel']);
const EXTERNAL: Profile = { name: null, isExternal: true, isGuest: false, hasLeft: false, isAdmin: false };
/** Profile without the scope `users:read`: everyone is treated as a member. */
const UNKNOWN: Profile = { name: null, isExternal: false, isGuest: false, hasLeft: false, isAdmin: false };

/** Users' profiles, cached for five minutes. */
export class Profiles {
  readonly #clients: Clients;
  readonly #profiles: TtlCache<Profile>;

  constructor(clients: Clients, clock: Clock) {
    this.#clients = clients;
    this.#profiles = new TtlCache(clock, CACHE_TTL_MS, MAX_CACHED);
  }

  /**
   * Returns a user's profile.
   * @param maxAgeMs maximum age of a cached profile. Default: five minutes.
   * @throws DailiesError if Slack cannot be reached or defers the call
   */
  of(to: TeamRef, user: string, maxAgeMs = CACHE_TTL_MS): Promise<Profile> {
    return this.#profiles.of(`${to.team}:${user}`, () => this.#fetch(to, user), maxAgeMs);
  }

  /** Returns whether a user is an admin or owner; a right that was taken away counts for a minute at most. */
  async isAdmin(to: TeamRef, user: string): Promise<boolean> {
    return (await this.of(to, user)).isAdmin && (await this.of(to, user, ADMIN_TTL_MS)).isAdmin;
  }

  /** Returns a user with a name; never rejects. @param handle the fallback from the payload */
  async person(to: TeamRef, id: string, handle = ''): Promise<Person> {
    const known = await this.of(to, id).catch(() => null);
    return { id, name: known?.name ?? (handle === '' ? UNKNOWN_NAME : handle) };
  }

  async #fetch(to: TeamRef, user: string): Promise<Profile> {
    try {
      return await this.#clients.answer(to, 'reading a user profile', async (client, workspace) => {
        const found = (await client.users.info({ user })).user;
        return found === undefined ? UNKNOWN : profileOf(found, workspace);
      });
    } catch (thrown) {
      const code = slackCodeOf(thrown) ?? '';
      if (STRANGER.has(code)) return EXTERNAL;
      if (code === 'missing_scope') return UNKNOWN;
      throw thrown;
    }
  }
}

/** @see https://docs.slack.dev/reference/objects/user-object */
interface SlackUser {
  readonly team_id?: string;
  readonly name?: string;
  readonly real_name?: string;
  readonly profile?: { readonly display_name?: string; readonly real_name?: string };
  readonly deleted?: boolean;
  readonly is_stranger?: boolean;
  readonly is_restricted?: boolean;
  readonly is_ultra_restricted?: boolean;
  readonly is_admin?: boolean;
  readonly is_owner?: boolean;
  readonly is_primary_owner?: boolean;
  readonly enterprise_user?: { readonly enterprise_id?: string };
}

function profileOf(user: SlackUser, workspace: Workspace): Profile {
  const isExternal = user.is_stranger === true || !isOfWorkspace(user, workspace);
  const isGuest = user.is_restricted === true || user.is_ultra_restricted === true;
  const isAdmin = user.is_admin === true || user.is_owner === true || user.is_primary_owner === true;
  const names = [user.profile?.display_name, user.profile?.real_name, user.real_name, user.name];
  return {
    name: names.find((name) => name !== undefined && name !== '') ?? null,
    isExternal,
    isGuest,
    hasLeft: user.deleted === true,
    isAdmin: isAdmin && !isExternal && !isGuest,
  };
}

function isOfWorkspace({ team_id: team, enterprise_user: grid }: SlackUser, workspace: Workspace): boolean {
  const home = homeOf(workspace);
  const enterprise = grid?.enterprise_id;
  return team === undefined || home.has(team) || (enterprise !== undefined && home.has(enterprise));
}

export function homeOf({ id, enterprise }: Pick<Workspace, 'id' | 'enterprise'>): ReadonlySet<string> {
  return new Set(enterprise === undefined ? [id] : [id, enterprise]);
}
