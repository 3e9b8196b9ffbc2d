import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileLinks, SignedLinks } from '#src/media/clip-links.ts';
import { isRelayed, RELAY_BOUNDS, Relay } from '#src/media/relay.ts';
import type { RelayBounds } from '#src/media/relay-folder.ts';
import { fileLinks } from '#test/fakes/file-links.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';

const publicUrl = 'https://dailies.example';
const PICTURE = 'GIF89afox';
const clock = new ManualClock();
let server: Server;
let source: string;
let fetches = 0;
let status = 200;
/** Responses held back by a test; `null`: none is. */
let held: (() => void)[] | null = null;
let dataDir: string;
let relay: Relay;
let bounded: (bounds: Partial<RelayBounds>) => Relay;

beforeEach(async () => {
  fetches = 0;
  status = 200;
  held = null;
  server = createServer((incoming, response) => {
    fetches += 1;
    if (incoming.url?.startsWith('/private') === true && incoming.headers.authorization !== 'Bearer xoxb-1') {
      response.writeHead(403).end();
      return;
    }
    held?.push(() => response.writeHead(status).end(PICTURE));
    if (held === null) response.writeHead(status).end(PICTURE);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/fox.png`;
  dataDir = await mkdtemp(join(tmpdir(), 'dailies-relay-'));
  const links = new SignedLinks({ publicUrl, secret: 'a secret of this test', clock });
  bounded = (bounds) =>
    new Relay({
      links: fileLinks(clock, links),
      store: new MemoryStore(),
      dataDir,
      logger: pino({ level: 'silent' }),
      bounds: { ...RELAY_BOUNDS, ...bounds },
    });
  relay = bounded({});
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dataDir, { recursive: true });
});

const file = (query: string) => ({ url: `${source}?${query}`, name: 'fox.png', contentType: 'image/png' });
const idOf = (url: string | null): string => /\/media\/([^?]+)/.exec(url ?? '')?.[1] ?? '';

it('gives a file one relay URL, independent of the platform’s signature, and fetches it once', async () => {
  const [one, other] = [relay.offer(file('ex=1')), relay.offer(file('ex=2'))];
  expect(idOf(one)).toBe(idOf(other));
  expect(isRelayed(idOf(one))).toBe(true);
  const found = await relay.find(idOf(one));
  expect(found).toMatchObject({ bytes: 9, contentType: 'image/png', name: 'fox.png' });
  expect(await readFile(found?.path ?? '', 'utf8')).toBe(PICTURE);
  await relay.find(idOf(one));
  expect(fetches).toBe(1);
});

it('retries a failed fetch, and finds nothing for unknown ids', async () => {
  status = 500;
  const id = idOf(relay.offer(file('')));
  expect(await relay.find(id)).toBeUndefined();
  status = 200;
  expect(await relay.find(id)).toMatchObject({ bytes: 9 });
  expect(await relay.find('relay-other')).toBeUndefined();
});

it('returns no file and no signature for a forged URL', async () => {
  const given = relay.offer(file('')) ?? '';
  const madeUp = [`${publicUrl}/media/${idOf(given)}`, given.replace(/signature=.{4}/, 'signature=AAAA')];
  for (const url of madeUp) {
    expect(relay.renew(url)).toBe(url);
    expect(await relay.fileOf(url)).toBeUndefined();
  }
});

it('finds the file of a relay URL, and none for any other URL', async () => {
  const given = relay.offer(file('')) ?? '';
  expect(await relay.fileOf(given)).toMatchObject({ bytes: 9, name: 'fox.png' });
  for (const url of [`https://other.example/media/${idOf(given)}`, `${publicUrl}/media/task-1?x`])
    expect(await relay.fileOf(url)).toBeUndefined();
});

it('renews the signature of relay URLs only', () => {
  const given = relay.offer(file('')) ?? '';
  clock.advance(24 * 3_600_000);
  const renewed = relay.renew(given);
  expect(idOf(renewed)).toBe(idOf(given));
  expect(renewed).not.toBe(given);
  for (const url of ['https://other.example/media/relay-1', `${publicUrl}/media/task-1?x`])
    expect(relay.renew(url)).toBe(url);
});

it('fetches a file that another replica stored with its token, without storing the token', async () => {
  const store = new MemoryStore();
  const links = new SignedLinks({ publicUrl, secret: 'a secret of this test', clock });
  const replica = (name: string): Relay => {
    const made = new Relay({
      links: fileLinks(clock, links),
      store,
      dataDir: join(dataDir, name),
      logger: pino({ level: 'silent' }),
    });
    made.openBy('slack', async ({ team }) => ({ authorization: `Bearer xoxb-${team ?? ''}` }));
    return made;
  };
  const url = source.replace('/fox.png', '/private/fox.png');
  const opener = { platform: 'slack', key: { team: '1' } };
  const id = idOf(await replica('one').keep({ url, name: 'fox.png', contentType: 'image/png', opener }));
  expect(await replica('other').find(id)).toMatchObject({ bytes: 9 });
  expect(JSON.stringify(await store.keyv('relayed_files').get(id))).not.toContain('xoxb');
});

describe('without a public address', () => {
  const relayAt = (most: readonly number[], links = fileLinks(clock, null), store = new MemoryStore()): Relay =>
    new Relay({ links, keptImageBytes: () => most, store, dataDir, logger: pino({ level: 'silent' }) });

  it.each([
    ['no service takes its bytes', []],
    ['one of two services does not', [0, 1_000]],
    ['it is too large for one of them', [8, 1_000]],
  ])('offers none where %s', (_why, most) => {
    expect(relayAt(most).offer({ ...file(''), bytes: 9 })).toBeNull();
    expect(fetches).toBe(0);
  });

  it('offers no file but an image', () => {
    expect(relayAt([1_000]).offer({ ...file(''), contentType: 'audio/mpeg', bytes: 9 })).toBeNull();
  });

  it('keeps an image for the services that take its bytes, under an address that leads nowhere', async () => {
    expect(await relayAt([0]).keep(file(''))).toBeNull();
    const own = relayAt([0, 1_000]);
    const url = (await own.keep(file(''))) ?? '';
    expect(new URL(url).host).toBe('kept.dailies.invalid');
    expect(await own.fileOf(url)).toMatchObject({ bytes: 9, contentType: 'image/png' });
    expect(own.reaches()).toBe(true);
    // The last character of a signature has two bits that no byte of it has.
    const changed = url.replace(/.$/, (last) => (last === 'Q' ? 'A' : 'Q'));
    for (const forged of [changed, url.replace('relay-', 'relay-0'), url.replace('relay-', 'relay-%E0%A4')])
      expect(await own.fileOf(forged)).toBeUndefined();
    await writeFile(`${(await own.fileOf(url))?.path}.jpg`, 'picture');
    await own.remove(url);
    expect(await own.fileOf(url)).toBeUndefined();
    expect(await readdir(join(dataDir, 'relay'))).toEqual([]);
  });

  it('knows its addresses once there is one, and makes public ones of them', async () => {
    const store = new MemoryStore();
    const url = (await relayAt([1_000], fileLinks(clock, null), store).keep(file(''))) ?? '';
    const links = new SignedLinks({ publicUrl, secret: 'a secret of this test', clock });
    const later = relayAt([0], fileLinks(clock, links), store);
    expect(await later.fileOf(url)).toMatchObject({ bytes: 9 });
    expect(later.renew(url)).toMatch(new RegExp(`^${publicUrl}/media/relay-`));
  });

  it('has one key for all replicas, which nobody else knows', async () => {
    const store = new MemoryStore();
    const [one, other] = await Promise.all([FileLinks.open(store, clock, null), FileLinks.open(store, clock, null)]);
    expect(other.idIn(one.sign('relay-1'))).toMatchObject({ id: 'relay-1', isExpired: false });
    expect((await FileLinks.open(new MemoryStore(), clock, null)).idIn(one.sign('relay-1'))).toBeNull();
  });
});

describe('the limits', () => {
  const other = (name: string) => ({ ...file(''), url: `${source}/${name}` });
  const kept = () => readdir(join(dataDir, 'relay'));

  it('abort a fetch that is too large, and leave no partial file', async () => {
    const small = bounded({ maxFileBytes: 8 });
    await expect(small.keep(file(''))).rejects.toMatchObject({ code: 'too_large', limitBytes: 8 });
    expect(await kept()).toEqual([]);
    expect(await bounded({ maxFileBytes: 9 }).keep(file(''))).toContain('/media/relay-');
  });

  it('skip a file with a declared size above the limit', () => {
    expect(relay.offer({ ...file(''), bytes: RELAY_BOUNDS.maxFileBytes + 1 })).toBeNull();
    expect(fetches).toBe(0);
  });

  it('apply to concurrent and queued fetches', async () => {
    held = [];
    const narrow = bounded({ maxFetches: 2, maxWaiting: 1 });
    const keeping = ['a', 'b', 'c'].map((name) => narrow.keep(other(name)));
    await expect.poll(() => held?.length).toBe(2);
    await expect(narrow.keep(other('d'))).rejects.toMatchObject({ code: 'overloaded' });
    held.shift()?.();
    await expect.poll(() => held?.length).toBe(2);
    for (const answer of held) answer();
    await Promise.all(keeping);
    expect(fetches).toBe(3);
  });

  it('evict the oldest files, and partial files of dead processes', async () => {
    const small = bounded({ maxKeptBytes: 20 });
    const first = idOf(await small.keep(other('first')));
    const folder = join(dataDir, 'relay');
    await writeFile(join(folder, 'relay-dead.1.part'), 'half a picture');
    // The partial file is newer, so that it is visited before the file: an evicted one must not count.
    await utimes(join(folder, first), 1_000, 1_000);
    await utimes(join(folder, 'relay-dead.1.part'), 1_001, 1_001);
    const second = idOf(await small.keep(other('second')));
    expect((await kept()).toSorted()).toEqual([first, second].toSorted());
    const third = idOf(await small.keep(other('third')));
    expect((await kept()).toSorted()).toEqual([second, third].toSorted());
    // An evicted file is fetched again.
    expect(await small.find(first)).toMatchObject({ bytes: 9 });
  });

  it('are not compared with the folder at each fetch, but once it may be full', async () => {
    const wide = bounded({ maxKeptBytes: 100 });
    await wide.keep(other('first'));
    const dead = join(dataDir, 'relay', 'relay-dead.1.part');
    await writeFile(dead, 'half a picture');
    await utimes(dead, 1_000, 1_000);
    await wide.keep(other('second'));
    expect(await kept()).toContain('relay-dead.1.part');
    // By then a tenth of the size was fetched.
    await wide.keep(other('third'));
    expect(await kept()).not.toContain('relay-dead.1.part');
  });
});

it('describes the file of a relay URL, without the URL itself', async () => {
  const permalink = 'https://team.slack.com/files/U1/F1/fox.png';
  const given = (await relay.keep({ ...file(''), permalink })) ?? '';
  expect(await relay.describe(given)).toEqual({ name: 'fox.png', permalink });
  const moved = given.replace(publicUrl, 'https://old.example');
  expect(await relay.describe(moved)).toEqual({ name: 'fox.png', permalink });
  expect(await relay.describe(given.replace(idOf(given), 'relay-0'))).toEqual({ name: null, permalink: null });
  expect(await relay.describe('https://elsewhere.example/fox.png')).toBeNull();
});

it('keeps no file for the library where the data folder or the disk is full', async () => {
  const url = await relay.keep({ url: source, name: 'fox.png', contentType: 'image/png' });
  const keep = (full: object | null) =>
    relay.libraryFiles(() => (full === null ? Promise.resolve() : Promise.reject(full))).keep(url ?? '');
  for (const code of ['data_full', 'disk_full', 'ENOSPC'])
    expect(await keep(Object.assign(new Error('full'), { code }))).toBe('full');
  await expect(keep(new TypeError('a bug'))).rejects.toThrow('a bug');
  expect(await readdir(dataDir)).toEqual(['relay']);
  expect(await keep(null)).toBe('kept');
});
