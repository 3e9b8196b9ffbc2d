import { TtlCache } from '#src/bounded-map.ts';
import type { Channels, MemberRights, MissingRight, Place } from '#src/chat/index.ts';
import { type Clock, within } from '#src/clock.ts';
import { asDailiesError } from '#src/errors.ts';
import { SingleFlight } from '#src/single-flight.ts';
import type { Audience } from '#src/tasks/index.ts';
import type { TokenHealth } from '../installation/token-health.ts';
import type { Workspaces } from '../installation/workspaces.ts';
import { readAddress, teamOf } from '../origin.ts';
import type { Clients, TeamRef } from './client.ts';
import { neededScopeOf, slackCodeOf } from './errors.ts';
import type { Profiles } from './profiles.ts';
import { UserGroups } from './user-groups.ts';

interface Channel {
  readonly isMember: boolean;
  readonly isPublic: boolean;
  readonly isDirect: boolean;
  /** The other user of a direct message. */
  readonly directWith: string | null;
  readonly isArchived: boolean;
  /** True for a group message, to which no members can be added. */
  readonly isGroup: boolean;
  readonly creator: string | null;
  /** True where people of other organisations are, or are invited. */
  readonly isShared: boolean;
}

/** TTL of cached memberships: the bot can be invited and removed at any time. */
const CACHE_TTL_MS = 60_000;
const LOOKUP_TIMEOUT_MS = 1_200;

/** Largest page of `conversations.members`. */
const PAGE = 1_000;
const MOST_PAGES = 10;

const NOTHING: MemberRights = { view: false, post: false, manage: false };
const EVERYTHING: MemberRights = { view: true, post: true, manage: true };

interface PermissionsOptions {
  readonly clients: Clients;
  readonly workspaces: Pick<Workspaces, 'of'>;
  readonly profiles: Profiles;
  readonly health: TokenHealth;
  /** The page where an admin can reinstall the app. */
  readonly reinstallAt: string;
  readonly clock: Clock;
}

export class Permissions implements Channels {
  readonly #options: PermissionsOptions;
  readonly #channels: TtlCache<Channel>;
  readonly #groups: UserGroups;
  readonly #tests = new SingleFlight<string, string>();
  /** `null`: the lookup took too long. */
  readonly #managers: TtlCache<boolean | null>;

  constructor(options: PermissionsOptions) {
    this.#options = options;
    this.#groups = new UserGroups(options.clients, options.clock);
    this.#channels = new TtlCache(options.clock, CACHE_TTL_MS);
    this.#managers = new TtlCache(options.clock, CACHE_TTL_MS);
  }

  /**
   * Returns the permission that the bot lacks to post a clip. Uploads require membership, even in channels where any
   * app may post; joins public channels if allowed.
   * @throws DailiesError `unauthorised` if Slack rejects the token
   */
  async missingRight(place: Place): Promise<MissingRight | null> {
    const to = teamOf(place);
    const [missing, known] = await Promise.all([this.#missingScopes(to), this.#lookUp(to, place.channel)]);
    if (missing.length > 0) return this.#scopes(missing);
    if (typeof known === 'string') return this.#scopes([known]);
    if (known === null && place.channel.startsWith('D')) return { kind: 'others' };
    if (known?.isArchived === true) return { kind: 'archived' };
    if (known?.isMember === true || (known?.isPublic === true && (await this.#join(to, place.channel)))) return null;
    if (known?.isGroup === true || readAddress(place.address).isGroup) return { kind: 'group' };
    const { botName = 'Dailies' } = await this.#options.workspaces.of(to.team, to.enterprise);
    return { kind: 'uninvited', to: 'channel', type: `/invite @${botName}` };
  }

  /** Tests the token and reads its scopes, since the cached channel may be a minute old. @throws `unauthorised` */
  async #missingScopes(to: TeamRef): Promise<readonly string[]> {
    const { clients, health } = this.#options;
    const tested = this.#tests.run(to.team, () => clients.test(to));
    const id = await tested.catch((thrown: unknown) => {
      if (isRefusedToken(thrown)) throw thrown;
      return to.team;
    });
    return health.missing(id);
  }

  #scopes(scopes: readonly string[]): MissingRight {
    return { kind: 'scope', right: scopes.join(', '), where: this.#options.reinstallAt };
  }

  /** Returns a channel, `null` if it does not exist for the bot, or the scope that is missing to look it up. */
  #lookUp(to: TeamRef, channel: string): Promise<Channel | string | null> {
    return this.#channel(to, channel).catch((thrown: unknown) => {
      const code = slackCodeOf(thrown);
      // Slack hides private channels from non-members.
      if (code === 'channel_not_found') return null;
      if (code === 'missing_scope') return neededScopeOf(thrown) ?? 'channels:read';
      throw thrown;
    });
  }

  /**
   * Returns the audience of a place: direct messages, group messages and private channels are visible to members only.
   * @see https://docs.slack.dev/reference/objects/conversation-object
   */
  async audience(place: Place): Promise<Audience | null> {
    if (place.channel.startsWith('D')) return 'channel';
    const found = await this.#lookUp(teamOf(place), place.channel);
    if (typeof found === 'string') return null;
    return found?.isPublic === true ? 'team' : 'channel';
  }

  /**
   * Returns a user's rights: members of a workspace can see and join its public channels; a private one is for its
   * members only.
   * @see https://docs.slack.dev/reference/methods/conversations.members
   */
  async rights(place: Place, user: string): Promise<MemberRights> {
    const to = teamOf(place);
    const channel = await this.#lookUp(to, place.channel);
    if (channel === null || typeof channel === 'string') return NOTHING;
    if (channel.isDirect) return channel.directWith === user ? EVERYTHING : NOTHING;
    if (!channel.isPublic && !(await this.#isMember(to, place.channel, user))) return NOTHING;
    return { view: true, post: !channel.isArchived, manage: await this.manages(to, place.channel, user) };
  }

  /** Returns false for deactivated users, for those of other organisations and, where `isFull` is asked, for guests. */
  async isMember(place: Place, user: string, isFull = false): Promise<boolean> {
    const { isExternal, hasLeft, isGuest } = await this.#options.profiles.of(teamOf(place), user);
    return !isExternal && !hasLeft && !(isFull && isGuest);
  }

  isInGroup(place: Place, group: string, user: string): Promise<boolean> {
    return this.#groups.includes(teamOf(place), group, user);
  }

  /** Returns whether only people of the workspace are in a channel; `false` where that cannot be known. */
  async isInternal(to: TeamRef, channel: string): Promise<boolean> {
    const found = await this.#lookUp(to, channel);
    return found !== null && typeof found !== 'string' && !found.isShared;
  }

  directChannel(place: Place, user: string): Promise<string> {
    return this.#options.clients.directChannel('answer', teamOf(place), user);
  }

  /** Returns the address as it is: what it holds belongs to the channel. */
  lastingAddress(address: Place['address']): Place['address'] {
    return address;
  }

  /** Returns whether a user created the channel or manages the workspace; `false` if that cannot be determined. */
  async manages(to: TeamRef, channel: string, user: string): Promise<boolean> {
    const key = `${to.team}:${channel}:${user}`;
    const manages = await this.#managers.of(key, () => {
      const either = Promise.all([this.#isCreator(to, channel, user), this.#isAdmin(to, user)]);
      const found = either.then((rights) => rights.includes(true));
      // A modal has to be opened within 3 s of the press, so a slow lookup counts as “no”.
      return within<boolean | null>(this.#options.clock, LOOKUP_TIMEOUT_MS, found, null);
    });
    if (manages === null) this.#managers.forget(key);
    return manages === true;
  }

  async #isMember(to: TeamRef, channel: string, user: string): Promise<boolean> {
    for (let cursor = '', pages = 0; pages < MOST_PAGES; pages += 1) {
      const page = await this.#options.clients.answer(to, 'looking at the members of a channel', (client) =>
        client.conversations.members({ channel, limit: PAGE, ...(cursor === '' ? {} : { cursor }) }),
      );
      if (page.members?.includes(user) === true) return true;
      cursor = page.response_metadata?.next_cursor ?? '';
      if (cursor === '') return false;
    }
    return false;
  }

  #isCreator(to: TeamRef, channel: string, user: string): Promise<boolean> {
    return this.#channel(to, channel).then(
      ({ creator }) => creator === user,
      () => false,
    );
  }

  /** Returns whether a user is an owner or admin of this workspace, not of another organisation. */
  #isAdmin(to: TeamRef, user: string): Promise<boolean> {
    return this.#options.profiles.of(to, user, CACHE_TTL_MS).then(
      ({ isAdmin }) => isAdmin,
      () => false,
    );
  }

  /** Returns a channel from the cache or Slack; concurrent calls share one request. */
  async #channel(to: TeamRef, channel: string): Promise<Channel> {
    const key = `${to.team}:${channel}`;
    const found = await this.#channels.of(key, () => this.#fetch(to, channel));
    // Only memberships are cached: an invitation has to count at once, a removal is rare.
    if (!found.isMember) this.#channels.forget(key);
    return found;
  }

  async #fetch(to: TeamRef, channel: string): Promise<Channel> {
    const { channel: found } = await this.#options.clients.answer(to, 'looking at a channel', (client) =>
      client.conversations.info({ channel }),
    );
    return {
      isMember: found?.is_member === true || found?.is_im === true,
      isPublic: found?.is_channel === true && found.is_private !== true,
      isDirect: found?.is_im === true,
      // Not in the SDK's type. @see https://docs.slack.dev/reference/objects/conversation-object
      directWith: (found as { readonly user?: string } | undefined)?.user ?? null,
      isArchived: found?.is_archived === true,
      isGroup: found?.is_mpim === true,
      creator: found?.creator ?? null,
      isShared: found?.is_ext_shared === true || found?.is_pending_ext_shared === true,
    };
  }

  async #join(to: TeamRef, channel: string): Promise<boolean> {
    return this.#options.clients
      .answer(to, 'joining a channel', (client) => client.conversations.join({ channel }))
      .then(
        () => true,
        () => false,
      );
  }
}

/** Returns whether a call failed because Slack rejects the token. */
function isRefusedToken(thrown: unknown): boolean {
  return asDailiesError(thrown, 'calling Slack').code === 'unauthorised';
}
