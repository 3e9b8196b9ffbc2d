import { createHash } from 'node:crypto';
import { LogLevel, type Logger as SdkLogger, webApi } from '@slack/bolt';
import { BoundedMap } from '#src/bounded-map.ts';
import { type Clock, sleep } from '#src/clock.ts';
import type { Leases, Store } from '#src/engine/index.ts';
import { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import { Serial } from '#src/serial.ts';
import type { TokenHealth } from '../installation/token-health.ts';
import type { Workspace, Workspaces } from '../installation/workspaces.ts';
import { rateLimited, translate } from './errors.ts';

/** Purpose of a call: each has its own client and timeout, so that none blocks another. */
type RequestPriority = 'progress' | 'delivery' | 'answer';

export interface TeamRef {
  readonly team: string;
  /** The organisation's id, where the app is installed organisation-wide. */
  readonly enterprise?: string | undefined;
}

/** Makes a call with the client of its priority. */
export type Run<Result> = (client: webApi.WebClient, workspace: Workspace) => Promise<Result>;

interface Call<Result> {
  readonly to: TeamRef;
  readonly priority: RequestPriority;
  /** Name of the operation for errors, such as "posting a task's message". */
  readonly operation: string;
  readonly run: Run<Result>;
}

interface ClientsOptions {
  readonly workspaces: Workspaces;
  /** Coordinates the replicas' turns. */
  readonly store: Pick<Store, 'exclusive' | 'leases'>;
  /** Base URL of the Web API. Default: Slack's. */
  readonly apiUrl?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Records the state of each workspace's token, as the responses show it. */
  readonly health: TokenHealth;
}

/** Slack allows about one message a second per channel. @see https://docs.slack.dev/apis/web-api/rate-limits */
const POST_INTERVAL_MS = 1_050;
/**
 * `chat.update` is in tier 3, 50 calls a minute; progress edits leave a reserve for final ones, and the retraction of many
 * messages leaves one for both.
 */
const UPDATES_PER_MINUTE = { retraction: 24, progress: 36, final: 48 } as const;

const TIMEOUT_MS: Readonly<Record<RequestPriority, number>> = { progress: 5_000, delivery: 30_000, answer: 10_000 };

/**
 * Calls Slack's Web API. Never retries: a repeated post is a duplicate message, so retries are up to the caller. A rate
 * limit rejects at once with `rate_limited`, and only applies to calls of that kind.
 */
export class Clients {
  readonly #options: ClientsOptions;
  readonly #clients = new Map<string, webApi.WebClient>();
  readonly #retryAfter: RetryAfter;
  readonly #updateLimits: RateLimits;
  readonly #posts: RateLimiter;

  constructor(options: ClientsOptions) {
    this.#options = options;
    const { clock, store } = options;
    this.#retryAfter = new RetryAfter(clock);
    this.#updateLimits = new RateLimits(clock);
    const leases = store.exclusive ? null : store.leases;
    this.#posts = new RateLimiter({ clock, leases, intervalMs: POST_INTERVAL_MS });
  }

  /** Makes a call for a user who waits. @throws DailiesError with Slack's response as its cause */
  answer<Result>(to: TeamRef, operation: string, run: Run<Result>): Promise<Result> {
    return this.#call({ to, priority: 'answer', operation, run });
  }

  /** Makes a call for a message or a file. @throws DailiesError with Slack's response as its cause */
  deliver<Result>(to: TeamRef, operation: string, run: Run<Result>): Promise<Result> {
    return this.#call({ to, priority: 'delivery', operation, run });
  }

  async #call<Result>({ to, priority, operation, run }: Call<Result>): Promise<Result> {
    const { workspaces, health } = this.#options;
    let id = to.team;
    try {
      const workspace = await workspaces.of(to.team, to.enterprise);
      id = workspace.id;
      const response = await run(this.#client(workspace.botToken, priority), workspace);
      health.accepted(id, response);
      return response;
    } catch (thrown) {
      const error = translate(thrown, operation);
      // Another replica may have stored a newer token.
      if (error.code === 'unauthorised') {
        workspaces.invalidate(to);
        health.refused(id, error);
      }
      throw error;
    }
  }

  /** Posts into a channel, throttled to the channel's rate limit. @throws `rate_limited` if the wait would be long */
  async post<Result>(channel: string, call: Call<Result>): Promise<Result> {
    await this.turn(call.to, channel);
    return this.postNow(channel, call);
  }

  /** Resolves when a channel accepts a message: see {@link postNow}. @throws `rate_limited` if that would take long */
  turn({ team }: TeamRef, channel: string): Promise<void> {
    return this.#posts.turn(`${team}:${channel}`);
  }

  /** Posts into a channel after {@link turn}. */
  async postNow<Result>(channel: string, call: Call<Result>): Promise<Result> {
    try {
      return await this.#call(call);
    } catch (thrown) {
      const error = translate(thrown, call.operation);
      if (error.retryAfterMs !== undefined) this.#posts.pause(`${call.to.team}:${channel}`, error.retryAfterMs);
      throw error;
    }
  }

  /**
   * Edits a message, if the edits per minute of that urgency are not used up.
   * @throws DailiesError `rate_limited` at once if they are.
   */
  async update<Result>(
    urgency: keyof typeof UPDATES_PER_MINUTE,
    call: Omit<Call<Result>, 'priority'>,
  ): Promise<Result> {
    const waitMs = this.#updateLimits.take(call.to.team, UPDATES_PER_MINUTE[urgency]);
    if (waitMs > 0) throw rateLimited(call.operation, waitMs);
    return this.#call({ ...call, priority: urgency === 'progress' ? 'progress' : 'delivery' });
  }

  /** Tests a workspace's token, and records its scopes. @returns the workspace's id */
  test(to: TeamRef): Promise<string> {
    return this.answer(to, 'testing the bot token', async (client, { id }) => ({
      id,
      ...(await client.auth.test()),
    })).then(({ id }) => id);
  }

  async directChannel(priority: RequestPriority, to: TeamRef, user: string): Promise<string> {
    const operation = 'opening a direct message';
    const { channel } = await this.#call({
      to,
      priority,
      operation,
      run: (client) => client.conversations.open({ users: user }),
    });
    if (channel?.id !== undefined) return channel.id;
    const reason = `${operation}: Slack names no channel`;
    throw new DailiesError(reason, { code: 'platform_unavailable', retryable: true });
  }

  #client(token: string, priority: RequestPriority): webApi.WebClient {
    const key = `${priority}:${token}`;
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const settings = { timeoutMs: TIMEOUT_MS[priority], fetch: this.#retryAfter.fetchFor(token) };
    const client = createClient(token, { ...this.#options, ...settings });
    this.#clients.set(key, client);
    return client;
  }
}

interface ClientSettings {
  readonly apiUrl?: string | undefined;
  readonly logger: Logger;
  readonly timeoutMs: number;
  readonly fetch?: typeof fetch | undefined;
}

/** Creates a client that neither retries nor waits for rate limits. */
export function createClient(token: string, settings: ClientSettings): webApi.WebClient {
  const { apiUrl, logger, timeoutMs, fetch: customFetch } = settings;
  return new webApi.WebClient(token, {
    ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
    ...(customFetch === undefined ? {} : { fetch: customFetch }),
    logger: createSdkLogger(logger),
    timeout: timeoutMs,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
  });
}

/**
 * Forwards the SDK's warnings and errors. Its lower levels are dropped: they contain whole payloads, with prompts and
 * URLs that work like a password.
 */
export function createSdkLogger(logger: Logger): SdkLogger {
  const join = (parts: readonly unknown[]): string => parts.map(textOf).join(' ').slice(0, 500);
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (...parts: unknown[]) => logger.debug({ event: 'slack_sdk_warning', sdk: join(parts) }, 'Slack SDK warning'),
    error: (...parts: unknown[]) => logger.warn({ event: 'slack_sdk_error', sdk: join(parts) }, 'Slack SDK error'),
    setLevel: () => undefined,
    getLevel: () => LogLevel.WARN,
    setName: () => undefined,
  };
}

function textOf(part: unknown): string {
  return part instanceof Error ? part.message : String(part);
}

const MINUTE_MS = 60_000;

/** Counts this replica's calls in the last minute, by key; rejects instead of waiting. */
class RateLimits {
  readonly #clock: Clock;
  readonly #calls = new BoundedMap<string, number[]>(MOST_KEYS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes one of `perMinute` calls, if one is left. @returns 0, or the milliseconds until one will be. */
  take(key: string, perMinute: number): number {
    const nowMs = this.#clock.monotonic();
    const recent = (this.#calls.get(key) ?? []).filter((atMs) => atMs > nowMs - MINUTE_MS);
    this.#calls.set(key, recent);
    if (recent.length < perMinute) {
      recent.push(nowMs);
      return 0;
    }
    const freeing = recent[recent.length - perMinute] ?? nowMs;
    return Math.max(1, freeing + MINUTE_MS - nowMs);
  }
}

interface RateLimiterOptions {
  readonly clock: Clock;
  /** Serialises the turns of all replicas; `null`: there is only one replica. */
  readonly leases: Leases | null;
  /** Minimum time between two calls, in milliseconds. */
  readonly intervalMs: number;
}

/** Interval for polling the lease while another replica holds the turn. */
const POLL_INTERVAL_MS = 100;
/** Longest wait for a turn: a longer delay rejects at once, so that the caller retries without blocking the queue. */
const MAX_WAIT_MS = 5_000;
const MOST_KEYS = 1_000;

/** Throttles calls by key to one per interval, across all replicas. */
class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #turns = new Serial<string>();
  readonly #notBeforeMs = new Map<string, number>();

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Resolves when it is the caller's turn. @throws `rate_limited` at once if that would take more than 5 s. */
  turn(key: string): Promise<void> {
    return this.#turns.run(key, () => this.#next(key));
  }

  /** Pauses a key on this replica, as the platform's `Retry-After` requires. */
  pause(key: string, ms: number): void {
    const nowMs = this.#options.clock.monotonic();
    this.#notBeforeMs.set(key, Math.max(this.#notBeforeMs.get(key) ?? 0, nowMs + ms));
    if (this.#notBeforeMs.size <= MOST_KEYS) return;
    for (const [each, atMs] of this.#notBeforeMs) if (atMs <= nowMs) this.#notBeforeMs.delete(each);
  }

  async #next(key: string): Promise<void> {
    const { clock, leases, intervalMs } = this.#options;
    for (;;) {
      const waitMs = (this.#notBeforeMs.get(key) ?? 0) - clock.monotonic();
      if (waitMs > MAX_WAIT_MS) throw rateLimited('waiting for a turn', waitMs);
      if (waitMs > 0) await sleep(clock, waitMs);
      else if (leases === null || (await leases.take(`slack:turn:${key}`, intervalMs, { isRenewed: false }))) break;
      else await sleep(clock, POLL_INTERVAL_MS);
    }
    this.pause(key, intervalMs);
  }
}

/** Matches the method that is rate-limited per channel, by {@link RateLimiter}, and not as a whole. */
const BY_CHANNEL = /\/chat\.postMessage$/u;

/** Methods that Slack has rate-limited, by token, as far as this replica was told. @see https://docs.slack.dev/apis/web-api/rate-limits */
class RetryAfter {
  readonly #clock: Clock;
  readonly #deferredUntilMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns a `fetch` for a token that does not call rate-limited methods: until a `Retry-After` is over, it responds
   * with a 429 and the remaining time itself.
   */
  fetchFor(token: string): typeof fetch {
    const bearer = createHash('sha256').update(token).digest('base64url').slice(0, 16);
    return async (input, init) => {
      const method = new URL(input instanceof Request ? input.url : input).pathname;
      const key = `${bearer}:${method}`;
      const leftMs = (this.#deferredUntilMs.get(key) ?? 0) - this.#clock.monotonic();
      if (leftMs > 0) return tooManyRequests(leftMs);
      const response = await fetch(input, init);
      const seconds = Number.parseInt(response.headers.get('retry-after') ?? '', 10);
      if (response.status !== 429 || !Number.isFinite(seconds) || BY_CHANNEL.test(method)) return response;
      const untilMs = this.#clock.monotonic() + seconds * 1000;
      this.#deferredUntilMs.set(key, Math.max(this.#deferredUntilMs.get(key) ?? 0, untilMs));
      return response;
    };
  }
}

function tooManyRequests(leftMs: number): Response {
  return new Response(null, { status: 429, headers: { 'retry-after': String(Math.max(1, Math.ceil(leftMs / 1000))) } });
}
