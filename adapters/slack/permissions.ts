import { BoundedMap } from '#src/bounded-map.ts';
import type { MissingRight, Place } from '#src/chat/platform.ts';
import { type Clock, within } from '#src/clock.ts';
import { teamOf } from './address.ts';
import type { Clients, TeamRef } from './clients.ts';
import { slackCodeOf } from './errors.ts';

/** What is known of a channel. */
interface Channel {
  readonly isMember: boolean;
  readonly isPublic: boolean;
  readonly isArchived: boolean;
  readonly creator: string | null;
}

/** So long it is taken for known where the bot may post: people invite and remove it now and then. */
const KNOWN_FOR_MS = 60_000;
const MOST_KNOWN = 1_000;
const MOST_WAITED_MS = 1_200;

const INVITE: MissingRight = {
  right: 'member of this channel',
  where: 'this channel, by typing /invite and @ with my name',
};
const DIRECT: MissingRight = {
  right: 'member of this conversation',
  where: 'a channel that I am invited to, or a direct message to me',
};
const ARCHIVED: MissingRight = { right: 'post messages', where: 'the channel’s settings: it is archived' };

/** Where the bot may post files, and who manages a channel. */
export class Permissions {
  readonly #clients: Clients;
  readonly #clock: Clock;
  readonly #channels = new BoundedMap<string, { readonly channel: Channel; readonly untilMs: number }>(MOST_KNOWN);
  readonly #asking = new Map<string, Promise<Channel>>();
  readonly #managers = new BoundedMap<string, { readonly manages: boolean; readonly untilMs: number }>(MOST_KNOWN);

  constructor(clients: Clients, clock: Clock) {
    this.#clients = clients;
    this.#clock = clock;
  }

  /** Uploads need a member, even where anybody may post. Joins where that is allowed. */
  async missing(place: Place): Promise<MissingRight | null> {
    const to = teamOf(place);
    const known = await this.#channel(to, place.channel).catch((thrown: unknown) => {
      const code = slackCodeOf(thrown);
      // A private channel that the bot is not in does not exist for it.
      if (code === 'channel_not_found') return null;
      if (code === 'missing_scope') return undefined;
      throw thrown;
    });
    if (known === undefined) return null;
    if (known === null) return place.channel.startsWith('D') ? DIRECT : INVITE;
    if (known.isArchived) return ARCHIVED;
    if (known.isMember || (known.isPublic && (await this.#join(to, place.channel)))) return null;
    return INVITE;
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

  #isCreator(to: TeamRef, channel: string, user: string): Promise<boolean> {
    return this.#channel(to, channel).then(
      ({ creator }) => creator === user,
      () => false,
    );
  }

  async #isAdmin(to: TeamRef, user: string): Promise<boolean> {
    try {
      const { user: found } = await this.#clients.call({
        to,
        lane: 'answer',
        doing: 'looking at what somebody may do',
        run: (client) => client.users.info({ user }),
      });
      return found?.is_admin === true || found?.is_owner === true;
    } catch {
      return false;
    }
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
      isArchived: found?.is_archived === true,
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
