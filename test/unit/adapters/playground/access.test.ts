import { request } from 'node:http';
import { connect } from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PlaygroundOptions } from '#adapters/playground/index.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';

let house: PlaygroundHouse;

afterEach(() => house.remove());

const TOKEN = 'a-long-enough-token';
/** Headers of a page load in a browser. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const entered = { id: 'i1', user: 'ada', channel: 'general', text: '/video create a fox' };

/** One path of each kind: the page, API routes, a module, a library. */
const PATHS = [
  '/',
  '/playground/messages',
  '/playground/events?user=ada',
  '/playground/commands?user=ada',
  '/playground/page/app.js',
  '/playground/vendor/preact.js',
];

async function start(options: Partial<PlaygroundOptions> = {}): Promise<void> {
  house = await PlaygroundHouse.start(options);
}

/** Sends a request with headers that `fetch` does not allow. */
function send(path: string, headers: Readonly<Record<string, string>>, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { method: body === undefined ? 'GET' : 'POST', headers };
    const sent = request(house.url + path, options, (response) => {
      response.destroy();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Returns the raw response to a raw request. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(house.url).port), '127.0.0.1', () => socket.write(bytes));
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}

function post(headers: Readonly<Record<string, string>>): Promise<number> {
  return send('/playground/interactions', { 'content-type': 'application/json', ...headers }, JSON.stringify(entered));
}

describe('the Host header', () => {
  it.each(['evil.example', 'localhost', '127.0.0.1:1', 'localhost.evil.example'])(
    'is rejected when foreign: %s',
    async (host) => {
      await start();
      for (const path of PATHS) expect(await send(path, { host })).toBe(403);
      expect(await post({ host })).toBe(403);
      expect(house.bot.heard).toEqual([]);
    },
  );

  it('is accepted as any loopback name or as PUBLIC_URL', async () => {
    await start({ publicUrl: new URL('https://clips.example/'), accessToken: TOKEN });
    const { port } = new URL(house.url);
    const authorization = `Bearer ${TOKEN}`;
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `[::1]:${port}`,
      `LOCALHOST:${port}`,
      'clips.example',
    ]) {
      expect(await send('/', { host, authorization })).toBe(200);
    }
    expect(await post({ host: 'clips.example', origin: 'https://clips.example', authorization })).toBe(202);
  });
});

describe('without an access token', () => {
  const publicUrl = new URL('https://clips.example/');
  /** Headers added by proxies. */
  const PROXY_HEADERS = [
    { forwarded: 'for=203.0.113.7' },
    { 'x-forwarded-for': '203.0.113.7' },
    { 'x-forwarded-host': 'clips.example' },
    { 'x-forwarded-proto': 'https' },
    { 'x-forwarded-server': 'proxy' },
    { 'x-real-ip': '203.0.113.7' },
    { 'x-client-ip': '203.0.113.7' },
    { 'true-client-ip': '203.0.113.7' },
    { 'cf-connecting-ip': '203.0.113.7' },
    { 'x-original-host': 'clips.example' },
    { via: '1.1 Caddy' },
  ];

  it.each([{ host: 'clips.example' }, ...PROXY_HEADERS])(
    'rejects requests from other machines: %j',
    async (headers) => {
      await start({ publicUrl });
      for (const path of PATHS) expect(await send(path, headers as Record<string, string>)).toBe(401);
      expect(await post(headers as Record<string, string>)).toBe(401);
      expect(house.bot.heard).toEqual([]);
    },
  );

  it('serves requests from this machine, also at a PUBLIC_URL on loopback', async () => {
    await start({ publicUrl });
    expect(await post({})).toBe(202);
    await house.remove();
    await start({ publicUrl: new URL('http://localhost:8080/') });
    expect(await send('/', { host: 'localhost:8080' })).toBe(200);
    expect(await send('/', { host: 'localhost:8080', via: '1.1 Caddy' })).toBe(401);
  });

  it('rejects HTTP/1.0, which nginx uses to forward requests', async () => {
    await start();
    const { port } = new URL(house.url);
    expect(await raw(`GET / HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 401/,
    );
    expect(await raw(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 200/,
    );
  });

  it('names the setting, as a page to a browser and as JSON to an API client', async () => {
    await start();
    const { status, body } = await house.get('/', { via: '1.1 Caddy' });
    expect([status, body.error]).toEqual([401, expect.stringContaining('PLAYGROUND_TOKEN')]);
    const page = await house.get('/', { via: '1.1 Caddy', ...BROWSER });
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.body).toContain('PLAYGROUND_TOKEN');
    expect(page.body).not.toContain('<form');
  });
});

describe('origin checks', () => {
  it.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'text/plain; application/json' },
  ])('reject a cross-site or non-JSON request: %j', async (headers) => {
    await start();
    expect([403, 415]).toContain(await post(headers as Record<string, string>));
    expect(house.bot.heard).toEqual([]);
  });

  it('reject cross-site reads and loads, but allow a link to the page', async () => {
    await start();
    for (const path of PATHS)
      expect(await send(path, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).toBe(403);
    expect(await send('/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).toBe(200);
  });

  it('accept requests of our own page', async () => {
    await start();
    expect(await post({ origin: house.url, 'sec-fetch-site': 'same-origin' })).toBe(202);
  });
});

describe('the access token', () => {
  const accessToken = TOKEN;

  it('is required on every path', async () => {
    await start({ accessToken });
    for (const path of PATHS) expect(await send(path, {})).toBe(401);
    for (const path of PATHS.slice(0, 3))
      expect(await send(path, { authorization: 'Bearer wrong', cookie: 'dailies_playground=wrong' })).toBe(401);
    expect(await post({})).toBe(401);
    expect(house.bot.heard).toEqual([]);
  });

  it('is accepted as a bearer token', async () => {
    await start({ accessToken });
    const authorization = `Bearer ${accessToken}`;
    for (const path of PATHS) expect(await send(path, { authorization })).toBe(200);
    expect(await post({ authorization })).toBe(202);
  });

  it('in the query of the page is exchanged for an HttpOnly, SameSite cookie', async () => {
    await start({ accessToken });
    const visit = await house.get(`/?token=${accessToken}`);
    expect([visit.status, visit.headers.get('location')]).toEqual([303, '/']);
    const cookie = visit.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(accessToken);
    expect((await house.get('/playground/messages', { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200);
    expect((await house.get('/?token=wrong')).status).toBe(401);
    expect((await house.get(`/playground/messages?token=${accessToken}`)).status).toBe(401);
  });

  it('gets a Secure cookie where the page is served over HTTPS', async () => {
    await start({ accessToken, publicUrl: new URL('https://clips.example/') });
    const { port } = new URL(house.url);
    const cookieAt = (host: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const sent = request(`${house.url}/?token=${accessToken}`, { headers: { host } }, (response) => {
          response.resume();
          resolve(response.headers['set-cookie']?.[0] ?? '');
        });
        sent.on('error', reject).end();
      });
    expect(await cookieAt('clips.example')).toMatch(/; Secure$/);
    expect(await cookieAt(`localhost:${port}`)).not.toContain('Secure');
  });
});

describe('a browser without the access token', () => {
  const enter = (token: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${house.url}/playground/access`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: house.url, 'sec-fetch-site': 'same-origin', ...headers },
      body: new URLSearchParams({ token }),
    });

  it('gets a page with one field, which cannot be framed and runs no scripts', async () => {
    await start({ accessToken: TOKEN });
    const { status, headers, body } = await house.get('/', BROWSER);
    expect(status).toBe(401);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(
      /default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/,
    );
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(body.match(/<input/g)).toHaveLength(1);
    expect(body).toMatch(/<label for="token">Access token<\/label>/);
  });

  it('submits the token there and gets a cookie', async () => {
    await start({ accessToken: TOKEN });
    const entered = await enter(TOKEN);
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/']);
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await house.get('/', { ...BROWSER, cookie })).status).toBe(200);
  });

  it('can retry after a wrong token, and cannot submit from another site', async () => {
    await start({ accessToken: TOKEN });
    const wrong = await enter('wrong');
    expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null]);
    expect(await wrong.text()).toContain('That isn’t the access token.');
    expect((await enter(TOKEN, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  });
});

describe('wrong access tokens', () => {
  it('are logged without the token, and throttled from the fourth on', async () => {
    const logged: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
    await start({ accessToken: TOKEN, logger });
    const guess = () => send('/', { authorization: 'Bearer swordfish' });
    expect(await Promise.all([guess(), guess(), guess()])).toEqual([401, 401, 401]);
    let isAnswered = false;
    const fourth = guess().then((status) => {
      isAnswered = true;
      return status;
    });
    await vi.waitFor(() => expect(house.clock.pending).toBeGreaterThan(0), 300_000);
    // The right token is not throttled.
    expect(await send('/', { authorization: `Bearer ${TOKEN}` })).toBe(200);
    expect(isAnswered).toBe(false);
    house.clock.advance(5_000);
    expect(await fourth).toBe(401);
    expect(logged.filter((line) => line.includes('wrong_access_token'))).toHaveLength(4);
    expect(logged.join()).not.toContain('swordfish');
    house.clock.advance(60_000);
    expect(await guess()).toBe(401);
  });
});

describe('every response', () => {
  it('has a content security policy that forbids other scripts, framing and cross-origin reads', async () => {
    await start();
    for (const path of ['/', '/playground/messages', '/playground/page/app.js', '/playground/nothing']) {
      const { headers } = await house.get(path);
      if (path !== '/playground/nothing') {
        expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
        expect(headers.get('x-content-type-options')).toBe('nosniff');
      }
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
    const policy = (await house.get('/')).headers.get('content-security-policy') ?? '';
    expect(policy).not.toContain('unsafe');
    expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/=]{44}';/);
  });

  it('to a malformed body is one sentence', async () => {
    await start();
    const response = await fetch(`${house.url}/playground/interactions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"id":',
    });
    expect([response.status, await response.json()]).toEqual([400, { error: 'The request has to be a JSON object.' }]);
  });
});
