import { expect, it } from 'vitest';
import type { MemberRights, Place } from '#src/chat/platform.ts';
import { GalleryAccess, type GallerySession, type Opener } from '#src/gallery/access.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { platformError } from '#test/fakes/platform.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { BOB, originOf } from '#test/fakes/tasks.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ADA: Opener = { platform: 'fake', team: 'T1', channel: 'C1', address: {}, user: { id: 'U1', name: 'Ada' } };

function setUp() {
  const [store, clock] = [new MemoryStore(), new ManualClock()];
  const facts = { isMember: true, isGuest: false, view: true, manage: false, isDown: false, asked: 0 };
  const ask = async <Answer>(answer: Answer): Promise<Answer> => {
    facts.asked += 1;
    if (facts.isDown) throw platformError('platform_unavailable');
    return answer;
  };
  const channels = {
    isMember: (_place: Place, _user: string, isFull = false) => ask(facts.isMember && !(isFull && facts.isGuest)),
    rights: (): Promise<MemberRights> => ask({ view: facts.view, post: true, manage: facts.manage }),
    lastingAddress: () => ({}),
  };
  const access = new GalleryAccess({ store, clock, platforms: new Map([['fake', { channels }]]), admins: [] });
  const opened = async (opener = ADA): Promise<string> => {
    const session = await access.redeem((await access.createLink(opener)).key);
    if (session === null) throw new TypeError('the link was refused');
    return session;
  };
  const sessionOf = async (key: string): Promise<GallerySession> => {
    const session = await access.session(key);
    if (session === null) throw new TypeError('there is no session');
    return session;
  };
  return { store, clock, facts, access, opened, sessionOf };
}

it('opens one session per link, also when it is redeemed twice at once', async () => {
  const { access } = setUp();
  const { key } = await access.createLink(ADA);
  const sessions = await Promise.all([access.redeem(key), access.redeem(key), access.redeem(key)]);
  expect(sessions.filter((session) => session !== null)).toHaveLength(1);
  expect(await access.redeem(key)).toBeNull();
  expect(await access.openerOf(key)).toBeNull();
});

it('uses no link up by showing its page', async () => {
  const { access } = setUp();
  const { key } = await access.createLink(ADA);
  expect((await access.openerOf(key))?.user).toEqual(ADA.user);
  expect((await access.openerOf(key))?.user).toEqual(ADA.user);
  expect(await access.redeem(key)).toMatch(/^[\w-]{43}$/);
});

it('refuses a link after ten minutes', async () => {
  const { access, clock } = setUp();
  const [late, inTime] = [await access.createLink(ADA), await access.createLink(ADA)];
  expect(late.expiresAtMs).toBe(clock.now() + 10 * MINUTE_MS);
  clock.advance(10 * MINUTE_MS - 1);
  expect(await access.redeem(inTime.key)).not.toBeNull();
  clock.advance(1);
  expect(await access.redeem(late.key)).toBeNull();
});

it('stores neither the keys of links nor those of sessions', async () => {
  const { access, store, opened } = setUp();
  const { key } = await access.createLink(ADA);
  const session = await opened();
  const kept = await storedIn(store);
  expect(await store.contents.namespaces()).toEqual(['gallery_links', 'gallery_sessions']);
  for (const secret of [key, session]) expect(kept).not.toContain(secret);
});

it('takes the key of a link for no session, and no other text for a key', async () => {
  const { access } = setUp();
  const { key } = await access.createLink(ADA);
  for (const wrong of [key, '', 'link:x', `${key}x`, key.slice(1), `../${key}`])
    expect(await access.session(wrong)).toBeNull();
});

it('ends a session after twelve hours, or when it is closed', async () => {
  const { access, clock, opened } = setUp();
  const [closed, expired] = [await opened(), await opened()];
  await access.end(closed);
  expect(await access.session(closed)).toBeNull();
  clock.advance(12 * HOUR_MS - 1);
  expect((await access.session(expired))?.user).toEqual(ADA.user);
  clock.advance(1);
  expect(await access.session(expired)).toBeNull();
});

it('checks the membership again each hour, and ends the session of a person who left', async () => {
  const { access, clock, facts, opened } = setUp();
  const key = await opened();
  await access.session(key);
  expect(facts.asked).toBe(1);
  facts.isMember = false;
  clock.advance(HOUR_MS - 1);
  expect(await access.session(key)).not.toBeNull();
  clock.advance(1);
  expect(await access.session(key)).toBeNull();
  facts.isMember = true;
  expect(await access.session(key)).toBeNull();
});

it('ends the session of a member who became a guest', async () => {
  const { access, clock, facts, opened } = setUp();
  const key = await opened();
  facts.isGuest = true;
  clock.advance(HOUR_MS);
  expect(await access.session(key)).toBeNull();
});

it('lets no one in while the membership cannot be checked, and keeps the session', async () => {
  const { access, clock, facts, opened } = setUp();
  const key = await opened();
  await access.session(key);
  clock.advance(HOUR_MS);
  facts.isDown = true;
  await expect(access.session(key)).rejects.toMatchObject({ code: 'platform_unavailable' });
  facts.isDown = false;
  expect(await access.session(key)).not.toBeNull();
});

it('ends the sessions of a platform that is turned off', async () => {
  const { access, opened } = setUp();
  expect(await access.session(await opened({ ...ADA, platform: 'gone' }))).toBeNull();
});

it('shows the channel of the link as long as the person may view it', async () => {
  const { access, clock, facts, opened, sessionOf } = setUp();
  const session = await sessionOf(await opened());
  expect(await access.viewerOf(session)).toMatchObject({ user: 'U1', channel: 'C1' });
  facts.view = false;
  clock.advance(MINUTE_MS);
  expect(await access.viewerOf(session)).toMatchObject({ user: 'U1', channel: '' });
  facts.view = true;
  clock.advance(MINUTE_MS);
  facts.isDown = true;
  expect(await access.viewerOf(session)).toMatchObject({ channel: '' });
  facts.isDown = false;
  expect(await access.viewerOf(session)).toMatchObject({ channel: 'C1' });
});

it('binds the session of a guest to the channel instead of the team', async () => {
  const { access, clock, facts, opened, sessionOf } = setUp();
  facts.isMember = false;
  const key = await opened({ ...ADA, isExternal: true });
  expect(await access.viewerOf(await sessionOf(key))).toMatchObject({ isExternal: true });
  facts.view = false;
  clock.advance(HOUR_MS);
  expect(await access.session(key)).toBeNull();
});

it('lets its requester delete a clip, and who manages its channel, asked once a minute', async () => {
  const { access, opened, sessionOf, facts, clock } = setUp();
  const session = await sessionOf(await opened());
  facts.asked = 0;
  expect(await access.mayDelete(session, originOf({ user: ADA.user }))).toBe(true);
  expect(facts.asked).toBe(0);
  const another = originOf({ user: BOB, team: 'T1', channel: 'C1' });
  facts.isDown = true;
  expect(await access.mayDelete(session, another)).toBe(false);
  facts.isDown = false;
  facts.manage = true;
  expect(await access.mayDelete(session, another)).toBe(true);
  facts.manage = false;
  expect(await access.mayDelete(session, another)).toBe(true);
  clock.advance(MINUTE_MS);
  expect(await access.mayDelete(session, another)).toBe(false);
  Object.assign(facts, { manage: true, view: false });
  expect(await access.mayDelete(session, { ...another, channel: 'C2' })).toBe(false);
});
