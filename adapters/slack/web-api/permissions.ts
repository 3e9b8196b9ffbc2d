import { BoundedMap } from '#src/bounded-map.ts';
import type { MemberRights, MissingRight, Place } from '#src/chat/platform.ts';
import { type Clock, within } from '#src/clock.ts';
import type { Audience } from '#src/tasks/task.ts';
import { isRefusedToken, type TokenHealth } from '../installation/token-health.ts';
import type { Workspaces } from '../installation/workspaces.ts';
import { readAddress, teamOf } from '../origin.ts';
import type { Clients, TeamRef } from './client.ts';
import { neededScopeOf, slackCodeOf } from './errors.ts';
import type { Profiles } from './profiles.ts';

/** What is known of a channel. */
interface Channel {
  readonly isMember: boolean;
  readonly isPublic: boolean;
  readonly isDirect: boolean;
  /** With whom a direct message is. */
  readonly directWith: string | null;
  readonly isArchived: boolean;
  /** Whether it is a group message: nobody can be added to it. */
  readonly isGroup: boolean;
  readonly creator: string | null;
}

/** So long it is taken for known where the bot may post: people invite and remove it now and then. */
const KNOWN_FOR_MS = 60_000;
const MOST_KNOWN = 1_000;
const MOST_WAITED_MS = 1_200;

/** The most that Slack gives at once. */
const PAGE = 1_000;
const MOST_PAGES = 10;

const NOTHING: MemberRights = { view: false, post: false, manage: false };
const EVERYTHING: MemberRights = { view: true, post: true, manage: true };

/** Dependencies of {@link Permissions}. */
export interface PermissionsOptions {
  readonly clients: Clients;
  readonly workspaces: Pick<Workspaces, 'of'>;
  readonly profiles: Profiles;
  readonly health: TokenHealth;
  /** Where an admin installs the app anew. */
  readonly reinstallAt: string;
  readonly clock: Clock;
}

/** Where the bot may post files, and who manages a channel. */
export class Permissions {
  readonly #clients: Clients;
  readonly #workspaces: Pick<Workspaces, 'of'>;
  readonly #profiles: Profiles;
  readonly #health: TokenHealth;
  /** Where the app is installed anew. */
  readonly #reinstallAt: string;
  readonly #clock: Clock;
  readonly #channels = new BoundedMap<string, { readonly channel: Channel; readonly untilMs: number }>(MOST_KNOWN);
  readonly #asking = new Map<string, Promise<Channel>>();
  readonly #tests = new Map<string, Promise<string>>();
  readonly #managers = new BoundedMap<string, { readonly manages: boolean; readonly untilMs: number }>(MOST_KNOWN);

  constructor({ clients, workspaces, profiles, health, reinstallAt, clock }: PermissionsOptions) {
    this.#clients = clients;
    this.#workspaces = workspaces;
    this.#profiles = profiles;
    this.#health = health;
    this.#reinstallAt = reinstallAt;
    this.#clock = clock;
  }

  /**
   * Uploads need a member, even where anybody may post. Joins where that is allowed.
   * @throws DailiesError `unauthorised` where Slack does not accept the token (any more)
   */
  async missing(place: Place): Promise<MissingRight | null> {
    const to = teamOf(place);
    const [lacking, known] = await Promise.all([this.#lackingScopes(to), this.#known(to, place.channel)]);
    if (lacking.length > 0) return this.#scopes(lacking);
    if (typeof known === 'string') return this.#scopes([known]);
    if (known === null && place.channel.startsWith('D')) return { kind: 'others' };
    if (known?.isArchived === true) return { kind: 'archived' };
    if (known?.isMember === true || (known?.isPublic === true && (await this.#join(to, place.channel)))) return null;
    if (known?.isGroup === true || readAddress(place.address).isGroup) return { kind: 'group' };
    return { kind: 'uninvited', to: 'channel', type: `/invite @${await this.#botName(to)}` };
  }

  /** As people find it when they type `@`. */
  async #botName(to: TeamRef): Promise<string> {
    const { botName = 'Dailies' } = await this.#workspaces.of(to.team, to.enterprise);
    return botName;
  }

  /** Asks Slack whether the token still works, and reads what it may do: what is known of a channel is up to a minute old. */
  async #lackingScopes(to: TeamRef): Promise<readonly string[]> {
    const id = await this.#testing(to).catch((thrown: unknown) => {
      if (isRefusedToken(thrown)) throw thrown;
      return to.team;
    });
    return this.#health.missing(id);
  }

  /** Many who order at once ask once. @returns the workspace's id */
  #testing(to: TeamRef): Promise<string> {
    const asking =
      this.#tests.get(to.team) ??
      this.#clients
        .call({
          to,
          lane: 'answer',
          doing: 'testing the bot token',
          run: async (client, { id }) => ({ id, ...(await client.auth.test()) }),
        })
        .then(({ id }) => id)
        .finally(() => this.#tests.delete(to.team));
    this.#tests.set(to.team, asking);
    return asking;
  }

  #scopes(scopes: readonly string[]): MissingRight {
    return { kind: 'scope', right: scopes.join(', '), where: this.#reinstallAt };
  }

  /** What is known of a channel, `null` where there is none for the bot, or the scope that is missing to look. */
  #known(to: TeamRef, channel: string): Promise<Channel | string | null> {
    return this.#channel(to, channel).catch((thrown: unknown) => {
      const code = slackCodeOf(thrown);
      // A private channel that the bot is not in does not exist for it.
      if (code === 'channel_not_found') return null;
      if (code === 'missing_scope') return neededScopeOf(thrown) ?? 'channels:read';
      throw thrown;
    });
  }

  /**
   * Direct messages, group messages and private channels are seen by their members alone.
   * @see https://docs.slack.dev/reference/objects/conversation-object
   */
  async audience(place: Place): Promise<Audience | null> {
    if (place.channel.startsWith('D')) return 'channel';
    const found = await this.#channel(teamOf(place), place.channel).catch((thrown: unknown) => {
      const code = slackCodeOf(thrown);
      // A channel that the bot cannot find is a private one that it is not in.
      if (code === 'channel_not_found') return { isPublic: false };
      if (code === 'missing_scope') return null;
      throw thrown;
    });
    if (found === null) return null;
    return found.isPublic ? 'team' : 'channel';
  }

  /**
   * Members of a workspace see its public channels and may join them; a private one is for those who are in it.
   * @see https://docs.slack.dev/reference/methods/conversations.members
   */
  async rights(place: Place, user: string): Promise<MemberRights> {
    const to = teamOf(place);
    const channel = await this.#channel(to, place.channel).catch((thrown: unknown) => {
      const code = slackCodeOf(thrown);
      if (code === 'channel_not_found' || code === 'missing_scope') return null;
      throw thrown;
    });
    if (channel === null) return NOTHING;
    if (channel.isDirect) return channel.directWith === user ? EVERYTHING : NOTHING;
    if (!channel.isPublic && !(await this.#isMember(to, place.channel, user))) return NOTHING;
    return { view: true, post: !channel.isArchived, manage: await this.manages(to, place.channel, user) };
  }

  /** The bot's direct messages with somebody. */
  async directChannel(to: TeamRef, user: string): Promise<string> {
    const { channel } = await this.#clients.call({
      to,
      lane: 'answer',
      doing: 'opening a direct message',
      run: (client) => client.conversations.open({ users: user }),
    });
    if (channel?.id === undefined) throw new TypeError('opening a direct message: Slack names no channel');
    return channel.id;
  }

  /** Whether somebody made the channel or manages the workspace; `false` where that cannot be found out. */
  async manages(to: TeamRef, channel: string, user: string): Promise<boolean> {
    const key = `${to.team}:${channel}:${user}`;
    const known = this.#managers.get(key);
    if (known !== undefined && known.untilMs > this.#clock.monotonic()) return known.manages;
    const found = Promise.all([this.#isCreator(to, channel, user), this.#isAdmin(to, user)]);
    // A form has to be opened within 3 s of its press: what is not known by then is not there.
    const inTime = await within<readonly boolean[] | null>(this.#clock, MOST_WAITED_MS, found, null);
    if (inTime === null) return false;
    const manages = inTime.includes(true);
    this.#managers.set(key, { manages, untilMs: this.#clock.monotonic() + KNOWN_FOR_MS });
    return manages;
  }

  async #isMember(to: TeamRef, channel: string, user: string): Promise<boolean> {
    for (let cursor = '', pages = 0; pages < MOST_PAGES; pages += 1) {
      const page = await this.#clients.call({
        to,
        lane: 'answer',
        doing: 'looking at the members of a channel',
        run: (client) => client.conversations.members({ channel, limit: PAGE, ...(cursor === '' ? {} : { cursor }) }),
      });
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

  /** Owners and admins of another organisation manage nothing here. */
  #isAdmin(to: TeamRef, user: string): Promise<boolean> {
    return this.#profiles.of(to, user, KNOWN_FOR_MS).then(
      ({ isAdmin }) => isAdmin,
      () => false,
    );
  }

  /** Many who ask at once, as after an announcement, ask Slack once. */
  #channel(to: TeamRef, channel: string): Promise<Channel> {
    const key = `${to.team}:${channel}`;
    const known = this.#channels.get(key);
    if (known !== undefined && known.untilMs > this.#clock.monotonic()) return Promise.resolve(known.channel);
    const asking = this.#asking.get(key) ?? this.#ask(to, channel).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  async #ask(to: TeamRef, channel: string): Promise<Channel> {
    const { channel: found } = await this.#clients.call({
      to,
      lane: 'answer',
      doing: 'looking at a channel',
      run: (client) => client.conversations.info({ channel }),
    });
    const read: Channel = {
      isMember: found?.is_member === true || found?.is_im === true,
      isPublic: found?.is_channel === true && found.is_private !== true,
      isDirect: found?.is_im === true,
      // Not in the SDK's type. @see https://docs.slack.dev/reference/objects/conversation-object
      directWith: (found as { readonly user?: string } | undefined)?.user ?? null,
      isArchived: found?.is_archived === true,
      isGroup: found?.is_mpim === true,
      creator: found?.creator ?? null,
    };
    // What is lacking may be given any moment; what is there seldom goes.
    if (read.isMember)
      this.#channels.set(`${to.team}:${channel}`, { channel: read, untilMs: this.#clock.monotonic() + KNOWN_FOR_MS });
    return read;
  }

  async #join(to: TeamRef, channel: string): Promise<boolean> {
    return this.#clients
      .call({
        to,
        lane: 'answer',
        doing: 'joining a channel',
        run: (client) => client.conversations.join({ channel }),
      })
      .then(
        () => true,
        () => false,
      );
  }
}
