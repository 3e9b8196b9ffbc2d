import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import fastifyStatic from '@fastify/static';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { Jobs } from '../engine/index.ts';
import { bearerOf, isSameSecret } from '../http/index.ts';
import { parseCatalog } from '../videos/index.ts';
import { sandboxCatalog } from './catalog.ts';
import { sandboxExpiry } from './expiry.ts';
import { helpText } from './help.ts';
import { SandboxRecords, type SandboxTask } from './records.ts';
import {
  contentGone,
  type ErrorResponse,
  internalError,
  invalidRequest,
  noContent,
  noSuchRange,
  Refused,
  unauthorised,
} from './refusal.ts';
import { type ReferenceAccess, SandboxService, type ServiceOptions } from './service.ts';

/** Options of {@link createSandbox}. Defaults: {@link sandboxCatalog}; one thread, or two with four cores or more. */
export interface SandboxOptions
  extends Pick<ServiceOptions, 'clock' | 'logger'>,
    Partial<Pick<ServiceOptions, 'catalog' | 'maxThreads'>> {
  /** Folder of `sandbox.db` and `clips/`, created if missing. Used by one process at a time. */
  readonly dataDir: string;
  /** Accepted bearer tokens, at least one; all have access to the same tasks. */
  readonly tokens: readonly string[];
  /** Allowed sources of reference images. Default: the public internet alone. */
  readonly references?: Partial<ReferenceAccess>;
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
    maxThreads: options.maxThreads ?? (availableParallelism() < 4 ? 1 : 2),
    references: { ownFile: () => Promise.resolve(null), isLoopbackAllowed: false, ...options.references },
  });
  const jobs = new Jobs(options, [sandboxExpiry({ records, clipsDir, clock: options.clock })]);
  jobs.start();
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
      await jobs.stop();
      await service.close();
    },
  };
}

interface RouteOptions extends Pick<ServiceOptions, 'catalog' | 'clipsDir' | 'logger'> {
  readonly service: SandboxService;
  readonly tokens: readonly string[];
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
    const given = bearerOf(request);
    if (!isOpen && !tokens.some((token) => isSameSecret(given, token))) return refuse(reply, unauthorised);
  });
  app.setNotFoundHandler(({ method, url }, reply) =>
    refuse(reply, { status: 404, code: 'not_found', message: `There is nothing at ${method} ${url}.` }),
  );
  app.setErrorHandler((error: HttpError | Refused, _request, reply) => {
    if (error instanceof Refused) return refuse(reply, error.response);
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
    const task = service.create(request.body);
    if (task.steering !== 'lost') return reply.send(taskBody(service, task));
    reply.hijack();
    reply.raw.destroy();
    return reply;
  });
  const found = (id: string): SandboxTask => {
    const task = service.find(id);
    if (task === undefined)
      throw new Refused({ status: 404, code: 'task_not_found', message: `There is no task ${id}.` });
    return task;
  };
  app.get<TaskRoute>('/v1/videos/:id', (request) => taskBody(service, found(request.params.id)));
  app.get<TaskRoute>('/v1/videos/:id/content', (request, reply) => {
    const task = found(request.params.id);
    if (task.status !== 'completed') throw new Refused(noContent(task.status));
    if (!existsSync(join(clipsDir, `${task.id}.mp4`))) throw new Refused(contentGone);
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

/** Returns the body of an error response. @see docs/video-service.md "Contract" */
function refusalBody({ code, message }: ErrorResponse) {
  const words = code.replaceAll('_', ' ');
  return { error: words.charAt(0).toUpperCase() + words.slice(1), code, message, success: false } as const;
}

/** Deletes the partial files of a killed process. */
async function removePartialClips(clipsDir: string): Promise<void> {
  const partial = (await readdir(clipsDir)).filter((name) => name.endsWith('.part'));
  await Promise.all(partial.map((name) => rm(join(clipsDir, name))));
}
