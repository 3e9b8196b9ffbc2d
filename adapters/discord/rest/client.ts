import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { RateLimitError, REST, type RequestMethod, type RouteLike } from 'discord.js';
import { BoundedMap } from '#src/bounded-map.ts';
import type { DiscordTime } from './clock-skew.ts';
import { busy, translate } from './errors.ts';
import { MultipartUpload, type SentFile, sendRequest } from './upload.ts';

/** Call of Discord's REST API. */
export interface Call {
  readonly method: `${RequestMethod}`;
  readonly route: RouteLike;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly file?: SentFile;
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

/** Options of {@link DiscordRest}. */
export interface DiscordRestOptions {
  readonly token: string;
  /** Base URL without the version. Default: Discord's own. */
  readonly apiUrl?: string | undefined;
  readonly time: DiscordTime;
}

/** Timeout of a call, queueing included. */
const CALL_TIMEOUT_MS = 60_000;
/** Timeout of an upload, which discord.js includes in the timeout of the request: 100 MB at 200 kB/s. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000;
/** Number of buckets whose limits are remembered; a forgotten limit is met again as a 429. */
const MAX_LIMITED = 5_000;
/** Timeout of an interaction response; a slower one would be too late anyway. */
const ANSWER_TIMEOUT_MS = 5_000;

/**
 * Client of Discord's REST API. Translates errors of discord.js to `DailiesError`.
 *
 * All calls except interaction responses go through one discord.js client: it counts rate limit buckets per client, and
 * a second one would run into limits that the first one has recorded. Responses go through a client without retries:
 * Discord rejects a second response, even if the first one took effect and only its confirmation was lost.
 */
export class DiscordRest {
  readonly #calls: REST;
  readonly #answers: REST;
  readonly #token: string;
  /** True if Discord rejected the bot's token at the last call with it. */
  isRefused = false;
  readonly #inFlight = new Map<string, number>();
  /** Ends of the rate limits that this process met, by bucket, on the machine's clock, as in discord.js. */
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
    this.#answers = new REST({ ...where, timeout: ANSWER_TIMEOUT_MS, retries: 0, handlerSweepInterval: 60_000 });
    for (const rest of [this.#calls, this.#answers]) {
      rest.on('response', (_request, response) => time.observe(response.headers.get('date')));
    }
  }

  /** Makes a call. @throws DailiesError as by {@link translate}. */
  async call<InteractionResponse = unknown>(call: Call): Promise<InteractionResponse> {
    const { method, route, query, isOurs = true, file, urgency = 'final', doing } = call;
    const content =
      file === undefined ? { body: call.body } : { body: new MultipartUpload(call.body, file), passThroughBody: true };
    const signal = file === undefined ? { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) } : {};
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
  async answer<InteractionResponse = unknown>({
    route,
    body,
    doing,
  }: Pick<Call, 'route' | 'body' | 'doing'>): Promise<InteractionResponse> {
    try {
      return (await this.#answers.post(route, { body, auth: false })) as InteractionResponse;
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
    const waitMs = (this.#limitedUntilMs.get(bucket) ?? 0) - Date.now();
    const isBlocked = urgency === 'progress' && (inFlight > 0 || waitMs > 0);
    if (isBlocked || waitMs > CALL_TIMEOUT_MS) throw busy(doing, waitMs);
    this.#inFlight.set(bucket, inFlight + 1);
    try {
      // discord.js records only limits that it waited for, not one that failed a `progress` call.
      if (waitMs > 0) await setTimeout(waitMs);
      return await run();
    } catch (thrown) {
      if (thrown instanceof RateLimitError) this.#limitedUntilMs.set(bucket, Date.now() + thrown.retryAfter);
      throw thrown;
    } finally {
      const left = (this.#inFlight.get(bucket) ?? 1) - 1;
      if (left > 0) this.#inFlight.set(bucket, left);
      else this.#inFlight.delete(bucket);
    }
  }
}

/**
 * Returns the rate limit bucket of a route. It may hold a token: never log it.
 * @see https://discord.com/developers/docs/topics/rate-limits
 */
function bucketOf(method: string, route: string): string {
  const [, major = ''] = /^(\/channels\/[^/]+|\/webhooks\/[^/]+\/[^/]+)/.exec(route) ?? [];
  return `${method.toUpperCase()} ${major}`;
}
