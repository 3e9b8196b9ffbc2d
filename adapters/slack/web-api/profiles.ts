import { BoundedMap } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';
import type { Workspace } from '../installation/workspaces.ts';
import type { Clients, TeamRef } from './client.ts';
import { slackCodeOf } from './errors.ts';

/** What Slack says of a person, as one workspace sees them. */
export interface Profile {
  /** Display name, or else the real name; `null` where Slack does not say. */
  readonly name: string | null;
  /** Whether they belong to another organisation (Slack Connect). */
  readonly isExternal: boolean;
  readonly isGuest: boolean;
  /** Owner or admin of this workspace. */
  readonly isAdmin: boolean;
}

interface KnownProfile {
  readonly profile: Promise<Profile>;
  readonly atMs: number;
}

const KNOWN_FOR_MS = 5 * 60_000;
const MOST_KNOWN = 5_000;
/** People whom the workspace does not know. @see https://docs.slack.dev/reference/methods/users.info#errors */
const STRANGER: ReadonlySet<string> = new Set(['user_not_found', 'user_not_visible', 'user_team_not_in_channel']);
const EXTERNAL: Profile = { name: null, isExternal: true, isGuest: false, isAdmin: false };
/** Where the app may not ask (`users:read`), nobody can be told from a member. */
const UNKNOWN: Profile = { name: null, isExternal: false, isGuest: false, isAdmin: false };

/** Asks Slack who people are, once in five minutes each. */
export class Profiles {
  readonly #clients: Clients;
  readonly #clock: Clock;
  readonly #known = new BoundedMap<string, KnownProfile>(MOST_KNOWN);

  constructor(clients: Clients, clock: Clock) {
    this.#clients = clients;
    this.#clock = clock;
  }

  /**
   * Returns who somebody is.
   * @param maxAgeMs how old the answer may be. Default: five minutes.
   * @throws DailiesError where Slack does not say just now
   */
  of(to: TeamRef, user: string, maxAgeMs = KNOWN_FOR_MS): Promise<Profile> {
    const key = `${to.team}:${user}`;
    const nowMs = this.#clock.monotonic();
    const known = this.#known.get(key);
    if (known !== undefined && nowMs - known.atMs < maxAgeMs) return known.profile;
    const asked = { profile: this.#ask(to, user), atMs: nowMs };
    this.#known.set(key, asked);
    asked.profile.catch(() => {
      if (this.#known.get(key) === asked) this.#known.delete(key);
    });
    return asked.profile;
  }

  async #ask(to: TeamRef, user: string): Promise<Profile> {
    try {
      return await this.#clients.call({
        to,
        lane: 'answer',
        doing: 'asking who somebody is',
        run: async (client, workspace) => {
          const found = (await client.users.info({ user })).user;
          return found === undefined ? UNKNOWN : profileOf(found, workspace);
        },
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
  readonly is_stranger?: boolean;
  readonly is_restricted?: boolean;
  readonly is_ultra_restricted?: boolean;
  readonly is_admin?: boolean;
  readonly is_owner?: boolean;
  readonly enterprise_user?: { readonly enterprise_id?: string };
}

function profileOf(user: SlackUser, workspace: Workspace): Profile {
  const isExternal = user.is_stranger === true || !isOfWorkspace(user, workspace);
  const names = [user.profile?.display_name, user.profile?.real_name, user.real_name, user.name];
  return {
    name: names.find((name) => name !== undefined && name !== '') ?? null,
    isExternal,
    isGuest: user.is_restricted === true || user.is_ultra_restricted === true,
    isAdmin: !isExternal && (user.is_admin === true || user.is_owner === true),
  };
}

/** People of the same organisation are no strangers. */
function isOfWorkspace({ team_id: team, enterprise_user: grid }: SlackUser, workspace: Workspace): boolean {
  const home = homeOf(workspace);
  const enterprise = grid?.enterprise_id;
  return team === undefined || home.has(team) || (enterprise !== undefined && home.has(enterprise));
}

/** Ids of the workspace and of the organisation it belongs to. */
export function homeOf({ id, enterprise }: Pick<Workspace, 'id' | 'enterprise'>): ReadonlySet<string> {
  return new Set(enterprise === undefined ? [id] : [id, enterprise]);
}
