import { expect, it } from 'vitest';
import { GalleryHouse, OPENER } from '#test/fakes/gallery-house.ts';

const sessionsOf = async ({ store }: GalleryHouse): Promise<readonly string[]> =>
  (await Array.fromAsync(store.contents.records('gallery_sessions'))).flat().map(({ key }) => key);

it('shows a button on GET, which uses nothing up, and opens the gallery on POST, once', async () => {
  const house = await new GalleryHouse().serve();
  const { key } = await house.access.createLink(OPENER);
  const url = `/gallery/open?key=${key}`;
  for (const method of ['GET', 'HEAD', 'GET'] as const) {
    const page = await house.http.inject({ method, url });
    expect(page.statusCode).toBe(200);
    expect(page.headers['set-cookie']).toBeUndefined();
    if (method === 'GET') expect(page.body).toContain('<button>Open the gallery as Ada</button>');
  }
  const opened = await house.redeem(key);
  expect([opened.statusCode, opened.headers.location]).toEqual([303, '/gallery']);
  expect(opened.headers['set-cookie']).toMatch(
    /^dailies_gallery=[\w-]{43}; Path=\/gallery; Max-Age=43200; HttpOnly; SameSite=Lax$/,
  );
  const again = await house.redeem(key);
  expect([again.statusCode, again.headers['set-cookie']]).toEqual([410, undefined]);
  expect((await house.http.inject(url)).statusCode).toBe(410);
});

it('marks the cookie as secure behind HTTPS', async () => {
  const house = await new GalleryHouse().serve('https://dailies.example');
  const { key } = await house.access.createLink(OPENER);
  const headers = { origin: 'https://dailies.example', 'sec-fetch-site': 'same-origin' };
  expect((await house.redeem(key, headers)).headers['set-cookie']).toMatch(/; Secure$/);
});

it('refuses a link that another site or a page of no origin submits', async () => {
  const house = await new GalleryHouse().serve('https://dailies.example');
  const { key } = await house.access.createLink(OPENER);
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://dailies.example.evil.example' },
  ])
    expect((await house.redeem(key, headers)).statusCode).toBe(403);
  expect((await house.redeem(key, { origin: 'https://dailies.example' })).statusCode).toBe(303);
});

it('replaces the session that the browser had, and adopts no key that it brought along', async () => {
  const house = await new GalleryHouse().serve();
  const old = await house.open();
  const { key } = await house.access.createLink(OPENER);
  const planted = 'A'.repeat(43);
  const opened = await house.redeem(key, { cookie: `dailies_gallery=${planted}` });
  expect(String(opened.headers['set-cookie'])).not.toContain(planted);
  expect(await house.access.session(planted)).toBeNull();
  await house.redeem((await house.access.createLink(OPENER)).key, { cookie: old });
  expect(await house.access.session(old.split('=')[1] ?? '')).toBeNull();
  expect(await sessionsOf(house)).toHaveLength(2);
});

it('delays and counts wrong links, and never refuses a right one for them', async () => {
  const counted: string[] = [];
  const house = await new GalleryHouse().serve(null, { countWrongToken: (entrance) => counted.push(entrance) });
  const guess = async (): Promise<number> => {
    const answer = house.redeem('B'.repeat(43));
    for (let step = 0; step < 50; step += 1) {
      await new Promise(setImmediate);
      house.clock.advance(200);
    }
    return (await answer).statusCode;
  };
  const statuses: number[] = [];
  for (let tries = 0; tries < 3; tries += 1) statuses.push(await guess());
  expect(statuses).toEqual([410, 410, 410]);
  const { key } = await house.access.createLink(OPENER);
  const flood = Array.from({ length: 20 }, () => house.redeem('C'.repeat(43)));
  for (let step = 0; step < 60; step += 1) {
    await new Promise(setImmediate);
    house.clock.advance(100);
  }
  await Promise.all(flood);
  expect((await house.redeem(key)).statusCode).toBe(303);
  expect(new Set(counted)).toEqual(new Set(['gallery']));
});

it('is neither indexed nor cached, and shows a name as text', async () => {
  const house = await new GalleryHouse().serve();
  const user = { id: 'U1', name: '<script>alert(1)</script>"' };
  const { key } = await house.access.createLink({ ...OPENER, user });
  const page = await house.http.inject(`/gallery/open?key=${key}`);
  expect(page.headers).toMatchObject({ 'cache-control': 'private, no-store', 'x-robots-tag': 'noindex, nofollow' });
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect(page.body).not.toContain('<script>');
  expect(page.body).not.toContain('"&#34;');
});
