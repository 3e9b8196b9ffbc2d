import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { fakeClip, sendBytes } from './clip.ts';
import { type Dialect, SPECIFIED } from './dialects.ts';

/** One request as it arrived. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A task of the fake, in the words of the specification. */
export interface FakeTask {
  readonly id: string;
  readonly model: string;
  readonly created_at: number;
  status: 'queued' | 'in_progress' | 'completed' | 'failed' | 'unknown';
  progress: number;
  /** Why it failed. */
  failure: { readonly code: string; readonly message: string } | null;
  /** How often it was asked for. */
  polls: number;
}

/** A request with everything needed to answer it, rightly or wrongly. */
export interface Call {
  readonly service: FakeVideoService;
  readonly request: RecordedRequest;
  /** The task in the path, where there is one. */
  readonly task: FakeTask | undefined;
  /** For faults that no HTTP library would make: `response.socket` is the bare connection. */
  readonly response: ServerResponse;
  /** Answers with JSON. */
  readonly json: (status: number, body: unknown, headers?: Readonly<Record<string, string>>) => void;
  /** Answers with the specification's one error shape. */
  readonly refuse: (status: number, code: string, message: string, headers?: Readonly<Record<string, string>>) => void;
}

export type Handler = (call: Call) => void;

/** What each endpoint does. */
export interface Handlers {
  create: Handler;
  retrieve: Handler;
  content: Handler;
  /** Any path that is not the API's: where redirects and links of clips lead. Default: the clip. */
  file: Handler;
}

export interface FakeVideoServiceOptions {
  /** Default `sk-fake-token-1234`. */
  readonly token?: string;
  /** Which tokens are right, where there are several. Default: `token` alone. */
  readonly isToken?: (token: string) => boolean;
  /** How tasks look on the wire. Default: as the specification has it. */
  readonly dialect?: Dialect;
  /** What replaces the right behaviour, endpoint by endpoint. */
  readonly handlers?: Partial<Handlers>;
  /** How many retrieves a task stays unfinished. Default 2. */
  readonly pollsUntilDone?: number;
  /** The clip of every task. Default: 200 KB that begin as an MP4. */
  readonly clip?: Buffer;
  /** Whether requests are kept for looking at; off for load. Default true. */
  readonly record?: boolean;
}

/**
 * A video service on loopback that takes nothing but what the specification allows, counts what it accepted, and can
 * be made to misbehave (`faults.ts`) or to speak a dialect (`dialects.ts`).
 */
export interface FakeVideoService {
  /** For the client: without `/v1`. */
  readonly baseUrl: string;
  readonly token: string;
  /** Every request that arrived whole, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** POSTs that arrived whole, however they were answered. */
  readonly posts: number;
  /** Tasks that were made: what would be billed. */
  readonly creates: number;
  readonly tasks: ReadonlyMap<string, FakeTask>;
  readonly clip: Buffer;
  /** What each endpoint does now; may be replaced at any time. */
  readonly handlers: Handlers;
  /** Makes a task without a POST. */
  add(task?: Partial<FakeTask>): FakeTask;
  /** Resolves once `count` requests arrived. */
  arrived(count: number): Promise<void>;
  /** Ends the server and every connection. */
  close(): Promise<void>;
}

/** Starts a fake video service on a free port of 127.0.0.1. */
export async function startVideoService(options: FakeVideoServiceOptions = {}): Promise<FakeVideoService> {
  const { token = 'sk-fake-token-1234', record = true, clip = fakeClip(200_000) } = options;
  const { isToken = (given: string) => given === token } = options;
  const requests: RecordedRequest[] = [];
  const tasks = new Map<string, FakeTask>();
  const waiting: { readonly count: number; readonly done: () => void }[] = [];
  const counts = { posts: 0, creates: 0, arrived: 0 };
  const handlers: Handlers = { ...rightHandlers(options), ...options.handlers };

  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('error', () => {});
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      const request: RecordedRequest = { method, path, headers, body: Buffer.concat(parts).toString('utf8') };
      if (record) requests.push(request);
      counts.arrived += 1;
      if (method === 'POST') counts.posts += 1;
      const call = callOf(service, request, response);
      handlerOf(call, isToken)(call);
      for (const { done } of waiting.filter(({ count }) => count <= counts.arrived)) done();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;

  const service: FakeVideoService = {
    baseUrl: `http://127.0.0.1:${port}`,
    token,
    requests,
    tasks,
    clip,
    handlers,
    get posts() {
      return counts.posts;
    },
    get creates() {
      return counts.creates;
    },
    add(task = {}) {
      counts.creates += 1;
      const made: FakeTask = {
        // Ids may hold what a path may not. @see video-service-dialects.md "ids"
        id: `task:${counts.creates}/${Buffer.from(String(counts.creates)).toString('base64')}`,
        model: 'swift-1',
        created_at: 1_790_000_000,
        status: 'queued',
        progress: 0,
        failure: null,
        polls: 0,
        ...task,
      };
      tasks.set(made.id, made);
      return made;
    },
    arrived: (count) =>
      new Promise((done) => {
        if (counts.arrived >= count) done();
        else waiting.push({ count, done });
      }),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
  return service;
}

/** An address of this machine where nobody listens. */
export async function closedAddress(): Promise<string> {
  const server = createTcpServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((done) => server.close(() => done()));
  return `http://127.0.0.1:${port}`;
}

/** Who answers: routing and the token are right whatever the handlers do. */
function handlerOf({ service, request }: Call, isToken: (token: string) => boolean): Handler {
  const { method, path, headers } = request;
  const { pathname } = new URL(path, service.baseUrl);
  if (!pathname.startsWith('/v1/')) return service.handlers.file;
  // "Every request carries the header": spec, Authentication.
  if (!isToken(headers.authorization?.replace(/^Bearer /, '') ?? '')) {
    return ({ refuse }) => refuse(401, 'invalid_api_key', 'The token is missing or wrong.');
  }
  if (method === 'POST' && pathname === '/v1/videos') return service.handlers.create;
  if (method === 'GET' && /^\/v1\/videos\/[^/]+\/content$/.test(pathname)) return service.handlers.content;
  if (method === 'GET' && /^\/v1\/videos\/[^/]+$/.test(pathname)) return service.handlers.retrieve;
  return ({ refuse }) => refuse(404, 'not_found', `There is no ${method} ${pathname}.`);
}

function callOf(service: FakeVideoService, request: RecordedRequest, response: ServerResponse): Call {
  response.on('error', () => {});
  const json: Call['json'] = (status, body, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
  const id = /^\/v1\/videos\/([^/?]+)/.exec(request.path)?.[1];
  return {
    service,
    request,
    response,
    task: id === undefined ? undefined : service.tasks.get(decodeURIComponent(id)),
    json,
    refuse: (status, code, message, headers) =>
      json(status, { error: message, code, message, success: false }, headers),
  };
}

function rightHandlers({ dialect = SPECIFIED, pollsUntilDone = 2 }: FakeVideoServiceOptions): Handlers {
  return {
    create(call) {
      const wrong = wrongWith(call.request);
      if (wrong !== null) return call.refuse(400, 'invalid_request', wrong);
      const { model } = JSON.parse(call.request.body) as { model: string };
      call.json(dialect.createStatus ?? 200, dialect.task(call.service.add({ model })));
    },
    retrieve({ task, refuse, json }) {
      if (task === undefined) return refuse(404, 'task_not_exist', 'There is no such task.');
      if (task.status !== 'failed' && task.status !== 'completed') advance(task, pollsUntilDone);
      json(200, dialect.task(task));
    },
    content(call) {
      if (call.task === undefined) return call.refuse(404, 'task_not_exist', 'There is no such task.');
      // "Content can be fetched once the task is completed": spec, States.
      if (call.task.status !== 'completed') return call.refuse(409, 'not_ready', 'The task is not completed.');
      sendBytes(call, call.service.clip);
    },
    file: (call) => sendBytes(call, call.service.clip),
  };
}

function advance(task: FakeTask, pollsUntilDone: number): void {
  task.polls += 1;
  const isDone = task.polls > pollsUntilDone;
  task.status = isDone ? 'completed' : 'in_progress';
  task.progress = isDone ? 100 : Math.trunc((100 * task.polls) / (pollsUntilDone + 1));
}

/** Every constraint of the specification's creation request. Returns the first that is broken. */
function wrongWith({ headers, body }: RecordedRequest): string | null {
  // "All requests and responses with a body use JSON": spec, Endpoints.
  if (headers['content-type'] !== 'application/json') return 'The content type must be application/json.';
  const fields = new Map<string, unknown>(Object.entries(JSON.parse(body) as object));
  for (const [name, value] of fields) {
    const isRight = FIELDS.get(name);
    if (isRight === undefined) return `${name} is no field of a create.`;
    if (!isRight(value)) return `${name} must not be ${JSON.stringify(value)}.`;
  }
  const missing = ['model', 'prompt', 'duration', 'video_duration'].find((name) => !fields.has(name));
  if (missing !== undefined) return `${missing} is required.`;
  // "1 for per-call models; for per-second models equal to video_duration": spec, duration.
  const duration = fields.get('duration');
  return duration === 1 || duration === fields.get('video_duration') ? null : 'duration must be 1 or video_duration.';
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.length > 0;
const isWhole = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 1;
const isAddressList = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((each) => /^https?:\/\//.test(String(each)));

const FIELDS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['model', isText],
  ['prompt', isText],
  ['duration', isWhole],
  ['video_duration', isWhole],
  ['aspect_ratio', (value: unknown) => ['16:9', '9:16', '4:3', '3:4', '1:1'].includes(String(value))],
  ['resolution', (value: unknown) => ['480p', '720p', '1080p'].includes(String(value))],
  ['image_urls', isAddressList],
  ['audio_urls', isAddressList],
  ['video_urls', isAddressList],
]);
