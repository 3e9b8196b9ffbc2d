import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fakeClip, sendBytes } from './clip.ts';
import { type Dialect, SPECIFIED } from './dialects.ts';
import { freePort } from './ports.ts';

/** A request as received. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A task of the fake, with the fields of the specification. */
export interface FakeTask {
  readonly id: string;
  readonly model: string;
  readonly created_at: number;
  status: 'queued' | 'in_progress' | 'completed' | 'failed' | 'unknown';
  progress: number;
  /** Reason for its failure. */
  failure: { readonly code: string; readonly message: string } | null;
  /** Number of retrieves. */
  polls: number;
}

/** A request with everything needed for a valid or faulty response. */
export interface Call {
  readonly service: FakeVideoService;
  readonly request: RecordedRequest;
  /** The task in the path, if any. */
  readonly task: FakeTask | undefined;
  /** Allows faults that no HTTP library would produce: `response.socket` is the raw connection. */
  readonly response: ServerResponse;
  /** Responds with JSON. */
  readonly json: (status: number, body: unknown, headers?: Readonly<Record<string, string>>) => void;
  /** Responds with an error in the specification's format. */
  readonly refuse: (status: number, code: string, message: string, headers?: Readonly<Record<string, string>>) => void;
}

export type Handler = (call: Call) => void;

/** Handlers of the endpoints. */
export interface Handlers {
  create: Handler;
  retrieve: Handler;
  content: Handler;
  /** Handles any path outside the API: targets of redirects and links of clips. Default: the clip. */
  file: Handler;
}

export interface FakeVideoServiceOptions {
  /** Default `sk-fake-token-1234`. */
  readonly token?: string;
  /** Returns whether a token is valid, if there are several. Default: only `token`. */
  readonly isToken?: (token: string) => boolean;
  /** Wire format of tasks. Default: the specification's. */
  readonly dialect?: Dialect;
  /** Replacements of the correct handlers, endpoint by endpoint. */
  readonly handlers?: Partial<Handlers>;
  /** Number of retrieves for which a task stays unfinished. Default 2. */
  readonly pollsUntilDone?: number;
  /** The clip of every task. Default: 200 KB that begin like an MP4. */
  readonly clip?: Buffer;
  /** Keeps requests for inspection; off for load tests. Default true. */
  readonly record?: boolean;
}

/**
 * A video service on loopback that accepts only what the specification allows, counts the tasks it created, and can be
 * made to misbehave (`faults.ts`) or to use a dialect (`dialects.ts`).
 */
export interface FakeVideoService {
  /** Base URL for the client: without `/v1`. */
  readonly baseUrl: string;
  readonly token: string;
  /** Every request received completely, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** Number of POSTs received completely, regardless of the response. */
  readonly posts: number;
  /** Number of tasks created: what would be billed. */
  readonly creates: number;
  readonly tasks: ReadonlyMap<string, FakeTask>;
  readonly clip: Buffer;
  /** Current handlers of the endpoints; may be replaced at any time. */
  readonly handlers: Handlers;
  /** Creates a task without a POST. */
  add(task?: Partial<FakeTask>): FakeTask;
  /** Resolves once `count` requests have arrived. */
  arrived(count: number): Promise<void>;
  /** Closes the server and every connection. */
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
        // Ids may contain characters that a path may not. @see video-service-dialects.md "ids"
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

/** Returns a URL of this machine on which no server listens. */
export async function closedAddress(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}

/** Selects the handler: routing and the token check are correct regardless of the handlers. */
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

/** Checks every constraint of the specification's create request. Returns the first violation. */
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
