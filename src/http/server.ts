import type { Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Logger } from '../logger.ts';

/** What `/readyz` asks. */
export interface Readiness {
  /** What is missing before this process can do its work, by name; empty: ready. */
  missing(): Promise<Readonly<Record<string, string>>>;
  /** Whether requests should go to another replica from now on, though they are still answered here. Default: no. */
  isLeaving?(): boolean;
}

/** Collaborators of {@link createHttpServer}. */
export interface HttpServerOptions {
  readonly logger: Logger;
  readonly readiness: Readiness;
  readonly metrics: Registry;
  /** How long a whole request, and a quiet connection, is waited for. Default: {@link PATIENCE}. */
  readonly patience?: HttpPatience;
}

/** How long the server waits for the other side, all in milliseconds. */
export interface HttpPatience {
  /** From the first byte of a request to the end of its head. */
  readonly headMs: number;
  /** From the first byte of a request to its last. */
  readonly requestMs: number;
  /** Without a byte in either direction. Open pages are sent one every 20 seconds. */
  readonly quietMs: number;
  /** How often requests are looked at. */
  readonly lookEveryMs: number;
}

/** Enough for a phone in a tunnel, and not for somebody who opens connections to keep them. */
const PATIENCE: HttpPatience = { headMs: 15_000, requestMs: 60_000, quietMs: 90_000, lookEveryMs: 5_000 };
/** Of the request's line and its headers together; Node's own default, said here so that it holds. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Connections beyond this are closed at once. */
const MAX_CONNECTIONS = 10_000;

/** The bot's HTTP server with the paths that are always there; adapters add theirs. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { logger, readiness, metrics, patience = PATIENCE } = options;
  const http = fastify({
    logger: false,
    forceCloseConnections: 'idle',
    bodyLimit: 1_000_000,
    routerOptions: { maxParamLength: 500 },
    requestTimeout: patience.requestMs,
    connectionTimeout: patience.quietMs,
    http: {
      maxHeaderSize: MAX_HEAD_BYTES,
      headersTimeout: patience.headMs,
      connectionsCheckingInterval: patience.lookEveryMs,
    },
  });
  http.server.maxConnections = MAX_CONNECTIONS;
  hangUpOnTheSilent(http);
  http.setErrorHandler((thrown, request, reply) => {
    const error = thrown as { statusCode?: number; message?: string };
    const status = error.statusCode ?? 500;
    if (status >= 500)
      logger.error({ err: thrown, method: request.method, route: request.routeOptions.url }, 'a request failed');
    const sentence = status >= 500 ? 'Something went wrong here. The log of the bot says what.' : error.message;
    return reply.code(status).send({ error: sentence });
  });
  http.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'There is nothing at this address.' }));
  http.get('/healthz', () => ({ status: 'ok' }));
  http.get('/accepting', (_request, reply) =>
    readiness.isLeaving?.() === true
      ? reply.code(503).send({ status: 'leaving' })
      : reply.send({ status: 'accepting' }),
  );
  http.get('/readyz', async (_request, reply) => {
    const missing = await readiness.missing();
    const isReady = Object.keys(missing).length === 0;
    return reply.code(isReady ? 200 : 503).send(isReady ? { status: 'ready' } : { status: 'not ready', missing });
  });
  http.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
  return http;
}

/**
 * Node waits at the end for connections on which nothing was asked yet, such as those that browsers open in advance, and
 * by then looks at nobody's patience any more. @see https://nodejs.org/api/http.html#serverclosecallback
 */
function hangUpOnTheSilent(http: FastifyInstance): void {
  const silent = new Set<Socket>();
  let isClosing = false;
  http.server.on('connection', (socket: Socket) => {
    if (isClosing) socket.destroy();
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  http.server.on('request', ({ socket }) => silent.delete(socket));
  http.addHook('preClose', async () => {
    isClosing = true;
    for (const socket of silent) socket.destroy();
  });
}
