import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { RateLimitError, REST, type RequestMethod, type RouteLike } from 'discord.js';
import { BoundedMap } from '#src/bounded-map.ts';
import { busy, translate } from './errors.ts';
import type { DiscordTime } from './time.ts';
import { type SentFile, sendRequest, Upload } from './upload.ts';

/** One call of Discord's REST API. */
export interface Call {
  readonly method: `${RequestMethod}`;
  readonly route: RouteLike;
  readonly body?: unknown;
  readonly file?: SentFile;
  /** Whether the bot's own token goes along. Interactions and their webhooks take none. Default true. */
  readonly isOurs?: boolean;
  /** `progress` is dropped with `rate_limited` where it would have to wait. Default `final`. */
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
}

/** The whole of a call, waiting for its turn included. */
const CALL_TIMEOUT_MS = 60_000;
/** discord.js counts the upload in: 100 MB at 200 kB/s. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000;
/** Limits of so many channels are remembered; a forgotten one is found out again. */
const MOST_LIMITED = 5_000;
/** An answer that takes longer comes too late anyway. */
const ANSWER_TIMEOUT_MS = 5_000;

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
  readonly #underWay = new Map<string, number>();
  /** On the machine's clock, as all of discord.js's waiting is. */
  readonly #limitedUntilMs = new BoundedMap<string, number>(MOST_LIMITED);
  readonly #urgency = new AsyncLocalStorage<Call['urgency']>();

  constructor({ token, apiUrl, time }: DiscordRestOptions) {
    const where = apiUrl === undefined ? {} : { api: apiUrl };
    this.#token = token;
    this.#calls = new REST({
      ...where,
      makeRequest: sendRequest,
      timeout: UPLOAD_TIMEOUT_MS,
      retries: 2,
      rejectOnRateLimit: () => this.#urgency.getStore() === 'progress',
    }).setToken(token);
    this.#answers = new REST({ ...where, timeout: ANSWER_TIMEOUT_MS, retries: 0, handlerSweepInterval: 60_000 });
    for (const rest of [this.#calls, this.#answers]) {
      rest.on('response', (_request, response) => time.observe(response.headers.get('date')));
    }
  }

  /** @throws DailiesError as {@link translate} says. */
  async call<Answer = unknown>(call: Call): Promise<Answer> {
    const { method, route, isOurs = true, file, urgency = 'final', doing } = call;
    const content =
      file === undefined ? { body: call.body } : { body: new Upload(call.body, file), passThroughBody: true };
    const signal = file === undefined ? { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) } : {};
    const request = { method: method as RequestMethod, fullRoute: route, auth: isOurs, ...content, ...signal };
    try {
      const answer = await this.#inTurn(call, () => this.#urgency.run(urgency, () => this.#calls.request(request)));
      return answer as Answer;
    } catch (thrown) {
      const error = translate(thrown, doing);
      // discord.js forgets its token at the first 401; whether it really is dead, the next call may find out.
      if (error.code === 'unauthorised') this.#calls.setToken(this.#token);
      throw error;
    }
  }

  /** Answers an interaction, or follows it up; sent once whatever happens. @throws DailiesError */
  async answer<Answer = unknown>({ route, body, doing }: Pick<Call, 'route' | 'body' | 'doing'>): Promise<Answer> {
    try {
      return (await this.#answers.post(route, { body, auth: false })) as Answer;
    } catch (thrown) {
      throw translate(thrown, doing);
    }
  }

  /** Counts what is under way for a channel or an interaction; progress waits for none of it. */
  async #inTurn<Answer>({ method, route, urgency, doing }: Call, run: () => Promise<Answer>): Promise<Answer> {
    const [, major = ''] = /^(\/channels\/[^/]+|\/webhooks\/[^/]+\/[^/]+)/.exec(route) ?? [];
    const bucket = `${method} ${major}`;
    const underWay = this.#underWay.get(bucket) ?? 0;
    const waitMs = (this.#limitedUntilMs.get(bucket) ?? 0) - Date.now();
    if (urgency === 'progress' && (underWay > 0 || waitMs > 0)) throw busy(doing, waitMs);
    this.#underWay.set(bucket, underWay + 1);
    try {
      await this.#leftAlone(bucket);
      return await run();
    } catch (thrown) {
      if (thrown instanceof RateLimitError) this.#limitedUntilMs.set(bucket, Date.now() + thrown.retryAfter);
      throw thrown;
    } finally {
      const left = (this.#underWay.get(bucket) ?? 1) - 1;
      if (left > 0) this.#underWay.set(bucket, left);
      else this.#underWay.delete(bucket);
    }
  }

  /** Waits where progress was told to: discord.js remembers a limit only where it waited for its end itself. */
  async #leftAlone(bucket: string): Promise<void> {
    const untilMs = this.#limitedUntilMs.get(bucket) ?? 0;
    if (untilMs <= Date.now()) return;
    await setTimeout(untilMs - Date.now());
    this.#limitedUntilMs.delete(bucket);
  }
}
