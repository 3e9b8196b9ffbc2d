import type { RespondArguments } from '@slack/bolt';
import { type Clock, sleep } from '#src/clock.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Body } from '../messages/render.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';
import { slackCodeOf, translate } from '../web-api/errors.ts';

/** Where somebody did something, and so where they are answered. */
export interface ResponseContext {
  readonly to: TeamRef;
  readonly channel: string;
  readonly thread: string | null;
  readonly user: string;
  /** Whether it was done on the person's own page, where nothing can be said: answers are messages in `channel`, a direct one. */
  readonly isOnHome?: boolean | undefined;
  /** The request's own address for answers, where it has one. */
  readonly respond?: ((message: RespondArguments) => Promise<unknown>) | undefined;
}

/** Collaborators of {@link Responder}. */
export interface ResponderOptions {
  readonly clients: Clients;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** An answer that Slack puts off longer than this would be no answer any more. */
const MAX_WAIT_MS = 60_000;
const MOST_TRIES = 3;
/** The person cannot be answered where they are. */
const NOT_THERE: ReadonlySet<string> = new Set(['channel_not_found', 'not_in_channel', 'user_not_in_channel']);

/** Answers somebody. What it says is for them alone unless told otherwise; none of it can be edited later. */
export class Responder {
  readonly #options: ResponderOptions;
  readonly #situation: ResponseContext;

  constructor(options: ResponderOptions, situation: ResponseContext) {
    this.#options = options;
    this.#situation = situation;
  }

  /** Says something to the caller alone. */
  async privately(body: Body): Promise<void> {
    const { respond, thread, isOnHome = false } = this.#situation;
    if (isOnHome) return this.publicly(body);
    if (respond === undefined) return this.#whisper(body);
    const inThread = thread === null ? {} : { thread_ts: thread };
    const message = { ...body, response_type: 'ephemeral', replace_original: false, ...inThread } as const;
    await this.#patiently(() => respond(message)).catch((thrown: unknown) => {
      // The address works for half an hour and five answers.
      this.#options.logger.debug({ err: asDailiesError(thrown, 'answering') }, 'an answer goes another way');
      return this.#whisper(body);
    });
  }

  /** Says something to everybody in the channel. */
  async publicly(body: Body): Promise<void> {
    const { to, channel, thread } = this.#situation;
    const message = { channel, ...body, parse: 'none', unfurl_links: false, unfurl_media: false } as const;
    await this.#patiently(() =>
      this.#options.clients.post(channel, {
        to,
        lane: 'answer',
        doing: 'answering everybody',
        run: (client) => client.chat.postMessage(thread === null ? message : { ...message, thread_ts: thread }),
      }),
    );
  }

  /** Replaces the private message whose button was pressed. */
  async inPlace(body: Body): Promise<void> {
    const { respond } = this.#situation;
    if (respond === undefined) return this.privately(body);
    await this.#patiently(() => respond({ ...body, replace_original: true }));
  }

  async #whisper(body: Body): Promise<void> {
    const { to, channel, thread, user } = this.#situation;
    const message = { channel, user, ...body };
    const whisper = this.#patiently(() =>
      this.#options.clients.call({
        to,
        lane: 'answer',
        doing: 'answering somebody',
        run: (client) => client.chat.postEphemeral(thread === null ? message : { ...message, thread_ts: thread }),
      }),
    );
    await whisper.catch((thrown: unknown) => {
      const code = slackCodeOf(thrown);
      if (code === null || !NOT_THERE.has(code)) throw thrown;
      return this.#directly(body);
    });
  }

  async #directly(body: Body): Promise<void> {
    const { to, user } = this.#situation;
    await this.#options.clients.post(user, {
      to,
      lane: 'answer',
      doing: 'answering somebody directly',
      run: (client) => client.chat.postMessage({ channel: user, ...body, parse: 'none' }),
    });
  }

  /** What was refused for its rate alone was certainly not said: it is said again when Slack takes it. */
  async #patiently(say: () => Promise<unknown>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await say();
        return;
      } catch (thrown) {
        const error = translate(thrown, 'answering somebody');
        const waitMs = error.retryAfterMs ?? Number.POSITIVE_INFINITY;
        if (tries >= MOST_TRIES || waitMs > MAX_WAIT_MS) throw error;
        await sleep(this.#options.clock, waitMs);
      }
    }
  }
}
