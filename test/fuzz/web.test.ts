import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlayground } from '#adapters/playground/index.ts';
import { addStatusRoutes, createHttpServer, Draining } from '#src/http/server.ts';
import { SignedLinks } from '#src/media/clip-links.ts';
import { serveMedia } from '#src/media/routes.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { SERVED_HERE } from '#test/fakes/clip-links.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { ScriptedBot } from '#test/fakes/scripted-bot.ts';
import { anyText, EVERY_OBJECTS, jsonWith, objectWith, runs, textWith } from './runs.ts';

const TOKEN = 'an-access-token-of-this-test';
const PATHS = [
  '/',
  '/media/',
  '/playground/',
  'messages',
  'interactions',
  'files/',
  'events',
  'suggestions',
  'page.js',
];
const ODD = [
  '..',
  '%2e%2e%2f',
  '%',
  '%00',
  '?',
  '&',
  '=',
  '#',
  '//',
  '\\',
  'channel=general',
  'user=ada',
  'given=%7B',
  ';',
];

let http: FastifyInstance;
let open: FastifyInstance;
let dir: string;
/** Log lines of the servers: each one is a defect. */
const logged: string[] = [];

async function serve(accessToken: string | null): Promise<FastifyInstance> {
  const clock = new ManualClock(Date.UTC(2026, 10, 21));
  const logger = pino({ level: 'error' }, { write: (line: string) => logged.push(line) });
  const server = createHttpServer(logger);
  addStatusRoutes(server, { metrics: new Registry(), missing: async () => ({}), draining: new Draining(clock) });
  const links = new SignedLinks({ publicUrl: 'https://c.example', secret: 'a secret of this test', clock });
  await serveMedia(server, { links, find: async () => undefined, redirectFor: async () => null });
  const wrongTokens = { note: () => Promise.resolve() };
  const guard = { host: '127.0.0.1', publicUrl: null, accessToken, wrongTokens };
  const store = new MemoryStore();
  const options = {
    http: server,
    store,
    clock,
    logger,
    dataDir: dir,
    catalog: () => parseCatalog(sandboxCatalog),
    clipOf: async () => null,
    posterOf: async () => null,
    clipLinks: SERVED_HERE,
    isEmbeddedService: true,
    promptsKeptMs: async () => null,
    ...guard,
  };
  const playground = createPlayground(options);
  playground.serve(new ScriptedBot());
  await server.listen({ host: '127.0.0.1', port: 0 });
  await playground.start();
  return server;
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dailies-fuzz-'));
  [open, http] = [await serve(null), await serve(TOKEN)];
});

afterAll(async () => {
  await Promise.all([http.close(), open.close()]);
  await rm(dir, { recursive: true });
});

const hostOf = (server: FastifyInstance): string => `127.0.0.1:${(server.server.address() as AddressInfo).port}`;

describe('the HTTP server', () => {
  it('responds to every URL, and never fails with a 5xx', async () => {
    const path = fc
      .tuple(fc.constantFrom(...PATHS), textWith(...PATHS, ...ODD))
      .map(([first, rest]) => `/${first}${rest}`);
    const method = fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'OPTIONS', 'DELETE') as fc.Arbitrary<'GET'>;
    await fc.assert(
      fc.asyncProperty(path, method, fc.constantFrom(null, TOKEN), async (url, way, token) => {
        // The event stream stays open; another test covers it.
        if (url.includes('events')) return;
        const headers = { host: hostOf(http), ...(token === null ? {} : { authorization: `Bearer ${token}` }) };
        const answer = await http.inject({ method: way, url: encodeURI(url.toWellFormed()), headers });
        expect(answer.statusCode).toBeLessThan(500);
        if (token === null && /^\/*playground/.test(url)) expect(answer.statusCode).toBeGreaterThanOrEqual(400);
      }),
      runs(250),
    );
    expect(logged).toEqual([]);
  });

  it('closes a connection after any bytes', async () => {
    const line = fc.oneof(
      textWith(
        'GET ',
        'POST ',
        ' HTTP/1.1',
        '\r\n',
        'Host: a',
        'Content-Length: ',
        '-1',
        '99999999999999',
        'Transfer-Encoding: chunked',
        '/',
        '//[',
        'http://[',
      ),
      anyText(60),
    );
    await fc.assert(
      fc.asyncProperty(line, async (text) => {
        const { port } = http.server.address() as AddressInfo;
        const socket = connect(port, '127.0.0.1')
          .on('error', () => undefined)
          .resume();
        socket.end(Buffer.from(`${text}\r\n\r\n`));
        await once(socket, 'close');
      }),
      runs(150),
    );
    expect((await http.inject('/healthz')).statusCode).toBe(200);
    expect(logged).toEqual([]);
  });

  it('serves no file for an unsigned link', async () => {
    const part = textWith('expires=', 'signature=', '&', '9999999999', 'AAAA', '[]', '%');
    await fc.assert(
      fc.asyncProperty(
        textWith('relay-', 'task').filter((text) => !/^\.*$/.test(text)),
        part,
        async (id, query) => {
          const url = `/media/${encodeURIComponent(id.toWellFormed())}?${encodeURI(query.toWellFormed())}`;
          expect([400, 404, 410]).toContain((await open.inject({ url, headers: { host: hostOf(open) } })).statusCode);
        },
      ),
      runs(300),
    );
    expect(logged).toEqual([]);
  });
});

describe('the playground', () => {
  const fields = ['id', 'user', 'channel', 'text', 'message', 'button', 'emoji', 'form', 'values'];
  const body = fc.oneof(objectWith(...fields), jsonWith(fields, ['ada', 'general', '/video create a fox', 'create']));
  const call = fc.constantFrom('interactions', 'presses', 'reactions', 'forms', 'dismissals');
  const post = (what: string, payload: string) =>
    open.inject({
      method: 'POST',
      url: `/playground/${what}`,
      headers: { host: hostOf(open), 'content-type': 'application/json' },
      payload,
    });

  it('responds to every body, and to an invalid one with a message', async () => {
    await fc.assert(
      fc.asyncProperty(call, body, async (what, given) => {
        let payload: string | undefined;
        try {
          payload = JSON.stringify(given, (_key, value: unknown) =>
            typeof value === 'bigint' ? String(value) : value,
          );
        } catch {
          return;
        }
        const answer = await post(what, payload ?? '');
        expect(answer.statusCode).toBeLessThan(500);
        if (answer.statusCode >= 400) expect(answer.json()).toEqual({ error: expect.stringMatching(/\S/) });
      }),
      runs(800),
    );
    expect(logged).toEqual([]);
  });

  it('accepts any user name and text', async () => {
    const text = fc.oneof(fc.constantFrom(...EVERY_OBJECTS), textWith('/video', 'create', '🦊', ' '));
    await fc.assert(
      fc.asyncProperty(text, text, text, async (user, channel, emoji) => {
        const asked = await post(
          'interactions',
          JSON.stringify({ id: `${user}:${channel}`, user, channel, text: `/video ${emoji}` }),
        );
        expect(asked.statusCode).toBeLessThan(500);
        const { message } = asked.json<{ message?: string }>();
        if (typeof message !== 'string') return;
        const reacted = await post('reactions', JSON.stringify({ id: `${user}${emoji}`, user, message, emoji }));
        expect(reacted.statusCode).toBeLessThan(500);
      }),
      runs(300),
    );
    expect(logged).toEqual([]);
  });

  it('responds to any input of the autocomplete', async () => {
    const given = jsonWith(['prompt', 'model'], ['a']).map((json) => JSON.stringify(json) ?? '');
    await fc.assert(
      fc.asyncProperty(fc.oneof(given, fc.string()), textWith('sw', 'create'), async (options, typed) => {
        const query = new URLSearchParams({
          user: 'ada',
          channel: 'general',
          command: 'create',
          option: 'model',
          typed: typed.slice(0, 400),
          given: options,
        });
        const answer = await open.inject({ url: `/playground/suggestions?${query}`, headers: { host: hostOf(open) } });
        expect(answer.statusCode).toBeLessThan(500);
      }),
      runs(300),
    );
    expect(logged).toEqual([]);
  });
});
