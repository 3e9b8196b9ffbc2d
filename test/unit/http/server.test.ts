import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { Counter, Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { addStatusRoutes, createHttpServer, Draining } from '#src/http/server.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { pass } from '#test/fakes/settle.ts';

let missing: () => Promise<Readonly<Record<string, string>>>;
let http: FastifyInstance;
let logged: string[];

beforeEach(() => {
  missing = async () => ({});
  logged = [];
  const metrics = new Registry();
  new Counter({ name: 'dailies_test_total', help: 'For a test', registers: [metrics] }).inc(3);
  const logger = pino({ level: 'info' }, { write: (line: string) => logged.push(line) });
  const timeouts = { headersMs: 100, requestMs: 200, idleMs: 60_000, checkEveryMs: 20 };
  http = createHttpServer(logger, timeouts);
  addStatusRoutes(http, { metrics, missing: () => missing(), draining: new Draining(new ManualClock()) });
  http.get('/broken', () => {
    throw new Error('the database password is hunter2');
  });
  http.post('/here', () => ({ ok: true }));
});

afterEach(() => http.close());

it('responds to the liveness check', async () => {
  const answer = await http.inject('/healthz');
  expect({ status: answer.statusCode, body: answer.json() }).toEqual({ status: 200, body: { status: 'ok' } });
});

it('signals the drain before it stops, and still serves requests until then', async () => {
  const clock = new ManualClock();
  const draining = new Draining(clock);
  const server = createHttpServer(pino({ level: 'silent' }));
  addStatusRoutes(server, { metrics: new Registry(), missing: async () => ({}), draining });
  server.get('/page', () => 'here');
  expect((await server.inject('/accepting')).statusCode).toBe(200);
  const left = draining.begin();
  expect(await server.inject('/accepting')).toMatchObject({ statusCode: 503, body: '{"status":"leaving"}' });
  expect((await server.inject('/healthz')).statusCode).toBe(200);
  expect((await server.inject('/page')).body).toBe('here');
  const gone = vi.fn();
  const leave = left.then(gone);
  await pass(clock, 1_999, 1_999);
  expect(gone).not.toHaveBeenCalled();
  clock.advance(1);
  await leave;
  await server.close();
});

it('is ready once nothing is missing, and otherwise names what is missing', async () => {
  expect(await http.inject('/readyz')).toMatchObject({ statusCode: 200 });
  missing = async () => ({ store: 'the disk is full', discord: 'not connected' });
  const answer = await http.inject('/readyz');
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({ missing: { store: 'the disk is full', discord: 'not connected' } });
  expect((await http.inject('/healthz')).statusCode).toBe(200);
});

it('serves its metrics in the format of Prometheus', async () => {
  const answer = await http.inject('/metrics');
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toContain('text/plain');
  expect(answer.payload).toContain('dailies_test_total 3');
});

it('responds with 404 on an unknown path', async () => {
  const answer = await http.inject('/elsewhere');
  expect({ status: answer.statusCode, body: answer.json() }).toEqual({
    status: 404,
    body: { error: 'Not found.' },
  });
});

it('logs an internal error without exposing it in the response', async () => {
  const answer = await http.inject('/broken');
  expect(answer.statusCode).toBe(500);
  expect(answer.payload).not.toContain('hunter2');
  expect(logged.join()).toContain('hunter2');
  expect(JSON.parse(logged[0] ?? '{}')).toMatchObject({ method: 'GET', route: '/broken' });
});

it.each([
  ['text that is no JSON', '{', 400],
  ['more than a megabyte', JSON.stringify('x'.repeat(1_000_001)), 413],
])('rejects %s with an error message', async (_name, payload, status) => {
  const answer = await http.inject({
    method: 'POST',
    url: '/here',
    headers: { 'content-type': 'application/json' },
    payload,
  });
  expect(answer.statusCode).toBe(status);
  expect(Object.keys(answer.json())).toEqual(['error']);
  expect(logged).toEqual([]);
});

describe('an abusive client', () => {
  /** Sends bytes over a new connection. @returns the whole response, once the server has closed the connection. */
  const send = async (...parts: readonly string[]): Promise<string> => {
    await http.listen({ host: '127.0.0.1', port: 0 });
    const { port } = http.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    let came = '';
    socket.on('data', (text: string) => {
      came += text;
    });
    // The server may close the connection before everything was sent.
    socket.on('error', () => undefined);
    for (const part of parts) socket.write(part);
    await once(socket, 'close');
    return came;
  };

  it('is disconnected if its headers do not end', async () => {
    expect(await send('GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ')).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('is disconnected if its body does not end', async () => {
    const head = 'POST /here HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n';
    expect(await send(head, '{"a":')).toMatch(/^HTTP\/1\.1 408 /);
  });

  it.each([
    ['an endless URL', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['endless headers', `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])('is rejected for %s', async (_name, request) => {
    expect(await send(request)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('gets a response to deeply nested JSON', async () => {
    const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
    const headers = { 'content-type': 'application/json' };
    const answer = await http.inject({ method: 'POST', url: '/here', headers, payload: deep });
    expect(answer.statusCode).toBe(200);
  });
});

it('does not wait for connections without a request when it closes', async () => {
  await http.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((http.server.address() as AddressInfo).port, '127.0.0.1');
  await once(http.server, 'connection');
  await Promise.all([http.close(), once(socket, 'close')]);
});
