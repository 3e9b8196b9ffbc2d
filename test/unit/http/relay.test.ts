import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRelay, isRelayed, type Relay } from '#src/http/relay.ts';
import { createSignedLinks } from '#src/http/signed-links.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';

const publicUrl = 'https://dailies.example';
const clock = new ManualClock();
let server: Server;
let source: string;
let fetches = 0;
let status = 200;
let dataDir: string;
let relay: Relay;

beforeEach(async () => {
  fetches = 0;
  status = 200;
  server = createServer((_incoming, response) => {
    fetches += 1;
    response.writeHead(status).end('a picture');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/fox.png`;
  dataDir = await mkdtemp(join(tmpdir(), 'dailies-relay-'));
  const links = createSignedLinks({ publicUrl, secret: 'a secret of this test', clock });
  relay = createRelay({ links, publicUrl, store: new MemoryStore(), dataDir, logger: pino({ level: 'silent' }) });
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dataDir, { recursive: true });
});

const file = (query: string) => ({ url: `${source}?${query}`, name: 'fox.png', contentType: 'image/png' });
const idOf = (url: string | null): string => /\/media\/([^?]+)/.exec(url ?? '')?.[1] ?? '';

it('gives one file one address, however the platform signs its own, and fetches it once', async () => {
  const [one, other] = [relay.offer(file('ex=1')), relay.offer(file('ex=2'))];
  expect(idOf(one)).toBe(idOf(other));
  expect(isRelayed(idOf(one))).toBe(true);
  const found = await relay.find(idOf(one));
  expect(found).toMatchObject({ bytes: 9, contentType: 'image/png', name: 'fox.png' });
  expect(await readFile(found?.path ?? '', 'utf8')).toBe('a picture');
  await relay.find(idOf(one));
  expect(fetches).toBe(1);
});

it('fetches once more what could not be had, and has nothing for other ids', async () => {
  status = 500;
  const id = idOf(relay.offer(file('')));
  expect(await relay.find(id)).toBeUndefined();
  status = 200;
  expect(await relay.find(id)).toMatchObject({ bytes: 9 });
  expect(await relay.find('relay-other')).toBeUndefined();
});

it('signs its own addresses anew, and no others', () => {
  const given = relay.offer(file('')) ?? '';
  clock.advance(24 * 3_600_000);
  const renewed = relay.renew(given);
  expect(idOf(renewed)).toBe(idOf(given));
  expect(renewed).not.toBe(given);
  for (const url of ['https://other.example/media/relay-1', `${publicUrl}/media/task-1?x`])
    expect(relay.renew(url)).toBe(url);
});

it('offers nothing where links are off', () => {
  const off = createRelay({ links: null, store: new MemoryStore(), dataDir, logger: pino({ level: 'silent' }) });
  expect(off.offer(file(''))).toBeNull();
  expect(fetches).toBe(0);
});
