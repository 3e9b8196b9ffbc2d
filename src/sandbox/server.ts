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

/** How the embedded service is set up. */
export interface SandboxOptions {
  /** Holds `sandbox.db` and `clips/`; made where it is missing. One process at a time. */
  readonly dataDir: string;
  /** Bearer tokens that are accepted, at least one; all see the same tasks. */
  readonly tokens: readonly string[];
  /** The models of now, asked for at every request. Default: {@link sandboxCatalog}. */
  readonly catalog?: () => Catalog;
  /** What may be spent in each currency, a decimal string. Default: no limit. */
  readonly balance?: string;
  /** How many clips are rendered at once, each on a core of its own. Default: 1, or 2 from four cores on. */
  readonly maxThreads?: number;
  /** How many may wait for a thread before creations are refused with 429. Default 1000. */
  readonly maxWaiting?: number;
  /** Where reference images may come from. Default: the public internet alone. */
  readonly references?: Partial<ReferenceAccess>;
  /** How long everything here stands still for another process to let go of `dataDir`. Default 2 seconds. */
  readonly busyTimeoutMs?: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The embedded video service. @see docs/video-service.md "Contract" */
export interface Sandbox {
  /**
   * Takes requests. @param port 0 for any that is free. @returns the base address, without `/v1`.
   * Rejects with Node's error (`EADDRINUSE` …) where it cannot listen.
   */
  listen(host: string, port: number): Promise<string>;
  /** Takes no more requests and stops rendering; unfinished tasks go on at the next start. */
  close(): Promise<void>;
}

/** How long answers under way may take once it closes. */
const CLOSE_MS = 5_000;

/**
 * Opens the embedded service and goes on with the tasks it had not finished.
 * @throws DailiesError `store_locked` while another process uses `dataDir`, `store_unavailable` where it cannot be used.
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const clipsDir = resolve(options.dataDir, 'clips');
  await mkdir(clipsDir, { recursive: true });
  const records = new SandboxRecords(join(options.dataDir, 'sandbox.db'), options.busyTimeoutMs);
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
  // A creation that has arrived while this closes is answered like any other: its sender would have to call it uncertain.
  const app = fastify({
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // A path that cannot be decoded never gets to a route, nor to the check of the token.
    frameworkErrors: (error, _request, reply: FastifyReply) => void refuse(reply, invalidRequest([error.message])),
  });
  await addRoutes(app, { service, catalog, clipsDir, tokens: options.tokens, logger: options.logger });
  return {
    listen: (host, port) => app.listen({ host, port }),
    async close() {
      const cancel = options.clock.after(CLOSE_MS, () => app.server.closeAllConnections());
      await app.close();
      cancel();
      await service.close();
    },
  };
}

interface Routed {
  readonly service: SandboxService;
  readonly catalog: () => Catalog;
  readonly clipsDir: string;
  readonly tokens: readonly string[];
  readonly logger: Logger;
}

/** What fastify and its plugins throw. */
interface HttpError extends Error {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

interface TaskRoute {
  Params: { id: string };
}

async function addRoutes(app: FastifyInstance, { service, catalog, clipsDir, tokens, logger }: Routed): Promise<void> {
  await app.register(fastifyStatic, { root: clipsDir, serve: false });
  app.addHook('onRequest', async (request, reply) => {
    const isOpen = request.routeOptions.url === '/';
    if (!isOpen && !isAccepted(request.headers.authorization, tokens)) return refuse(reply, unauthorised);
  });
  app.setNotFoundHandler((request, reply) => refuse(reply, routeNotFound(request.method, request.url)));
  app.setErrorHandler((error: HttpError, _request, reply) => {
    if (error.statusCode === 416) return refuse(reply.headers(error.headers ?? {}), noSuchRange);
    if (error.statusCode !== undefined && error.statusCode < 500) return refuse(reply, invalidRequest([error.message]));
    logger.error({ err: error }, 'a request to the sandbox failed');
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

/** A task as it goes over the wire. @see docs/video-service.md "Contract" */
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

/** Compares in a time that tells nothing about the tokens. */
function isAccepted(header: string | undefined, tokens: readonly string[]): boolean {
  const given = /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (given === undefined) return false;
  const digest = digestOf(given);
  return tokens.filter((token) => timingSafeEqual(digest, digestOf(token))).length > 0;
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** What a killed process was writing. */
async function removePartialClips(clipsDir: string): Promise<void> {
  const partial = (await readdir(clipsDir)).filter((name) => name.endsWith('.part'));
  await Promise.all(partial.map((name) => rm(join(clipsDir, name))));
}
