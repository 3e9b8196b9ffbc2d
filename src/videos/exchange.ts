import type { IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, unzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { AddressGuard } from './addresses.ts';
import type { Dialect, ListedTask } from './dialects/dialect.ts';
import { type Answer, failure, type Scrub } from './failures.ts';
import type { Catalog } from './model.ts';
import type { Clip, UpstreamId } from './service.ts';

/** Matches a token that is valid in a header. */
export const TOKEN = /^[\x21-\x7e]+$/;

/** Settings and state shared by all calls of the video service. */
export interface Wire {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path of the base URL, without a trailing slash. */
  readonly basePath: string;
  readonly dialect: Dialect;
  /** Headers that authenticate a request; for {@link Wire.origin} only. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly scrub: Scrub;
  /** One per call type; that of creates must never retry a request by itself. */
  readonly agents: Readonly<Record<'create' | 'retrieve' | 'download', Dispatcher>>;
  readonly guard: AddressGuard;
  /** Returns the current catalog: each model's billing, and whether it is still offered. */
  readonly catalog: () => Catalog;
  /** Returns the file behind an address of our own; `undefined` for any other. */
  readonly fileOf: (url: string) => Promise<Clip | undefined>;
  /** The service reads the files that this bot keeps by their addresses. */
  readonly takesKept: boolean;
  /** Timeout of a create, from the call to the last byte of the response, in milliseconds. */
  readonly createTimeoutMs: number;
  /** Timeout of a retrieve, and of a stalled download, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Largest clip in bytes; a larger download is aborted, because the store is on the same disk. */
  readonly maxClipBytes: number;
  readonly clock: Clock;
  /** Source of jitter for retries, from 0 to below 1, such as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Time of the first `failed` response that describes no task otherwise, by task, in monotonic milliseconds. */
  readonly doubtedSinceMs: BoundedMap<UpstreamId, number>;
  /** State kept between the attempts at each clip. */
  readonly memories: BoundedMap<UpstreamId, DownloadMemory>;
  /** Lists of tasks, by the looks for which they were read and the paths of their first pages. */
  readonly looks: WeakMap<object, Map<string, Promise<readonly ListedTask[]>>>;
}

/** State kept between the attempts at one clip. */
export interface DownloadMemory {
  /** ETag of the bytes on disk. */
  validator: string | null;
  /** SHA-256 of a download whose completeness is unproven: a second identical one is accepted as complete. */
  doubtful: string | null;
  slowTries: number;
}

/** Largest response other than a clip, in bytes. */
export const MAX_ANSWER_BYTES = 1024 * 1024;

/** What an exchange needs of a {@link Wire}. */
type Line = Pick<Wire, 'origin' | 'basePath' | 'credentials' | 'clock'>;

/** Request to the service's own origin, sent at most once and with the token. */
interface Exchange {
  readonly agent: Dispatcher;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path below the base URL, encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Timeout from the call to the last byte of the response, connecting included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Default: {@link MAX_ANSWER_BYTES}. */
  readonly maxBytes?: number | undefined;
  /** Called right before the bytes leave; `false` prevents sending. */
  readonly mayStart?: () => boolean;
}

/** Error of an exchange that got no response. */
export class ExchangeError extends Error {
  override readonly name = 'ExchangeError';
  /** A byte of the request may have left this machine; `false` proves that none did. */
  readonly mayHaveLeft: boolean;
  readonly reason: 'timed_out' | 'aborted' | 'withheld' | 'too_large' | 'broken';

  constructor(reason: ExchangeError['reason'], mayHaveLeft: boolean, cause?: unknown) {
    super(cause instanceof Error && cause.message !== '' ? cause.message : reason.replaceAll('_', ' '), { cause });
    this.reason = reason;
    this.mayHaveLeft = mayHaveLeft;
  }
}

/**
 * Sends a request and reads the whole response, without redirects and retries.
 *
 * Calls undici's `dispatch` directly, because only a dispatch handler receives `onRequestStart`, which undici calls
 * once connected and right before it writes: any earlier failure has provably sent nothing. (It also saves a stream per
 * poll.)
 * @throws ExchangeError
 * @see docs/video-service.md "Sending the POST"
 */
export function exchange(wire: Line, request: Exchange): Promise<Answer> {
  const answer = Promise.withResolvers<Answer>();
  new ExchangeHandler(wire, request, answer).begin();
  return answer.promise;
}

/** Converts a failed exchange, which got no response, to a retryable error. */
export function noAnswer(wire: Wire, doing: string, thrown: unknown): DailiesError {
  if (thrown instanceof DailiesError) return thrown;
  const failed = thrown instanceof ExchangeError ? thrown.reason : 'broken';
  const cause = thrown instanceof ExchangeError ? (thrown.cause ?? thrown) : thrown;
  const reason = cause instanceof Error ? cause.message : String(cause);
  // One that is too large will be so again.
  const code = failed === 'timed_out' ? 'timed_out' : failed === 'too_large' ? 'bad_answer' : 'unavailable';
  return failure(wire, `${doing}: ${reason}`, { code, retryable: true, cause });
}

function decompressed(body: Buffer, headers: IncomingHttpHeaders, maxBytes: number): Buffer {
  const coding = headers['content-encoding']?.trim().toLowerCase();
  const limit = { maxOutputLength: maxBytes };
  if (body.length === 0 || coding === undefined) return body;
  if (coding === 'br') return brotliDecompressSync(body, limit);
  return ['gzip', 'x-gzip', 'deflate'].includes(coding) ? unzipSync(body, limit) : body;
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #wire: Line;
  readonly #request: Exchange;
  readonly #answer: PromiseWithResolvers<Answer>;
  readonly #chunks: Buffer[] = [];
  readonly #maxBytes: number;
  #bytes = 0;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #controller: Dispatcher.DispatchController | undefined;
  #isSettled = false;
  #release = (): void => {};

  constructor(wire: Line, request: Exchange, answer: PromiseWithResolvers<Answer>) {
    this.#wire = wire;
    this.#request = request;
    this.#answer = answer;
    this.#maxBytes = request.maxBytes ?? MAX_ANSWER_BYTES;
  }

  begin(): void {
    const { origin, basePath, credentials, clock } = this.#wire;
    const { agent, timeoutMs, signal, method, headers: added, body = null } = this.#request;
    if (signal?.aborted === true) {
      this.#fail('aborted', signal.reason);
      return;
    }
    const cancelTimer = clock.after(timeoutMs, () => this.#fail('timed_out'));
    const abort = (): void => this.#fail('aborted', signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    this.#release = () => {
      cancelTimer();
      signal?.removeEventListener('abort', abort);
    };
    try {
      const headers = { ...credentials, accept: 'application/json', 'accept-encoding': 'identity', ...added };
      agent.dispatch({ origin, path: basePath + this.#request.path, method, headers, body }, this);
    } catch (error) {
      this.#fail('broken', error);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Settled while still connecting: it was reported as unsent, so it must not be sent.
    if (!this.#isSettled && !this.#mayStart()) this.#fail('withheld');
    if (this.#isSettled) controller.abort(new Error('given up before sending'));
    else this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.#fail('too_large');
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#isSettled) return;
    let text: string;
    try {
      text = this.#text();
    } catch (error) {
      this.#fail('broken', error);
      return;
    }
    this.#settle();
    this.#answer.resolve({ status: this.#status, headers: this.#headers, text });
  }

  /** Returns the text of the response; some services compress although `identity` was requested. */
  #text(): string {
    const [first, ...others] = this.#chunks;
    const whole = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#chunks);
    return decompressed(whole, this.#headers, this.#maxBytes).toString('utf8');
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const isTimeout = 'code' in error && typeof error.code === 'string' && error.code.endsWith('_TIMEOUT');
    this.#fail(isTimeout ? 'timed_out' : 'broken', error);
  }

  #mayStart(): boolean {
    try {
      return this.#request.mayStart?.() ?? true;
    } catch {
      return false;
    }
  }

  #fail(reason: ExchangeError['reason'], cause?: unknown): void {
    if (this.#isSettled) return;
    this.#settle();
    const controller = this.#controller;
    const error = new ExchangeError(reason, controller !== undefined, cause);
    if (controller?.aborted === false) controller.abort(error);
    this.#answer.reject(error);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#release();
  }
}
