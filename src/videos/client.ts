import { readFile } from 'node:fs/promises';
import { Agent, Pool } from 'undici';
import { BoundedMap } from '../bounded-map.ts';
import { asDailiesError, DailiesError, type ErrorCode } from '../errors.ts';
import { guardAddresses, parseBaseUrl, type Resolve } from './addresses.ts';
import { checkAgain } from './check.ts';
import { download } from './content/download.ts';
import type { CreateCall, Dialect, ErrorReading, ListedTask, TaskReading } from './dialects/dialect.ts';
import { notTaken } from './dialects/images.ts';
import { isModeration, isOutage, says } from './dialects/tolerant.ts';
import { V1_VIDEOS } from './dialects/v1-videos.ts';
import { ExchangeError, exchange, noAnswer, TOKEN, type Wire } from './exchange.ts';
import { type Answer, type FailureParts, failure, jsonOf, reasonOf, retryAfterMs, scrubber } from './failures.ts';
import { idOf, type Model } from './model.ts';
import { isKept } from './references/addresses.ts';
import type { VideoRequest } from './request.ts';
import type { CreateOptions, CreateOutcome, UpstreamId, UpstreamTask, VideoService } from './service.ts';

/** Options of {@link createVideoClient}. */
export interface VideoClientOptions
  extends Pick<Wire, 'catalog' | 'createTimeoutMs' | 'requestTimeoutMs' | 'clock' | 'random' | 'logger'> {
  /** Base URL without `/v1`; https, or http for loopback hosts. */
  readonly baseUrl: string;
  /** Bearer token; sent to the origin of the base URL only. */
  readonly token: string;
  /** Default: that of the specification. */
  readonly dialect?: Dialect;
  /** Returns the file behind an address of our own; `undefined` for any other. Default: there is none. */
  readonly fileOf?: Wire['fileOf'];
  /** It reads the files that this bot keeps by their addresses. Default: it does not. */
  readonly takesKept?: true;
  /** Size of the connection pool of retrieves, at least the concurrency of polls. Default 64. */
  readonly maxConnections?: number;
  /** Timeout of connecting, at most the timeout of the call. Default 10 seconds. */
  readonly connectTimeoutMs?: number;
  /** Largest clip in bytes. Default 4 GiB. */
  readonly maxClipBytes?: number;
  /** DNS resolver of downloads. Default: the system's. */
  readonly resolve?: Resolve;
}

/** Capacity of the state kept per task between calls; more than the tasks in flight. */
const MAX_TASK_STATES = 50_000;
const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_CLIP_BYTES = 4 * 1024 ** 3;

/**
 * Creates a client of the video service of `docs/video-service.md`, for all of its dialects.
 * @throws DailiesError `refused_address` for a base URL that is not allowed, `unauthorised` for a token that is invalid
 *   in a header.
 */
export function createVideoClient(options: VideoClientOptions): VideoService {
  const { token, dialect = V1_VIDEOS } = options;
  const base = parseBaseUrl(options.baseUrl);
  if (!TOKEN.test(token)) {
    const details = { code: 'unauthorised', retryable: false } as const;
    throw new DailiesError('the video service’s token is empty or holds blanks or control characters', details);
  }
  const guard = guardAddresses(base, options.resolve);
  const agents = agentsOf(options, { origin: base.origin, lookup: guard.lookup });
  const wire: Wire = {
    maxClipBytes: DEFAULT_MAX_CLIP_BYTES,
    fileOf: async () => undefined,
    takesKept: false,
    ...options,
    origin: base.origin,
    basePath: base.pathname.replace(/\/$/, ''),
    dialect,
    credentials: dialect.authorize?.(token) ?? { authorization: `Bearer ${token}` },
    scrub: scrubber(token),
    agents,
    guard,
    doubtedSinceMs: new BoundedMap(MAX_TASK_STATES),
    memories: new BoundedMap(MAX_TASK_STATES),
    looks: new WeakMap(),
  };
  return {
    create: (request, sending) => create(wire, request, sending),
    retrieve: async (id, signal) => retrieve(wire, leading(wire, id), signal),
    canList: (request) => listedModel(wire, request) !== null,
    list: (request, time) => list(wire, request, time),
    cancel: async (id, mayStillSend) => cancel(wire, leading(wire, id), mayStillSend),
    download: async (id, path, signal) => download(wire, { id: leading(wire, id), path, signal }),
    async close() {
      await Promise.all(Object.values(agents).map((agent) => agent.destroy()));
    },
  };
}

/**
 * Creates one agent per call type. HTTP/2 is off because it retries refused streams, including POSTs. Each create uses
 * a new connection (`pipelining: 0`), because a kept-alive one may be closing while the POST is written; retrieves keep
 * theirs alive. An agent drops its pool with the last connection, so that each create would make one and end it with an error.
 * @see docs/video-service.md "Sending the POST"
 */
function agentsOf(
  options: VideoClientOptions,
  { origin, lookup }: { readonly origin: string } & Pick<ReturnType<typeof guardAddresses>, 'lookup'>,
) {
  const { createTimeoutMs, requestTimeoutMs, maxConnections = 64 } = options;
  const connectTimeoutMs = options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
  const timing = (timeoutMs: number) => ({
    allowH2: false,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: Math.min(connectTimeoutMs, timeoutMs) },
  });
  const forClips = timing(requestTimeoutMs);
  return {
    create: new Pool(origin, { ...timing(createTimeoutMs), pipelining: 0 }),
    retrieve: new Agent({ ...timing(requestTimeoutMs), connections: maxConnections }),
    download: new Agent({ ...forClips, connect: { ...forClips.connect, lookup } }),
  };
}

/**
 * Sends at most one POST and returns its outcome.
 *
 * | response | outcome |
 * | --- | --- |
 * | no byte left this machine; 429, or a rate limit by code | `unsent` |
 * | 2xx with an id that is not an error's own | `accepted` |
 * | a request that the dialect cannot write; other 4xx; any status with a {@link definiteRefusal}; 2xx with `success: false` that names no outage | `refused` |
 * | 408, 409, 499, 3xx, other 5xx, no response, a truncated response, 2xx without a result, any other status with a task and no error, with a bill, or 400 and 424 with a code of a timeout | `lost` |
 *
 * @see docs/video-service.md "Sending the POST"
 */
async function create(wire: Wire, request: VideoRequest, { key, mayStillSend }: CreateOptions): Promise<CreateOutcome> {
  const checked = checkAgain(wire.catalog(), request);
  if (!checked.ok) return { kind: 'refused', error: noLongerOffered(wire, checked.refusals[0]?.reason) };
  let call: CreateCall;
  let written: WrittenBody;
  try {
    const hasInline = wire.dialect.inlineImageBytes !== undefined && request.media.image.length > 0;
    const ready = hasInline ? await inlined(wire, request) : request;
    if (!wire.takesKept && Object.values(ready.media).flat().some(isKept)) throw notTaken(KEPT_WORDS);
    call = wire.dialect.createCall(ready, checked.model);
    const { body } = call;
    written =
      body instanceof FormData ? await writtenForm(body) : { type: 'application/json', body: JSON.stringify(body) };
  } catch (error) {
    // Nothing was sent.
    return { kind: 'refused', error: asDailiesError(error, 'creating a task') };
  }
  try {
    const { path, headers } = call;
    const answer = await exchange(wire, {
      agent: wire.agents.create,
      method: 'POST',
      path,
      headers: { 'content-type': written.type, 'idempotency-key': key, ...headers },
      body: written.body,
      timeoutMs: wire.createTimeoutMs,
      mayStart: mayStillSend,
    });
    return outcomeOf(wire, call, answer);
  } catch (error) {
    const isUnsent = error instanceof ExchangeError && !error.mayHaveLeft;
    if (isUnsent) return { kind: 'unsent', error: noAnswer(wire, 'creating a task', error) };
    return { kind: 'lost', error: lost(wire, 'no whole answer', { cause: error }) };
  }
}

/** The check of references refuses what it can know; this is for what became of a file, or of the services, since. */
const KEPT_WORDS = 'A file from the chat is too large to be given to this model, or is not there any more.';

/** Puts those images of a request into it that are files of this machine, and small enough for the service. */
async function inlined({ dialect, fileOf }: Wire, request: VideoRequest): Promise<VideoRequest> {
  const { inlineImageBytes = 0, inlineRequestBytes = 4 * inlineImageBytes } = dialect;
  const image: string[] = [];
  let leftBytes = inlineRequestBytes;
  for (const url of request.media.image) {
    const file = await fileOf(url);
    const isInline = file !== undefined && file.bytes <= Math.min(inlineImageBytes, leftBytes);
    if (isInline) leftBytes -= file.bytes;
    const bytes = isInline ? await readFile(file.path) : null;
    image.push(
      file === undefined || bytes === null ? url : `data:${file.contentType};base64,${bytes.toString('base64')}`,
    );
  }
  return { ...request, media: { ...request.media, image } };
}

/** Body of a create as it is sent. */
interface WrittenBody {
  /** Media type. */
  readonly type: string;
  readonly body: string | Buffer;
}

/** Writes a form, with its media type, which names the boundary of its parts. */
async function writtenForm(form: FormData): Promise<WrittenBody> {
  const written = new Response(form);
  return { type: written.headers.get('content-type') ?? '', body: Buffer.from(await written.arrayBuffer()) };
}

function outcomeOf(wire: Wire, call: CreateCall, answer: Answer): CreateOutcome {
  const { status, headers } = answer;
  const reading = reasonOf(answer, wire);
  const { words } = reading;
  const isSuccess = status >= 200 && status < 300;
  const given = jsonOf(answer);
  const json = isSuccess ? given : undefined;
  const task = wire.dialect.decodeTask(json);
  const saysNo = reading.success === false && (task === null || task.status === 'unknown');
  const id = saysNo ? null : wire.dialect.acceptedId(json, call);
  if (id !== null) {
    const { status: said, progress, failure: failed } = task ?? { status: 'unknown', progress: null, failure: null };
    return { kind: 'accepted', task: { id: id as UpstreamId, status: said, progress, failure: failed } };
  }
  const doing = `creating a task: HTTP ${status}`;
  // An error status with a task and no error proves nothing, nor does one of a gateway that gave up on its upstream.
  const isTask = words === null && reading.codes.length === 0 && wire.dialect.acceptedId(given, call) !== null;
  if (!isSuccess && (isTask || reading.isBilled === true || isGatewayTimeout(status, reading)))
    return { kind: 'lost', error: lost(wire, `HTTP ${status}, which is no refusal`, { words }) };
  const isDefinite = isSuccess ? saysNo && !isOutage(reading) : isRefusal(status);
  const named = isDefinite ? namedRefusal(reading) : definiteRefusal(reading);
  if (named === null && !isDefinite) return { kind: 'lost', error: lost(wire, `HTTP ${status}`, { words }) };
  if (named === null && (status === 429 || isRateLimit(reading))) {
    const waitMs = retryAfterMs(headers, wire.clock.now());
    const parts = { code: 'rate_limited', retryable: true, retryAfterMs: waitMs, words } as const;
    return { kind: 'unsent', error: failure(wire, doing, parts) };
  }
  const code = named ?? refusalOf(isSuccess ? 400 : status, reading);
  return { kind: 'refused', error: failure(wire, doing, { code, retryable: false, words }) };
}

/**
 * Returns whether a status proves that no task exists: any 4xx except a timeout (408), a conflict with a create of the
 * same `Idempotency-Key` (409), and a proxy that gave up on its upstream (499). The caller handles rate limits.
 */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && ![408, 409, 499].includes(status);
}

/**
 * Returns the refusal of a code that counts with any status, 5xx included: proof that the service created no task. The
 * codes match exactly, and none counts if the response also names an outage: `moderation_timeout` is not a refusal.
 * @see docs/video-service.md "Dialects": refusals
 */
function definiteRefusal(reading: ErrorReading): ErrorCode | null {
  if (isOutage(reading)) return null;
  for (const [name, code] of DEFINITE_REFUSALS) if (reading.codes.includes(name)) return code;
  return null;
}

const DEFINITE_REFUSALS: readonly (readonly [string, ErrorCode])[] = [
  ['model_not_found', 'unknown_model'],
  ['insufficient_user_quota', 'no_balance'],
  ['content_policy_violation', 'moderated'],
];

/** Returns the refusal that a code names, in a response whose status is a refusal already. */
function namedRefusal(reading: ErrorReading): ErrorCode | null {
  if (reading.codes.some((code) => UNKNOWN_MODEL_CODE.test(code))) return 'unknown_model';
  if (reading.codes.some((code) => NO_BALANCE_CODE.test(code))) return 'no_balance';
  if (isModeration({ ...reading, words: null })) return 'moderated';
  return null;
}

/** Returns the refusal of a 4xx response to a create. Not for a 429 without a {@link namedRefusal}. */
function refusalOf(status: number, reading: ErrorReading): ErrorCode {
  const named = namedRefusal(reading);
  if (named !== null) return named;
  if (status === 401 || reading.codes.some((code) => BAD_TOKEN_CODE.test(code))) return 'unauthorised';
  if (status === 402) return 'no_balance';
  if (isModeration(reading)) return 'moderated';
  if (status === 403) return says(reading.words, NO_BALANCE_WORDS) ? 'no_balance' : 'forbidden';
  return says(reading.words, UNKNOWN_MODEL_WORDS) ? 'unknown_model' : 'bad_request';
}

/** Returns whether an error code names a rate limit, regardless of the status. */
function isRateLimit({ codes }: ErrorReading): boolean {
  return codes.some((code) => /^(rate_limit(ed|_exceeded|_error)?|too_many_requests)$/.test(code));
}

/** Returns whether an error is a temporary problem of the service rather than of a task. */
function isPassing(reading: ErrorReading): boolean {
  return (
    isOutage(reading) ||
    isRateLimit(reading) ||
    says(reading.words, /rate.?limit|too many requests|try (again )?later/i)
  );
}

const UNKNOWN_MODEL_CODE =
  /^(model_not_(found|exists?|available|supported)|(unknown|invalid|unsupported)_model|no_such_model)$/;
const NO_BALANCE_CODE =
  /^(insufficient_(user_)?(quota|balance|credits?|funds)|(no|low)_balance|balance_not_enough|payment_required)$/;
const BAD_TOKEN_CODE = /^(invalid|incorrect|expired)_(api_)?(key|token)$|^unauthori[sz]ed$/;
const UNKNOWN_MODEL_WORDS =
  /\bmodel\b.*(not (found|exist|available|supported)|(doesn't|does not) exist|unknown)|(unknown|unsupported|invalid|no such) model/i;
const NO_BALANCE_WORDS = /balance|quota|credit/i;

/** Returns whether a status that gateways put on the errors of their upstream comes with a code of its timeout. */
function isGatewayTimeout(status: number, { codes }: ErrorReading): boolean {
  return (status === 400 || status === 424) && codes.some((code) => TIMEOUT_CODE.test(code));
}

const TIMEOUT_CODE = /^(?:(?:request|upstream|gateway)_)?(?:time_?out|timed_out)(?:_error)?$|^deadline_exceeded$/;

function lost(wire: Wire, what: string, parts: Pick<FailureParts, 'words' | 'cause'>): DailiesError {
  return failure(wire, `creating a task: ${what}`, { ...parts, code: 'lost_answer', retryable: false });
}

/** Returns the error of a request that the catalog stopped offering between the order and its submission. */
function noLongerOffered(wire: Wire, reason: string | undefined): DailiesError {
  const code = reason === 'unknown_model' ? 'unknown_model' : 'bad_request';
  const doing = `creating a task: the catalog does not offer it any more (${reason ?? 'unknown'})`;
  return failure(wire, doing, { code, retryable: false });
}

const DOING = 'retrieving a task';

/**
 * Returns an id whose path leads to it alone.
 * @throws DailiesError `task_unknown` for one such as `..`, which a person may have entered: it would lead to another
 *   task, or to something else of the account.
 */
function leading(wire: Wire, id: UpstreamId): UpstreamId {
  const path = wire.dialect.paths.task(id);
  const address = wire.origin + wire.basePath + path;
  if (new URL(address).href === address && !path.includes('//')) return id;
  throw failure(wire, `${DOING}: its id leads elsewhere`, { code: 'task_unknown', retryable: false });
}

/** Time for which a temporary service error has to be repeated before it fails a task. */
const PASSING_MS = 60_000;

/** Sends one GET of a task's state, and of its result. @throws DailiesError as documented at `VideoService.retrieve`. */
async function retrieve(wire: Wire, id: UpstreamId, signal?: AbortSignal): Promise<UpstreamTask> {
  const { task, result } = wire.dialect.paths;
  const state = await look(wire, task(id), signal);
  if (wire.dialect.isFailedTask?.(state.status, jsonOf(state)) === true) return failedTask(wire, id, state);
  const found = readTask(wire, id, state, readingOf(wire, state));
  const isConfirmed = found.status !== 'completed' || result === undefined;
  const ended = isConfirmed ? found : readResult(wire, id, await look(wire, result(id), signal));
  if (ended.status !== 'failed') wire.doubtedSinceMs.delete(id);
  return ended;
}

/** Most pages of a list of tasks. */
const MAX_PAGES = 50;

/** Returns the model of a request whose tasks are listed; `null` where they are not. */
function listedModel({ catalog, dialect }: Wire, request: VideoRequest): Model | null {
  const checked = checkAgain(catalog(), request);
  return checked.ok && typeof dialect.list?.path(1, checked.model) === 'string' ? checked.model : null;
}

/** Returns the tasks of the list of a service that a request may have made. */
async function list(
  wire: Wire,
  request: VideoRequest,
  { fromMs, untilMs, look: key }: Parameters<VideoService['list']>[1],
): ReturnType<VideoService['list']> {
  const model = listedModel(wire, request);
  if (model === null) return null;
  const lists = wire.looks.get(key) ?? new Map<string, Promise<readonly ListedTask[]>>();
  const path = wire.dialect.list?.path(1, model) ?? '';
  const reading = lists.get(path) ?? readList(wire, model);
  wire.looks.set(key, lists.set(path, reading));
  const { seconds, aspectRatio, resolution } = request;
  const wanted = { model: idOf(model), seconds, aspectRatio, resolution, sound: model.sound };
  const all = ['model', 'seconds', 'aspectRatio', 'resolution', 'sound'] as const;
  const facts = all.filter((fact) => wanted[fact] !== undefined);
  return (await reading).flatMap(({ id, createdAtMs, ...said }) => {
    const isOther = facts.some((fact) => said[fact] !== undefined && said[fact] !== wanted[fact]);
    const isSame = facts.every((fact) => said[fact] === wanted[fact]);
    return isOther || createdAtMs < fromMs || createdAtMs > untilMs ? [] : [{ id: id as UpstreamId, isSame }];
  });
}

/** Reads the whole list that has the tasks of a model: its order is not documented. */
async function readList(wire: Wire, model: Model): Promise<readonly ListedTask[]> {
  const { list: pages } = wire.dialect;
  const found = new Map<string, ListedTask>();
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const answer = await look(wire, pages?.path(page, model) ?? '', undefined);
    const tasks = answer.status === 200 ? pages?.decode(jsonOf(answer)) : undefined;
    if (tasks === undefined || tasks === null) throw refusal(wire, answer);
    if (tasks.length === 0) return [...found.values()];
    for (const task of tasks) found.set(task.id, task);
  }
  throw failure(wire, `listing tasks: more than ${MAX_PAGES} pages`, { code: 'bad_answer', retryable: true });
}

/** Longest wait for the answer to a cancellation: later, it may be about another state. */
const CANCEL_TIMEOUT_MS = 5_000;

/** Sends one request to cancel a task, where the service can. */
async function cancel(wire: Wire, id: UpstreamId, mayStart: () => boolean) {
  const { agents, dialect, requestTimeoutMs } = wire;
  const call = dialect.cancelCall?.(id);
  if (call === undefined) return 'refused';
  try {
    const timeoutMs = Math.min(requestTimeoutMs, CANCEL_TIMEOUT_MS);
    const { status } = await exchange(wire, { agent: agents.retrieve, ...call, timeoutMs, mayStart });
    if (status < 200 || status >= 300) return 'refused';
    return dialect.forgetsCancelled === true ? 'forgets' : 'agreed';
  } catch (error) {
    throw noAnswer(wire, 'cancelling a task', error);
  }
}

/** Statuses of the result of a completed task by which the service says that it has failed. */
const FAILED_RESULT: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Statuses that are about the request for a result, not about its task. */
const OF_THE_REQUEST: ReadonlySet<number> = new Set([401, 403, 407, 408, 409, 425, 429]);

/**
 * Reads the result of a task whose state is complete. An error that a gateway may have answered, too, fails the task only
 * once it has been repeated for {@link PASSING_MS}: the clip is paid for.
 */
function readResult(wire: Wire, id: UpstreamId, answer: Answer): UpstreamTask {
  const { status } = answer;
  const json = jsonOf(answer);
  const reading = OF_THE_REQUEST.has(status) ? null : wire.dialect.decodeTask(json, answer.headers);
  const isError = reading === null && FAILED_RESULT.has(status) && typeof json === 'object' && json !== null;
  const isDoubted = isError || (reading?.status === 'failed' && status >= 500);
  if (isDoubted && !isRepeated(wire, id)) throw refusal(wire, answer);
  return isError ? failedTask(wire, id, answer) : readTask(wire, id, answer, reading);
}

/** Returns whether a doubted failure has been reported for {@link PASSING_MS}. */
function isRepeated({ clock, doubtedSinceMs }: Wire, id: UpstreamId): boolean {
  const nowMs = clock.monotonic();
  const sinceMs = doubtedSinceMs.get(id) ?? nowMs;
  doubtedSinceMs.set(id, sinceMs);
  return nowMs - sinceMs >= PASSING_MS;
}

function failedTask(wire: Wire, id: UpstreamId, answer: Answer): UpstreamTask {
  const reading = reasonOf(answer, wire);
  const words = reading.words === null ? null : cut(wire.scrub(reading.words));
  const code = isModeration(reading) ? 'moderated' : 'generation_failed';
  const billed = reading.isBilled === true ? { isBilled: true as const } : {};
  const cost = reading.cost === undefined ? {} : { cost: reading.cost };
  return { id, status: 'failed', progress: null, failure: { code, words, ...billed }, ...cost };
}

async function look(wire: Wire, path: string, signal: AbortSignal | undefined): Promise<Answer> {
  const { agents, requestTimeoutMs: timeoutMs } = wire;
  try {
    const maxBytes = wire.dialect.maxAnswerBytes;
    return await exchange(wire, { agent: agents.retrieve, method: 'GET', path, timeoutMs, signal, maxBytes });
  } catch (error) {
    throw noAnswer(wire, DOING, error);
  }
}

/** Decodes an answer about a task; null where it is an error, or describes none. */
function readingOf({ dialect }: Wire, answer: Answer): TaskReading | null {
  if (answer.status < 200 || answer.status >= 300) return null;
  // Accepted, but not done: with some services, such a response is empty.
  const isEmpty = answer.status === 202 && answer.text.trim() === '';
  return dialect.decodeTask(isEmpty ? null : jsonOf(answer), answer.headers);
}

/**
 * Reads an answer about a task.
 * @param task decoded from it.
 * @throws DailiesError where it describes none.
 */
function readTask(wire: Wire, id: UpstreamId, answer: Answer, task: TaskReading | null): UpstreamTask {
  if (task === null || task.isUnreadable || (task.status === 'failed' && isDoubtful(wire, id, answer)))
    throw refusal(wire, answer);
  const words = task.failure?.words ?? null;
  const isClean = task.failure === null || words === null;
  // The requested id is the stored one; the id in the response may be another layer's.
  return { ...task, id, failure: isClean ? task.failure : { ...task.failure, words: cut(wire.scrub(words)) } };
}

/**
 * Returns whether a `failed` response may be a temporary error in an envelope
 * (`{"status": "error", "message": "rate limit"}`): it describes no task, and no earlier poll returned the same, or the
 * error names a temporary cause and has not been repeated for {@link PASSING_MS} yet.
 */
function isDoubtful(wire: Wire, id: UpstreamId, answer: Answer): boolean {
  if (wire.dialect.describesTask(jsonOf(answer), id)) return false;
  const { clock, doubtedSinceMs } = wire;
  const nowMs = clock.monotonic();
  const sinceMs = doubtedSinceMs.get(id);
  if (sinceMs === undefined) doubtedSinceMs.set(id, nowMs);
  if (sinceMs === undefined) return true;
  return isPassing(reasonOf(answer, wire)) && nowMs - sinceMs < PASSING_MS;
}

/** Truncates text as in the `words` of a `DailiesError`. */
function cut(words: string): string {
  return words.slice(0, 500).toWellFormed();
}

function refusal(wire: Wire, answer: Answer): DailiesError {
  const { status, headers } = answer;
  const reading = reasonOf(answer, wire);
  const verdict = verdictOf(status, reading.codes);
  const hasNoWait = verdict.code === 'task_unknown' || verdict.code === 'unauthorised';
  return failure(wire, `${DOING}: HTTP ${status}`, {
    ...verdict,
    retryAfterMs: hasNoWait ? undefined : retryAfterMs(headers, wire.clock.now()),
    words: reading.words,
  });
}

function verdictOf(
  status: number,
  codes: readonly string[],
): { readonly code: ErrorCode; readonly retryable: boolean } {
  if (codes.some((code) => /^task_not_(exists?|found)$/.test(code))) return { code: 'task_unknown', retryable: false };
  // Without the error code it may be a proxy's page, or a service that is slow to list its own tasks.
  if (status === 404 || status === 410) return { code: 'task_unknown', retryable: true };
  if (status === 401 || status === 403) return { code: 'unauthorised', retryable: false };
  if (status === 429) return { code: 'rate_limited', retryable: true };
  return { code: status === 408 || status >= 500 ? 'unavailable' : 'bad_answer', retryable: true };
}
