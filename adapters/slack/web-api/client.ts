import { webApi } from '@slack/bolt';
import type { Clock } from '#src/clock.ts';
import type { Logger } from '#src/logger.ts';
import type { Store } from '#src/store/store.ts';
import type { TokenHealth } from '../installation/token-health.ts';
import type { Workspace, Workspaces } from '../installation/workspaces.ts';
import { rateLimited, translate } from './errors.ts';
import { RateLimitTopic } from './rate-limit-topic.ts';
import { RateLimiter, RateLimits } from './rate-limits.ts';
import { RetryAfter } from './retry-after.ts';
import { createSdkLogger } from './sdk-logger.ts';

/** What a call is for: each has a client of its own, so that none waits for another. */
export type RequestPriority = 'progress' | 'delivery' | 'answer';

/** Whose workspace a call goes to. */
export interface TeamRef {
  readonly team: string;
  /** The organisation, where the app is installed in the whole of it. */
  readonly enterprise?: string | undefined;
}

/** A call of the Web API. */
export interface Call<Result> {
  readonly to: TeamRef;
  readonly lane: RequestPriority;
  /** For the log: "posting a task's message". */
  readonly doing: string;
  readonly run: (client: webApi.WebClient, workspace: Workspace) => Promise<Result>;
}

/** Collaborators of {@link Clients}. */
export interface ClientsOptions {
  readonly workspaces: Workspaces;
  /** Where replicas take turns, and tell each other of limits. */
  readonly store: Pick<Store, 'broadcast' | 'exclusive' | 'leases'>;
  /** The base of the Web API; absent: Slack's own. */
  readonly apiUrl?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told what the answers say of each workspace's token. */
  readonly health: TokenHealth;
}

/** Slack takes about one message a second in a channel. @see https://docs.slack.dev/apis/web-api/rate-limits */
const POST_INTERVAL_MS = 1_050;
/** `chat.update` is of tier 3, 50 a minute; progress leaves room for what ends a task. */
const UPDATES: Readonly<Record<'progress' | 'final', { readonly perMinute: number }>> = {
  progress: { perMinute: 36 },
  final: { perMinute: 48 },
};

const TIMEOUT_MS: Readonly<Record<RequestPriority, number>> = { progress: 5_000, delivery: 30_000, answer: 10_000 };

/**
 * Calls of Slack's Web API. Nothing is retried here: a repeated post is a second message, so whoever called decides.
 * A rate limit rejects at once with `rate_limited`, and holds for the calls of that kind alone.
 */
export class Clients {
  readonly #options: ClientsOptions;
  readonly #clients = new Map<string, webApi.WebClient>();
  readonly #gate: RetryAfter;
  readonly #allowances: RateLimits;
  readonly #posts: RateLimiter;

  constructor(options: ClientsOptions) {
    this.#options = options;
    const { clock, store } = options;
    const news = new RateLimitTopic(store);
    this.#gate = new RetryAfter(clock, news);
    this.#allowances = new RateLimits(clock, news);
    const leases = store.exclusive ? null : store.leases;
    this.#posts = new RateLimiter({ clock, news, leases, intervalMs: POST_INTERVAL_MS });
  }

  /** @throws DailiesError with what Slack said as its cause. */
  async call<Result>({ to, lane, doing, run }: Call<Result>): Promise<Result> {
    const { workspaces, health } = this.#options;
    let id = to.team;
    try {
      const workspace = await workspaces.of(to.team, to.enterprise);
      id = workspace.id;
      const answer = await run(this.#client(workspace.botToken, lane), workspace);
      health.accepted(id, answer);
      return answer;
    } catch (thrown) {
      const error = translate(thrown, doing);
      // Another replica may have taken a newer token.
      if (error.code === 'unauthorised') {
        workspaces.doubt(to);
        health.refused(id, error);
      }
      throw error;
    }
  }

  /** Posts into a channel, when the channel takes it. */
  async post<Result>(channel: string, call: Call<Result>): Promise<Result> {
    await this.turn(call.to, channel);
    return this.postNow(channel, call);
  }

  /** Resolves when a channel takes a message: see {@link postNow}. @throws `rate_limited` where that takes long. */
  turn({ team }: TeamRef, channel: string): Promise<void> {
    return this.#posts.turn(`${team}:${channel}`);
  }

  /** Posts into a channel whose {@link turn} it is. */
  async postNow<Result>(channel: string, call: Call<Result>): Promise<Result> {
    try {
      return await this.call(call);
    } catch (thrown) {
      const error = translate(thrown, call.doing);
      if (error.retryAfterMs !== undefined) this.#posts.pause(`${call.to.team}:${channel}`, error.retryAfterMs);
      throw error;
    }
  }

  /**
   * Changes a message, if one of the minute's changes is left for that urgency.
   * @throws DailiesError `rate_limited` at once where none is.
   */
  async update<Result>(urgency: 'progress' | 'final', call: Omit<Call<Result>, 'lane'>): Promise<Result> {
    const waitMs = this.#allowances.take(call.to.team, UPDATES[urgency]);
    if (waitMs > 0) throw rateLimited(call.doing, waitMs);
    return this.call({ ...call, lane: urgency === 'progress' ? 'progress' : 'delivery' });
  }

  #client(token: string, lane: RequestPriority): webApi.WebClient {
    const key = `${lane}:${token}`;
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const settings = { timeoutMs: TIMEOUT_MS[lane], fetch: this.#gate.fetchFor(token) };
    const client = createClient(token, { ...this.#options, ...settings });
    this.#clients.set(key, client);
    return client;
  }
}

/** What a client is made of. */
export interface ClientSettings {
  readonly apiUrl?: string | undefined;
  readonly logger: Logger;
  readonly timeoutMs: number;
  readonly fetch?: typeof fetch | undefined;
}

/** A client that neither retries nor waits. */
export function createClient(token: string, settings: ClientSettings): webApi.WebClient {
  const { apiUrl, logger, timeoutMs, fetch: gate } = settings;
  return new webApi.WebClient(token, {
    ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
    ...(gate === undefined ? {} : { fetch: gate }),
    logger: createSdkLogger(logger),
    timeout: timeoutMs,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
  });
}
