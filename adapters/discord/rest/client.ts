import { AsyncLocalStorage } from 'node:async_hooks';
import { hash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { RateLimitError, REST, type RequestMethod, type ResponseLike, type RouteLike } from 'discord.js';
import { BoundedMap } from '#src/bounded-map.ts';
import type { DiscordTime } from './clock-skew.ts';
import { busy, translate } from './errors.ts';
import type { RateLimitTopic } from './rate-limit-topic.ts';
import { MultipartUpload, type SentFile, sendRequest } from './upload.ts';

/** One call of Discord's REST API. */
export interface Call {
  readonly method: `${RequestMethod}`;
  readonly route: RouteLike;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly file?: SentFile;
  /** Whether the bot's own token goes along. Interactions and their webhooks take none. Default true. */
  readonly isOurs?: boolean;
  /** `progress` is dropped with `rate_limited` where it would have to wait, `final` where for longer than a call may take. Default `final`. */
  readonly urgency?: 'progress' | 'final';
  /** What is being done, for the log, such as "editing message 1234". */
  readonly doing: string;
}

/** Collaborators of {@link DiscordRest}. */
export interface DiscordRestOptions {
  readonly token: string;
  /** Base without the version; absent: Discord's own. */
  readonly apiUrl?: string | undefined;
  readonly time: DiscordTime;
  /** What the other replicas learn of limits, which are the bot's; absent: there are none. */
  readonly news?: RateLimitTopic;
}

/** The whole of a call, waiting for its turn included. */
const CALL_TIMEOUT_MS = 60_000;
/** discord.js counts the upload in: 100 MB at 200 kB/s. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000;
/** Limits of so many channels are remembered; a forgotten one is found out again. */
const MOST_LIMITED = 5_000;
/** An answer that takes longer comes too late anyway. */
const ANSWER_TIMEOUT_MS = 5_000;
/** Stands for every bucket of the bot's own token. */
const EVERY = 'global';

/**
 * Discord's REST API. What discord.js throws comes out as a `DailiesError`.
 *
 * All calls but answers go through one client: discord.js counts the buckets of rate limits per client, and a second one
 * would run into limits that the first one knows. Answers go through one that repeats nothing: an answer sent twice is
 * refused, also where the first one took effect and only its confirmation was lost.
 */
export class DiscordRest {
  readonly #calls: REST;
  readonly #answers: REST;
  readonly #token: string;
  /** Whether Discord refused the token at the last call by it. */
  isRefused = false;
  readonly #underWay = new Map<string, number>();
  /** On the machine's clock, as all of discord.js's waiting is. */
  readonly #limitedUntilMs = new BoundedMap<string, number>(MOST_LIMITED);
  readonly #urgency = new AsyncLocalStorage<Call['urgency']>();

  constructor({ token, apiUrl, time, news }: DiscordRestOptions) {
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
    this.#calls.on('response', ({ method, path }, { headers }) => {
      const ms = leftAloneForMs(headers);
      if (ms > 0) news?.tell({ bucket: isOfAll(headers) ? EVERY : bucketOf(method, path), ms });
    });
    news?.hear(({ bucket, ms }) => this.#leaveAlone(bucket, ms));
  }

  /** @throws DailiesError as {@link translate} says. */
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
      const answer = await this.#inTurn(call, () => this.#urgency.run(urgency, () => this.#calls.request(request)));
      if (isOurs) this.isRefused = false;
      return answer as InteractionResponse;
    } catch (thrown) {
      const error = translate(thrown, doing);
      // discord.js forgets its token at the first 401; whether it really is dead, the next call may find out.
      if (error.code === 'unauthorised') this.#calls.setToken(this.#token);
      if (error.code === 'unauthorised' && isOurs) this.isRefused = true;
      throw error;
    }
  }

  /** Answers an interaction, or follows it up; sent once whatever happens. @throws DailiesError */
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

  /** Counts what is under way for a channel or an interaction; progress waits for none of it. */
  async #inTurn<InteractionResponse>(
    call: Call,
    run: () => Promise<InteractionResponse>,
  ): Promise<InteractionResponse> {
    const { method, route, urgency, doing } = call;
    const bucket = bucketOf(method, route);
    const underWay = this.#underWay.get(bucket) ?? 0;
    const waitMs = this.#freeAtMs(bucket, call) - Date.now();
    const isInTheWay = urgency === 'progress' && (underWay > 0 || waitMs > 0);
    if (isInTheWay || waitMs > CALL_TIMEOUT_MS) throw busy(doing, waitMs);
    this.#underWay.set(bucket, underWay + 1);
    try {
      await this.#leftAlone(bucket, call);
      return await run();
    } catch (thrown) {
      if (thrown instanceof RateLimitError) this.#leaveAlone(bucket, thrown.retryAfter);
      throw thrown;
    } finally {
      const left = (this.#underWay.get(bucket) ?? 1) - 1;
      if (left > 0) this.#underWay.set(bucket, left);
      else this.#underWay.delete(bucket);
    }
  }

  /** A shorter limit does not end a longer one. */
  #leaveAlone(bucket: string, ms: number): void {
    this.#limitedUntilMs.set(bucket, Math.max(this.#limitedUntilMs.get(bucket) ?? 0, Date.now() + ms));
  }

  /** Waits where progress, or another replica, was told to: discord.js remembers a limit only where it waited itself. */
  async #leftAlone(bucket: string, call: Pick<Call, 'isOurs'>): Promise<void> {
    const untilMs = this.#freeAtMs(bucket, call);
    if (untilMs > Date.now()) await setTimeout(untilMs - Date.now());
  }

  /** The limit of all calls is of those by the bot's own token. */
  #freeAtMs(bucket: string, { isOurs = true }: Pick<Call, 'isOurs'>): number {
    const own = this.#limitedUntilMs.get(bucket) ?? 0;
    return isOurs ? Math.max(own, this.#limitedUntilMs.get(EVERY) ?? 0) : own;
  }
}

/** What of Discord's answers speaks of limits. */
type Headers = Pick<ResponseLike['headers'], 'get'>;

/** Names what Discord limits together, as far as a route tells; a token in it stays unknown. @see https://discord.com/developers/docs/topics/rate-limits */
function bucketOf(method: string, route: string): string {
  const [, major = ''] = /^(\/channels\/[^/]+|\/webhooks\/[^/]+\/[^/]+)/.exec(route) ?? [];
  return hash('sha256', `${method.toUpperCase()} ${major}`, 'base64url');
}

/** How long nothing more is taken after an answer: it was one too many, or the last one. @see https://discord.com/developers/docs/topics/rate-limits#header-format */
function leftAloneForMs(headers: Headers): number {
  const isLast = headers.get('x-ratelimit-remaining') === '0';
  const seconds = headers.get('retry-after') ?? (isLast ? headers.get('x-ratelimit-reset-after') : null);
  return seconds === null ? 0 : Math.ceil(Number(seconds) * 1_000);
}

function isOfAll(headers: Headers): boolean {
  return headers.get('x-ratelimit-global') === 'true';
}
