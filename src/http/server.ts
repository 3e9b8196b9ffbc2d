import fastify, { type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Logger } from '../logger.ts';

/** What `/readyz` asks. */
export interface Readiness {
  /** What is missing before this process can do its work, by name; empty: ready. */
  missing(): Promise<Readonly<Record<string, string>>>;
}

/** Collaborators of {@link createHttpServer}. */
export interface HttpServerOptions {
  readonly logger: Logger;
  readonly readiness: Readiness;
  readonly metrics: Registry;
}

/** The bot's HTTP server with the paths that are always there; adapters add theirs. */
export function createHttpServer({ logger, readiness, metrics }: HttpServerOptions): FastifyInstance {
  const http = fastify({
    logger: false,
    forceCloseConnections: 'idle',
    bodyLimit: 1_000_000,
    routerOptions: { maxParamLength: 500 },
  });
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
  http.get('/readyz', async (_request, reply) => {
    const missing = await readiness.missing();
    const isReady = Object.keys(missing).length === 0;
    return reply.code(isReady ? 200 : 503).send(isReady ? { status: 'ready' } : { status: 'not ready', missing });
  });
  http.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
  return http;
}
