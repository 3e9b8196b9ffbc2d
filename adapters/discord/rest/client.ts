import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import {
  DefaultRestOptions,
  RateLimitError,
  REST,
  type RESTOptions,
  type RequestMethod,
  type RouteLike,
  SnowflakeUtil,
} from 'discord.js';
import { request } from 'undici';
import { BoundedMap } from '#src/bounded-map.ts';
import { type Clock, systemClock } from '#src/clock.ts';
import { DailiesError } from '#src/errors.ts';
import type { DiscordSettings } from '../config.ts';
import { translate } from './errors.ts';

/** Call of Discord's REST API. */
export interface Call {
  readonly method: `${RequestMethod}`;
  readonly route: RouteLike;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Default: none. */
  readonly files?: readonly SentFile[];
  /** True to send the bot's own token. Interactions and their webhooks take none. Default true. */
  readonly isOurs?: boolean;
  /**
   * Rate limit policy: `progress` fails with `rate_limited` instead of waiting, `final` only if the wait exceeds the
   * timeout of a call. Default `final`.
   */
  readonly urgency?: 'progress' | 'final';
  /** Operation, for the log, such as "editing message 1234". */
  readonly doing: string;
}

interface DiscordRestOptions extends Pick<DiscordSettings, 'token' | 'apiUrl'> {
  readonly time: DiscordTime;
}

/** Timeout of a call, queueing included. */
const CALL_TIMEOUT_MS = 60_000;
/** Timeout of an upload, which discord.js includes in the timeout of the request: 100 MB at 200 kB/s. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000;
/** Number of buckets whose limits are remembered; a forgotten limit is met again as a 429. */
const MAX_LIMITED = 5_000;
/** Timeout of an interaction response; a slower one would be too late anyway. */
const RESPONSE_TIMEOUT_MS = 5_000;

/**
 * Client of Discord's REST API. Translates errors of discord.js to `DailiesError`.
 *
 * All calls except interaction responses go through one discord.js client: it counts rate limit buckets per client, and
 * a second one would run into limits that the first one has recorded. Responses go through a client without retries:
 * Discord rejects a second response, even if the first one took effect and only its confirmation was lost.
 */
export class DiscordRest {
  readonly #calls: REST;
  readonly #responses: REST;
  readonly #token: string;
  /** True if Discord rejected the bot's token at the last call with it. */
  isRefused = false;
  readonly #inFlight = new Map<string, number>();
  /** Ends of the rate limits that this process met, by bucket, by the system's monotonic clock. */
  readonly #limitedUntilMs = new BoundedMap<string, number>(MAX_LIMITED);
  readonly #urgency = new AsyncLocalStorage<Call['urgency']>();

  constructor({ token, apiUrl, time }: DiscordRestOptions) {
    const where = apiUrl === undefined ? {} : { api: apiUrl };
    this.#token = token;
    this.#calls = new REST({
      ...where,
      makeRequest: sendRequest,
      timeout: UPLOAD_TIMEOUT_MS,
      retries: 2,
      rejectOnRateLimit: ({ retryAfter, timeToReset }) =>
        this.#urgency.getStore() === 'progress' || Math.max(retryAfter, timeToReset) > CALL_TIMEOUT_MS,
    }).setToken(token);
    this.#responses = new REST({ ...where, timeout: RESPONSE_TIMEOUT_MS, retries: 0, handlerSweepInterval: 60_000 });
    for (const rest of [this.#calls, this.#responses]) {
      keepLimitsMonotonic(rest);
      rest.on('response', (_request, response) => time.observe(response.headers.get('date')));
    }
  }

  /** Reads with the bot's own token. @throws DailiesError as by {@link translate}. */
  get<Answer = unknown>(route: RouteLike, doing: string, query: Call['query'] = {}): Promise<Answer> {
    return this.call<Answer>({ method: 'GET', route, query, doing });
  }

  /** Makes a call. @throws DailiesError as by {@link translate}. */
  async call<InteractionResponse = unknown>(call: Call): Promise<InteractionResponse> {
    const { method, route, query, files = [], isOurs = true, urgency = 'final', doing } = call;
    const content =
      files.length === 0 ? { body: call.body } : { body: new MultipartUpload(call.body, files), passThroughBody: true };
    const signal = files.length === 0 ? { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) } : {};
    const asked = query === undefined ? {} : { query: new URLSearchParams(query) };
    const request = {
      method: method as RequestMethod,
      fullRoute: route,
      auth: isOurs,
      ...asked,
      ...content,
      ...signal,
    };
    try {
      const answer = await this.#limited(call, () => this.#urgency.run(urgency, () => this.#calls.request(request)));
      if (isOurs) this.isRefused = false;
      return answer as InteractionResponse;
    } catch (thrown) {
      const error = translate(thrown, doing);
      // discord.js drops its token at the first 401; restore it, so that the next call can find out whether it is
      // really dead.
      if (error.code === 'unauthorised') this.#calls.setToken(this.#token);
      if (error.code === 'unauthorised' && isOurs) this.isRefused = true;
      throw error;
    }
  }

  /** Sends an interaction response or a follow-up, without retries. @throws DailiesError */
  async respond<InteractionResponse = unknown>({
    route,
    body,
    doing,
  }: Pick<Call, 'route' | 'body' | 'doing'>): Promise<InteractionResponse> {
    try {
      return (await this.#responses.post(route, { body, auth: false })) as InteractionResponse;
    } catch (thrown) {
      throw translate(thrown, doing);
    }
  }

  /** Counts the calls in flight per bucket; `progress` calls fail instead of waiting for them. */
  async #limited<InteractionResponse>(
    call: Call,
    run: () => Promise<InteractionResponse>,
  ): Promise<InteractionResponse> {
    const { method, route, urgency, doing } = call;
    const bucket = bucketOf(method, route);
    const inFlight = this.#inFlight.get(bucket) ?? 0;
    const waitMs = (this.#limitedUntilMs.get(bucket) ?? 0) - systemClock.monotonic();
    const isBlocked = urgency === 'progress' && (inFlight > 0 || waitMs > 0);
    if (isBlocked || waitMs > CALL_TIMEOUT_MS) throw bucketInUse(doing, waitMs);
    this.#inFlight.set(bucket, inFlight + 1);
    try {
      // discord.js records only limits that it waited for, not one that failed a `progress` call.
      if (waitMs > 0) await setTimeout(waitMs);
      return await run();
    } catch (thrown) {
      if (thrown instanceof RateLimitError) {
        this.#limitedUntilMs.set(bucket, systemClock.monotonic() + thrown.retryAfter);
      }
      throw thrown;
    } finally {
      const left = (this.#inFlight.get(bucket) ?? 1) - 1;
      if (left > 0) this.#inFlight.set(bucket, left);
      else this.#inFlight.delete(bucket);
    }
  }
}

/** Returns the error of a call that would have to wait. @param waitMs minimum wait, 0 or less if unknown */
function bucketInUse(doing: string, waitMs: number): DailiesError {
  const wait = waitMs > 0 ? { retryAfterMs: waitMs } : {};
  return new DailiesError(`${doing}: the bucket is in use`, { code: 'rate_limited', retryable: true, ...wait });
}

/**
 * Returns the rate limit bucket of a route. It may hold a token: never log it.
 * @see https://discord.com/developers/docs/topics/rate-limits
 */
function bucketOf(method: string, route: string): string {
  const [, major = ''] = /^(\/channels\/[^/]+|\/webhooks\/[^/]+\/[^/]+)/.exec(route) ?? [];
  return `${method.toUpperCase()} ${major}`;
}

export interface SentFile {
  readonly path: string;
  readonly bytes: number;
  readonly contentType: string;
  /** File name as Discord stores it: only letters, digits, `-`, `_` and dots. */
  readonly name: string;
}

/** Chunk size, above a socket's write buffer: each chunk is being sent before the next one is requested. */
const PART_BYTES = 256 * 1024;

/** File of a {@link MultipartUpload}, with the header of its part. */
interface UploadPart {
  readonly file: SentFile;
  readonly head: Buffer;
}

/**
 * Multipart request body of a message with files. Streams the files from disk while it is sent, and again on a retry.
 * (Node's own forms buffer all of it in memory.)
 * @see https://discord.com/developers/docs/reference#uploading-files
 */
export class MultipartUpload {
  readonly headers: Readonly<Record<string, string>>;
  readonly #parts: readonly UploadPart[];
  readonly #tail: Buffer;
  /**
   * Alternating buffers. undici requests a chunk only once the socket has released the previous one, so no unsent data
   * is overwritten.
   */
  readonly #buffers = [Buffer.alloc(PART_BYTES), Buffer.alloc(PART_BYTES)];

  constructor(message: unknown, files: readonly SentFile[]) {
    const boundary = `dailies-${randomUUID()}`;
    const part = (name: string, type: string): string =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n`;
    const json = `${part('payload_json', 'application/json')}${JSON.stringify(message)}`;
    this.#parts = files.map((file, at) => {
      const before = at === 0 ? json : '';
      const head = `${before}\r\n${part(`files[${at}]"; filename="${file.name}`, file.contentType)}`;
      return { file, head: Buffer.from(head) };
    });
    this.#tail = Buffer.from(`\r\n--${boundary}--\r\n`);
    const bytes = this.#parts.reduce((sum, { file, head }) => sum + head.length + file.bytes, this.#tail.length);
    this.headers = {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': `${bytes}`,
    };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (const { head, file } of this.#parts) {
      yield head;
      yield* this.#read(file.path);
    }
    yield this.#tail;
  }

  async *#read(path: string): AsyncGenerator<Buffer> {
    const file = await open(path);
    try {
      for (let turn = 0; ; turn += 1) {
        const { bytesRead, buffer } = await file.read(this.#buffers[turn % 2] ?? Buffer.alloc(PART_BYTES));
        if (bytesRead === 0) break;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }
}

/** Sends requests as discord.js does, except for {@link MultipartUpload}s, which it would buffer in memory. */
export const sendRequest: RESTOptions['makeRequest'] = async (url, init) => {
  const upload: unknown = init.body;
  if (!(upload instanceof MultipartUpload)) return DefaultRestOptions.makeRequest(url, init);
  const { statusCode, headers, body } = await request(url, {
    method: init.method === 'POST' ? 'POST' : 'PATCH',
    headers: { ...(init.headers as Record<string, string>), ...upload.headers },
    // undici writes an async iterable chunk by chunk, although its types do not include one.
    body: upload as never,
    signal: init.signal ?? null,
  });
  const text = await body.text();
  const given = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return new Response(text === '' ? null : text, { status: statusCode, headers: Object.fromEntries(given) }) as never;
};

/**
 * Lifetime of an interaction's token.
 * @see https://discord.com/developers/docs/interactions/receiving-and-responding
 */
const TOKEN_LIFETIME_MS = 15 * 60_000;
/** Deadline of the initial response to an interaction. */
export const FIRST_RESPONSE_MS = 3_000;
/** Margin before the end of the lifetime, for the duration of a request. */
const TOKEN_MARGIN_MS = 20_000;
/** Age from which no initial response is in flight any more, on any replica. */
const MAX_RESPONSE_AGE_MS = 10_000;
/**
 * Maximum plausible age of an interaction: delivered within seconds, or minutes after an outage. Beyond it the id is no
 * snowflake.
 */
const MAX_AGE_MS = 10 * 60_000;
/** Maximum rounding error of an HTTP date, which has whole seconds. */
const ROUNDING_MS = 500;
/** Maximum clock difference that the `Date` headers do not reveal. */
const MAX_CLOCK_SKEW_MS = 2_000;

/** Estimate of Discord's clock: this machine's, corrected by the `Date` headers of Discord's responses. */
export class DiscordTime {
  readonly #clock: Clock;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Updates the estimate from the `Date` header of a response that just arrived. */
  observe(date: string | null): void {
    const theirsMs = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(theirsMs)) return;
    const aheadMs = this.#clock.now() - (theirsMs + ROUNDING_MS);
    // A difference within the precision of the header counts as none.
    this.#aheadMs = Math.abs(aheadMs) <= 2 * ROUNDING_MS ? 0 : aheadMs;
  }

  /** Returns the age of an interaction by its id, in milliseconds; 0 if the id yields no plausible time. */
  ageMs(interaction: string): number {
    const ageMs = this.#clock.now() - this.#aheadMs - SnowflakeUtil.timestampFrom(interaction);
    return ageMs >= 0 && ageMs <= MAX_AGE_MS ? ageMs : 0;
  }

  /** Returns whether an interaction that just arrived is at most 3 s old; false if the id yields no plausible time. */
  isFresh(interaction: string): boolean {
    const ageMs = this.#clock.now() - this.#aheadMs - SnowflakeUtil.timestampFrom(interaction);
    return ageMs >= -MAX_CLOCK_SKEW_MS && ageMs <= FIRST_RESPONSE_MS;
  }

  /** Returns whether the initial response to an interaction, from any replica, may still be in flight. */
  mayBeAnsweredYet(interaction: string): boolean {
    return this.#clock.now() - this.#aheadMs - SnowflakeUtil.timestampFrom(interaction) < MAX_RESPONSE_AGE_MS;
  }

  /** Returns the expiry of the token of an interaction that just arrived, on this machine's clock. */
  tokenExpiryMs(interaction: string): number {
    return this.#clock.now() - this.ageMs(interaction) + TOKEN_LIFETIME_MS - TOKEN_MARGIN_MS;
  }
}

/** Object of discord.js with the end of a rate limit, by the wall clock. */
type Limited<Name extends string> = Record<Name, number>;

/**
 * Makes a client of discord.js keep the ends of rate limits by the monotonic clock. It keeps them by the wall clock
 * itself: after that was set back, every call would wait until it is as late again.
 */
function keepLimitsMonotonic(rest: REST): void {
  keepMonotonic(rest, 'globalReset');
  const set = rest.handlers.set.bind(rest.handlers);
  rest.handlers.set = (id, handler) => {
    if (hasReset(handler)) keepMonotonic(handler, 'reset');
    return set(id, handler);
  };
}

/** Handlers of interaction responses have no end: they count no limits. */
function hasReset(handler: object): handler is Limited<'reset'> {
  return 'reset' in handler;
}

/** Stores a time by the wall clock as one by the monotonic clock, and converts it back at each reading. */
function keepMonotonic<Name extends string>(owner: Limited<Name>, name: Name): void {
  const aheadMs = (): number => systemClock.now() - systemClock.monotonic();
  let atMs = owner[name] - aheadMs();
  Object.defineProperty(owner, name, {
    get: () => atMs + aheadMs(),
    set: (timeOfDayMs: number) => {
      atMs = timeOfDayMs - aheadMs();
    },
  });
}
