import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import fastifyStatic from '@fastify/static';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { parseCatalog } from '../videos/catalog.ts';
import type { Catalog } from '../videos/model.ts';
import { sandboxCatalog } from './catalog.ts';
import { helpText } from './help.ts';
import { SandboxRecords, type SandboxTask } from './records.ts';
import {
  contentGone,
  type ErrorResponse,
  internalError,
  invalidRequest,
  noContent,
  noSuchRange,
  refusalBody,
  routeNotFound,
  taskNotFound,
  unauthorised,
} from './refusal.ts';
import { type ReferenceAccess, SandboxService } from './service.ts';

/** Options of {@link createSandbox}. */
export interface SandboxOptions {
  /** Folder of `sandbox.db` and `clips/`, created if missing. Used by one process at a time. */
  readonly dataDir: string;
  /** Accepted bearer tokens, at least one; all have access to the same tasks. */
  readonly tokens: readonly string[];
  /** The current catalog, read on each request. Default: {@link sandboxCatalog}. */
  readonly catalog?: () => Catalog;
  /** Spending limit per currency, a decimal string. Default: no limit. */
  readonly balance?: string;
  /** Limit of concurrent renders, one thread each. Default: 1, or 2 with four cores or more. */
  readonly maxThreads?: number;
  /** Largest render queue; beyond it creations are refused with 429. Default 1000. */
  readonly maxWaiting?: number;
  /** Allowed sources of reference images. Default: the public internet alone. */
  readonly references?: Partial<ReferenceAccess>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The embedded video service. @see docs/video-service.md "Contract" */
export interface Sandbox {
  /**
   * Starts listening. @param port 0 for any free port. @returns the base URL, without `/v1`.
   * Rejects with Node's error (`EADDRINUSE` …) if it cannot listen.
   */
  listen(host: string, port: number): Promise<string>;
  /** Shuts down: drains requests and aborts renders; unfinished tasks resume at the next start. */
  close(): Promise<void>;
}

/** Timeout of the drain on shutdown. */
const DRAIN_TIMEOUT_MS = 5_000;

/**
 * Opens the embedded service and resumes its unfinished tasks.
 * @throws DailiesError `store_locked` while another process uses `dataDir`, `store_unavailable` where it cannot be used.
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const clipsDir = resolve(options.dataDir, 'clips');
  await mkdir(clipsDir, { recursive: true });
  const records = new SandboxRecords(join(options.dataDir, 'sandbox.db'));
  await removePartialClips(clipsDir);
  const ownCatalog = parseCatalog(sandboxCatalog);
  const catalog = options.catalog ?? (() => ownCatalog);
  const service = new SandboxService({
    records,
    clipsDir,
    catalog,
    clock: options.clock,
    logger: options.logger,
    balance: options.balance ?? null,
    maxThreads: options.maxThreads ?? (availableParallelism() < 4 ? 1 : 2),
    maxWaiting: options.maxWaiting ?? 1000,
    references: { ownFile: () => Promise.resolve(null), isLoopbackAllowed: false, ...options.references },
    newId: () => `video_${randomUUID()}`,
  });
  // A creation that arrives during the shutdown gets a normal response; without one, its outcome would be uncertain.
  const app = fastify({
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // A path that cannot be decoded reaches neither a route nor the token check.
    frameworkErrors: (error, _request, reply: FastifyReply) => void refuse(reply, invalidRequest([error.message])),
  });
  await addRoutes(app, { service, catalog, clipsDir, tokens: options.tokens, logger: options.logger });
  return {
    listen: (host, port) => app.listen({ host, port }),
    async close() {
      const cancel = options.clock.after(DRAIN_TIMEOUT_MS, () => app.server.closeAllConnections());
      await app.close();
      cancel();
      await service.close();
    },
  };
}

interface RouteOptions {
  readonly service: SandboxService;
  readonly catalog: () => Catalog;
  readonly clipsDir: string;
  readonly tokens: readonly string[];
  readonly logger: Logger;
}

/** Error thrown by Fastify or a plugin. */
interface HttpError extends Error {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

interface TaskRoute {
  Params: { id: string };
}

async function addRoutes(
  app: FastifyInstance,
  { service, catalog, clipsDir, tokens, logger }: RouteOptions,
): Promise<void> {
  await app.register(fastifyStatic, { root: clipsDir, serve: false });
  app.addHook('onRequest', async (request, reply) => {
    const isOpen = request.routeOptions.url === '/';
    if (!isOpen && !isAccepted(request.headers.authorization, tokens)) return refuse(reply, unauthorised);
  });
  app.setNotFoundHandler((request, reply) => refuse(reply, routeNotFound(request.method, request.url)));
  app.setErrorHandler((error: HttpError, _request, reply) => {
    if (error.statusCode === 416) return refuse(reply.headers(error.headers ?? {}), noSuchRange);
    if (error.statusCode !== undefined && error.statusCode < 500) return refuse(reply, invalidRequest([error.message]));
    logger.error({ event: 'sandbox_request_failed', err: error }, 'a sandbox request failed');
    return refuse(reply, internalError);
  });

  app.get('/', (request, reply) =>
    reply.type('text/plain; charset=utf-8').send(helpText(`http://${request.host}`, catalog())),
  );
  app.get('/sandbox/ledger', () => ({ entries: service.ledger() }));
  app.post('/v1/videos', (request, reply) => {
    const creation = service.create(request.body);
    if (creation.kind === 'refused') return refuse(reply, creation.refusal);
    if (creation.isAnswered) return reply.send(taskBody(service, creation.task));
    reply.hijack();
    reply.raw.destroy();
    return reply;
  });
  app.get<TaskRoute>('/v1/videos/:id', (request, reply) => {
    const task = service.find(request.params.id);
    return task === undefined ? refuse(reply, taskNotFound(request.params.id)) : reply.send(taskBody(service, task));
  });
  app.get<TaskRoute>('/v1/videos/:id/content', (request, reply) => {
    const task = service.find(request.params.id);
    if (task === undefined) return refuse(reply, taskNotFound(request.params.id));
    if (task.status !== 'completed') return refuse(reply, noContent(task.status));
    if (!existsSync(join(clipsDir, `${task.id}.mp4`))) return refuse(reply, contentGone);
    return reply.sendFile(`${task.id}.mp4`, { cacheControl: false });
  });
}

/** Returns a task as sent over HTTP. @see docs/video-service.md "Contract" */
function taskBody(service: SandboxService, task: SandboxTask) {
  return {
    id: task.id,
    object: 'video',
    model: task.model,
    status: task.steering === 'unknown' && task.status === 'in_progress' ? 'unknown' : task.status,
    progress: service.progress(task),
    created_at: Math.floor(task.createdAtMs / 1000),
    ...(task.endedAtMs === undefined ? {} : { completed_at: Math.floor(task.endedAtMs / 1000) }),
    ...(task.failure === undefined ? {} : { error: task.failure }),
  };
}

function refuse(reply: FastifyReply, refusal: ErrorResponse): FastifyReply {
  if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', refusal.retryAfterSeconds);
  if (refusal.status === 401) reply.header('www-authenticate', 'Bearer');
  return reply.code(refusal.status).send(refusalBody(refusal));
}

/** Returns whether a token is accepted, comparing in constant time. */
function isAccepted(header: string | undefined, tokens: readonly string[]): boolean {
  const given = /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (given === undefined) return false;
  const digest = digestOf(given);
  return tokens.filter((token) => timingSafeEqual(digest, digestOf(token))).length > 0;
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Deletes the partial files of a killed process. */
async function removePartialClips(clipsDir: string): Promise<void> {
  const partial = (await readdir(clipsDir)).filter((name) => name.endsWith('.part'));
  await Promise.all(partial.map((name) => rm(join(clipsDir, name))));
}
