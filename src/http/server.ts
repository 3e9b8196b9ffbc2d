import type { Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { type Clock, sleep } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';

/** Timeouts of the server, all in milliseconds. */
interface HttpTimeouts {
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number;
  /** From the first byte of a request to its last. */
  readonly requestMs: number;
  /** Without a byte in either direction. Open pages are sent one every 20 seconds. */
  readonly idleMs: number;
  /** Interval between checks of these timeouts. */
  readonly checkEveryMs: number;
}

/** Enough for a phone in a tunnel, and short enough against clients that hold connections open. */
const TIMEOUTS: HttpTimeouts = { headersMs: 15_000, requestMs: 60_000, idleMs: 90_000, checkEveryMs: 5_000 };
/** Limit of the request line and headers together; Node's own default, set explicitly so that it cannot change. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Connections beyond this are closed at once. */
const MAX_CONNECTIONS = 10_000;

/** Creates the bot's HTTP server, to which its parts add their routes. */
export function createHttpServer(logger: Logger, timeouts = TIMEOUTS): FastifyInstance {
  const http = fastify({
    logger: false,
    forceCloseConnections: 'idle',
    bodyLimit: 1_000_000,
    routerOptions: { maxParamLength: 500 },
    requestTimeout: timeouts.requestMs,
    connectionTimeout: timeouts.idleMs,
    http: {
      maxHeaderSize: MAX_HEAD_BYTES,
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: timeouts.checkEveryMs,
    },
  });
  http.server.maxConnections = MAX_CONNECTIONS;
  closeUnusedConnections(http);
  http.setErrorHandler((thrown, request, reply) => {
    const error = thrown as { statusCode?: number; message?: string };
    const status = error.statusCode ?? 500;
    if (status >= 500) {
      const { method, routeOptions } = request;
      logger.error(
        { event: 'http_request_failed', err: thrown, method, route: routeOptions.url },
        'HTTP request failed',
      );
    }
    const sentence = status >= 500 ? 'Something went wrong here. The log of the bot says what.' : error.message;
    return reply.code(status).send({ error: sentence });
  });
  http.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'Not found.' }));
  return http;
}

/** Sources of {@link addStatusRoutes}. */
interface StatusSources {
  readonly metrics: Registry;
  /** Returns the reason for each dependency that fails, by name; empty: ready. */
  readonly missing: () => Promise<Readonly<Record<string, string>>>;
  readonly draining: Draining;
}

/** Adds the routes for monitors and proxies: `/healthz`, `/readyz`, `/accepting` and `/metrics`. */
export function addStatusRoutes(http: FastifyInstance, { metrics, missing, draining }: StatusSources): void {
  http.get('/healthz', () => ({ status: 'ok' }));
  http.get('/accepting', (_request, reply) =>
    draining.hasBegun ? reply.code(503).send({ status: 'leaving' }) : reply.send({ status: 'accepting' }),
  );
  http.get('/readyz', async (_request, reply) => {
    const reasons = await missing();
    const isReady = Object.keys(reasons).length === 0;
    return reply
      .code(isReady ? 200 : 503)
      .send(isReady ? { status: 'ready' } : { status: 'not ready', missing: reasons });
  });
  http.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
}

/** Time for proxies to notice: two health checks of a proxy that checks every half second, twice over. */
const NOTICE_MS = 2_000;

/** Drain phase of the HTTP server, in which proxies use another replica though requests still succeed here. */
export class Draining {
  readonly #clock: Clock;
  #hasBegun = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Tells whether this process is about to shut down; `/accepting` then responds with 503. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Starts draining, and waits until proxies have noticed. */
  begin(): Promise<void> {
    this.#hasBegun = true;
    return sleep(this.#clock, NOTICE_MS);
  }
}

/**
 * Closes connections without a request at shutdown. Node would wait for them, such as those that browsers open in
 * advance, and by then no longer checks their timeouts. @see https://nodejs.org/api/http.html#serverclosecallback
 */
function closeUnusedConnections(http: FastifyInstance): void {
  const unused = new Set<Socket>();
  let isClosing = false;
  http.server.on('connection', (socket: Socket) => {
    if (isClosing) socket.destroy();
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  http.server.on('request', ({ socket }) => unused.delete(socket));
  http.addHook('preClose', async () => {
    isClosing = true;
    for (const socket of unused) socket.destroy();
  });
}

/**
 * Makes the bot's HTTP server listen on `HOST` and `PORT`. @returns the address, `http://HOST:PORT`.
 * @throws `internal` where it cannot; the message says which of the two to change.
 */
export async function listen(
  http: { readonly listen: (at: { readonly host: string; readonly port: number }) => Promise<string> },
  at: { readonly host: string; readonly port: number },
): Promise<string> {
  try {
    return await http.listen(at);
  } catch (thrown) {
    const { code = 'unknown', message } = thrown as NodeJS.ErrnoException;
    const sentence = SENTENCES[code] ?? message;
    throw new DailiesError(`listening at ${at.host}:${at.port}: ${sentence} (${code})`, {
      code: 'internal',
      retryable: false,
      cause: thrown,
    });
  }
}

const NOT_HERE = 'HOST is not an address of this machine';
/** @see https://nodejs.org/api/errors.html#common-system-errors */
const SENTENCES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses that port; stop it, or set PORT to another one',
  EADDRNOTAVAIL: NOT_HERE,
  ENOTFOUND: NOT_HERE,
  EACCES: 'this user may not use that port; set PORT to one from 1024 on',
};
