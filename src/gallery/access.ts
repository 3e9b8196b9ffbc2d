import { createHash, randomBytes } from 'node:crypto';
import { BoundedMap } from '../bounded-map.ts';
import type { Channels, MemberRights, Place } from '../chat/index.ts';
import type { Clock } from '../clock.ts';
import { collection, type PersonalFacts, type Store } from '../engine/index.ts';
import type { Origin, Person, Viewer } from '../tasks/index.ts';
import { type Admin, isAmong, keyOfTeam } from '../teams/index.ts';

/** Lifetime of a link to the gallery, in milliseconds. */
const LINK_TTL_MS = 10 * 60_000;
/** Lifetime of a session, in milliseconds. */
export const SESSION_TTL_MS = 12 * 3_600_000;
/** Interval between two checks that the person of a session is still a member of the team. */
const MEMBERSHIP_MS = 3_600_000;
/** Time for which the rights of a person in a channel are remembered. */
const RIGHTS_MS = 60_000;
/** Checks that are remembered; what is beyond them is checked again. */
const MAX_REMEMBERED = 10_000;
const KEY_BYTES = 32;
/** A key of {@link KEY_BYTES} in base64url. */
const KEY = /^[\w-]{43}$/;

/** Person who opens the gallery, and the channel in which they requested it. */
export interface Opener {
  readonly platform: string;
  readonly team: string;
  readonly channel: string;
  /** As in `Place.address`, without the token of an interaction. */
  readonly address: Readonly<Record<string, string>>;
  readonly user: Person;
  /** As in `Caller.isExternal`. Default: false. */
  readonly isExternal?: boolean;
}

/** Stored record of an unused link, or of a session. */
interface Ticket extends Opener {
  readonly revision: 1;
  readonly expiresAtMs: number;
}

const PERSONAL: PersonalFacts<Ticket> = {
  withdraw: (ticket, of) => (keyOfTeam(ticket) === keyOfTeam(of) && ticket.user.id === of.person.id ? null : ticket),
};

/** By their keys, under the hashes of these. */
const galleryLinks = collection<string, Ticket>({
  name: 'gallery_links',
  key: hashOf,
  holds: 'one-time links to the gallery with the person they are for, under hashes of their keys',
  kept: '10 minutes',
  personal: PERSONAL,
});

/** By their keys, under the hashes of these. */
const gallerySessions = collection<string, Ticket>({
  name: 'gallery_sessions',
  key: hashOf,
  holds: 'sessions of the gallery with the person they are for, under hashes of their keys',
  kept: '12 hours',
  personal: PERSONAL,
});

export interface GallerySession extends Opener {
  /** Hash of its key: identifies it in this process; the key itself is only in the cookie. */
  readonly id: string;
}

type MemberCheck = { readonly channels: Pick<Channels, 'isMember' | 'rights' | 'lastingAddress'> };

/** Options of {@link GalleryAccess}. */
interface GalleryAccessOptions {
  readonly store: Pick<Store, 'keyv' | 'commit'>;
  /** Enabled platforms, by name. */
  readonly platforms: ReadonlyMap<string, MemberCheck>;
  /** Persons named in `ADMINS`. */
  readonly admins: readonly Admin[];
  readonly clock: Clock;
}

/**
 * One-time links to the gallery, and the sessions they open. Both are random 256-bit keys, of which only the hash is
 * stored: looking up a hash reveals nothing about a key by its timing.
 */
export class GalleryAccess {
  readonly #options: GalleryAccessOptions;
  /** Time of the last check of membership by session, by the monotonic clock. */
  readonly #checkedAt = new BoundedMap<string, number>(MAX_REMEMBERED);
  /** By session and channel. */
  readonly #rights = new BoundedMap<string, { readonly atMs: number; readonly rights: MemberRights }>(MAX_REMEMBERED);

  constructor(options: GalleryAccessOptions) {
    this.#options = options;
  }

  /** Creates a link for a person. @returns its key and its expiry, in ms since the epoch. @throws `store_unavailable` */
  async createLink(opener: Opener): Promise<{ readonly key: string; readonly expiresAtMs: number }> {
    const key = newKey();
    const ticket = this.#ticketOf(opener, LINK_TTL_MS);
    await galleryLinks.set(this.#options.store, key, ticket, LINK_TTL_MS);
    return { key, expiresAtMs: ticket.expiresAtMs };
  }

  /** Returns the person that a link was created for, without using it up; `null` unless it can be redeemed. */
  async openerOf(key: string): Promise<Opener | null> {
    return KEY.test(key) ? this.#valid(await galleryLinks.get(this.#options.store, key)) : null;
  }

  /**
   * Redeems a link: once, also if it is redeemed twice at the same time.
   * @returns the key of a new session; `null` unless the link could be redeemed.
   */
  async redeem(key: string): Promise<string | null> {
    const ticket = await this.openerOf(key);
    if (ticket === null) return null;
    const { store } = this.#options;
    if (!(await store.commit({ records: [galleryLinks.replacing(key, { revision: 1 }, null)] }))) return null;
    // A key of our own: one that the browser sent before is never adopted.
    const session = newKey();
    await gallerySessions.set(store, session, this.#ticketOf(ticket, SESSION_TTL_MS), SESSION_TTL_MS);
    return session;
  }

  /**
   * Returns the session of a key; `null` for one that does not exist or has expired, or whose person has left the team.
   * @throws DailiesError where the membership is due for a check and the platform does not respond.
   */
  async session(key: string): Promise<GallerySession | null> {
    if (!KEY.test(key)) return null;
    const ticket = this.#valid(await gallerySessions.get(this.#options.store, key));
    if (ticket === null) return null;
    const session = { ...ticket, id: hashOf(key) };
    if (await this.#isStillMember(session)) return session;
    await this.end(key);
    return null;
  }

  async end(key: string): Promise<void> {
    if (KEY.test(key)) await gallerySessions.delete(this.#options.store, key);
  }

  /**
   * Returns the viewer of a session, as in the chat: with the channel where its link was requested, as long as the person
   * may view that; without any channel otherwise, or while the platform does not respond.
   */
  async viewerOf(session: GallerySession): Promise<Viewer> {
    const { user, channel, isExternal } = session;
    const rights = await this.#rightsAt(session, placeOf(session));
    return { user: user.id, channel: rights?.view === true ? channel : '', isExternal };
  }

  /**
   * Returns whether the person may delete a clip, as in the chat: its requester, administrators, and those who manage its
   * channel. Never rejects.
   */
  async mayDelete(session: GallerySession, { user, team, channel, address }: Origin): Promise<boolean> {
    if (user.id === session.user.id || isAmong(this.#options.admins, session.platform, session.user.id)) return true;
    const lasting = this.#options.platforms.get(session.platform)?.channels.lastingAddress(address) ?? {};
    const rights = await this.#rightsAt(session, { team, channel, address: lasting });
    return rights?.view === true && rights.manage;
  }

  async #isStillMember(session: GallerySession): Promise<boolean> {
    const nowMs = this.#options.clock.monotonic();
    const checkedMs = this.#checkedAt.get(session.id);
    if (checkedMs !== undefined && nowMs - checkedMs < MEMBERSHIP_MS) return true;
    const platform = this.#options.platforms.get(session.platform);
    if (platform === undefined) return false;
    const place = placeOf(session);
    // A guest belongs to channels, not to the team.
    const isMember =
      session.isExternal === true
        ? (await platform.channels.rights(place, session.user.id)).view
        : await platform.channels.isMember(place, session.user.id, true);
    if (isMember) this.#checkedAt.set(session.id, nowMs);
    return isMember;
  }

  /** Returns the rights of the person at a place; `undefined` while the platform does not respond. */
  async #rightsAt(session: GallerySession, place: Place): Promise<MemberRights | undefined> {
    const nowMs = this.#options.clock.monotonic();
    const key = `${session.id}:${place.channel}`;
    const known = this.#rights.get(key);
    if (known !== undefined && nowMs - known.atMs < RIGHTS_MS) return known.rights;
    const platform = this.#options.platforms.get(session.platform);
    const rights = await platform?.channels.rights(place, session.user.id).catch(() => undefined);
    if (rights !== undefined) this.#rights.set(key, { atMs: nowMs, rights });
    return rights;
  }

  /** Returns a record unless it has expired. */
  #valid(ticket: Ticket | undefined): Ticket | null {
    return ticket !== undefined && ticket.expiresAtMs > this.#options.clock.now() ? ticket : null;
  }

  #ticketOf({ platform, team, channel, address, user, isExternal }: Opener, ttlMs: number): Ticket {
    const expiresAtMs = this.#options.clock.now() + ttlMs;
    const external = isExternal === true ? { isExternal } : {};
    return { revision: 1, platform, team, channel, address, user, ...external, expiresAtMs };
  }
}

function placeOf({ team, channel, address }: Opener): Place {
  return { team, channel, address };
}

function newKey(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}
