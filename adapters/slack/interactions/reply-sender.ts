import type { RespondArguments } from '@slack/bolt';
import type { Placement } from '#commands/run-interaction.ts';
import { type Clock, sleep } from '#src/clock.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Body } from '../messages/render.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';
import { slackCodeOf, translate } from '../web-api/errors.ts';

/** Origin of an interaction, which determines how to respond. */
export interface ResponseContext {
  readonly to: TeamRef;
  readonly channel: string;
  readonly thread: string | null;
  readonly user: string;
  /** True on the Home tab, which cannot show replies: they are posted in `channel`, a direct message. */
  readonly isOnHome?: boolean | undefined;
  /** Posts to the request's `response_url`, if it has one. */
  readonly respond?: ((message: RespondArguments) => Promise<unknown>) | undefined;
}

export interface ReplySenderOptions {
  readonly clients: Clients;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Longest rate-limit delay to wait for; a later response would be useless. */
const MAX_WAIT_MS = 60_000;
const MAX_ATTEMPTS = 3;
/** Errors of a channel where no ephemeral message can be shown to the user. */
const UNREACHABLE: ReadonlySet<string> = new Set(['channel_not_found', 'not_in_channel', 'user_not_in_channel']);

/** Sends the replies to an interaction; they cannot be edited later. */
export class ReplySender {
  readonly #options: ReplySenderOptions;
  readonly #context: ResponseContext;

  constructor(options: ReplySenderOptions, context: ResponseContext) {
    this.#options = options;
    this.#context = context;
  }

  /** Sends a message; a direct one where no ephemeral message is possible. */
  async send(body: Body, placement: Placement): Promise<void> {
    const { respond, channel, thread, isOnHome = false } = this.#context;
    if (placement === 'public' || isOnHome) return this.#retrying(() => this.#post(channel, thread, body));
    if (respond === undefined) return this.#postEphemeral(body);
    const inThread = thread === null ? {} : { thread_ts: thread };
    const message =
      placement === 'in-place'
        ? { ...body, replace_original: true }
        : ({ ...body, response_type: 'ephemeral', replace_original: false, ...inThread } as const);
    await this.#retrying(async () => assertTaken(await respond(message))).catch((thrown: unknown) => {
      // A `response_url` works for 30 minutes and five responses.
      const details = { event: 'slack_response_url_failed', err: asDailiesError(thrown, 'answering') };
      this.#options.logger.debug(details, 'response_url failed; falling back to chat.postEphemeral');
      return this.#postEphemeral(body);
    });
  }

  async #postEphemeral(body: Body): Promise<void> {
    const { to, channel, thread, user } = this.#context;
    const message = { channel, user, ...body };
    const posted = this.#retrying(() =>
      this.#options.clients.answer(to, 'answering a user', (client) =>
        client.chat.postEphemeral(thread === null ? message : { ...message, thread_ts: thread }),
      ),
    );
    await posted.catch((thrown: unknown) => {
      const code = slackCodeOf(thrown);
      if (code === null || !UNREACHABLE.has(code)) throw thrown;
      return this.#post(user, null, body);
    });
  }

  async #post(channel: string, thread: string | null, body: Body): Promise<void> {
    const message = { channel, ...body, parse: 'none', unfurl_links: false, unfurl_media: false } as const;
    await this.#options.clients.post(channel, {
      to: this.#context.to,
      priority: 'answer',
      operation: 'posting a response',
      run: (client) => client.chat.postMessage(thread === null ? message : { ...message, thread_ts: thread }),
    });
  }

  /** Retries a rate-limited response, which was certainly not shown, after Slack's delay. */
  async #retrying(respond: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await respond();
        return;
      } catch (thrown) {
        const error = translate(thrown, 'answering a user');
        const waitMs = error.retryAfterMs ?? Number.POSITIVE_INFINITY;
        if (attempt >= MAX_ATTEMPTS || waitMs > MAX_WAIT_MS) throw error;
        await sleep(this.#options.clock, waitMs);
      }
    }
  }
}

/** Rejects where Slack refused a message: the status of a `response_url` is 200 all the same. */
async function assertTaken(response: unknown): Promise<void> {
  if (!(response instanceof Response)) return;
  const { ok = true, error } = (await response.json().catch(() => ({}))) as {
    readonly ok?: boolean;
    readonly error?: string;
  };
  if (!ok) throw new TypeError(`response_url: ${error}`);
}
